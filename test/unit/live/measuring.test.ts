/**
 * @module test/unit/live/measuring
 * The live server without its sockets: what the measuring side reports while models change; and its thread: messages of a
 * stream, rounds, the status, the board of the dashboard.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunFacts, SwapOutcome } from '../../../src/engine/live/steering.js';
import { type Alarm, Alarms, MainScore, parseAlarm, Seconds } from '../../../src/live/alarms.js';
import { History, KEPT_ALARMS } from '../../../src/live/history.js';
import { Link, type SecondLine, type ToServer } from '../../../src/live/link.js';
import { Framing, MESSAGE_LIMIT } from '../../../src/mcp/framing.js';
import {
  alarmsOn,
  Board,
  incidentsOf,
  secondsLeft,
  timeOf,
  worstSeconds,
} from '../../../src/mcp/live/dashboard/board.js';
import { Hub, type Progress, progressOf, Rounds, type Story } from '../../../src/mcp/live/hub.js';
import { Session } from '../../../src/mcp/live/session.js';

const MODEL = { name: 'old', source: 'old', type: 'svm', clip: true, transform: false, interval: false };
const FACTS: RunFacts = {
  format: { width: 64, height: 64, bitDepth: 8, chroma: '420' },
  ...{ reference: 'r', distorted: 'd', rate: 2, total: null, metrics: ['old'], extractors: [] },
  models: [MODEL as unknown as RunFacts['models'][number]],
  ...{ backend: 'wasm', threads: 0, subsample: 1, taken: () => 0 },
};

const swap = (frame: number, from: string, to: string): SwapOutcome => ({ frame, from, to, source: to });

/** A link that measures, its messages, and the seconds it reported. */
function begun(alarms: readonly string[] = []) {
  const posted: ToServer[] = [];
  const seconds: SecondLine[] = [];
  const link = new Link({
    ...{ id: 0, name: 'main', maxDrainPerFrame: 4, folders: [] },
    post: (message) => void posted.push(message),
    alarms: alarms.map(parseAlarm),
    onSecond: (line) => seconds.push(line),
  });
  link.planned(FACTS);
  return { link, posted, seconds };
}

describe('a rule', () => {
  it.each([
    ['p5<80 for 3s', { statistic: 'p5', metric: undefined, relation: '<', limit: 80, length: 3, unit: 's' }],
    ['vmaf.p5 <= 80', { statistic: 'p5', metric: 'vmaf', relation: '<=', limit: 80, length: 1 }],
    ['min(psnr_y)<30 for 50f', { statistic: 'min', metric: 'psnr_y', limit: 30, length: 50, unit: 'f' }],
    ['psnr_y.min<30 for 50f', { statistic: 'min', metric: 'psnr_y', limit: 30, length: 50, unit: 'f' }],
    ['cambi.max>5', { statistic: 'max', metric: 'cambi', relation: '>', limit: 5 }],
    ['worst_second<70 for 100f', { statistic: 'worst_second', metric: undefined, length: 100 }],
    ['ssimulacra2.p5<60 for 2s', { statistic: 'p5', metric: 'ssimulacra2', limit: 60, length: 2 }],
    ['butteraugli.norm3.max>2', { statistic: 'max', metric: 'butteraugli_3norm', relation: '>', limit: 2 }],
    ['p7<80', { statistic: 7, metric: undefined }],
    ['psnr_y<40', { statistic: 'mean', metric: 'psnr_y' }],
    ['80', { statistic: 'mean', metric: undefined, relation: '<', limit: 80 }],
  ])('%s is read', (text, rule) => expect(parseAlarm(text)).toMatchObject({ text, ...rule }));

  it.each([
    '',
    'p5',
    'p5<',
    '<80',
    'p5<80 for 0s',
    'good(vmaf)<80',
    'p5=80',
    'p5<8.0.0',
    'p5<80 for 3',
    'p5<80 for 0.5s',
  ])('%s is refused', (text) =>
    expect(() => parseAlarm(text)).toThrow(
      /must be a pooled value, a comparison and a time in whole seconds or frames/,
    ),
  );

  it('names a metric by any of its names, and holds at its limit only if it says so', () => {
    const raised = (rule: string) => {
      const { link, posted } = begun([rule]);
      for (let frame = 0; frame < 2; frame++) link.frame(frame, Float64Array.of(10), ['old']);
      return posted.some((message) => message.kind === 'alarm');
    };
    const rules = ['old.max<10', 'old.max<=10', 'max<10.5', 'max>10', 'max>=10', '11'];
    expect(rules.map(raised)).toEqual([false, true, true, false, true, true]);
  });
});

describe('rules about metrics of colour', () => {
  const names = ['ssimulacra2', 'butteraugli', 'butteraugli_3norm', 'cvvdp_q'];
  const watching = (rule: string) => {
    const alarms = new Alarms([parseAlarm(rule)]);
    alarms.start(2, names, undefined);
    return (values: readonly number[]) =>
      alarms.take(0, Float64Array.from(values), names, undefined).map(({ raised, value }) => [raised, value]);
  };

  it('use their values, with the worse side of each metric, but not Q for JOD', () => {
    const score = watching('ssimulacra2.min<60');
    expect([score([70, 0, 0, 0]), score([55, 0, 0, 0])]).toEqual([[], [[true, 55]]]);
    const difference = watching('butteraugli.norm3.worst_second>2');
    expect([difference([0, 0, 1, 0]), difference([0, 0, 4, 0])]).toEqual([[], [[true, 2.5]]]);
    // A clip has JOD at its end only.
    expect(() => watching('cvvdp<9')).toThrow(/is about "cvvdp", which .*cvvdp_q/);
  });
});

describe('a link', () => {
  it('reports the old score up to the frame at which a change takes effect', () => {
    const { link, posted, seconds } = begun(['max<50 for 2s']);
    link.swapped(swap(4, 'old', 'new'));
    for (let frame = 0; frame < 4; frame++) link.frame(frame, Float64Array.of(10), ['old']);
    for (let frame = 4; frame < 8; frame++) link.frame(frame, Float64Array.of(90), ['new']);
    const told = seconds.map(({ frame, metric, mean }) => `${frame} ${metric} ${mean}`);
    expect(told).toEqual(['1 old 10', '3 old 10', '5 new 90', '7 new 90']);
    const alarms = posted.flatMap((message) => (message.kind === 'alarm' ? [message.alarm] : []));
    expect(alarms.map(({ raised, frame, metric }) => [raised, frame, metric])).toEqual([
      [true, 3, 'old'],
      [false, 5, 'new'],
    ]);
  });

  it('refuses commands that wait, and later ones, once its server is closed', () => {
    const { link, posted } = begun();
    link.command(1, { kind: 'pause' });
    link.detach();
    link.command(2, { kind: 'pause' });
    link.boundary();
    expect(link.steering.paused).toBe(false);
    const answers = posted.flatMap((message) => (message.kind === 'answer' ? [message] : []));
    expect(answers.map(({ call, refusal }) => [call, refusal?.message])).toEqual([
      [1, 'The server is closing.'],
      [2, 'The server is closing.'],
    ]);
  });

  it('executes a limited number of commands at a boundary, in order', () => {
    const { link, posted } = begun();
    const answered = () => posted.flatMap((message) => (message.kind === 'answer' ? [message.call] : []));
    for (let call = 0; call < 10; call++) link.command(call, { kind: call % 2 ? 'resume' : 'pause' });
    expect(answered()).toEqual([]);
    link.boundary();
    expect(answered()).toEqual([0, 1, 2, 3]);
    link.boundary();
    expect(answered()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    link.boundary();
    expect(answered()).toHaveLength(10);
    link.detach();
  });

  it('takes a second of more frames than a call may have arguments', () => {
    const { link, seconds } = begun();
    link.planned({ ...FACTS, rate: 200_000 });
    for (let frame = 0; frame < 200_000; frame++) link.frame(frame, Float64Array.of(frame + 1), ['old']);
    expect(seconds).toMatchObject([{ second: 1, mean: 100_000.5, min: 1 }]);
  });
});

describe('a history', () => {
  it('uses the last of several models that took over at one frame', () => {
    const history = new History(0, 'main', {});
    const { taken: _, ...facts } = FACTS;
    history.plan(facts);
    history.setNames(['old']);
    history.take(Float64Array.of(0, 1), Float64Array.of(1, 2));
    history.swap(swap(2, 'old', 'between'));
    history.swap(swap(2, 'between', 'new'));
    history.setNames(['new']);
    history.take(Float64Array.of(2, 3), Float64Array.of(3, 4));
    expect(history.main).toBe('new');
    expect(history.seconds.map(({ metric, mean }) => [metric, mean])).toEqual([
      ['old', 1.5],
      ['new', 3.5],
    ]);
  });

  it('has the percentiles of all frames once it is over, also if asked a moment before', () => {
    const history = new History(0, 'main', {});
    const { taken: _, ...facts } = FACTS;
    history.plan(facts);
    history.setNames(['old']);
    history.take(Float64Array.of(0, 1), Float64Array.of(90, 91));
    expect(history.pooled('old')?.percentiles).toBeDefined();
    history.take(Float64Array.of(2, 3), Float64Array.of(10, 11));
    history.state = 'finished';
    expect(history.pooled('old')?.percentiles).toEqual(history.range('old', 0, 3)?.percentiles);
  });

  it('counts scored frames if a run scores every fifth, and keeps the latest alarms', () => {
    const history = new History(0, 'main', {});
    const { taken: _, ...facts } = FACTS;
    expect([history.toScore, history.queued]).toEqual([null, 0]);
    history.plan({ ...facts, subsample: 5, rate: 10, total: 1001 });
    history.setNames(['old']);
    history.take(Float64Array.of(0, 5), Float64Array.of(80, 90));
    history.taken = 16;
    expect(progressOf(history)).toMatchObject({ frames: 2, queued: 2, total: 201 });
    expect(history.seconds).toEqual([{ second: 1, metric: 'old', mean: 85, min: 80 }]);
    for (let frame = 0; frame < KEPT_ALARMS + 3; frame++) history.alarm({ frame } as unknown as Alarm);
    expect(history.alarms).toHaveLength(KEPT_ALARMS);
    expect(history.alarms[0]).toEqual({ frame: 3 });
  });
});

describe('the main score', () => {
  it('changes at the frame of a change that replaces it, not at the request', () => {
    const main = new MainScore();
    main.begin('vmaf');
    main.swap(swap(10, 'vmaf', 'neg'));
    expect([main.at(9), main.now, main.at(10)]).toEqual(['vmaf', 'vmaf', 'neg']);
  });

  it('follows several changes at one boundary, but none of other scores or of skipped frames', () => {
    const main = new MainScore();
    main.begin('vmaf');
    main.swap(swap(10, 'vmaf', 'a'));
    main.swap(swap(10, 'a', 'b'));
    main.swap(swap(12, 'other', 'c'));
    expect(main.at(15)).toBe('b');
    main.swap(swap(20, 'b', 'd'));
    expect([main.at(19), main.at(25)]).toEqual(['b', 'd']);
  });
});

/** The messages of a stream, and its problems after `! `. */
function taken(...pieces: readonly string[]): string[] {
  const got: string[] = [];
  const message = (text: string) => void got.push(text);
  const framing = new Framing({ message, broken: (problem) => message(`! ${problem}`) }, true);
  for (const piece of pieces) framing.push(Buffer.from(piece));
  return got;
}

const framed = (body: string, length: number | string = body.length) =>
  `Content-Length: ${length}\r\n\r\n${body}`;

it('lines and headers are told apart by the first bytes in any pieces, and few blank bytes are kept for that', () => {
  expect(taken('{"a":1}\n', '{"b":2}\r\n\n')).toEqual(['{"a":1}', '{"b":2}']);
  expect(taken(...framed('{"a":1}'), framed('{}'))).toEqual(['{"a":1}', '{}']);
  expect(taken('content-length:2\r\nContent-Type: x\r\n\r\n{}')).toEqual(['{}']);
  const blank = ' '.repeat(2000);
  expect(taken(blank, 'Content-Length: 2\r\n')).toEqual([`${blank}Content-Length: 2`]);
});

it('a rule may name a model by its source', () => {
  const alarms = new Alarms([parseAlarm('vmaf_v0.6.1.min<60')]);
  alarms.start(1, ['vmaf'], 'vmaf', [{ name: 'vmaf', source: 'vmaf_v0.6.1' }]);
  const raised = alarms.take(0, Float64Array.of(50), ['vmaf'], 'vmaf');
  expect(raised.map(({ metric, value }) => [metric, value])).toEqual([['vmaf', 50]]);
});

it('seconds keep time where they are no whole number of frames', () => {
  const names = ['old'];
  const lastSecond = (frames: number, perSecond: number) => {
    const seconds = new Seconds();
    let last = 0;
    for (let i = 0; i < frames; i++) last = seconds.take(10, perSecond)?.second ?? last;
    return last;
  };
  expect([lastSecond(150, 2.5), lastSecond(125, 12.5), lastSecond(6, 0.1)]).toEqual([60, 10, 60]);
  const alarms = new Alarms([parseAlarm('mean<80 for 10s')]);
  alarms.start(2.5, names, 'old');
  const raised = Array.from({ length: 30 }, (_, i) => alarms.take(10 * i, Float64Array.of(10), names, 'old'));
  // 25 scored frames are ten seconds.
  expect(raised.flat().map(({ frame }) => frame)).toEqual([240]);
  expect(() => parseAlarm('ssimulacra2.harmonic_mean<30')).toThrow(/has values below 0 and so none/);
});

it('a wrong length is reported, and the next message is read', () => {
  const long = `! A message has more than ${MESSAGE_LIMIT} bytes.`;
  expect(taken(framed('x'.repeat(MESSAGE_LIMIT + 1)), framed('{}'))).toEqual([long, '{}']);
  const none = '! A header has no Content-Length.';
  for (const wrong of ['-2', '0x2', '2.5', '99999999999'])
    expect(taken(framed('', wrong), framed('{}')), wrong).toEqual([none, '{}']);
  const header = 'Content-Length: 2\r\nX: '.concat('y'.repeat(2000));
  expect(taken(header, framed('{}'))[0]).toBe('! A header has more than 1024 bytes.');
});

/** Ends the round, as the loop does once everything that arrived is read. */
const endRound = () => new Promise<void>((done) => setImmediate(done));

describe('the rounds of a server', () => {
  const waits = vi.spyOn(Atomics, 'wait');
  afterEach(() => {
    waits.mockReset();
    vi.useRealTimers();
  });

  /** Runs rounds of requests, `pause` milliseconds apart. @returns how often the thread rested */
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

  it('are followed by a rest if many ask, and count once for all requests', async () => {
    expect(await rests(50, 30)).toBe(0);
    expect(await rests(6, 0)).toBe(0);
    waits.mockReset();
    expect(await rests(50, 5)).toBe(44);
    waits.mockReset();
    expect(await rests(50, 30, 20)).toBe(0);
    expect(await rests(7, 0, 20)).toBe(1);
  });

  it('need no rest once the many are gone', async () => {
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
  ...{ measurement: 'main', reference: 'a.y4m', distorted: 'b.y4m', state: 'running' },
  ...{ frames: 50, queued: 2, total: 150, rate: { now: 20, average: 10 }, fps: 25 },
  ...{ metric: 'vmaf', mean: 91, worst: [{ frame: 30, metric: 'vmaf', value: 80 }] },
};
const second = (number: number, min: number) => ({ second: number, metric: 'vmaf', mean: min + 5, min });
const SECONDS = [second(1, 90), second(2, 80)];
const STORY: Story = { ...PROGRESS, error: null, seconds: SECONDS, swaps: [], alarms: [] };
const ALARM = { measurement: 'main', rule: 'min<85 for 1s', metric: 'vmaf', frame: 49, value: 80 };

async function boardOf(story = STORY): Promise<Board> {
  const board = new Board();
  await board.restore(Promise.resolve([story]));
  return board;
}

const shownOf = (board: Board): Story => board.shown ?? expect.fail('the board shows nothing');

describe('the board', () => {
  it('adds new seconds, two hours at most', async () => {
    const board = await boardOf();
    board.take('progress', { ...PROGRESS, frames: 75, fresh: [second(2, 80), second(3, 95)] });
    expect(shownOf(board)).toMatchObject({ frames: 75, reference: 'a.y4m' });
    expect(shownOf(board).seconds.map((one) => one.second)).toEqual([1, 2, 3]);
    const more = Array.from({ length: 8000 }, (_, i) => second(i + 1, 90));
    board.take('progress', { ...PROGRESS, fresh: more });
    expect(shownOf(board).seconds).toHaveLength(7200);
    expect(shownOf(board).seconds.at(-1)?.second).toBe(8000);
  });

  it('applies events after the history that they overtook, even if that cannot be loaded', async () => {
    const board = new Board();
    const restored = board.restore(Promise.resolve([STORY]));
    board.take('progress', { ...PROGRESS, frames: 40, fresh: [second(2, 80)] });
    board.take('progress', { ...PROGRESS, frames: 75, fresh: [second(3, 95)] });
    expect(board.shown).toBeUndefined();
    await restored;
    expect(shownOf(board)).toMatchObject({ frames: 75, reference: 'a.y4m' });
    expect(shownOf(board).seconds.map((one) => one.second)).toEqual([1, 2, 3]);
    const failed = board.restore(Promise.reject(new Error('gone')));
    board.take('progress', { ...PROGRESS, frames: 100, fresh: [] });
    await expect(failed).rejects.toThrow('gone');
    expect(shownOf(board).frames).toBe(100);
  });

  it('does not change when events repeat, as after a lost connection', async () => {
    const board = await boardOf();
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

  it('knows the active alarms', async () => {
    const board = await boardOf();
    board.take('alarm', { ...ALARM, raised: true });
    board.take('alarm', { ...ALARM, rule: 'p5<70 for 3s', raised: true });
    board.take('alarm', { ...ALARM, raised: false, frame: 99 });
    expect(alarmsOn(shownOf(board)).map(({ rule }) => rule)).toEqual(['p5<70 for 3s']);
  });

  it('keeps the order of the measurements and the chosen one, whichever reports first', async () => {
    const board = new Board();
    board.take('progress', { ...PROGRESS, measurement: 'second', fresh: [] });
    expect(board.shown?.measurement).toBe('second');
    await board.restore(Promise.resolve([STORY, { ...STORY, measurement: 'second' }]));
    expect(board.names).toEqual(['main', 'second']);
    expect(board.shown?.measurement).toBe('main');
    board.chosen = 'second';
    board.take('progress', { ...PROGRESS, measurement: 'third', fresh: [] });
    expect(board.shown?.measurement).toBe('second');
    expect(board.names).toEqual(['main', 'second', 'third']);
  });

  it('is over when every measurement is', async () => {
    const board = await boardOf();
    expect(new Board().isOver).toBe(false);
    board.take('progress', { ...PROGRESS, measurement: 'second', fresh: [] });
    board.take('end', { measurement: 'main', state: 'finished' });
    expect(board.isOver).toBe(false);
    board.take('end', { measurement: 'second', state: 'failed', error: 'no more frames' });
    expect(board.isOver).toBe(true);
    board.chosen = 'second';
    expect(board.shown).toMatchObject({ state: 'failed', error: 'no more frames' });
  });

  it('shows times of the video and the time left if known', () => {
    expect(timeOf(STORY, 30)).toBe('0:01.2');
    // 100 frames at 20 a second.
    expect(secondsLeft(STORY)).toBe(5);
    expect(secondsLeft({ ...STORY, total: null })).toBeUndefined();
    expect(secondsLeft({ ...STORY, state: 'paused' })).toBeUndefined();
    expect(worstSeconds(STORY).map((one) => one.second)).toEqual([2]);
  });
});

it('a wait that ends looks at what has arrived since the last event', async () => {
  const hub = new Hub({ queueDepth: 1, folders: [], name: 'test' }, () => {});
  let arrived: string | undefined;
  const found = hub.until(() => arrived, 5, new AbortController().signal);
  arrived = 'alarm';
  expect(await found).toBe('alarm');
});

it('a session that closes ends all its calls, however many, even of the same id', async () => {
  const warned = vi.fn();
  process.once('warning', warned);
  const hub = new Hub({ queueDepth: 1, folders: [], name: 'test' }, () => {});
  hub.take({ kind: 'measurement', id: 0, name: 'main' });
  const session = new Session(hub, () => {});
  const params = { name: 'vmaf.watch', arguments: { rule: 'min<1' } };
  const watch = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answers = Array.from({ length: 12 }, () => session.answer(watch));
  session.close();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
  await new Promise((next) => setImmediate(next));
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});

it('the status is renewed after every change, and after 100 ms in any case', () => {
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
