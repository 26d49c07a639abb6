/**
 * @module cli/page-pictures
 * Pictures of the worst frames for the page of `--html`: both frames and a loss heatmap, decoded again after the run.
 */
import { onAbort } from '../core/abort.js';
import { AnyvmafError, messageOf } from '../core/errors.js';
import { pickOptions } from '../core/options.js';
import { endChild, startChild } from '../files/child-process.js';
import type { MapKind, QualityMaps, RawVideoFormat, RgbImage, ScoreOptions } from '../index.js';
import {
  type ListedEncode,
  listedFrames,
  type PageLimits,
  type PagePictures,
  type PictureFiles,
  type PictureTry,
  pagePicturesOf,
} from '../report/picture-room.js';
import { mapsOfMetric } from '../report/quality-metrics.js';
import type { Report } from '../report/schema.js';
import { messageInFlags } from './exit.js';

export interface PicturedEncode {
  readonly report: Report;
  readonly reference: string | undefined;
  readonly distorted: string;
  readonly raw: RawVideoFormat | undefined;
  readonly options: ScoreOptions;
}

/** Side of a heatmap cell, in pixels of the video. */
const BLOCK = 16;

/**
 * Makes pictures of the frames listed on the page, as large as fit, the worst of every encode first. The same files
 * give the same pictures. An encode whose files cannot be read again has none.
 * @throws the signal's reason
 */
export function pagePictures(
  encodes: readonly PicturedEncode[],
  signal: AbortSignal,
  limits: PageLimits = {},
): Promise<PagePictures> {
  const write = pictureWriter(signal);
  const listed = encodes.map((encode) => ({
    ...encode,
    name: encode.report.distorted.name,
    frames: encode.reference === undefined ? [] : listedFrames(encode.report, encodes.length),
  }));
  return pagePicturesOf(listed, limits, {
    momentsOf: (encode) => momentsOf(encode, write, signal),
    reasonOf,
    remedy: '--html-size',
    signal,
  });
}

async function* momentsOf(
  { report, reference = '', distorted, raw, options, frames }: PicturedEncode & ListedEncode,
  write: ReturnType<typeof pictureWriter>,
  signal: AbortSignal,
) {
  if (reference === '-' || distorted === '-') throw new Error('standard input cannot be read twice.');
  const ofMetric = mapsOfMetric(report);
  const { extractFrames, mapQuality } = await import('../index.js');
  // Use the offset that the run found.
  const { window: _, ...pairing } = pickOptions(options, ({ by }) => by.includes('extract'));
  const offset = report.pairing?.frames.offset;
  const pairs = extractFrames({ reference, distorted, ...(raw && { raw }) }, frames, {
    ...pairing,
    ...(offset !== undefined && { offset }),
    preflight: false,
    signal,
  });
  const of = ofMetric.butteraugli ? 'butteraugli' : 'both';
  for await (const pair of pairs) {
    const maps = await mapQuality(pair, { blockSize: BLOCK, ...ofMetric });
    yield {
      frame: pair.index,
      aspect: pair.reference.displayAspect,
      write: (attempt: PictureTry) => write(maps, of, attempt),
    };
  }
}

/** Writes PNG if lossless, or without ffmpeg; else JPEG. */
function pictureWriter(signal: AbortSignal) {
  let hasJpeg = true;
  return async (
    maps: QualityMaps,
    of: MapKind,
    { side, quality, fits }: PictureTry,
  ): Promise<PictureFiles | undefined> => {
    const { reference, distorted } = maps.pair;
    const { width, height } = reference.format;
    const size = { maxSide: side };
    const first = reference.image(size);
    if (hasJpeg && quality === 1 && !fits(first.width * first.height)) return undefined;
    const map = maps.render({ of, legend: false, ...size });
    if (hasJpeg && quality < 1) {
      const files = await jpegsOf([first, distorted.image(size), map.image], quality, signal);
      if (files) return files;
      hasJpeg = false;
    }
    // As PNG it would equal the lossless attempt.
    if (quality < 1 && side >= Math.max(width, height)) return undefined;
    return {
      reference: await reference.png(size),
      distorted: await distorted.png(size),
      map: await map.png(),
    };
  };
}

/** Encodes images of one size as JPEG with the installed ffmpeg; `undefined` if that fails. */
async function jpegsOf(images: readonly RgbImage[], quality: number, signal: AbortSignal) {
  const [{ width = 0, height = 0 } = {}] = images;
  const input = `-v quiet -f rawvideo -pix_fmt rgb24 -s ${width}x${height} -i pipe:0`;
  const output = '-pix_fmt yuvj420p -c:v mjpeg -threads 1 -f image2pipe pipe:1';
  const scale = Math.round(2 + 20 * (1 - quality));
  const args = `${input} -q:v ${scale} ${output}`.split(' ');
  const child = startChild(process.env.ANYVMAF_FFMPEG || 'ffmpeg', args, {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve()).once('close', () => resolve());
  });
  const forget = onAbort(signal, () => void endChild(child, ended, [child.stdout]));
  // Ignore a process that has ended.
  child.stdin?.on('error', () => {}).end(Buffer.concat(images.map(({ data }) => data)));
  const pieces: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
  await ended;
  forget();
  signal.throwIfAborted();
  const [reference, distorted, map] = jpegsIn(Buffer.concat(pieces));
  return reference && distorted && map && { reference, distorted, map };
}

/** Splits at end-of-image markers, which never occur within a JPEG's data. */
function jpegsIn(bytes: Buffer): readonly Uint8Array[] {
  const files: Uint8Array[] = [];
  for (let from = 0, end = bytes.indexOf(JPEG_END); end !== -1; end = bytes.indexOf(JPEG_END, from)) {
    files.push(bytes.subarray(from, end + 2));
    from = end + 2;
  }
  return files;
}

const JPEG_END = Buffer.from([0xff, 0xd9]);

function reasonOf(error: unknown): string {
  return error instanceof AnyvmafError ? messageInFlags(error) : messageOf(error);
}
