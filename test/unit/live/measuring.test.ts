/**
 * @module test/unit/live/measuring
 * The measuring side of the live server by itself: what it tells while models change, and when its server goes.
 */
import { describe, expect, it } from 'vitest';
import type { RunFacts, SwapOutcome } from '../../../src/engine/contract/types.js';
import { type Alarm, Alarms, MainScore, parseAlarm } from '../../../src/live/alarms.js';
import { History, KEPT_ALARMS } from '../../../src/live/history.js';
import { Link } from '../../../src/live/link.js';
import type { SecondLine, ToServer } from '../../../src/live/messages.js';
import { progressOf } from '../../../src/mcp/live/story.js';

const FACTS: RunFacts = {
  format: { width: 64, height: 64, bitDepth: 8, chroma: '420' },
  reference: 'r',
  distorted: 'd',
  rate: 2,
  total: null,
  metrics: ['old'],
  models: [
    {
      name: 'old',
      source: 'old',
      type: 'svm',
      clip: true,
      transform: false,
      interval: false,
    } as unknown as RunFacts['models'][number],
  ],
  extractors: [],
  backend: 'wasm',
  threads: 0,
  subsample: 1,
  taken: () => 0,
};

const swap = (frame: number, from: string, to: string): SwapOutcome => ({
  frame,
  from,
  to,
  source: to,
});

/** A link whose measurement has begun, with what it posted and the seconds that it told. */
function begun(alarms: readonly string[] = []) {
  const posted: ToServer[] = [];
  const seconds: SecondLine[] = [];
  const link = new Link({
    id: 0,
    name: 'main',
    post: (message) => void posted.push(message),
    maxDrainPerFrame: 4,
    folders: [],
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

  it.each(['', 'p5', 'p5<', '<80', 'p5<80 for 0s', 'good(vmaf)<80', 'p5=80', 'p5<8.0.0', 'p5<80 for 3'])(
    '%s is refused',
    (text) => expect(() => parseAlarm(text)).toThrow(/must be a pooled value, a comparison and a time/),
  );

  it('is about a metric by any of its names, and holds at its limit only where it says so', () => {
    const raised = (rule: string) => {
      const { link, posted } = begun([rule]);
      for (let frame = 0; frame < 2; frame++) link.frame(frame, Float64Array.of(10), ['old']);
      return posted.some((message) => message.kind === 'alarm');
    };
    expect(['old.max<10', 'old.max<=10', 'max<10.5', 'max>10', 'max>=10', '11'].map(raised)).toEqual([
      ...[false, true, true, false, true, true],
    ]);
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

  it('take their values, from the side that is the worse one', () => {
    const score = watching('ssimulacra2.min<60');
    expect([score([70, 0, 0, 0]), score([55, 0, 0, 0])]).toEqual([[], [[true, 55]]]);
    const difference = watching('butteraugli.norm3.worst_second>2');
    expect([difference([0, 0, 1, 0]), difference([0, 0, 4, 0])]).toEqual([[], [[true, 2.5]]]);
  });

  it('do not take Q for JOD, which a clip has at its end only', () => {
    expect(() => watching('cvvdp<9')).toThrow(/is about "cvvdp", which .*cvvdp_q/);
  });
});

describe('a link', () => {
  it('is about the old score up to the frame at which a change takes effect', () => {
    const { link, posted, seconds } = begun(['max<50 for 2s']);
    link.swapped(swap(4, 'old', 'new'));
    for (let frame = 0; frame < 4; frame++) link.frame(frame, Float64Array.of(10), ['old']);
    for (let frame = 4; frame < 8; frame++) link.frame(frame, Float64Array.of(90), ['new']);
    expect(seconds.map(({ frame, metric, mean }) => [frame, metric, mean])).toEqual([
      [1, 'old', 10],
      [3, 'old', 10],
      [5, 'new', 90],
      [7, 'new', 90],
    ]);
    const alarms = posted.flatMap((message) => (message.kind === 'alarm' ? [message.alarm] : []));
    expect(alarms.map(({ raised, frame, metric }) => [raised, frame, metric])).toEqual([
      [true, 3, 'old'],
      [false, 5, 'new'],
    ]);
  });

  it('refuses what waits, and what still comes, once its server is closed', () => {
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

  it('carries out so many commands at a boundary, in their order', () => {
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

  it('takes a second of more frames than a call has arguments', () => {
    const { link, seconds } = begun();
    link.planned({ ...FACTS, rate: 200_000 });
    for (let frame = 0; frame < 200_000; frame++) link.frame(frame, Float64Array.of(frame + 1), ['old']);
    expect(seconds).toMatchObject([{ second: 1, mean: 100_000.5, min: 1 }]);
  });
});

describe('a history', () => {
  it('is about the last of several models that took over at one frame', () => {
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

  it('counts the frames that are scored, where a run scores every fifth', () => {
    const history = new History(0, 'main', {});
    const { taken: _, ...facts } = FACTS;
    expect([history.toScore, history.queued]).toEqual([null, 0]);
    history.plan({ ...facts, subsample: 5, rate: 10, total: 1001 });
    history.setNames(['old']);
    history.take(Float64Array.of(0, 5), Float64Array.of(80, 90));
    history.taken = 16;
    expect(progressOf(history)).toMatchObject({ frames: 2, queued: 2, total: 201 });
    expect(history.seconds).toEqual([{ second: 1, metric: 'old', mean: 85, min: 80 }]);
  });
});

describe('alarms', () => {
  it('are remembered up to a number, the latest', () => {
    const history = new History(0, 'main', {});
    for (let frame = 0; frame < KEPT_ALARMS + 3; frame++) history.alarm({ frame } as unknown as Alarm);
    expect(history.alarms).toHaveLength(KEPT_ALARMS);
    expect(history.alarms[0]).toEqual({ frame: 3 });
  });
});

describe('the main score', () => {
  it('changes at the frame of a change that replaces it, not when that is asked for', () => {
    const main = new MainScore();
    main.begin('vmaf');
    main.swap(swap(10, 'vmaf', 'neg'));
    expect(main.at(9)).toBe('vmaf');
    expect(main.now).toBe('vmaf');
    expect(main.at(10)).toBe('neg');
  });

  it('follows several changes at one boundary, and leaves out those of other scores and frames that are passed over', () => {
    const main = new MainScore();
    main.begin('vmaf');
    main.swap(swap(10, 'vmaf', 'a'));
    main.swap(swap(10, 'a', 'b'));
    main.swap(swap(12, 'other', 'c'));
    expect(main.at(15)).toBe('b');
    main.swap(swap(20, 'b', 'd'));
    expect(main.at(19)).toBe('b');
    expect(main.at(25)).toBe('d');
  });
});
