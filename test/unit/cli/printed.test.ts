/**
 * @module test/unit/cli/printed
 * What the command line prints: help, plain lines, results of several encodes, the progress bar; and messages and exit codes of
 * failures and signals.
 */
import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import {
  COMMANDS,
  helpWidth,
  openProgressBar,
  type ProgressBar,
  progressSum,
  renderHelp,
  twoColumns,
} from '../../../src/cli/command.js';
import { screenLines } from '../../../src/cli/commands/queue.js';
import {
  ClosedPipe,
  EXIT,
  endNow,
  errorLine,
  exitCodeOf,
  findingsInFlags,
  Interrupted,
  interruption,
} from '../../../src/cli/exit.js';
import { judgeReport, objection } from '../../../src/cli/gate.js';
import {
  complainOfFailures,
  plainResult,
  plainResults,
  printLive,
  writeReports,
} from '../../../src/cli/printed.js';
import { chooseCommand, loadCommand } from '../../../src/cli/program/program.js';
import { scoreSettings } from '../../../src/cli/score-options.js';
import { openTerminal, type Terminal } from '../../../src/cli/terminal.js';
import { AnyvmafError, type ErrorCode, type Hint } from '../../../src/core/errors.js';
import { limitError } from '../../../src/core/system-limits.js';
import type { Progress } from '../../../src/engine/contract/types.js';
import { sentenceOf } from '../../../src/mcp/wording.js';
import type { Finding } from '../../../src/media/preflight/findings.js';
import { vf } from '../../../src/media/preflight/make.js';
import { readReport } from '../../../src/report/read/index.js';
import type {
  FrameMetrics,
  PooledMetric,
  Report,
  ReportModel,
  ReportSampling,
} from '../../../src/report/schema.js';
import { recordingTerminal } from '../../support/cli.js';
import { built, called, frames, paired, pooled, report, vmafModel } from '../../support/report.js';

/** A terminal that records each text drawn and each complaint, and whose width can change. */
function fakeTerminal() {
  const drawn: string[] = [];
  const said: string[] = [];
  const size = { columns: 80 };
  const { terminal } = recordingTerminal({
    interactive: true,
    canDraw: true,
    draw: (text) => drawn.push(text),
    complain: (line) => said.push(line),
  });
  Object.defineProperty(terminal, 'errorColumns', { get: () => size.columns });
  return { terminal, drawn, said, size };
}

function openBar(terminal: Terminal): ProgressBar {
  const bar = openProgressBar(terminal);
  if (!bar) throw new Error('there is no bar');
  return bar;
}

describe.each(COMMANDS.map(({ name }) => name))('help of %s', (name) => {
  test('fits the columns and names every option once', async () => {
    const { page } = await loadCommand(name);
    const unbreakable = 57; // the longest example or option string, which is kept whole
    for (const width of [80, 60, 40]) {
      const most = width === 80 ? 80 : Math.max(width, unbreakable);
      const lines = renderHelp(page, width).split('\n');
      expect(lines.filter((line) => line.length > most)).toEqual([]);
    }
    const text = renderHelp(page, 80);
    for (const option of page.options.filter(({ group }) => group !== undefined)) {
      const heads = text.match(new RegExp(`^ {2}(-.,| {3}) --${option.name}(?![\\w-])`, 'gm'));
      expect(heads, option.name).toHaveLength(1);
    }
  });

  test('shows examples that a shell neither redirects nor splits', async () => {
    const { page } = await loadCommand(name);
    for (const [example] of page.sections?.Examples ?? [])
      expect(example.replace(/'[^']*'/g, '')).not.toMatch(/[<>|&;]/);
  });
});

describe('help', () => {
  test('of scoring says where models and features are listed, and every exit code', async () => {
    const text = renderHelp((await loadCommand(COMMANDS[0].name)).page, 80).replace(/\s+/g, ' ');
    expect(text).toContain("'anyvmaf models' lists");
    expect(text).toContain("'anyvmaf features' lists");
    const listed = text.slice(text.indexOf('Exit codes:'));
    for (const code of Object.values(EXIT)) expect(listed).toMatch(new RegExp(` ${code} [a-z]`));
  });

  test('is 40 to 80 columns wide, wraps the right column, and gives a long left text its own line', () => {
    expect([200, 80, 66, 10].map(helpWidth)).toEqual([80, 80, 66, 40]);
    const rows = [
      ['-a', 'one two three four'],
      ['--quite-a-long-option', 'five'],
    ] as const;
    expect(twoColumns(rows, 24)).toBe('  -a  one two three four\n  --quite-a-long-option\n      five');
  });
});

test.each([
  [['a', 'b'], [], 'score', ['a', 'b']],
  [[], [], 'score', []],
  [['--json', 'models'], [], 'score', ['--json', 'models']],
  [['models', '--json'], [], 'models', ['--json']],
  [['score', 'a', 'b'], [], 'score', ['a', 'b']],
  // A file named like a command is a video.
  [['models', 'b'], ['models'], 'score', ['models', 'b']],
])('%j where %j are files is the command %s', (args, existing: string[], name, rest) => {
  const [chosen, others] = chooseCommand(args, (path) => existing.includes(path));
  expect([chosen, others]).toEqual([name, rest]);
});

describe('the flags that findings advise', () => {
  const finding = (code: Finding['code'], hint: Hint): Finding => ({
    ...{ code, severity: 'warning', message: `About ${code}.`, hint },
  });
  const late = finding('offset', { purpose: 'fix', option: 'offset', value: 12 });
  const turned = finding('display-aspect', {
    ...{ purpose: 'prepare', commands: [], instead: [vf('distorted', 'transpose=cclock')] },
  });
  const scaled = finding('size', { purpose: 'accept', option: 'scale', value: 'bicubic' });
  const fixes = (ofAll?: (one: Finding) => boolean) =>
    findingsInFlags([late, turned, scaled], ofAll).map(({ fix }) => fix);

  test('fix a pair, but one encode of several only if it concerns all', () => {
    expect(fixes()).toEqual(['--offset 12', '--vf-dis transpose=cclock', 'to accept, pass --scale bicubic']);
    expect(fixes(() => false)).toEqual([
      '--offset auto',
      'score it alone with --vf-dis transpose=cclock',
      'to accept, pass --scale bicubic',
    ]);
    expect(fixes((one) => one.code === 'offset')[0]).toBe('--offset 12');
  });
});

describe('plain lines of a run', () => {
  const model = (name: string, source: string): ReportModel => ({ ...vmafModel, name, source, features: [] });
  const same = (mean: number): PooledMetric => pooled(mean, mean, mean, mean);
  const run = (means: Record<string, number | null>, models: readonly ReportModel[]): Report => ({
    ...report(),
    models,
    metrics: Object.keys(means),
    pooled_metrics: Object.fromEntries(
      Object.entries(means).map(([name, mean]) => [name, mean === null ? {} : same(mean)]),
    ),
  });

  test('name the model instead of its score', () => {
    const models = [model('vmaf', 'vmaf_v0.6.1'), model('mine', '/models/my.json')];
    const text = plainResult(run({ integer_adm2: 0.9, vmaf: 82.56422654900535, mine: 3 }, models), 'legacy');
    expect(text).toBe('vmaf_v0.6.1: 82.564227\n/models/my.json: 3.000000\n');
  });

  test('use the requested precision', () => {
    const clip = { ...run({ cvvdp_q: 2.5 }, []), aggregate_metrics: { cvvdp: 9.75 } };
    expect(plainResult(clip, 'legacy')).toBe('cvvdp_q: 2.500000\ncvvdp: 9.750000\n');
    expect(plainResult(run({ vmaf: 82.56422654900535 }, [model('vmaf', 'vmaf_v0.6.1')]), 17)).toBe(
      'vmaf_v0.6.1: 82.564226549005355\n', // C's %.17g
    );
  });

  test('add the confidence interval of a collection as the vmaf tool does', () => {
    const names = { bagging: 'x_bagging', stddev: 'x_stddev', ciLow: 'x_lo', ciHigh: 'x_hi' };
    const collection = { ...model('x', 'vmaf_b_v0.6.3'), collection: { members: 20, ...names } };
    const means = { x: 81.5, x_bagging: 80.79002, x_stddev: 1.622961, x_lo: 78.34105, x_hi: 83.653128 };
    const interval = 'vmaf_b_v0.6.3: 80.790020, ci.p95: [78.341050, 83.653128], stddev: 1.622961\n';
    expect(plainResult(run(means, [collection]), 'legacy')).toBe(`vmaf_b_v0.6.3: 81.500000\n${interval}`);
  });

  test('show the mean of every metric without models', () => {
    const means = run({ psnr_y: 34.5, psnr_cb: null }, []);
    expect(plainResult(means, 'legacy')).toBe('psnr_y: 34.500000\npsnr_cb: -nan\n');
  });

  test('the gate passes at the limit, not below it and not without a mean', () => {
    const models = [model('a', 'A'), model('b', 'B'), model('c', 'C')];
    const settings = { failUnder: 90, precision: 'legacy' } as const;
    expect(judgeReport(run({ a: 90, b: 89.999999, c: null }, models), settings)).toMatchObject({
      passed: false,
      complaints: [
        'the mean of B is 89.999999, below --fail-under 90',
        'the mean of C is -nan, below --fail-under 90',
      ],
    });
  });

  test('the gate fails for a mismatched pair unless it is accepted, and only warns of a doubtful score', () => {
    const warned = (code: 'offset' | 'size') => ({
      preflight: [{ code, severity: 'warning', message: 'About\nit.' }] as const,
      warnings: [],
    });
    expect(objection({ warnings: [] }, '', false)).toBeUndefined();
    expect(objection(warned('offset'), ' for b.mp4', false)).toEqual({
      message:
        '--fail-under fails because the score for b.mp4 cannot be trusted: [offset] About\\x0ait; ' +
        'add --accept-untrusted to judge it anyway',
      fails: true,
    });
    expect(objection(warned('offset'), '', true)?.fails).toBe(false);
    expect(objection(warned('size'), '', false)).toEqual({
      message: '--fail-under judges a score that is doubtful: [size] About\\x0ait.',
      fails: false,
    });
  });
});

function samplingOf(starts: readonly number[], intervals: ReportSampling['intervals'] = []): ReportSampling {
  return { runs: 1, run_frames: 3, frames: 3, total: 9, seed: 1, level: 0.95, starts, intervals };
}

it.each(['score', 'batch', 'merge', 'inspect', 'align', 'heatmap', 'features', 'tiny'] as const)(
  '%s, which may need a part, takes --yes',
  async (name) => {
    const { page } = await loadCommand(name);
    expect(page.options.map((option) => option.name)).toContain('yes');
  },
);

describe('a gate judges', () => {
  const one = built(
    { vmaf: [80, 90, 100], psnr_y: [30, 32, 40], mse_y: [5, 6, 7] },
    { models: [vmafModel], aggregates: { cvvdp: 9 } },
  );
  const complaints = (line: string, run = one, before?: Report) => {
    const settings = scoreSettings(['a', 'b', ...line.split(' ')]);
    if (typeof settings === 'string') throw new Error(settings);
    return judgeReport(run, settings, '', before && { report: before, name: 'base.json' }).complaints;
  };

  test('more spread as a drop, less as none', () => {
    const even = built(
      { vmaf: [89, 90, 91], psnr_y: [30, 32, 40], mse_y: [5, 6, 7] },
      { models: [vmafModel], aggregates: { cvvdp: 9 } },
    );
    const drop = '--baseline base.json --max-drop vmaf.stddev=1';
    expect(complaints(drop, one, even)).toEqual([
      'vmaf.stddev within 1 of the baseline failed: 8.164966, was 0.816497: worse by 7.348469',
    ]);
    expect(complaints(drop, even, one)).toEqual([]);
  });

  test('each statistic by its own value, including the bound', () => {
    const kept =
      'vmaf.mean>=90,vmaf.min>=80,vmaf.min<=80,psnr_y.max>=40,vmaf.p5>=81,psnr_y.p75>=36,mse_y.stddev<=0.8165';
    expect(complaints(`--fail-under ${kept}`)).toEqual([]);
    const missed =
      'vmaf>=90.1,vmaf.min>=80.1,vmaf.min<=79.9,psnr_y.max>=40.1,vmaf.p5>=81.1,psnr_y.p75>=36.1,mse_y.stddev<=0.8164';
    expect(complaints(`--fail-under ${missed}`)).toEqual([
      "vmaf.mean is 90.000000, below the limit: --fail-under 'vmaf.mean>=90.1'",
      "vmaf.min is 80.000000, below the limit: --fail-under 'vmaf.min>=80.1'",
      "vmaf.min is 80.000000, above the limit: --fail-under 'vmaf.min<=79.9'",
      "psnr_y.max is 40.000000, below the limit: --fail-under 'psnr_y.max>=40.1'",
      "vmaf.p5 is 81.000000, below the limit: --fail-under 'vmaf.p5>=81.1'",
      "psnr_y.p75 is 36.000000, below the limit: --fail-under 'psnr_y.p75>=36.1'",
      "mse_y.stddev is 0.816497, above the limit: --fail-under 'mse_y.stddev<=0.8164'",
    ]);
  });

  test.each([
    ['vmaf', { pooled_metrics: { ...one.pooled_metrics, vmaf: pooled(80, 100, 90.75, 90) } }, '90', '90.75'],
    ['mse_y', { pooled_metrics: { ...one.pooled_metrics, mse_y: pooled(5, 7, 5.25, 5) } }, '6', '5.25'],
    ['cvvdp', { aggregate_metrics: { cvvdp: 9.75 } }, '9', '9.75'],
  ])('a drop of %s below the baseline, in the direction of the metric', (metric, better, now, then) => {
    const before: Report = { ...one, ...better };
    const name = metric === 'cvvdp' ? metric : `${metric}.mean`;
    const drop = `--baseline base.json --max-drop ${metric}=`;
    expect(complaints(`${drop}0.75`, one, before)).toEqual([]);
    expect(complaints(`${drop}0.74`, one, before)).toEqual([
      `${name} within 0.74 of the baseline failed: ${now}, was ${then}: worse by 0.75`,
    ]);
    expect(complaints(`${drop}0`, before, one)).toEqual([]);
    const wrong: Report = { ...one, preflight: [{ code: 'offset', severity: 'error', message: 'Late.' }] };
    expect(complaints(`${drop}1`, wrong, before)).toEqual([
      expect.stringMatching(/^--baseline fails because the score cannot be trusted: \[offset\] Late; /),
    ]);
  });

  test.each([
    [
      'of another size',
      { pairing: { ...paired({}), width: 1280 } },
      'it was scored at 1280x1080, this run at 1920x1080',
    ],
    ['of other samples', { sampling: samplingOf([0, 9]) }, 'other samples of the video were scored'],
  ])('no drop below a baseline %s', (_, other, why) => {
    const now: Report = { ...one, pairing: paired({}), sampling: samplingOf([0, 6]) };
    const drop = '--baseline base.json --max-drop 1';
    expect(complaints(drop, now, { ...now })).toEqual([]);
    expect(() => complaints(drop, now, { ...now, ...other })).toThrow(why);
  });

  test('samples by their whole interval, and a statistic without one as undecided', () => {
    const sampling = samplingOf([0], [{ metric: 'vmaf', statistic: 'mean', low: 89, high: 91 }]);
    expect(complaints('--fail-under 89', { ...one, sampling })).toEqual([]);
    expect(complaints('--fail-under 89.5,vmaf.min>=1', { ...one, sampling })).toEqual([
      expect.stringMatching(
        /^vmaf\.mean is an estimate, between 89\.0+ and 91\.0+: .*'vmaf\.mean>=89\.5' holds is undec/,
      ),
      expect.stringMatching(/^vmaf\.min is an estimate: .* is undecided;/),
    ]);
  });
});

describe('results of several encodes', () => {
  const encode = (name: string, value: number) => {
    const means = { vmaf: pooled(value, value, value, value) };
    const parts = { models: [vmafModel], metrics: ['vmaf'], frames: frames('vmaf', [value]) };
    return called(report({ ...parts, pooled_metrics: means }), name);
  };
  const [first, second] = [encode('a.mp4', 90), encode('b.mp4', 80)];
  const names = { version: '1.2.3', reference: 'r.mov', distorted: 'x.mp4' };
  const failed = { ...names, code: 'media', message: 'x.mp4 is not a "video".' } as const;
  type Format = 'json' | 'csv' | 'ndjson';
  const written = (format: Format) => [...writeReports([first, failed, second], format, 'legacy')].join('');
  const named = (text: string) =>
    JSON.parse(text).map((one: { distorted: { name: string } }) => one.distorted.name);
  const types = (text: string) => text.match(/.+/g)?.map((line) => JSON.parse(line).type);

  test('are a JSON array of whole reports, with a record for each failure', () => {
    expect(named(written('json'))).toEqual(['a.mp4', 'x.mp4', 'b.mp4']);
    expect(JSON.parse(written('json'))[2].pooled_metrics.vmaf.mean).toBe(80);
    expect(JSON.parse(written('json'))[1]).toEqual({
      version: '1.2.3',
      reference: { name: 'r.mov' },
      distorted: { name: 'x.mp4' },
      error: { code: 'media', message: 'x.mp4 is not a "video".' },
    });
  });

  test('are JSON lines, each report from its header to its summary', () => {
    const one = ['header', 'frame', 'summary'];
    expect(types(written('ndjson'))).toEqual([...one, 'failure', ...one]);
  });

  /** Reads back what is printed while it is measured. */
  async function readLive(whole: Report, told: readonly FrameMetrics[], end: Report) {
    let text = '';
    const print = async (added: string) => {
      text += added;
    };
    const live = printLive(1, 'legacy', print, (reason) => expect.unreachable(String(reason)));
    live.start(whole);
    for (const frame of told) live.frame(frame);
    live.end(end);
    await live.written();
    return readReport(text);
  }

  test('printed live have percentiles of all frames, of which a window keeps the last', async () => {
    const whole = built({ vmaf: [50, 90, 91] }, { models: [vmafModel] });
    const { pooled_metrics, frameCount } = whole;
    const kept = built({ vmaf: [90, 91] }, { models: [vmafModel], frameNumbers: [1, 2] });
    const read = await readLive(whole, whole.frames, { ...kept, pooled_metrics, frameCount });
    expect(read).toMatchObject({ computed: ['distribution'], distribution: whole.distribution });
  });

  test('printed live have the scores of a model that replaced another', async () => {
    const neg = { ...vmafModel, name: 'neg', source: 'vmaf_v0.6.1neg' };
    const told: FrameMetrics[] = [
      { frameNum: 0, metrics: { vmaf: 90 } },
      { frameNum: 1, metrics: { neg: 80 } },
    ];
    const read = await readLive(first, told, {
      ...{ ...first, models: [vmafModel, neg], metrics: ['vmaf', 'neg'], frames: told, frameCount: 2 },
      ...{ pooled_metrics: { vmaf: {}, neg: {} }, swaps: [{ frame: 1, from: 'vmaf', to: 'neg' }] },
    });
    expect(read.frames).toEqual(told);
    expect(read.models?.map(({ name }) => name)).toEqual(['vmaf', 'neg']);
  });

  test('are printed live as JSON lines in order, even if a frame follows a failure', async () => {
    let text = '';
    const print = async (added: string) => {
      text += added;
    };
    const live = printLive(3, 'legacy', print, (reason) => expect.unreachable(String(reason)));
    const [frame] = second.frames as [FrameMetrics];
    live.start(second, 2);
    live.frame(frame, 2);
    live.end(second, 2);
    live.fail(failed, 1);
    live.frame(frame, 1);
    await live.written();
    expect(text).toBe('');
    live.end({ ...first, frames: [] }, 0);
    await live.written();
    expect(types(text)).toEqual(['header', 'summary', 'failure', 'frame', 'header', 'frame', 'summary']);
  });

  test('are rows of CSV, with another column for errors', () => {
    const [head = ''] = [...writeReports([first, second], 'csv', 'legacy')].join('').split('\n');
    const lines = written('csv').trimEnd().split('\n');
    expect(lines[0]).toMatch(/,size,trust,trust_codes,error$/);
    expect(lines[1]).toMatch(/^[^,]*,a\.mp4,.*,$/);
    const columns = head.split(',').length;
    expect(lines[2]).toBe(`r.mov,x.mp4${','.repeat(columns - 1)}"x.mp4 is not a ""video""."`);
    expect(lines).toHaveLength(4);
  });

  test('start with the file in plain lines', () => {
    const dollars = { ...first, distorted: { ...first.distorted, name: '$$.mp4' } };
    expect(plainResults([dollars, second], 'legacy')).toBe(
      '$$.mp4: vmaf_v0.6.1: 90.000000\nb.mp4: vmaf_v0.6.1: 80.000000\n',
    );
    const odd = { ...first, distorted: { ...first.distorted, name: "$$ a$'b.mp4" } };
    expect(plainResults([odd], 'legacy')).toBe("$$ a$'b.mp4: vmaf_v0.6.1: 90.000000\n");
  });

  test('report each reason once, with the files it concerns', () => {
    const { terminal, said } = fakeTerminal();
    const other = { ...failed, distorted: 'in/y.mp4', message: 'Too small.' };
    complainOfFailures([failed, other, { ...other, distorted: 'z.mp4' }], 4, terminal);
    expect(said).toEqual([
      'x.mp4 is not a "video".',
      'y.mp4, z.mp4: Too small.',
      '3 of 4 encodes could not be scored: x.mp4, y.mp4, z.mp4',
    ]);
    said.length = 0;
    complainOfFailures([other, { ...other, distorted: 'z.mp4' }], 2, terminal);
    expect(said).toEqual(['Too small.']);
  });
});

describe('progress', () => {
  const half = { framesDone: 50, framesTotal: 100, fps: 25, secondsLeft: 2 };
  const one = { framesDone: 1, framesTotal: 10, fps: 5, secondsLeft: 2 };
  const other = { framesDone: 2, framesTotal: 20, fps: 6, secondsLeft: 3 };

  test('of several runs adds up once all totals are known, without failed runs', () => {
    const seen: Progress[] = [];
    const show = progressSum(2, (progress) => seen.push(progress));
    show(one, 0);
    show(other, 1);
    expect(seen.splice(0)).toEqual([
      { framesDone: 1, framesTotal: null, fps: 5, secondsLeft: null },
      { framesDone: 3, framesTotal: 30, fps: 11, secondsLeft: 3 },
    ]);
    const failing = progressSum(3, (progress) => seen.push(progress));
    failing(null, 2);
    failing(one, 0);
    failing(other, 1);
    failing(null, 1);
    expect(seen.map(({ framesDone, framesTotal }) => [framesDone, framesTotal])).toEqual([
      [1, null],
      [3, 30],
      [1, 10],
    ]);
  });

  test.each([200, 80, 60, 40, 25, 12, 4, 1])('never wraps at %d columns, nor with ^C after it', (columns) => {
    const { terminal, drawn, size } = fakeTerminal();
    size.columns = columns;
    openBar(terminal).show(half);
    const line = drawn.join('').replace('\r\u001b[K', '');
    expect(line.length + 2).toBeLessThan(Math.max(columns, 3));
    expect(line).not.toContain('\n');
  });

  test('reads the width at every redraw', () => {
    const { terminal, drawn, size } = fakeTerminal();
    const bar = openBar(terminal);
    bar.show(half);
    size.columns = 30;
    bar.show(half);
    expect(drawn[0]?.length).toBeGreaterThan(60);
    expect(drawn[1]?.length).toBeLessThan(34);
  });

  test('is erased once, and only if it was shown', () => {
    const { terminal, drawn } = fakeTerminal();
    const bar = openBar(terminal);
    bar.clear();
    expect(drawn).toEqual([]);
    bar.show(half);
    bar.clear();
    bar.clear();
    expect(drawn).toHaveLength(2);
    expect(drawn[1]).toBe('\r\u001b[K');
  });

  test('follows a text that fits the line, has no control characters and is erased', () => {
    const { terminal, drawn, size } = fakeTerminal();
    size.columns = 30;
    const bar = openBar(terminal);
    bar.say(`reading ${'long '.repeat(20)}\u001b[31m\n.mp4`);
    const line = (drawn[0] ?? '').replace('\r\u001b[K', '');
    expect(line).toMatch(/^reading long.*…/);
    expect(line.length).toBeLessThanOrEqual(27);
    expect(line).not.toMatch(/\p{Cc}/u);
    bar.clear();
    expect(drawn.at(-1)).toBe('\r\u001b[K');
  });
});

test.each([
  [{ TERM: 'xterm' }, [true, true, true]],
  [{ TERM: 'xterm', NO_COLOR: '1' }, [true, false, false]],
  [{ TERM: 'dumb' }, [false, false, false]],
])('with %j a terminal is drawn on and coloured: %j', (env, expected) => {
  const stream = { isTTY: true, on: () => {} };
  const fake = { stdout: stream, stderr: stream, env } as unknown as NodeJS.Process;
  const { canDraw, colour, errorColour } = openTerminal(fake);
  expect([canDraw, colour, errorColour]).toEqual(expected);
});

describe('errors', () => {
  test.each<[ErrorCode, number]>([
    ['usage', 1],
    ['io', 2],
    ['media', 2],
    ['mismatch', 2],
    ['model', 2],
    ['feature', 2],
    ['internal', 70],
    ['aborted', 130],
  ])('of kind %s exit with %d', (code, expected) => {
    expect(exitCodeOf(new AnyvmafError(code, 'so'))).toBe(expected);
  });

  test('of signals exit as shells report them, and of a closed pipe without a message', () => {
    expect(exitCodeOf(new Interrupted('SIGINT'))).toBe(130);
    expect(exitCodeOf(new Interrupted('SIGTERM'))).toBe(143);
    expect(exitCodeOf(new ClosedPipe())).toBe(141);
    expect(errorLine(new ClosedPipe())).toBeUndefined();
  });

  test('that are not ours are internal; all are one line without control characters', () => {
    expect(exitCodeOf(new TypeError('x is undefined'))).toBe(70);
    expect(exitCodeOf('thrown text')).toBe(70);
    const line = errorLine(new TypeError('x is undefined'));
    expect(line).toContain('internal error in anyvmaf, please report it: x is');
    const escaped = 'no file "a\\x0d\\x0a  b\\x1b[2J"';
    expect(errorLine(new AnyvmafError('io', 'no file "a\r\n  b\u001b[2J"\n'))).toBe(escaped);
  });

  const withCode = (code: string, message: string) => Object.assign(new Error(message), { code });

  test.each([
    [withCode('EMFILE', 'EMFILE: too many open files, open "/x.js"'), /^Too many files are open.*ulimit -n/],
    [withCode('ENFILE', 'ENFILE: file table overflow'), /^The system has too many files open/],
    [withCode('ENOMEM', 'spawn ENOMEM'), /^Memory ran out/],
    [withCode('EAGAIN', 'spawn ffmpeg EAGAIN'), /^The system starts no more processes/],
    [withCode('ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EMFILE'), /^Too many files/],
    [withCode('ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EAGAIN'), /no more processes/],
    [new RangeError('Array buffer allocation failed'), /^Memory ran out/],
    [new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory'), /^Memory ran/],
  ])('of a system limit are not internal: %s', (cause, sentence) => {
    expect(errorLine(cause)).toMatch(sentence);
    expect(exitCodeOf(cause)).toBe(2);
    expect(sentenceOf(cause)).toMatch(sentence);
    expect(limitError(cause)).toMatchObject({ code: 'resource', cause });
  });

  test.each([
    new TypeError('x is undefined'),
    withCode('ENOENT', 'no such file'),
    new AnyvmafError('io', 'cannot read EMFILE'),
    undefined,
  ])('of another kind are no system limit: %s', (cause) => {
    expect(limitError(cause)).toBeUndefined();
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('ends also where its own signal does not end it, as the first process of a container', () => {
  const thread = new EventEmitter();
  (process as EventEmitter).emit('worker', thread);
  vi.spyOn(process, 'emit').mockReturnValue(true as never);
  vi.spyOn(process, 'removeAllListeners').mockReturnThis();
  const killed = vi.spyOn(process, 'kill').mockReturnValue(true);
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  try {
    expect(() => endNow('SIGTERM', 143)).toThrow('exit 143');
    expect(killed).toHaveBeenCalledExactlyOnceWith(process.pid, 'SIGTERM');
  } finally {
    vi.restoreAllMocks();
    thread.emit('exit');
  }
});

it('the view of a queue takes one row for each line, whatever the width', () => {
  const lines = screenLines(
    ['running  1', `workers  9  ${'machine-1234, '.repeat(9)}`, 'lost\n\u001b[31m'],
    40,
  );
  expect(lines[0]).toBe('running  1');
  for (const line of lines) {
    expect(line.length).toBeLessThan(40);
    expect(line).toMatch(/^[ -~…]*$/);
  }
});

it('prints that it was terminated before it ends a run that did not stop in time', () => {
  vi.useFakeTimers();
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Never returns, as the real one.
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const stop = interruption(1000);
  try {
    process.listeners('SIGTERM').at(-1)?.('SIGTERM');
    expect(stop.signal.reason).toMatchObject({ message: 'terminated', exitCode: 143 });
    vi.advanceTimersByTime(999);
    expect(written).not.toHaveBeenCalled();
    expect(() => vi.advanceTimersByTime(1)).toThrow('exit 143');
    expect(written).toHaveBeenCalledExactlyOnceWith('anyvmaf: terminated\n');
  } finally {
    stop.release();
  }
});
