/**
 * @module test/support/clips
 * Small clips for tests of the engine, the same clip in every form in which it can be handed in, in parts, and a record of the
 * decoders that read it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VideoFormat } from '../../src/core/frame.js';
import type { Platform } from '../../src/engine/contract/platform.js';
import { formatShard, mergeShards, readShard, scoreShard } from '../../src/index.js';
import type { DecodeRequest, Decoder } from '../../src/media/decoder.js';
import type { FrameSource, VideoInput } from '../../src/media/types.js';
import type { ScoreOptions, ScoreRequest } from '../../src/public.js';
import type { Report } from '../../src/report/schema.js';
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

export const PSNR = { features: ['psnr'], noPrediction: true } as const;

/** A pair of Y4M files as bytes. */
export interface Y4mPair {
  readonly clip: SampleClip;
  readonly reference: Uint8Array<ArrayBuffer>;
  readonly distorted: Uint8Array<ArrayBuffer>;
}

/** Generated clips by format, cut and seed: motion is slow to generate. */
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

/** How a test's own source differs from a plain one. */
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
export function results(report: Report) {
  const { frames, pooled_metrics, aggregate_metrics, metrics } = report;
  return { frames, pooled_metrics, aggregate_metrics, metrics };
}

/** The report of a pair that is measured in `count` parts. */
export async function inParts(request: ScoreRequest, count: number, options: ScoreOptions): Promise<Report> {
  const { onFrame, ...own } = options;
  const shards = [];
  for (let number = 1; number <= count; number++) {
    const shard = await scoreShard(request, { number, count }, own);
    shards.push(await readShard(await formatShard(shard), `part ${number}`));
  }
  return mergeShards(shards.reverse(), onFrame ? { onFrame } : {});
}

/** A report without the facts of the machine. */
export function comparable({ fps: _, threads: __, ...rest }: Report): Omit<Report, 'fps' | 'threads'> {
  return rest;
}

export interface Decoding {
  readonly input: VideoInput;
  readonly request: DecodeRequest;
  /** Frames decoded, as far as reading showed. */
  readonly frames: number;
}

/** The platform with a record of what it decodes. */
export function watchedPlatform(platform: Platform): { platform: Platform; opened: readonly Decoding[] } {
  const opened: Decoding[] = [];
  const watched = (decoder: Decoder): Decoder => ({
    id: decoder.id,
    availability: () => decoder.availability(),
    probe: (input, signal) => decoder.probe(input, signal),
    timestamps: (input, signal, track) => decoder.timestamps(input, signal, track),
    async open(input, facts, request) {
      const record = { input, request, frames: 0 };
      opened.push(record);
      const source = await decoder.open(input, facts, request);
      return {
        info: source.info,
        seekable: source.seekable,
        facts: source.facts,
        decoder: source.decoder,
        decodedBy: source.decodedBy,
        ...(source.scaledBy !== undefined && { scaledBy: source.scaledBy }),
        timestamp: (index) => source.timestamp(index),
        async readFrame(index, into) {
          const found = await source.readFrame(index, into);
          if (found) record.frames = Math.max(record.frames, index + 1);
          return found;
        },
        close: () => source.close(),
      };
    },
  });
  return {
    opened,
    platform: { ...platform, decoders: async (options) => (await platform.decoders(options)).map(watched) },
  };
}
