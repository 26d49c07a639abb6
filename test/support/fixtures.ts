/**
 * @module test/support/fixtures
 * libvmaf 3.2.0's values for generated clips (test/fixtures) and for real ones (../shared/golden), and what equal to them means:
 * features to the last bit, predictions to the last bits of `exp`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Compat } from '../../src/core/choices.js';
import type { ChromaFormat, VideoFormat } from '../../src/core/frame.js';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import type { openModel } from '../../src/index.js';
import type { Report } from '../../src/report/schema.js';
import { sampleSource } from '../../src/sample/files.js';
import {
  allocateSamples,
  makeSample,
  type SampleClip,
  type SampleDistortion,
  type SampleSide,
  samplePlaneSizes,
} from '../../src/sample/generator.js';
import { planesFor } from './media.js';

export interface FixtureClip extends VideoFormat {
  readonly content: 'sample' | 'T' | 'saw' | 'bowl';
  readonly frames: number;
  readonly seed?: number;
  readonly cut?: number;
  readonly distortion?: SampleDistortion;
}

/** What was asked of libvmaf, as options of `score`. */
export interface FixtureRequest {
  readonly models?: readonly string[];
  readonly features?: readonly string[];
  readonly noPrediction?: boolean;
  readonly subsample?: number;
  readonly compat?: Compat;
}

/** A request and libvmaf's answer: values per metric, frame by frame. */
export interface FixtureRun extends FixtureRequest {
  readonly metrics: Readonly<Record<string, readonly (number | null)[]>>;
  /** Numbers of the frames that have values; all when absent. */
  readonly frameNums?: readonly number[];
  /** min, max, mean, harmonic mean. */
  readonly pooled?: Readonly<Record<string, readonly (number | null)[]>>;
  /** `null` stands for a non-finite value. */
  readonly aggregate?: Readonly<Record<string, number | null>>;
}

export interface FixtureCase {
  readonly clip: FixtureClip;
  /** Start of the SHA-256 of all planes that libvmaf read: reference frames, then distorted ones. */
  readonly digest: string;
  readonly runs: readonly FixtureRun[];
}

/** The cases of a file in test/fixtures. */
export function readFixture(name: string): readonly FixtureCase[] {
  const path = fileURLToPath(new URL(`../fixtures/${name}.json`, import.meta.url));
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly FixtureCase[] }).cases;
}

/** The clip used last, whose frames are made once. */
let latest: { readonly key: string; readonly pair: SampleClip } | undefined;

/** The pair that a fixture describes. */
export function fixtureClip(clip: FixtureClip): SampleClip {
  const key = JSON.stringify(clip);
  if (latest?.key === key) return latest.pair;
  latest = { key, pair: framesOnce(generate(clip)) };
  return latest.pair;
}

/** A clip whose frames are made once. */
export function framesOnce(clip: SampleClip): SampleClip {
  const frames = new Map<string, ReturnType<SampleClip['frame']>>();
  return {
    ...clip,
    frame(side, index) {
      const name = `${side} ${index}`;
      const found = frames.get(name) ?? clip.frame(side, index);
      frames.set(name, found);
      return found;
    },
  };
}

function generate(clip: FixtureClip): SampleClip {
  if (clip.content === 'sample') return makeSample(clip, clip);
  return clip.content === 'bowl' ? bowl(clip) : makeTestImage(clip, clip.content);
}

/** Smooth shading in steps of one level, brighter away from (960, 540): all of it bands. 8 bit, luma only. */
function bowl({ width, height, ...rest }: VideoFormat): SampleClip {
  const samples = Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [(i % width) - 960, Math.floor(i / width) - 540];
    return 20 + ((x * x + y * y) >> 15);
  });
  return { format: { width, height, ...rest }, frame: () => [{ width, height, samples }] };
}

export function clipTitle(clip: FixtureClip): string {
  return `${clip.content} ${clip.width}x${clip.height} ${clip.bitDepth} bit ${clip.chroma}, ${clip.frames} frame${clip.frames === 1 ? '' : 's'}`;
}

export function requestTitle(run: FixtureRequest): string {
  const parts = [...(run.models ?? []), ...(run.features ?? [])];
  if (run.subsample !== undefined) parts.push(`subsample ${run.subsample}`);
  return parts.join(', ');
}

/** Digest of the planes that a reader of frames gets. */
export async function clipDigest(clip: FixtureClip): Promise<string> {
  const pair = fixtureClip(clip);
  const planes = planesFor(clip);
  const hash = createHash('sha256');
  for (const side of ['reference', 'distorted'] as const) {
    const source = sampleSource(pair, side, clip.frames);
    for (let index = 0; index < clip.frames; index++) {
      await source.readFrame(index, planes);
      for (const plane of [planes.y, planes.cb, planes.cr]) if (plane !== undefined) hash.update(plane);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Compares a report with every value that libvmaf gave for this run. */
export function compareWithFixture(report: Report, run: FixtureRun): Comparison {
  const tally = new Tally(scoreTolerance(run.models ?? []));
  const frames = new Map(report.frames.map((frame) => [frame.frameNum, frame.metrics]));
  for (const [metric, values] of Object.entries(run.metrics)) {
    values.forEach((expected, i) => {
      const number = run.frameNums?.[i] ?? i;
      tally.check(metric, `frame ${number}`, frames.get(number)?.[metric], expected);
    });
  }
  for (const [metric, values] of Object.entries(run.pooled ?? {}))
    tally.checkPooled(metric, report.pooled_metrics[metric], values);
  for (const [metric, expected] of Object.entries(run.aggregate ?? {}))
    tally.check(metric, 'of all frames', report.aggregate_metrics[metric], expected);
  return tally;
}

/** Luma of the test image T(W, H, b, t) or of its "saw" variant, both sides. */
function testPlane(width: number, height: number, depth: number, t: number, saw: boolean, side: SampleSide) {
  const level = (x: number, y: number): number => {
    const v = 3 * x + 5 * y + ((x * y) >> 3) + 17 * t + 4 * ((x ^ y) & 15);
    if (saw) return v & 255;
    const folded = v % 510;
    return folded > 255 ? 510 - folded : folded;
  };
  const out = allocateSamples(depth, width * height);
  const extra = depth - 8;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let value = level(x, y);
      if (side === 'distorted') {
        const smooth = (value + level(Math.min(x + 1, width - 1), y) + 1) >> 1;
        value = Math.max(0, Math.min(255, smooth + ((7 * x + 13 * y + 5 * t) % 9) - 4));
      }
      const low = (5 * x + 3 * y + t) & ((1 << extra) - 1);
      out[y * width + x] = (value << extra) | low;
    }
  }
  return out;
}

/**
 * The synthetic test image T and its variant `saw`, whose full-scale edges reach the overflow cases. Chroma plane p is T
 * of that plane's size, 7 p frames later.
 */
export function makeTestImage(format: VideoFormat, variant: 'T' | 'saw' = 'T'): SampleClip {
  const sizes = samplePlaneSizes(format);
  return {
    format,
    frame(side, index) {
      return sizes.map(({ width, height }, plane) => ({
        width,
        height,
        samples: testPlane(width, height, format.bitDepth, index + 7 * plane, variant === 'saw', side),
      }));
    },
  };
}

/** Allowed relative difference of a prediction: libraries' `exp` differ in their last bit. */
const SCORE_TOLERANCE = 1e-13;

/**
 * Allowed relative difference of float_adm: libvmaf on x86 divides by a reciprocal that the processor estimates, and
 * processors differ; here it is a true division. Everything else about it is exact.
 */
const RECIPROCAL_TOLERANCE = 5e-7;

/** The same for what is predicted from float_adm. */
const FLOAT_SCORE_TOLERANCE = 1e-6;

/** Allowed relative difference of the predictions of models. */
function scoreTolerance(models: readonly string[]): number {
  return models.some((model) => model.includes('vmaf_float_')) ? FLOAT_SCORE_TOLERANCE : SCORE_TOLERANCE;
}

/** Allowed relative difference of a feature; `undefined` for a prediction. */
function featureTolerance(metric: string): number | undefined {
  if (/^(adm|aim)/.test(metric)) return RECIPROCAL_TOLERANCE;
  const exact = /^(integer_|VMAF_integer_|a?psnr_|mse_|float_|motion|vif|ciede2000|cambi|speed_)/;
  return exact.test(metric) ? 0 : undefined;
}

/** Relative difference of two numbers; 0 for the same double, and for any value that is not finite if `null` is expected. */
function relativeDifference(actual: unknown, expected: number | null): number {
  if (expected === null) return typeof actual !== 'number' || !Number.isFinite(actual) ? 0 : Infinity;
  if (Object.is(actual, expected) || actual === expected) return 0;
  if (typeof actual !== 'number' || !Number.isFinite(expected) || Number.isNaN(actual)) return Infinity;
  return Math.abs(actual - expected) / Math.max(Math.abs(actual), Math.abs(expected));
}

/** Whether `actual` is as close to libvmaf's value as the project promises. `null` stands for no finite value. */
export function agrees(metric: string, actual: unknown, expected: number | null, scores = SCORE_TOLERANCE) {
  return relativeDifference(actual, expected) <= (featureTolerance(metric) ?? scores);
}

/** How values compare with libvmaf's. */
export interface Comparison {
  readonly compared: number;
  /** Values that are the same double. */
  readonly equal: number;
  /** Largest relative difference. */
  readonly worst: number;
  /** Values that break the promise, as text. */
  readonly wrong: readonly string[];
}

class Tally implements Comparison {
  compared = 0;
  equal = 0;
  worst = 0;
  readonly wrong: string[] = [];
  readonly #scores: number;

  /** @param scores allowed relative difference of predictions */
  constructor(scores = SCORE_TOLERANCE) {
    this.#scores = scores;
  }

  check(metric: string, where: string, actual: unknown, expected: number | null): void {
    const difference = relativeDifference(actual, expected);
    this.compared++;
    if (difference === 0) this.equal++;
    this.worst = Math.max(this.worst, difference);
    if (!agrees(metric, actual, expected, this.#scores)) {
      this.wrong.push(`${metric} ${where}: ${String(actual)}, libvmaf ${expected}`);
    }
  }

  /** @param expected min, max, mean, harmonic mean */
  checkPooled(
    metric: string,
    actual: Report['pooled_metrics'][string] | undefined,
    expected: readonly (number | null)[],
  ): void {
    (['min', 'max', 'mean', 'harmonic_mean'] as const).forEach((method, i) => {
      this.check(metric, method, actual && method in actual ? actual[method] : null, expected[i] ?? null);
    });
  }
}

type GoldenValue = number | string | null;

interface GoldenRun {
  readonly frames?: number;
  readonly features?: Readonly<Record<string, readonly GoldenValue[]>>;
  readonly aggregate?: Readonly<Record<string, GoldenValue>>;
  readonly pooled_min_max_mean_hmean?: readonly GoldenValue[];
  readonly error?: string;
  readonly reference_undefined?: unknown;
}

interface GoldenPair {
  readonly ref: string;
  readonly dis: string;
  readonly width: number;
  readonly height: number;
  readonly pixel_format: ChromaFormat;
  readonly bitdepth: number;
  readonly results: Readonly<Record<string, GoldenRun>>;
}

export interface GoldenCase {
  /** Name of the clip pair. */
  readonly clip: string;
  /** `m:` and a model, or a feature string. */
  readonly config: string;
  readonly request: ScoreRequest;
  readonly options: ScoreOptions;
  readonly expected: GoldenRun;
  /** Allowed relative difference of predictions. */
  readonly scoreTolerance: number;
}

/** The model string of a version: the v1 files are not in this repository. */
function modelString(version: string, root: URL): string {
  if (!version.startsWith('vmaf_v1.')) return `version=${version}`;
  const folder = version.includes('_hfr_') ? 'vmaf_v1.0.16_hfr' : 'vmaf_v1.0.16';
  return `path=${fileURLToPath(new URL(`models/${folder}/${version}.json`, root))}:name=vmaf`;
}

/** All runs of ../shared/golden in which libvmaf gave defined values. @param root parent of that folder */
export function goldenCases(root: URL): GoldenCase[] {
  const text = readFileSync(new URL('golden/features.json', root), 'utf8');
  const { pairs } = JSON.parse(text) as { pairs: Readonly<Record<string, GoldenPair>> };
  return Object.entries(pairs).flatMap(([clip, pair]) =>
    Object.entries(pair.results)
      .filter(([, run]) => run.features && !run.reference_undefined)
      .map(([config, expected]) => ({
        clip,
        config,
        request: {
          reference: fileURLToPath(new URL(pair.ref, root)),
          distorted: fileURLToPath(new URL(pair.dis, root)),
          raw: { width: pair.width, height: pair.height, bitDepth: pair.bitdepth, chroma: pair.pixel_format },
        },
        options: config.startsWith('m:')
          ? { models: [modelString(config.slice(2), root)] }
          : { features: [config], noPrediction: true },
        expected,
        scoreTolerance: scoreTolerance(config.startsWith('m:') ? [config] : []),
      })),
  );
}

function toNumber(value: GoldenValue): number | null {
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  if (value === '-inf') return Number.NEGATIVE_INFINITY;
  return typeof value === 'number' ? value : null;
}

/** Compares a report with libvmaf's frames, pooled score and aggregates of this run. */
export function compareWithGolden(report: Report, { expected, scoreTolerance }: GoldenCase): Comparison {
  const tally = new Tally(scoreTolerance);
  for (const [metric, values] of Object.entries(expected.features ?? {})) {
    values.forEach((value, i) => {
      tally.check(metric, `frame ${i}`, report.frames[i]?.metrics[metric], toNumber(value));
    });
  }
  const pooled = expected.pooled_min_max_mean_hmean;
  if (pooled) tally.checkPooled('vmaf', report.pooled_metrics.vmaf, pooled.map(toNumber));
  for (const [metric, value] of Object.entries(expected.aggregate ?? {}))
    tally.check(metric, 'of all frames', report.aggregate_metrics[metric], toNumber(value));
  return tally;
}

/**
 * The inputs of a model in each frame that libvmaf measured for it, and libvmaf's score.
 * @param open the library's `openModel`; scripts bundle this module without the library
 */
export async function* measuredFrames(open: typeof openModel) {
  for (const { runs } of ['models', 'formats'].flatMap(readFixture)) {
    for (const { models = [], metrics } of runs) {
      for (const text of models) {
        const model = await open(text);
        const scores = metrics[model.name] ?? [];
        if (!model.inputs.every(({ logName }) => metrics[logName]?.length === scores.length)) continue;
        for (const [i, expected] of scores.entries()) {
          const read = model.inputs.map(({ logName }) => [logName, metrics[logName]?.[i] ?? Number.NaN]);
          yield { title: `${text}, frame ${i}`, model, values: Object.fromEntries(read), expected };
        }
      }
    }
  }
}
