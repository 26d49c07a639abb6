/**
 * @module test/unit/mcp/live/thread
 * The thread of the live server without its sockets: messages of a stream, rounds, the status, the dashboard's board.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  alarmsOn,
  Board,
  incidentsOf,
  secondsLeft,
  timeOf,
  worstSeconds,
} from '../../../../src/mcp/live/dashboard/board.js';
import { Framing, MESSAGE_LIMIT } from '../../../../src/mcp/live/framing.js';
import { Hub, Rounds } from '../../../../src/mcp/live/hub.js';
import type { Progress, Story } from '../../../../src/mcp/live/story.js';

/** What a stream of pieces comes to: messages, and problems after a mark. */
function taken(...pieces: readonly string[]): string[] {
  const got: string[] = [];
  const sink = {
    message: (text: string) => got.push(text),
    broken: (problem: string) => got.push(`! ${problem}`),
  };
  const framing = new Framing(
    { message: (text) => void sink.message(text), broken: (problem) => void sink.broken(problem) },
    true,
  );
  for (const piece of pieces) framing.push(Buffer.from(piece));
  return got;
}

const framed = (body: string, length: number | string = body.length) =>
  `Content-Length: ${length}\r\n\r\n${body}`;

it('lines and headers are told apart by the first bytes, however these come', () => {
  expect(taken('{"a":1}\n', '{"b":2}\r\n\n')).toEqual(['{"a":1}', '{"b":2}']);
  expect(taken(...framed('{"a":1}'), framed('{}'))).toEqual(['{"a":1}', '{}']);
  expect(taken('content-length:2\r\nContent-Type: x\r\n\r\n{}')).toEqual(['{}']);
});

it('blank bytes are not kept for long to tell', () => {
  expect(taken(' '.repeat(2000), 'Content-Length: 2\r\n')).toEqual([
    ' '.repeat(2000).concat('Content-Length: 2'),
  ]);
});

it('a length that is wrong is told, and what follows is read', () => {
  expect(taken(framed('x'.repeat(MESSAGE_LIMIT + 1)), framed('{}'))).toEqual([
    `! A message has more than ${MESSAGE_LIMIT} bytes.`,
    '{}',
  ]);
  for (const wrong of ['-2', '0x2', '2.5', '99999999999'])
    expect(taken(framed('', wrong), framed('{}')), wrong).toEqual([
      '! A header has no Content-Length.',
      '{}',
    ]);
  expect(taken('Content-Length: 2\r\nX: '.concat('y'.repeat(2000)), framed('{}'))[0]).toBe(
    '! A header has more than 1024 bytes.',
  );
});

/** Ends the round, as the loop does when all that arrived is taken. */
const endRound = () => new Promise<void>((done) => setImmediate(done));

describe('the rounds of a server', () => {
  const waits = vi.spyOn(Atomics, 'wait');
  afterEach(() => {
    waits.mockReset();
    vi.useRealTimers();
  });

  /** Rounds with questions, so many milliseconds apart. @returns how often the thread rested */
  async function rests(rounds: number, pause: number, questions = 1): Promise<number> {
    waits.mockReturnValue('timed-out');
    vi.useFakeTimers({ toFake: ['performance'] });
    const thread = new Rounds();
    for (let i = 0; i < rounds; i++) {
      for (let asked = 0; asked < questions; asked++) thread.asked();
      expect(waits.mock.calls.every(([, , , rest]) => rest !== undefined && rest <= 25)).toBe(true);
      await endRound();
      vi.advanceTimersByTime(pause);
    }
    return waits.mock.calls.length;
  }

  it('have no rest where few ask', async () => {
    expect(await rests(50, 30)).toBe(0);
    expect(await rests(6, 0)).toBe(0);
  });

  it('are followed by a rest where many ask', async () => {
    expect(await rests(50, 5)).toBe(44);
  });

  it('count once for all who asked', async () => {
    expect(await rests(50, 30, 20)).toBe(0);
    expect(await rests(7, 0, 20)).toBe(1);
  });

  it('go on as before when the many are gone', async () => {
    waits.mockReturnValue('timed-out');
    vi.useFakeTimers({ toFake: ['performance'] });
    const thread = new Rounds();
    const round = () => {
      thread.asked();
      return endRound();
    };
    for (let i = 0; i < 10; i++) await round();
    expect(waits.mock.calls.length).toBe(4);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(160);
      await round();
    }
    expect(waits.mock.calls.length).toBe(4);
  });
});

const PROGRESS: Progress = {
  measurement: 'main',
  reference: 'a.y4m',
  distorted: 'b.y4m',
  state: 'running',
  frames: 50,
  queued: 2,
  total: 150,
  rate: { now: 20, average: 10 },
  fps: 25,
  metric: 'vmaf',
  mean: 91,
  worst: [{ frame: 30, metric: 'vmaf', value: 80 }],
};
const second = (number: number, min: number) => ({ second: number, metric: 'vmaf', mean: min + 5, min });
const STORY: Story = {
  ...PROGRESS,
  error: null,
  seconds: [second(1, 90), second(2, 80)],
  swaps: [],
  alarms: [],
};
const ALARM = { measurement: 'main', rule: 'min<85 for 1s', metric: 'vmaf', frame: 49, value: 80 };

/** A board with one measurement. */
function boardOf(story = STORY): Board {
  const board = new Board();
  board.restore([story]);
  return board;
}

const shownOf = (board: Board): Story => board.shown ?? expect.fail('the board shows nothing');

describe('the board', () => {
  it('adds the seconds that it does not have, two hours at most', () => {
    const board = boardOf();
    board.take('progress', { ...PROGRESS, frames: 75, fresh: [second(2, 80), second(3, 95)] });
    expect(shownOf(board)).toMatchObject({ frames: 75, reference: 'a.y4m' });
    expect(shownOf(board).seconds.map((one) => one.second)).toEqual([1, 2, 3]);
    const more = Array.from({ length: 8000 }, (_, i) => second(i + 1, 90));
    board.take('progress', { ...PROGRESS, fresh: more });
    expect(shownOf(board).seconds).toHaveLength(7200);
    expect(shownOf(board).seconds.at(-1)?.second).toBe(8000);
  });

  it('changes nothing when it is told again what it knows, as after a lost connection', () => {
    const board = boardOf();
    const swap = { measurement: 'main', frame: 60, from: 'vmaf', to: 'neg', source: 'x.json' };
    for (let i = 0; i < 2; i++) {
      board.take('alarm', { ...ALARM, raised: true });
      board.take('swap', swap);
      board.take('progress', { ...PROGRESS, fresh: STORY.seconds });
    }
    expect(shownOf(board).alarms).toHaveLength(1);
    expect(shownOf(board).swaps).toHaveLength(1);
    expect(shownOf(board).seconds).toEqual(STORY.seconds);
    expect(incidentsOf(shownOf(board))).toEqual([
      { frame: 60, text: 'model changed from VMAF to neg' },
      { frame: 49, text: 'alarm raised: min<85 for 1s (80.00)' },
    ]);
  });

  it('knows which alarms go on', () => {
    const board = boardOf();
    board.take('alarm', { ...ALARM, raised: true });
    board.take('alarm', { ...ALARM, rule: 'p5<70 for 3s', raised: true });
    board.take('alarm', { ...ALARM, raised: false, frame: 99 });
    expect(alarmsOn(shownOf(board)).map(({ rule }) => rule)).toEqual(['p5<70 for 3s']);
  });

  it('keeps the order of the measurements and the one that was chosen, whatever is told first', () => {
    const board = new Board();
    board.take('progress', { ...PROGRESS, measurement: 'second', fresh: [] });
    expect(board.shown?.measurement).toBe('second');
    board.restore([STORY, { ...STORY, measurement: 'second' }]);
    expect(board.names).toEqual(['main', 'second']);
    expect(board.shown?.measurement).toBe('main');
    board.chosen = 'second';
    board.take('progress', { ...PROGRESS, measurement: 'third', fresh: [] });
    expect(board.shown?.measurement).toBe('second');
    expect(board.names).toEqual(['main', 'second', 'third']);
  });

  it('is over when every measurement is', () => {
    const board = boardOf();
    expect(new Board().isOver).toBe(false);
    board.take('progress', { ...PROGRESS, measurement: 'second', fresh: [] });
    board.take('end', { measurement: 'main', state: 'finished' });
    expect(board.isOver).toBe(false);
    board.take('end', { measurement: 'second', state: 'failed', error: 'no more frames' });
    expect(board.isOver).toBe(true);
    board.chosen = 'second';
    expect(board.shown).toMatchObject({ state: 'failed', error: 'no more frames' });
  });

  it('says times of the video and the time left, where they are known', () => {
    expect(timeOf(STORY, 30)).toBe('0:01.2');
    // 100 frames at 20 a second.
    expect(secondsLeft(STORY)).toBe(5);
    expect(secondsLeft({ ...STORY, total: null })).toBeUndefined();
    expect(secondsLeft({ ...STORY, state: 'paused' })).toBeUndefined();
    expect(worstSeconds(STORY).map((one) => one.second)).toEqual([2]);
  });
});

describe('the status', () => {
  it('is made anew when anything has changed, and after 100 ms in any case', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const hub = new Hub({ queueDepth: 1, folders: [], name: 'test' }, () => {});
      hub.take({ kind: 'measurement', id: 0, name: 'main' });
      hub.take({ kind: 'measurement', id: 1, name: 'other' });
      const [main, other] = hub.measurements;
      if (!main || !other) throw new Error('there are two measurements');
      let made = 0;
      const ask = (measurement = main) => hub.recent(measurement, () => [++made]);
      expect([ask(), ask()]).toEqual([[1], [1]]);
      expect(ask(other)).toEqual([2]);
      hub.take({ kind: 'pulse', id: 0, taken: 1, state: 'running' });
      expect([ask(), ask()]).toEqual([[3], [3]]);
      vi.advanceTimersByTime(99);
      expect(ask()).toEqual([3]);
      vi.advanceTimersByTime(1);
      expect(ask()).toEqual([4]);
      void hub.command(main, { kind: 'pause' });
      expect(ask()).toEqual([5]);
      hub.take({ kind: 'answer', call: 0, result: {} });
      expect(ask()).toEqual([6]);
    } finally {
      vi.useRealTimers();
    }
  });
});
