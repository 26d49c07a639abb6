/**
 * @module test/unit/report/summary
 * The text of one report: in full, in brief, and the rating of a score.
 */
import { describe, expect, it } from 'vitest';
import type { FindingCode } from '../../../src/media/preflight/findings.js';
import { brief, unsaid } from '../../../src/report/brief.js';
import type { ReportParts } from '../../../src/report/build.js';
import type { Report, ReportModel, ReportTinyModel } from '../../../src/report/schema.js';
import { columns } from '../../../src/report/sections.js';
import { summarize } from '../../../src/report/summary.js';
import { built, collectionModel, paired, vmafModel } from '../../support/report.js';

const hd = { width: 1920, height: 1080, bitDepth: 8, chroma: '420', frameRate: { num: 25, den: 1 } } as const;
const y4m = { ...hd, name: 'ref.y4m', container: 'y4m', frameCount: 100, skipped: 0 } as const;

function run(series: Record<string, readonly number[]>, overrides: Partial<ReportParts> = {}): Report {
  return built(series, { reference: y4m, distorted: { ...y4m, name: 'dis.y4m', skipped: 2 }, ...overrides });
}

/** 100 frames at 90, with two dips. */
const scores = Array.from({ length: 100 }, (_, i) => (i === 40 ? 50 : i === 41 ? 51 : i === 90 ? 60 : 90));

describe('summarize', () => {
  it('counts the frames that were pooled, not those that a window kept', () => {
    const kept = run({ vmaf: scores }, { models: [vmafModel], frameCount: 1500 });
    const text = summarize(kept);
    expect(text).toContain('\nPooled over 1500 frames ');
    // Of the kept frames only.
    expect(text).not.toContain('stddev');
    expect(text).toContain('\nPercentiles of the last 100 frames ');
    expect(text).toContain('\nWorst of the last 100 frames by vmaf, ');
    expect(brief(kept)).toContain('  Worst of the last 100 frames: 0:01.60, frame 40, vmaf 50.0000');
  });

  it('shows inputs, scores, pooled values, percentiles, worst frames and the run', () => {
    const text = summarize(
      run(
        { integer_adm2: scores.map((x) => x / 100), vmaf: scores },
        { models: [vmafModel], fps: 35.126, threads: 2, warnings: ['Something to know.'] },
      ),
    );
    expect(text).toBe(`reference  1920x1080  4:2:0  8 bit  25 fps  100 frames             ref.y4m
distorted  1920x1080  4:2:0  8 bit  25 fps  100 frames, 2 skipped  dis.y4m

Score
  vmaf  88.910000 !  good  vmaf_v0.6.1
  ! check the warnings before you trust this score: Something to know.
  Average viewer's rating on a 1080p screen, three screen heights away.

Pooled over 100 frames      min     mean  harmonic      max  stddev
  vmaf                  50.0000  88.9100   88.1928  90.0000  6.2468
  integer_adm2           0.5000   0.8891    0.8866   0.9000  0.0625

Percentiles      1 %      5 %     10 %   median
  vmaf       50.9900  90.0000  90.0000  90.0000

Worst frames by vmaf, at least 25 frames (1 s) apart
  frame     time    value
     40  0:01.60  50.0000
     90  0:03.60  60.0000
      0  0:00.00  90.0000
     65  0:02.60  90.0000

What ran
  pairs       100
  model       vmaf_v0.6.1
  anyvmaf     9.9.9
  backend     wasm, simd128
  speed       35.13 fps
  arithmetic  libvmaf-3.2
  metrics     CPU, WebAssembly (simd128)
  threads     2

Warning
  ! Something to know.
`);
  });

  it('shows the confidence interval of a collection, not the scores of its members', () => {
    const members = { vmaf_0001: [1, 2], vmaf_0020: [3, 4], vmaf_bagging: [80.79002, 80.79002] };
    const interval = { vmaf_ci_p95_lo: [78.34105, 78.34105], vmaf_ci_p95_hi: [83.653128, 83.653128] };
    const values = { vmaf: [80, 82], ...members, vmaf_stddev: [1.622961, 1.622961], ...interval };
    const text = summarize(run(values, { models: [collectionModel] }));
    expect(text).toContain(`
  vmaf  81.000000  good  vmaf_b_v0.6.3
    bagging 80.790020, ci.p95: [78.341050, 83.653128], stddev: 1.622961
    (20 bootstrap models; their own scores are not listed)
`);
    expect(text).not.toContain('vmaf_0001');
    expect(text).not.toContain('vmaf_0020');
    expect(text).toMatch(/^Percentiles.*\n {2}vmaf .*\n {2}vmaf_bagging /m);
  });

  it('ranks frames by a feature with a direction if there is no model', () => {
    const text = summarize(run({ psnr_y: [30, 40], mse_y: [65, 7] }, { aggregates: { apsnr_y: 32.6 } }));
    expect(text).not.toContain('Score');
    expect(text).toContain('\nWorst frames by psnr_y, ');
    expect(text).toMatch(/^Percentiles.*\n {2}psnr_y /m);
    expect(text).toContain('\nWhole run\n  apsnr_y  32.600000\n');
  });

  const colour: NonNullable<Report['reference']['colour']> = {
    ...{ matrix: 'bt709', range: 'limited', transfer: 'srgb', siting: 'left', upsampling: 'bicubic' },
    guessed: ['transfer', 'siting'],
  };

  it.each([
    [
      'once if both are the same',
      { ...y4m, colour },
      `
  colour      BT.709, limited range, sRGB transfer, left chroma by bicubic
              (transfer, siting guessed)
`,
    ],
    [
      'for each video if they differ',
      { ...y4m, chroma: '444', colour: { ...colour, range: 'full', guessed: [] } } as const,
      `
  colour      reference: BT.709, limited range, sRGB transfer, left chroma by
              bicubic (transfer, siting guessed)
              distorted: BT.709, full range, sRGB transfer
`,
    ],
  ])('describes the colours, %s', (_, distorted, text) => {
    const parts = { reference: { ...y4m, colour }, distorted };
    expect(summarize(run({ ssimulacra2: [70] }, parts))).toContain(text);
  });

  it('has no harmonic mean of a metric that can be negative', () => {
    const text = summarize(run({ ssimulacra2: [-3, 70], psnr_y: [30, 30] }));
    expect(text).toMatch(/\n {2}ssimulacra2 +-3\.0000 +33\.5000 +- +70\.0000 /);
    expect(text).toMatch(/\n {2}psnr_y +30\.0000 +30\.0000 +30\.0000 +30\.0000 /);
  });

  it('omits percentiles and worst frames without a model or such a feature', () => {
    const text = summarize(run({ integer_motion2: [0, 1] }));
    expect(text).toContain('integer_motion2');
    expect(text).not.toMatch(/Percentiles|Worst/);
  });

  it('writes scores at the requested precision', () => {
    const text = summarize(run({ vmaf: [1 / 3] }, { models: [vmafModel] }), { precision: 'max' });
    expect(text).toContain('vmaf  0.33333333333333331  ');
  });

  it('names everything unusual', () => {
    const options = { disableClip: true, enableTransform: true };
    const text = summarize(
      run(
        { vmaf: [50, Number.NaN] },
        {
          models: [{ ...vmafModel, options }],
          ...{ subsample: 3, threads: 0, backend_requested: 'auto', fps: Number.POSITIVE_INFINITY },
          distorted: { ...y4m, frameCount: null, chroma: '400' },
        },
      ),
    );
    expect(text).toContain('pairs       2, one in 3 scored\n');
    expect(text).toContain('backend     wasm (requested: auto), simd128\n');
    expect(text).toContain('threads     the calling thread\n');
    expect(text).toContain('model       vmaf_v0.6.1, disable_clip, enable_transform\n');
    expect(text).toContain('luma only');
    expect(text).toContain('frame count unknown');
    expect(text).toContain('\n  vmaf  not predicted  vmaf_v0.6.1\n');
    expect(text).toMatch(/\n {2}vmaf +incomplete\n/);
  });

  it.each([64, 80, 120])('fits %i columns, with all lines of a table equally long', (width) => {
    const long = 'integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02';
    const names = ['VMAF_integer_feature_motion_sad_score', long];
    const text = summarize(
      run(Object.fromEntries([['vmaf', scores], ...names.map((name) => [name, scores])]), {
        models: [{ ...vmafModel, features: names }],
        reference: { ...y4m, name: `/a/${'long/'.repeat(40)}ref.y4m` },
        distorted: { ...y4m, name: `/映像/${'長い'.repeat(40)}/dis.y4m` },
        warnings: ['word '.repeat(60).trim()],
      }),
      { width },
    );
    for (const line of text.split('\n')) expect(columns(line), line).toBeLessThanOrEqual(width);
    expect(text).toContain('ref.y4m');
    expect(text).toContain('dis.y4m');
    const table = text.slice(text.indexOf('Pooled over')).split('\n\n')[0]?.split('\n').slice(-4) ?? [];
    expect(new Set(table.map(columns)).size).toBe(1);
  });

  it('has colour only on request, and the same text with it', () => {
    const sample = run({ vmaf: scores }, { models: [vmafModel], warnings: ['Careful.'] });
    const plain = summarize(sample);
    const coloured = summarize(sample, { color: true });
    expect(plain).not.toContain('\u001b');
    expect(coloured).toContain('\u001b[1m');
    const stripped = coloured.replaceAll(new RegExp(`${'\u001b'}\\[\\d+m`, 'g'), '');
    expect(stripped.replaceAll(/ +$/gm, '')).toBe(plain);
  });

  it('passes no control character of a file or tiny model to the terminal', () => {
    const text = summarize(run({ vmaf: [1] }, { reference: { ...y4m, name: 'a\u001b[2Jb\nc\u202ed.y4m' } }));
    expect(text).toContain('a\\x1b[2Jb\\x0ac\\u202ed.y4m');
    const named = {
      ...{ name: 'a\u001b[2Jb', source: 't.onnx', quantisation: 'fp32', device: 'cpu' },
      ...{ features: [], metrics: [] },
    };
    const tiny = summarize(run({ vmaf: [1] }, { tiny: [named as unknown as ReportTinyModel] }));
    expect(tiny).not.toContain('\u001b');
    expect(tiny).toContain('a\\x1b[2Jb');
  });
});

const about = (code: FindingCode, message: string) => ({ code, severity: 'warning' as const, message });

describe('a report in brief', () => {
  const lines = (report: Report, width = 80) => brief(report, { width }).trimEnd().split('\n');
  const pair = {
    reference: { ...y4m, name: '/a/ref.y4m' },
    distorted: { ...y4m, name: '/b/dis.y4m', skipped: 2 },
  };

  it('shows a perceptual metric without a score and its meaning, with one value of planes or frames', () => {
    const values = { cvvdp_q: [2, 3], xpsnr_y: [40, 41], xpsnr_min: [38, 39], xpsnr_weighted: [39, 40] };
    expect(lines(run(values, { ...pair, aggregates: { cvvdp: 9.7 } }))).toEqual([
      '  cvvdp 9.7000',
      '  xpsnr_weighted 39.5000',
      '  dis.y4m against ref.y4m',
      '  Compared at 1920×1080, reference frames 0 to 1.',
      '  ColorVideoVDP in JOD: 10 is no visible difference; of two videos 1 JOD apart,',
      '  75 % of viewers prefer the higher.',
      '  Worst: 0:00.04, frame 1, cvvdp_q 3.0000',
    ]);
  });

  it('shows the score, the comparison, the doubt and the worst moment', () => {
    const warnings = ['Something to know.', 'And something else.'];
    const one = run(
      { integer_adm2: scores, psnr_y: scores, vmaf: scores },
      { models: [vmafModel], warnings, ...pair },
    );
    expect(lines(one)).toEqual([
      '  vmaf  88.910000 !  good  vmaf_v0.6.1',
      '  dis.y4m against ref.y4m',
      '  Compared at 1920×1080, reference frames 0 to 99.',
      '  psnr_y 88.9100',
      '  ! doubtful: Something to know.',
      '  Worst: 0:01.60, frame 40, vmaf 50.0000',
    ]);
    // What is left for the full report.
    expect(unsaid([one])).toBe(1);
    expect(unsaid([run({ vmaf: scores }, { models: [vmafModel], ...pair })])).toBe(0);
  });

  it('never cuts off the fix of a problem', () => {
    const preflight = [
      { ...about('offset', 'long '.repeat(80)), fix: '--offset 12' },
      about('duration', 'The lengths differ.'),
    ];
    for (const width of [60, 80]) {
      const one = run({ psnr_y: scores, vmaf: scores }, { models: [vmafModel], preflight, ...pair });
      const text = lines(one, width);
      expect(text.slice(4)).toEqual([
        expect.stringMatching(/^ {2}× do not trust this score: long /),
        expect.stringMatching(/ …$/),
        '    fix: --offset 12',
        expect.stringMatching(/^ {2}Worst:/),
      ]);
      for (const line of text) expect(columns(line), line).toBeLessThanOrEqual(width);
    }
  });

  it('has at most seven lines beside the scores', () => {
    const features = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`feature_${i}`, scores]));
    const preflight = Array.from({ length: 20 }, (_, i) => {
      const message = `Reason ${i} is ${'long '.repeat(60)}.`;
      return { code: 'offset', severity: 'error', message } as const;
    });
    for (const width of [60, 80, 200]) {
      const reference = { ...y4m, name: `/映像/${'長い'.repeat(90)}.y4m` };
      const long = run({ ...features, vmaf: scores }, { models: [vmafModel], preflight, reference });
      const [score, ...others] = lines(long, width);
      expect(score).toContain('88.910000 ×');
      expect(others.length).toBeLessThanOrEqual(7);
      for (const line of others) expect(columns(line), line).toBeLessThanOrEqual(width);
    }
  });

  it('lists means without a model, or a line for each model', () => {
    expect(lines(run({ psnr_y: [30, 40], mse_y: [65, 7] }, pair))).toEqual([
      '  psnr_y 35.0000',
      '  mse_y 36.0000',
      '  dis.y4m against ref.y4m',
      '  Compared at 1920×1080, reference frames 0 to 1.',
      '  Worst: 0:00.00, frame 0, psnr_y 30.0000',
    ]);
    const models = ['a', 'b', 'c'].map((name) => ({ ...vmafModel, name, source: `${name}.json` }));
    const several = lines(run({ a: [1], b: [2], c: [3] }, { models, ...pair }));
    expect(several.slice(0, 4).map((line) => line.trim().split(' ')[0])).toEqual(['a', 'b', 'c', 'dis.y4m']);
  });
});

describe('the rating of a score', () => {
  const all = (score: number, model: Partial<ReportModel> = {}, width = 1920, scored = width) => {
    const models = [{ ...vmafModel, ...model }];
    const pairing = { ...paired({}), width: scored, height: 1 };
    return summarize(run({ vmaf: [score] }, { models, reference: { ...y4m, width, height: 1 }, pairing }));
  };
  const line = (...of: Parameters<typeof all>) => all(...of).match(/^ {2}vmaf .*$/m)?.[0];

  it.each([
    [100, 'excellent'],
    [90, 'excellent'],
    [89.9, 'good'],
    [70, 'good'],
    [69.9, 'fair'],
    [49, 'poor'],
    [20, 'bad'],
    [0, 'bad'],
  ])('%d is %s', (score, word) => {
    expect(line(score)).toMatch(new RegExp(`  ${word}  vmaf_v0\\.6\\.1$`));
  });

  it.each([
    [18.85, 640, 1920, 'bad', 'on a 1080p screen, three screen heights away.'],
    [18.85, 1920, 640, 'bad', 'if shown pixel for pixel on a 1080p screen, three screen heights away.'],
    [95, 3840, 3840, 'excellent', 'if shown pixel for pixel on a 1080p screen, three screen heights away.'],
  ])('of %d, from %d scored at %d samples, is %s: %s', (score, width, scored, word, means) => {
    expect(line(score, {}, width, scored)).toContain(`  ${word}  vmaf_v0.6.1`);
    const text = all(score, {}, width, scored).replaceAll(/\s+/g, ' ');
    expect(text).toContain(`Average viewer's rating ${means}`);
  });

  it('is omitted for other models or settings', () => {
    const wordless = /[0-9] {2}\S+$/;
    expect(line(95, { source: 'vmaf_4k_v0.6.1' }, 3840)).toContain('  excellent  ');
    expect(line(95, { source: 'vmaf_v0.6.1neg' })).toMatch(wordless);
    expect(line(95, { source: 'my.json' })).toMatch(wordless);
    expect(line(95, { features: ['integer_vif_scale0_egl_1'] })).toMatch(wordless);
    expect(line(95, { options: { disableClip: false, enableTransform: true } })).toMatch(wordless);
  });
});
