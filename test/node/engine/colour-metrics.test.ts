/**
 * @module test/node/engine/colour-metrics
 * XPSNR, SSIMULACRA2, Butteraugli and ColorVideoVDP through the engine: values of the authors' programs for pictures, the same
 * bits however a run is split, and refusals.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { Colour, ScoredFormat } from '../../../src/core/colour.js';
import type { VideoFormat } from '../../../src/core/frame.js';
import { requireSteerable, STEERED } from '../../../src/engine/live/steerable.js';
import { type RunObserver, Steering } from '../../../src/engine/live/steering.js';
import { scorePair } from '../../../src/engine/score.js';
import {
  createScorer,
  prepareRun,
  type ScoreOptions,
  score,
  scoreMany,
  scoreShard,
} from '../../../src/index.js';
import type { FrameSource } from '../../../src/media/types.js';
import { colourText } from '../../../src/report/facts.js';
import type { FrameMetrics, Report, ReportHead } from '../../../src/report/schema.js';
import { sampleSource, y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { file, inParts, ownSource, results, SMALL } from '../../support/clips.js';
import { ffmpeg as cached, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { framesOnce } from '../../support/fixtures.js';
import { testFolder } from '../../support/folders.js';
import { FakeGpus, platformWith } from '../../support/gpu-engine.js';
import { planesFor } from '../../support/media.js';
import { fakeVmaf } from '../../support/programs.js';
import { refusalOf } from '../../support/refusals.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

const folder = testFolder();
const COLOUR = ['ssimulacra2', 'butteraugli', 'cvvdp'];
const FEATURES = ['xpsnr', ...COLOUR];
const LOOKED_AT: ScoreOptions = { features: COLOUR, noPrediction: true, threads: 0 };
const ALONE: ScoreOptions = { ...LOOKED_AT, preflight: false };
const RGB = { matrix: 'gbr', range: 'full', transfer: 'srgb' };

interface Still {
  readonly ssimulacra2: { readonly sse4: number; readonly own_f64?: number };
  readonly butteraugli: Readonly<Record<'80' | '203', { readonly max: number; readonly norm3: number }>>;
  readonly cvvdp: Readonly<Record<'standard_fhd' | 'standard_4k' | 'standard_hdr_pq', number>>;
}

const golden = sharedPath('golden/perceptual');
interface Golden {
  readonly stills: Readonly<Record<string, Still>>;
}
const { stills }: Golden = golden
  ? JSON.parse(readFileSync(join(golden, 'values.json'), 'utf8'))
  : { stills: {} };
/** Expected findings: files of the same bytes, and pictures of other contrast. */
const FOUND: Record<string, string[]> = { same: ['identical'], news: ['levels'], noise: ['levels'] };
/** An observer that ignores a run. */
const UNWATCHED: RunObserver = { planned() {}, boundary() {}, frame() {}, swapped() {}, ended() {} };
const pngs = (name: string) => ({
  reference: join(golden ?? '', `${name}_ref.png`),
  distorted: join(golden ?? '', `${name}_dis.png`),
});

type Side = 'reference' | 'distorted';
const sides = <T>(make: (side: Side) => T) => ({
  reference: make('reference'),
  distorted: make('distorted'),
});
/** A source that declares these facts. */
const stating = (source: FrameSource, stated: object): FrameSource => ({
  ...source,
  info: { ...source.info, ...stated },
});

const ffmpeg = (name: string, ...args: readonly string[]): string => cached(join(folder, name), args);

describe.runIf(golden && hasFfmpeg)(`pairs of PNG files (${needsShared} and ${needsFfmpeg})`, () => {
  it.each(tier(['odd'], Object.keys(stills)))('have the values of the authors: %s', async (name) => {
    const expected = stills[name] as Still;
    const features = [
      ...['ssimulacra2=mode=exact', 'butteraugli', 'butteraugli=intensity_target=203', 'cvvdp'],
      ...['cvvdp=display=standard_fhd', 'cvvdp=display=standard_hdr_pq:transfer=pq'],
    ];
    const report = await score(pngs(name), { ...LOOKED_AT, features });
    const values = report.frames[0]?.metrics ?? {};
    expect(values.ssimulacra2?.toFixed(8)).toBe(expected.ssimulacra2.sse4.toFixed(8));
    const { 80: dim, 203: bright } = expected.butteraugli;
    for (const [key, value, within] of [
      ['butteraugli', dim.max, 1e-5 * dim.max],
      ['butteraugli_3norm', dim.norm3, 1e-5 * dim.norm3],
      ['butteraugli_intensity_target_203', bright.max, 1e-5 * bright.max],
      ['butteraugli_3norm_intensity_target_203', bright.norm3, 1e-5 * bright.norm3],
      ['cvvdp', expected.cvvdp.standard_4k, 1e-4],
      ['cvvdp_display_standard_fhd', expected.cvvdp.standard_fhd, 1e-4],
      ['cvvdp_display_standard_hdr_pq_transfer_pq', expected.cvvdp.standard_hdr_pq, 1e-4],
    ] as const) {
      expect(Math.abs((values[key] ?? 0) - value), key).toBeLessThanOrEqual(within);
      if (!key.startsWith('cvvdp')) continue;
      expect(report.aggregate_metrics[key]).toBe(values[key]);
      expect(report.pooled_metrics[key]?.mean).toBe(values[key]);
    }
    const fast = await score(pngs(name), { ...ALONE, features: ['ssimulacra2'] });
    const { sse4, own_f64 = sse4 } = expected.ssimulacra2;
    expect(Math.abs((fast.frames[0]?.metrics.ssimulacra2 ?? 0) - own_f64)).toBeLessThanOrEqual(0.03);
    for (const side of [report.reference, report.distorted]) expect(side.colour).toMatchObject(RGB);
    const found = report.preflight?.map(({ code }) => code);
    expect([found, report.warnings]).toEqual([FOUND[name] ?? [], []]);
  });

  it('are read twice beside VMAF, for one report', async () => {
    const [alone, vmaf] = [await score(pngs('small'), ALONE), await score(pngs('small'), { threads: 0 })];
    const [heads, frames]: [ReportHead[], FrameMetrics[]] = [[], []];
    const report = await score(pngs('small'), {
      ...{ features: COLOUR, threads: 0 },
      onStart: (head) => heads.push(head),
      onFrame: (frame) => frames.push(frame),
    });
    const { metrics, pooled_metrics, aggregate_metrics } = report;
    expect(report.frames).toEqual([
      { frameNum: 0, metrics: { ...vmaf.frames[0]?.metrics, ...alone.frames[0]?.metrics } },
    ]);
    expect(pooled_metrics).toEqual({ ...vmaf.pooled_metrics, ...alone.pooled_metrics });
    expect(aggregate_metrics).toEqual(alone.aggregate_metrics);
    expect(metrics).toEqual([...vmaf.metrics, ...alone.metrics]);
    expect(Object.keys(report.frames[0]?.metrics ?? {})).toEqual(metrics);
    expect(frames).toEqual(report.frames);
    expect(heads).toMatchObject([{ metrics, reference: { colour: RGB }, distorted: { colour: RGB } }]);
    expect(report.models).toEqual(vmaf.models);
    expect(report.preflight).toEqual(vmaf.preflight);
  });

  it('are reported frame by frame to an observer of a run with VMAF', async () => {
    const run = await prepareRun(pngs('small'), { features: ['ssimulacra2'], threads: 0, preflight: false });
    const seen: unknown[] = [];
    const steering = new Steering({
      ...UNWATCHED,
      planned: ({ metrics }) => seen.push(metrics),
      frame: (frame, values, names) => seen.push([frame, names, [...values]]),
    });
    requireSteerable(run)[STEERED](steering);
    const { frames, metrics } = await run.start();
    const { metrics: values = {} } = frames[0] ?? {};
    expect(metrics).toContain('ssimulacra2');
    const [planned, [frame, names, measured] = []] = seen as [string[], [number, string[], number[]]?];
    expect(planned).toEqual(names);
    const told = Object.fromEntries((names ?? []).map((name, i) => [name, measured?.[i]]));
    expect([frame, told]).toEqual([0, values]);
  });

  /** A run that has not begun, and its progress. */
  async function watchedRun() {
    const done: number[] = [];
    const onProgress = ({ framesDone }: { readonly framesDone: number }) => done.push(framesDone);
    const run = await prepareRun(pngs('small'), { features: ['ssimulacra2'], threads: 0, onProgress });
    const steering = new Steering(UNWATCHED);
    requireSteerable(run)[STEERED](steering);
    return { run, steering, done };
  }

  it('wait while a watched run is paused, before VMAF begins', async () => {
    const { run, steering, done } = await watchedRun();
    steering.pause();
    const report = run.start();
    await sleep(500);
    expect(done).toEqual([]);
    steering.resume();
    expect((await report).metrics).toContain('ssimulacra2');
    expect(done).not.toEqual([]);
  });

  it('end at once if a watched run is stopped before VMAF begins', async () => {
    const { run, steering, done } = await watchedRun();
    steering.stop();
    expect(await refusalOf('media', () => run.start())).toContain('stopped before VMAF was measured');
    expect(done).toEqual([]);
  });

  it('are measured by the core beside a GPU, as the report tells', async () => {
    const options: ScoreOptions = { features: ['ssimulacra2'], backend: 'webgpu', threads: 0 };
    const report = await scorePair(platformWith(new FakeGpus()), pngs('small'), options);
    expect(report.measurers).toMatchObject([
      { backend: 'webgpu', extractors: ['adm', 'motion', 'vif'] },
      { backend: 'cpu', extractors: ['ssimulacra2'], frames: 1 },
    ]);
  });

  it.skipIf(process.platform === 'win32')(
    'are measured by the core beside VMAF, also with auto',
    async () => {
      const { path: vmafBin } = fakeVmaf(folder, 'gpu');
      const options = { backend: 'auto', vmafBin, features: ['ssimulacra2'], threads: 0 } as const;
      const report = await score(pngs('small'), options);
      expect([report.backend_used, report.native]).toEqual(['cpu', undefined]);
      expect(report.warnings).toContain('The backend cuda was not used: it does not support ssimulacra2.');
    },
  );

  it('cannot be split into shards beside VMAF', async () => {
    const shard = () => scoreShard(pngs('odd'), { number: 1, count: 2 }, { features: COLOUR });
    expect(await refusalOf('usage', shard)).toMatch(/colour metrics alone and shards without them/);
  });
});

/** Frames per second at which XPSNR takes second differences and ColorVideoVDP looks back 14 frames. */
const RATE = { num: 50, den: 1 };
const FRAMES = 19;
const clip = framesOnce(makeSample(SMALL, { seed: 3, cut: 9 }));
const y4m = (name: Side, format: VideoFormat = SMALL, frames = FRAMES) => {
  const made = format === SMALL ? clip : makeSample(format, { seed: 3, cut: 9 });
  const text = Buffer.from(y4mFile(made, name, frames)).toString('latin1');
  const bytes = Buffer.from(text.replace(/ F\d+:\d+/, ` F${RATE.num}:${RATE.den}`), 'latin1');
  return file(folder, `${name}-${Object.values(format).join('-')}-${frames}.y4m`, bytes);
};

describe('a video', () => {
  const request = sides((side) => y4m(side));
  const options = { features: FEATURES, preflight: false };
  const whole = score(request, { ...options, threads: 0 });

  it('has all keys, and tells what is guessed', async () => {
    const { metrics, aggregate_metrics, reference, frames } = await whole;
    const names = ['y', 'u', 'v', 'min', 'weighted'];
    const colour = ['ssimulacra2', 'butteraugli', 'butteraugli_3norm', 'cvvdp_q'];
    const own = metrics.filter((name) => !/integer|vmaf/i.test(name));
    expect(own).toEqual([...names.map((name) => `xpsnr_${name}`), ...colour]);
    const sequence = names.map((name) => `sequence_xpsnr_${name}`);
    expect(Object.keys(aggregate_metrics)).toEqual([...sequence, 'cvvdp']);
    expect(reference.colour).toMatchObject({ matrix: 'bt601', upsampling: 'bicubic' });
    expect(reference.colour?.guessed).toContain('matrix');
    expect(new Set(frames.map((frame) => frame.metrics.cvvdp_q)).size).toBe(FRAMES);
  });

  const ways: readonly (readonly [string, ScoreOptions])[] = [
    ['in chunks of one', { threads: 2, chunkFrames: 1 }],
    ['in portable code', { threads: 2, chunkFrames: 7, implementation: 'portable' }],
  ];
  const moreWays: typeof ways = [
    ['on two workers', { threads: 2 }],
    ['in portable code of one thread', { threads: 0, implementation: 'portable' }],
  ];
  it.each(tier(ways, [...ways, ...moreWays]))('has the same bits %s', async (_, how) => {
    expect(results(await score(request, { ...options, ...how }))).toEqual(results(await whole));
  });

  it('without a frame rate counts as stills, with a warning, unless a rate is given', async () => {
    const bare = (side: Side) => {
      const { info, ...source } = ownSource(clip, side, FRAMES);
      const { frameRate: _, ...stated } = info;
      return { ...source, info: stated };
    };
    const run = (feature: string) => score(sides(bare), { ...LOOKED_AT, features: [feature] });
    const stills = await run('cvvdp=display=standard_fhd');
    const told = stills.preflight?.filter(({ code }) => code === 'no-frame-rate');
    expect(told).toMatchObject([
      { severity: 'warning', fix: "features: ['cvvdp=display=standard_fhd:fps=25']" },
    ]);
    expect(stills.metrics).toContain('cvvdp_display_standard_fhd');
    const timed = await run('cvvdp=fps=50');
    expect(timed.preflight?.map(({ code }) => code)).not.toContain('no-frame-rate');
    expect(timed.metrics).toEqual(['cvvdp_q_fps_50']);
    expect(timed.aggregate_metrics.cvvdp_fps_50).toBe((await whole).aggregate_metrics.cvvdp);
  });

  it('is read once and in order, though both modules look back', async () => {
    const own = (side: Side) => {
      let next = 0;
      const onRead = (index: number) => {
        if (index !== next++) throw new Error(`frame ${index} was read after frame ${next - 2}`);
      };
      return stating(ownSource(clip, side, FRAMES, { onRead }), { frameRate: RATE });
    };
    const run = (how: ScoreOptions) => score(sides(own), { ...options, threads: 0, ...how });
    for (const chunkFrames of [4, 64])
      expect(results(await run({ chunkFrames }))).toEqual(results(await whole));
  });

  it('has the same bits beside a GPU, and the report tells which backend measured', async () => {
    const onGpu = { ...options, backend: 'webgpu', threads: 1 } as const;
    const report = await scorePair(platformWith(new FakeGpus()), request, onGpu);
    expect(results(report)).toEqual(results(await whole));
    expect(report.measurers?.at(-1)).toEqual({ backend: 'cpu', extractors: FEATURES, frames: FRAMES });
  });

  it('has the same bits in parts', async () => {
    for (const count of tier([5], [2, 5])) {
      const merged = await inParts(request, count, { ...options, threads: 0 });
      expect(results(merged)).toEqual(results(await whole));
    }
  });

  it('is measured on every frame by metrics that look back, though some frames are left out', async () => {
    const report = await score(request, { ...options, threads: 2, chunkFrames: 3, subsample: 2 });
    expect(report.frames).toEqual((await whole).frames.filter(({ frameNum }) => frameNum % 2 === 0));
    expect(report.aggregate_metrics).toEqual((await whole).aggregate_metrics);
  });

  it('starts afresh after skipped frames, and ends at the limit', async () => {
    const window = { skipReference: 4, skipDistorted: 4, frameCount: 6 };
    const report = await score(request, { ...options, threads: 2, chunkFrames: 2, ...window });
    expect(results(report)).toEqual(results(await score(request, { ...options, threads: 0, ...window })));
    const some = await score(request, { ...options, threads: 0, skipDistorted: 2, frameCount: 3 });
    expect([report.frameCount, some.frameCount]).toEqual([6, 3]);
    expect(some.frames[2]?.metrics.cvvdp_q).not.toBe((await whole).frames[2]?.metrics.cvvdp_q);
    expect(report.frames[0]?.metrics.ssimulacra2).toBe((await whole).frames[4]?.metrics.ssimulacra2);
  });

  it('is scored beside others', async () => {
    const { reference, distorted } = request;
    const reports = await scoreMany(reference, [distorted, reference], { ...options, threads: 1 });
    expect(results(reports[0] as Report)).toEqual(results(await whole));
    expect(reports[1]?.aggregate_metrics).toMatchObject({ cvvdp: 10 });
  });

  it('has the same bits if frames are pushed', async () => {
    const { reference, distorted } = await whole;
    if (!reference.colour || !distorted.colour) throw new Error('no colours');
    const colours = { reference: reference.colour, distorted: distorted.colour };
    const format: ScoredFormat = { ...SMALL, frameRate: RATE, colours };
    for (const threads of [0, 2]) {
      const scorer = await createScorer(format, { features: FEATURES, threads });
      for (let i = 0; i < FRAMES; i++) {
        const pair = (['reference', 'distorted'] as const).map(async (side) => {
          const planes = planesFor(SMALL);
          await sampleSource(clip, side, i + 1).readFrame(i, planes);
          return planes;
        });
        const [first, second] = await Promise.all(pair);
        if (first && second) await scorer.push(first, second);
      }
      const report = await scorer.finish();
      expect(results(report)).toEqual(results(await whole));
      expect(report.reference).toMatchObject({ frameRate: RATE, colour: { matrix: 'bt601', guessed: [] } });
    }
  });

  it('is sampled with the values of a whole run', async () => {
    const long = sides((side) => y4m(side, SMALL, 40));
    const features = ['xpsnr', 'ssimulacra2', 'cvvdp'];
    const samples = { runs: 4, seconds: 0.04 };
    const report = await score(long, { ...ALONE, features, samples });
    const all = await score(long, { ...ALONE, features: ['xpsnr', 'cvvdp'] });
    for (const { frameNum, metrics } of report.frames)
      expect(metrics).toMatchObject(all.frames[frameNum]?.metrics ?? {});
    const sampled = new Set(report.sampling?.intervals.map(({ metric }) => metric));
    for (const name of ['xpsnr_y', 'ssimulacra2', 'cvvdp_q']) expect(sampled).toContain(name);
    expect(report.reference.colour).toEqual((await whole).reference.colour);
  });

  it('is sampled with the colours of the pass that measures them', async () => {
    const mixed = sides((side) => y4m(side, { ...SMALL, chroma: side === 'reference' ? '444' : '420' }, 40));
    const options = { ...ALONE, features: ['psnr', 'ssimulacra2'], scale: 'bicubic' } as const;
    const all = await score(mixed, options);
    const { distorted } = await score(mixed, { ...options, samples: { runs: 4, seconds: 0.04 } });
    expect(distorted.colour).toEqual(all.distorted.colour);
    expect(distorted.colour?.upsampling).toBe('bicubic');
  });
});

describe('formats', () => {
  const formats: readonly VideoFormat[] = [
    { width: 98, height: 54, bitDepth: 10, chroma: '420' },
    { width: 97, height: 55, bitDepth: 8, chroma: '420' },
    { width: 97, height: 55, bitDepth: 10, chroma: '422' },
    { width: 96, height: 54, bitDepth: 12, chroma: '444' },
    { width: 97, height: 53, bitDepth: 10, chroma: '400' },
  ];
  it.each(formats)('of $bitDepth bit $chroma, $width x $height, by both implementations', async (format) => {
    const request = sides((side) => y4m(side, format, 4));
    const options = { ...ALONE, features: FEATURES };
    const report = await score(request, options);
    const portable = await score(request, { ...options, implementation: 'portable' });
    expect(results(portable)).toEqual(results(report));
    expect(Object.values(report.frames[3]?.metrics ?? {}).every(Number.isFinite)).toBe(true);
    expect('xpsnr_u' in (report.frames[0]?.metrics ?? {})).toBe(format.chroma !== '400');
    expect(report.aggregate_metrics.cvvdp).toBeLessThan(10);
  });

  it.each([
    [{ matrix: 'bt2020nc', transfer: 'smpte2084', colorRange: 'limited', chromaLocation: 'topleft' }, 'pq'],
    [{ matrix: 'bt709', transfer: 'bt709', colorRange: 'full', chromaLocation: 'center' }, 'srgb'],
  ] as const)('of own sources as they declare them: %o', async (stated, transfer) => {
    const request = sides((side) => stating(ownSource(clip, side, 2), stated));
    const report = await score(request, { ...ALONE, features: ['butteraugli'] });
    const { colorRange: range, chromaLocation: siting } = stated;
    expect(report.reference.colour).toMatchObject({ range, siting, transfer, guessed: [] });
  });

  it('by the tags of Y4M', async () => {
    const tagged = (side: Side) => {
      const text = readFileSync(y4m(side)).toString('latin1');
      const header = text.replace(/C420\w*/, 'C420paldv').replace('\n', ' XCOLORRANGE=FULL\n');
      return file(folder, `tagged-${side}.y4m`, Buffer.from(header, 'latin1'));
    };
    const request = sides(tagged);
    const { reference } = await score(request, { ...ALONE, features: ['ssimulacra2'], frameCount: 1 });
    expect(reference.colour).toMatchObject({ range: 'full', siting: 'topleft' });
    expect(reference.colour?.guessed).toEqual(['matrix', 'transfer']);
  });

  it('of two bit depths in full range, beside a preset that compares them', async () => {
    const full = (side: Side) => {
      const bitDepth = side === 'reference' ? 10 : 8;
      const text = readFileSync(y4m(side, { width: 240, height: 216, bitDepth, chroma: '420' }, 1));
      const header = text.toString('latin1').replace('\n', ' XCOLORRANGE=FULL\n');
      return file(folder, `full-${side}.y4m`, Buffer.from(header, 'latin1'));
    };
    const options = { aomCtc: 'v6.0', features: ['ssimulacra2'], threads: 0, preflight: false } as const;
    const { metrics = {} } = (await score(sides(full), options)).frames[0] ?? {};
    expect(Object.keys(metrics)).toEqual(expect.arrayContaining(['vmaf_neg', 'ssimulacra2']));
  });
});

describe.runIf(hasFfmpeg)(`RGB and mixed formats (${needsFfmpeg})`, () => {
  const source = (noise: number) =>
    `testsrc2=size=96x54:rate=25:duration=0.2,noise=alls=${noise}:allf=t+u:all_seed=7`;
  const rgb = (name: string, noise: number, format = 'gbrp') =>
    ffmpeg(name, '-f', 'lavfi', '-i', source(noise), '-c:v', 'ffv1', '-pix_fmt', format);
  const reference = rgb('rgb-reference.mkv', 3);
  const distorted = rgb('rgb-distorted.mkv', 25);

  it('keeps RGB with every decoder, without findings about luma and chroma', async () => {
    const report = await score({ reference, distorted }, LOOKED_AT);
    expect(report.preflight).toEqual([]);
    expect(report.distorted.colour).toMatchObject(RGB);
    for (const decoder of tier([], ['wasm'] as const))
      expect(results(await score({ reference, distorted }, { ...ALONE, decoder }))).toEqual(results(report));
    const raw = { width: 96, height: 54, bitDepth: 8, chroma: '444' } as const;
    const [first, second] = [reference, distorted].map((path, i) =>
      ffmpeg(`planes-${i}.yuv`, '-i', path, '-f', 'rawvideo', '-pix_fmt', 'gbrp'),
    );
    const request = { reference: first ?? '', distorted: second ?? '', raw };
    const planes = await score(request, { ...ALONE, features: ['ssimulacra2=matrix=gbr:range=full'] });
    const found = planes.frames[4]?.metrics.ssimulacra2_matrix_gbr_range_full;
    expect(found).toBe(report.frames[4]?.metrics.ssimulacra2);
  });

  describe('with alpha', () => {
    const level = (x: number, y: number, plane: number) =>
      (((x * x + (3 + plane) * y * y) >> 3) + ((x * y) >> 2) * (plane + 1) + 40 * plane) & 255;
    const worse = (v: number, x: number, y: number) => Math.min(255, (v & ~15) + 8 + ((x * 5 + y * 3) % 7));
    /** A PNG file of the pictures of test/unit/wasm/perceptual, with G, B and R in that order. */
    const png = (name: string, change: (v: number, x: number, y: number) => number, channels: 3 | 4 = 4) => {
      const [width, height] = [64, 48];
      const data = Uint8Array.from({ length: width * height * channels }, (_, i) => {
        const [pixel, channel] = [Math.floor(i / channels), i % channels];
        const [x, y] = [pixel % width, Math.floor(pixel / width)];
        return change(channel === 3 ? Math.min(255, 3 * x + 2 * y) : level(x, y, (channel + 2) % 3), x, y);
      });
      return file(folder, name, encode({ width, height, data, channels, depth: 8 }));
    };
    const pair = { reference: png('alpha-ref.png', (v) => v), distorted: png('alpha-dis.png', worse) };
    const features = ['ssimulacra2=mode=exact', 'butteraugli', 'cvvdp'];

    it('has the value of the authors, with any decoder, in workers and beside VMAF', async () => {
      const report = await score(pair, { ...ALONE, features });
      const values = report.frames[0]?.metrics ?? {};
      expect(values.ssimulacra2?.toFixed(8)).toBe('79.63280987');
      expect(values.butteraugli).toBeCloseTo(3.3060575, 4);
      expect(report.reference.colour).toEqual({ ...report.distorted.colour, ...RGB, alpha: true });
      expect(report.pairing?.reference.conversions).toEqual([]);
      expect(results(await score(pair, { ...ALONE, features, threads: 1 }))).toEqual(results(report));
      const vmaf = await score(pair, { features, threads: 0, preflight: false });
      expect(vmaf.frames[0]?.metrics).toMatchObject(values);
      expect(vmaf.reference.colour).toMatchObject({ alpha: true });
      for (const decoder of tier([], ['wasm'] as const))
        expect(results(await score(pair, { ...ALONE, features, decoder }))).toEqual(results(report));
      // The authors of ColorVideoVDP ignore alpha.
      const [bare, bareToo] = [png('plain-ref.png', (v) => v, 3), png('plain-dis.png', worse, 3)];
      const plain = { reference: bare, distorted: bareToo };
      const opaque = (await score(plain, { ...ALONE, features })).frames[0]?.metrics ?? {};
      expect(values.cvvdp).toBe(opaque.cvvdp);
      expect(values.ssimulacra2).not.toBe(opaque.ssimulacra2);
    });

    it('counts as opaque if missing, and is cropped and scaled with its picture', async () => {
      const opaque = png('opaque-dis.png', (v) => v, 3);
      const mixed = await score({ ...pair, distorted: opaque }, { ...ALONE, features });
      expect(mixed.frames[0]?.metrics.ssimulacra2).toBeLessThan(50);
      expect(mixed.distorted.colour).not.toHaveProperty('alpha');
      const same = { reference: pair.reference, distorted: pair.reference };
      const crops = { cropReference: '32:32:8:8', cropDistorted: '32:32:8:8' };
      const cropped = await score(same, { ...ALONE, features, ...crops });
      expect(cropped.frames[0]?.metrics).toMatchObject({ ssimulacra2: 100, butteraugli: 0 });
      const large = ffmpeg('alpha-large.png', '-i', pair.reference, '-vf', 'scale=128:96:flags=bicubic');
      const scaled = await score({ reference: large, distorted: pair.reference }, { ...ALONE, features });
      expect(scaled.frames[0]?.metrics.ssimulacra2).toBeGreaterThan(90);
      // Samples outside the crop do not count, nor does their alpha.
      const part = await score(pair, { ...ALONE, features, ...crops });
      expect(part.reference.colour).toMatchObject({ alpha: true });
      const cut = (name: string, path: string) => ffmpeg(name, '-i', path, '-vf', 'crop=32:32:8:8');
      const [first, second] = [cut('part-ref.png', pair.reference), cut('part-dis.png', pair.distorted)];
      const parts = await score({ reference: first, distorted: second }, { ...ALONE, features });
      expect(results(part)).toEqual(results(parts));
    });

    const [width, height] = [61, 47];
    const samples = (of: (v: number, x: number, y: number) => number) =>
      Uint8Array.from({ length: width * height }, (_, i) => {
        const [x, y] = [i % width, Math.floor(i / width)];
        return of(level(x, y, 0), x, y);
      });
    const alpha = samples((_, x, y) => Math.min(255, 3 * x + 2 * y));
    const greys = { ref: samples((v) => v), dis: samples(worse) };
    const both = (make: (grey: Uint8Array, side: string) => string) => ({
      reference: make(greys.ref, 'ref'),
      distorted: make(greys.dis, 'dis'),
    });
    const interleaved = (...planes: readonly Uint8Array[]) =>
      Uint8Array.from(
        { length: planes.length * width * height },
        (_, i) => planes[i % planes.length]?.[Math.floor(i / planes.length)] ?? 0,
      );
    const packed = (name: string, data: Uint8Array, channels: 2 | 4) =>
      file(folder, name, encode({ width, height, data, channels, depth: 8 }));
    /** Video of one frame whose chroma is grey. */
    const video = (name: string, layout: string, grey: Uint8Array, opacity: Uint8Array) => {
      const count = 2 * (/444/.test(layout) ? width * height : ((width + 1) / 2) * ((height + 1) / 2));
      const bits = Number(/(\d+)le/.exec(layout)?.[1] ?? 8);
      const stored = (plane: Uint8Array) =>
        bits === 8
          ? plane
          : Buffer.from(Uint16Array.from(plane, (v) => Math.round((v * (2 ** bits - 1)) / 255)).buffer);
      const none = 2 ** (bits - 1);
      const chroma =
        bits === 8 ? new Uint8Array(count).fill(none) : Buffer.from(new Uint16Array(count).fill(none).buffer);
      const bytes = Buffer.concat([stored(grey), chroma, stored(opacity)]);
      const of = ['-f', 'rawvideo', '-pix_fmt', layout, '-color_range', 'pc', '-s', `${width}x${height}`];
      return ffmpeg(`${name}.mkv`, ...of, '-i', file(folder, `${name}.yuv`, bytes), '-c:v', 'ffv1');
    };

    it('of grey equals that of RGB, and that of luma and chroma up to rounding', async () => {
      const rgba = both((grey, side) => packed(`grey-${side}.png`, interleaved(grey, grey, grey, alpha), 4));
      const plain = both((grey, side) => packed(`ya-${side}.png`, interleaved(grey, alpha), 2));
      const expected = await score(rgba, { ...ALONE, features });
      const grey = await score(plain, { ...ALONE, features });
      expect(grey.frames).toEqual(expected.frames);
      expect(grey.reference.colour).toMatchObject({ ...RGB, alpha: true });
      expect(grey.pairing?.reference.conversions).toEqual([]);
      const values = expected.frames[0]?.metrics ?? {};
      for (const layout of ['yuva420p', 'yuva444p', ...tier([], ['yuva420p16le', 'yuva444p16le'])]) {
        const pairs = both((luma, side) => video(`${layout}-${side}`, layout, luma, alpha));
        const report = await score(pairs, { features, threads: 0, preflight: false });
        const found = report.frames[0]?.metrics ?? {};
        expect(found.butteraugli).toBeCloseTo(values.butteraugli ?? 0, 3);
        expect(found.ssimulacra2).toBeCloseTo(values.ssimulacra2 ?? 0, 1);
        expect(report.reference.colour).toMatchObject({ range: 'full', alpha: true });
        // VMAF ignores alpha.
        expect(report.pairing?.reference.conversions).toContain('alpha left out');
        for (const decoder of tier([], ['wasm'] as const))
          expect((await score(pairs, { features, decoder, threads: 0 })).frames).toEqual(report.frames);
      }
    });

    it('that is opaque changes nothing, for equal and different bit depths', async () => {
      const opaque = new Uint8Array(width * height).fill(255);
      const features = ['ssimulacra2', 'butteraugli'];
      const scored = async (reference: string, distorted: string, opacity: Uint8Array) => {
        const pairs = both((grey, side) => {
          const layout = side === 'ref' ? reference : distorted;
          const planes = /yuva/.test(layout) ? opacity : new Uint8Array();
          return video(`opaque-${layout}-${side}`, layout, grey, planes);
        });
        return (await score(pairs, { ...ALONE, features, commonBitDepth: true })).frames;
      };
      const none = await scored('yuv420p', 'yuv420p', opaque);
      expect(await scored('yuva420p', 'yuva420p', opaque)).toEqual(none);
      expect(await scored('yuva420p', 'yuva420p', alpha)).not.toEqual(none);
      const deep = await scored('yuv420p', 'yuv444p10le', opaque);
      expect(await scored('yuva420p', 'yuva444p10le', opaque)).toEqual(deep);
    });
  });

  it('crops RGB as RGB, and reads samples after filters', async () => {
    const crops = { cropReference: '60:40:8:8', cropDistorted: '60:40:8:8' };
    const alone = await score({ reference, distorted }, { ...ALONE, ...crops });
    const more = { features: COLOUR, threads: 0, preflight: false };
    const both = await score({ reference, distorted }, { ...more, ...crops });
    expect(alone.reference.colour).toMatchObject(RGB);
    expect(both.frames[0]?.metrics).toMatchObject(alone.frames[0]?.metrics ?? {});
    const converted = await score({ reference, distorted }, { ...ALONE, pixelFormat: 'yuv444p' });
    expect(converted.reference.colour).toMatchObject({ matrix: 'bt709', range: 'limited' });
  });

  it('reports progress once from start to end', async () => {
    const seen: number[] = [];
    const options: ScoreOptions = { features: ['ssimulacra2'], threads: 0, preflight: false };
    const onProgress = ({ framesDone }: { readonly framesDone: number }) => seen.push(framesDone);
    await score({ reference, distorted }, { ...options, onProgress });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(5);
    expect(Math.max(...seen.slice(0, -1))).toBeLessThanOrEqual(5);
  });

  it('interpolates chroma of 4:2:0 beside RGB as zimg does', async () => {
    const half = ffmpeg(
      'half.mkv',
      ...['-i', distorted, '-vf', 'scale=out_color_matrix=bt709:out_range=limited', '-pix_fmt', 'yuv420p'],
      ...['-c:v', 'ffv1', '-colorspace', 'bt709', '-color_range', 'tv', '-chroma_sample_location', 'left'],
    );
    const wide = ffmpeg(
      'wide.mkv',
      ...['-i', half, '-vf', 'zscale=filter=bicubic:chromalin=left,format=yuv444p16', '-c:v', 'ffv1'],
      ...['-colorspace', 'bt709', '-color_range', 'tv'],
    );
    const one = await score({ reference, distorted: half }, LOOKED_AT);
    const other = await score({ reference, distorted: wide }, ALONE);
    for (const name of ['ssimulacra2', 'butteraugli', 'cvvdp_q'])
      expect(one.frames[2]?.metrics[name]).toBeCloseTo(other.frames[2]?.metrics[name] ?? 0, 3);
    expect(one.pairing?.distorted.conversions).toContain('4:2:0 to 4:4:4 by bicubic chroma');
    expect(one.preflight?.filter(({ severity }) => severity !== 'info')).toEqual([]);
    const more = { features: COLOUR, threads: 0, preflight: false };
    const both = await score({ reference, distorted: half }, more);
    expect(both.frames[2]?.metrics).toMatchObject(one.frames[2]?.metrics ?? {});
  });

  describe('as tools convert them', () => {
    /** Y'CbCr whose RGB stays inside the cube, so that no tool clips. */
    const video = (name: string, noise: number) => {
      const inside = 'format=yuv420p,lutyuv=y=70+val*0.4:u=96+val*0.25:v=96+val*0.25';
      const tags = ['-colorspace', 'bt709', '-color_range', 'tv', '-c:v', 'ffv1'];
      return ffmpeg(name, '-f', 'lavfi', '-i', source(noise), '-vf', inside, '-frames:v', '1', ...tags);
    };
    const pair = { reference: video('tool-ref.mkv', 3), distorted: video('tool-dis.mkv', 25) };
    const each = (make: (path: string, name: string) => string) => ({
      reference: make(pair.reference, 'ref'),
      distorted: make(pair.distorted, 'dis'),
    });
    const features = ['ssimulacra2=mode=exact'];
    const first = ({ frames }: Report, name = 'ssimulacra2') => frames[0]?.metrics[name] ?? Number.NaN;

    it('libjxl: PNG files by ffmpeg', async () => {
      const png = each((path, name) => ffmpeg(`tool-${name}.png`, '-i', path, '-frames:v', '1'));
      const expected = first(await score(png, { ...ALONE, features }));
      const y4mPair = each((path, name) => ffmpeg(`tool-${name}.y4m`, '-i', path));
      const y4mPng = each((path, name) =>
        ffmpeg(`y4m-${name}.png`, '-i', path.replace(/mkv$/, 'y4m'), '-frames:v', '1'),
      );
      const report = await score(pair, { ...ALONE, features, colourAs: 'libjxl' });
      expect(first(report)).toBe(expected);
      expect(report.reference.colour).toMatchObject({ ...RGB, as: 'libjxl', guessed: [] });
      expect(report.pairing?.reference.conversions).toEqual(["filtered by ffmpeg's format=rgb24"]);
      const plain = { threads: 0, preflight: false };
      const beside = await score(pair, { ...plain, features, colourAs: 'libjxl' });
      expect(first(beside)).toBe(expected);
      expect(first(beside, 'vmaf')).toBe(first(await score(pair, plain), 'vmaf'));
      expect(first(await score(png, { ...ALONE, features, colourAs: 'libjxl' }))).toBe(expected);
      // ffmpeg assumes BT.601 without a matrix.
      const untagged = first(await score(y4mPng, { ...ALONE, features }));
      for (const options of [ALONE, plain])
        expect(first(await score(y4mPair, { ...options, features, colourAs: 'libjxl' }))).toBe(untagged);
    });

    it.each([
      ['vszip', '170m', 'srgb', 'BT.601, limited range, sRGB'],
      ['vship', '709', 'bt1886', 'BT.709, limited range, BT.1886'],
    ] as const)('%s: zimg with the matrix %s and the transfer %s', async (tool, matrix, transfer, words) => {
      const zimg = `zscale=matrixin=${matrix}:rangein=limited:chromalin=left:filter=bicubic:matrix=gbr:range=full`;
      const rgb = each((path, name) =>
        ffmpeg(`${tool}-${name}.mkv`, '-i', path, '-vf', `${zimg},format=gbrp16le`, '-c:v', 'ffv1'),
      );
      const report = await score(pair, { ...ALONE, features: ['ssimulacra2'], colourAs: tool });
      const option = `ssimulacra2=transfer=${transfer}`;
      const converted = await score(rgb, { ...ALONE, features: [option] });
      expect(first(report)).toBeCloseTo(first(converted, `ssimulacra2_transfer_${transfer}`), 2);
      const rest = `transfer, left chroma by bicubic (as ${tool})`;
      expect(colourText({ ...report.reference })).toBe(`${words} ${rest}`);
      expect(first(report)).not.toBeCloseTo(first(await score(pair, { ...ALONE, features })), 1);
    });

    it.each([
      [{ features: [] }, /^colourAs is "libjxl", but features has no colour metric; add one, such as/],
      [{ features, matrix: 'bt601' }, /^colourAs is libjxl, which needs pictures as stored, but .* changes/],
      [{ features, vfReference: 'hflip' }, /leave one of them out/],
    ] as const)('not with %j', async (options, message) => {
      const scoring = () => score(pair, { ...options, colourAs: 'libjxl' });
      expect(await refusalOf('usage', scoring)).toMatch(message);
    });

    it('vship: untagged SD as PAL, like zimg, and a refusal of primaries that it refuses', async () => {
      const options = { ...ALONE, features: ['ssimulacra2'], colourAs: 'vship' } as const;
      const tagged = (name: string, ...tags: string[]) =>
        each((path, side) => ffmpeg(`${name}-${side}.mkv`, '-i', path, ...tags, '-c:v', 'ffv1'));
      const plain = tagged('vship', '-colorspace', 'unknown', '-color_range', 'tv');
      const report = await score(plain, options);
      const pal = { transfer: 'gamma28', primaries: 'bt470bg', guessed: [] };
      expect(report.reference.colour).toMatchObject(pal);
      const zimg =
        'zscale=matrixin=470bg:rangein=limited:transferin=bt470bg:primariesin=bt470bg:chromalin=left:filter=bicubic:' +
        'matrix=gbr:transfer=bt470bg:primaries=bt709:range=full,format=gbrp16le';
      const rgb = each((_, side) =>
        ffmpeg(`pal-${side}.mkv`, '-i', join(folder, `vship-${side}.mkv`), '-vf', zimg, '-c:v', 'ffv1'),
      );
      const converted = await score(rgb, { ...ALONE, features: ['ssimulacra2=transfer=gamma28'] });
      expect(first(report)).toBeCloseTo(first(converted, 'ssimulacra2_transfer_gamma28'), 2);
      const p3 = tagged('p3', '-color_primaries', 'smpte432');
      expect(await refusalOf('usage', () => score(p3, options))).toMatch(
        /^colourAs is vship, but .* has the primaries smpte432, which Vship refuses or shows with a white point other than D65/,
      );
    });
  });

  it('gives white of 8 and 10 bits the same light', async () => {
    const white = (format: string, samples: ArrayBufferView) => {
      const raw = file(folder, `white-${format}.raw`, new Uint8Array(samples.buffer));
      const input = ['-f', 'rawvideo', '-pix_fmt', format, '-s', '64x64', '-i', raw];
      return ffmpeg(`white-${format}.mkv`, ...input, '-c:v', 'ffv1', '-pix_fmt', format);
    };
    const samples = 3 * 64 * 64;
    const request = {
      reference: white('gbrp', new Uint8Array(samples).fill(255)),
      distorted: white('gbrp10le', new Uint16Array(samples).fill(1023)),
    };
    const report = await score(request, ALONE);
    expect(report.frames[0]?.metrics).toMatchObject({ ssimulacra2: 100, butteraugli: 0 });
  });
});

describe('is refused', () => {
  const request = sides((side) => y4m(side));
  const sampled = { siting: 'left', upsampling: 'bicubic' } as const;
  const colour: Colour = { matrix: 'bt709', range: 'limited', transfer: 'srgb', ...sampled };

  it.skipIf(process.platform === 'win32')('by an installed program, which lacks it', async () => {
    for (const name of FEATURES) {
      const own = { backend: 'native-cpu', vmafBin: fakeVmaf(folder, 'good').path } as const;
      const message = await refusalOf('usage', () => score(request, { ...own, features: [name] }));
      const said = `the backend native-cpu does not support ${name}, which only the core has`;
      expect(message.slice(0, said.length)).toBe(said);
    }
    const { path: vmafBin } = fakeVmaf(folder, 'gpu');
    const report = await score(request, { backend: 'auto', vmafBin, features: ['xpsnr'], threads: 0 });
    expect(report.backend_used).toBe('cpu');
    expect(report.warnings).toContain('The backend cuda was not used: it does not support xpsnr.');
  });

  it.each([
    [{}, 'feature', /needs the colours of both videos.* set them in format\.colours/],
    [{ colours: { reference: colour } }, 'usage', /format\.colours\.distorted is undefined/],
    [
      { colours: { reference: colour, distorted: { ...colour, matrix: 'bt470' } } },
      'usage',
      /format\.colours\.distorted\.matrix is "bt470", but it must be gbr, bt709, bt601, bt2020, smpte240m, fcc, ycgco, bt2020c or ictcp/,
    ],
    [{ frameRate: { num: 25, den: 0 } }, 'usage', /format\.frameRate is 25\/0, .*a fraction above 0/],
    [{ frameRate: { num: Infinity, den: 1 } }, 'usage', /is Infinity\/1, .*a fraction above 0/],
  ] as const)('by a scorer of %j', async (facts, code, message) => {
    const format = { ...SMALL, ...facts } as ScoredFormat;
    const creating = () => createScorer(format, { features: ['cvvdp'], threads: 0 });
    expect(await refusalOf(code, creating)).toMatch(message);
  });
});
