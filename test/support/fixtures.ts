/**
 * @module test/support/fixtures
 * Reads test/fixtures: generated clips and what libvmaf gave for them, and compares a report with that.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Compat } from '../../src/core/choices.js';
import type { FramePlanes, VideoFormat } from '../../src/core/frame.js';
import type { Report } from '../../src/report/types.js';
import { sampleSource } from '../../src/sample/files.js';
import { makeSample, type SampleClip, type SampleDistortion } from '../../src/sample/generator.js';
import { type Comparison, scoreTolerance, Tally } from './agreement.js';
import { makeTestImage } from './test-image.js';

/** A generated pair. */
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

/** The clip that was asked for last, whose frames are made once. */
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

/** A title for a clip. */
export function clipTitle(clip: FixtureClip): string {
  return `${clip.content} ${clip.width}x${clip.height} ${clip.bitDepth} bit ${clip.chroma}, ${clip.frames} frame${clip.frames === 1 ? '' : 's'}`;
}

/** A title for a request. */
export function requestTitle(run: FixtureRequest): string {
  const parts = [...(run.models ?? []), ...(run.features ?? [])];
  if (run.subsample !== undefined) parts.push(`subsample ${run.subsample}`);
  return parts.join(', ');
}

/** Digest of the planes as a reader of frames sees them. */
export async function clipDigest(clip: FixtureClip): Promise<string> {
  const pair = fixtureClip(clip);
  const bytes = clip.bitDepth > 8 ? 2 : 1;
  const chromaWidth = clip.chroma === '444' ? clip.width : clip.width >> 1;
  const chromaHeight = clip.chroma === '420' ? clip.height >> 1 : clip.height;
  const y = new Uint8Array(clip.width * clip.height * bytes);
  const planes: FramePlanes =
    clip.chroma === '400'
      ? { y }
      : {
          y,
          cb: new Uint8Array(chromaWidth * chromaHeight * bytes),
          cr: new Uint8Array(chromaWidth * chromaHeight * bytes),
        };
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

/** Compares every value that libvmaf gave for this run. */
export function compareWithFixture(report: Report, run: FixtureRun): Comparison {
  const tally = new Tally(scoreTolerance(run.models ?? []));
  const frames = new Map(report.frames.map((frame) => [frame.frameNum, frame.metrics]));
  for (const [metric, values] of Object.entries(run.metrics)) {
    values.forEach((expected, i) => {
      const number = run.frameNums?.[i] ?? i;
      tally.check(metric, `frame ${number}`, frames.get(number)?.[metric], expected);
    });
  }
  for (const [metric, values] of Object.entries(run.pooled ?? {})) {
    tally.checkPooled(metric, report.pooled_metrics[metric], values);
  }
  for (const [metric, expected] of Object.entries(run.aggregate ?? {})) {
    tally.check(metric, 'of all frames', report.aggregate_metrics[metric], expected);
  }
  return tally;
}
