/**
 * @module test/support/clips
 * Small clips for tests of the engine, and the same clip in every form in which it can be handed in.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { VideoFormat } from '../../src/core/frame.js';
import type { FrameSource } from '../../src/media/types.js';
import type { Report } from '../../src/report/types.js';
import { sampleSource, y4mFile } from '../../src/sample/files.js';
import { makeSample, type SampleClip } from '../../src/sample/generator.js';
import { framesOnce } from './fixtures.js';
import { streamOf as inPieces } from './media.js';

export const SMALL: VideoFormat = { width: 98, height: 54, bitDepth: 8, chroma: '420' };
export const SMALL_10: VideoFormat = { ...SMALL, bitDepth: 10 };

/** Every extractor, with all that needs earlier or later frames. */
export const ALL_FEATURES = [
  'adm',
  'vif',
  'motion=debug=true',
  'motion=motion_five_frame_window=true:motion_moving_average=true',
  'psnr=enable_apsnr=true:enable_mse=true',
];

/** Metrics of every plane, without a model that hides one. */
export const EVERY_PLANE = {
  features: ['vif', 'adm', 'motion', 'psnr'],
  noPrediction: true,
  preflight: false,
} as const;

/** A quick metric alone. */
export const PSNR = { features: ['psnr'], noPrediction: true } as const;

/** A pair of Y4M files as bytes. */
export interface Y4mPair {
  readonly clip: SampleClip;
  readonly reference: Uint8Array<ArrayBuffer>;
  readonly distorted: Uint8Array<ArrayBuffer>;
}

/** Clips by their format, cut and seed: what moves in them takes long to make. */
const clips = new Map<string, SampleClip>();

/** A generated pair with a scene cut in the middle. */
export function y4mPair(format: VideoFormat, frames: number, seed = 1): Y4mPair {
  const cut = Math.ceil(frames / 2);
  const key = JSON.stringify([format, cut, seed]);
  const clip = clips.get(key) ?? framesOnce(makeSample(format, { seed, cut }));
  clips.set(key, clip);
  return {
    clip,
    reference: y4mFile(clip, 'reference', frames),
    distorted: y4mFile(clip, 'distorted', frames),
  };
}

/** A folder that goes when the tests of the file are done. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file and returns its path. */
export function file(folder: string, name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** Writes both videos of a pair. @param name begins their names */
export function storedPair(folder: string, name: string, { reference, distorted }: Omit<Y4mPair, 'clip'>) {
  return {
    reference: file(folder, `${name}-reference.y4m`, reference),
    distorted: file(folder, `${name}-distorted.y4m`, distorted),
  };
}

/** Bytes as a stream, cut into pieces that do not fit frames. */
export function streamOf(bytes: Uint8Array, piece = 7919): ReadableStream<Uint8Array> {
  return inPieces(bytes, () => piece);
}

/** What a test wants of its own source beyond frames. */
export interface SourceExtras {
  readonly seekable?: boolean;
  readonly frameCount?: number | null;
  /** Called before each frame is read. */
  readonly onRead?: (index: number) => Promise<void> | void;
  readonly onClose?: () => void;
}

/** A side of a clip as a caller's own source. */
export function ownSource(
  clip: SampleClip,
  side: 'reference' | 'distorted',
  frames: number,
  extras: SourceExtras = {},
): FrameSource {
  const source = sampleSource(clip, side, frames);
  const { seekable = false, frameCount = null, onRead, onClose } = extras;
  return {
    info: { ...source.info, name: `own ${side}`, frameCount },
    seekable,
    async readFrame(index, into) {
      await onRead?.(index);
      return source.readFrame(index, into);
    },
    close: () => onClose?.(),
  };
}

/** The part of a report that must not depend on how the run was carried out. */
export function results(
  report: Report,
): Pick<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics' | 'metrics'> {
  const { frames, pooled_metrics, aggregate_metrics, metrics } = report;
  return { frames, pooled_metrics, aggregate_metrics, metrics };
}
