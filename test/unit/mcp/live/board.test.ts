/**
 * What the dashboard makes of the events of its stream.
 */
import { describe, expect, it } from 'vitest';
import {
  alarmsOn,
  Board,
  incidentsOf,
  secondsLeft,
  timeOf,
  worstSeconds,
} from '../../../../src/mcp/live/dashboard/board.js';
import type { Progress, Story } from '../../../../src/mcp/live/story.js';

const PROGRESS: Progress = {
  measurement: 'main',
  reference: 'a.y4m',
  distorted: 'b.y4m',
  state: 'running',
  frames: 50,
  taken: 52,
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
    const swap = { measurement: 'main', frame: 60, from: 'vmaf', to: 'neg', source: 'x.json', measuring: [] };
    for (let i = 0; i < 2; i++) {
      board.take('alarm', { ...ALARM, raised: true });
      board.take('swap', swap);
      board.take('progress', { ...PROGRESS, fresh: STORY.seconds });
    }
    expect(shownOf(board).alarms).toHaveLength(1);
    expect(shownOf(board).swaps).toHaveLength(1);
    expect(shownOf(board).seconds).toEqual(STORY.seconds);
    expect(incidentsOf(shownOf(board))).toEqual([
      { frame: 60, text: 'neg scores instead of VMAF' },
      { frame: 49, text: 'alarm: min<85 for 1s (80.00)' },
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
