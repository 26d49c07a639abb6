/**
 * @module mcp/pictures/picture-worker
 * The worker thread that extracts frames of videos, measures them and encodes PNGs, so that the server's own thread
 * stays free for other calls.
 */
import { parentPort } from 'node:worker_threads';
import { errorData } from '../../core/errors.js';
import {
  AnyvmafError,
  type FramePair,
  type FramePicture,
  type HeatmapImage,
  mapQuality,
  type QualityMaps,
} from '../../index.js';
import { extractFrames } from '../checked-api.js';
import type {
  FromPictureThread,
  PictureJob,
  PictureName,
  Png,
  Preview,
  TakenPair,
  ToPictureThread,
} from './take.js';

const port = parentPort;
if (!port) throw new Error('mcp/pictures/picture-worker must run as a worker thread');

const post = (message: FromPictureThread): void => port.postMessage(message);
const stopping = new AbortController();

port.on('message', (message: ToPictureThread) => {
  if (message.kind === 'stop') stopping.abort(new AnyvmafError('aborted', 'the call was cancelled'));
  else
    void take(message.job)
      .then(post)
      .finally(() => port.close());
});
post({ kind: 'loaded' });

async function take(job: PictureJob): Promise<FromPictureThread> {
  const { request, frames, options } = job;
  try {
    const pairs = extractFrames(request, frames, { ...options, signal: stopping.signal });
    for await (const pair of pairs) {
      post({ kind: 'taken', pair: await pairPictures(pair, job) });
      stopping.signal.throwIfAborted();
    }
    return { kind: 'done' };
  } catch (error) {
    if (error instanceof AnyvmafError) return { kind: 'failed', ...errorData(error) };
    return {
      kind: 'failed',
      code: 'internal',
      message: error instanceof Error ? error.message : String(error),
    };
  }
}

async function pairPictures(
  pair: FramePair,
  { butteraugli, maxSide, previews, plainSide }: PictureJob,
): Promise<TakenPair> {
  const maps = await mapQuality(pair, { butteraugli });
  const pictures = {
    reference: await png(maps, 'reference', maxSide),
    distorted: await png(maps, 'distorted', maxSide),
    difference: await png(maps, 'difference', maxSide),
    map: await png(maps, 'map', maxSide),
  };
  const small: Partial<Record<PictureName, Preview>> = {};
  if (previews)
    for (const name of previews.names) small[name] = await fitting(maps, name, pictures[name], previews);
  return {
    index: pair.index,
    format: pair.reference.format,
    aspect: pair.reference.displayAspect,
    reference: sideOf(pair.reference),
    distorted: sideOf(pair.distorted),
    facts: pair.facts(),
    gain: pair.difference().gain,
    pictures,
    previews: small,
    ...(plainSide !== undefined && { plain: pair.distorted.image({ maxSide: plainSide }) }),
  };
}

function sideOf({ frame, time, color }: FramePicture) {
  return { frame, time, color };
}

async function png(maps: QualityMaps, name: PictureName, maxSide?: number): Promise<Png> {
  const { pair } = maps;
  const size = maxSide === undefined ? {} : { maxSide };
  if (name === 'map') {
    const drawn = mapOf(maps, size);
    return { width: drawn.image.width, height: drawn.image.height, bytes: await drawn.png() };
  }
  const { width, height } = name === 'difference' ? pair.difference(size).image : pair[name].image(size);
  const bytes = await (name === 'difference' ? pair.differencePng(size) : pair[name].png(size));
  return { width, height, bytes };
}

/** The map that was asked for. */
function mapOf(maps: QualityMaps, size: { readonly maxSide?: number }): HeatmapImage {
  return maps.render({ ...size, of: maps.butteraugli ? 'butteraugli' : 'both' });
}

/** Attempts at a size whose file is small enough. */
const ATTEMPTS = 8;

/** Quality of JPEGs: artefacts of a video must not drown in ours. */
const QUALITY = 88;

/** Part of the side that should fit, to aim at: smaller pictures have more detail a sample. */
const AIM = 0.93;

/** Smallest side of a copy. */
const LEAST_SIDE = 16;

/**
 * Bytes for each sample of the last JPEG of a kind: the same picture of another frame takes about as many. All are of one
 * video, for a thread takes one job.
 */
const densities = new Map<PictureName, number>();

/**
 * A copy no larger than allowed, in samples and in bytes: the whole picture where it is small enough, a PNG where that is,
 * else a JPEG. Of pictures with noise, a JPEG shows four times as many samples in as many bytes.
 */
async function fitting(
  maps: QualityMaps,
  name: PictureName,
  whole: Png,
  { maxSide, maxBytes }: NonNullable<PictureJob['previews']>,
): Promise<Preview> {
  const longest = Math.max(whole.width, whole.height);
  const copy = longest <= maxSide ? whole : await png(maps, name, maxSide);
  if (copy.bytes.length <= maxBytes) return { ...copy, mimeType: 'image/png' };
  const most = Math.min(longest, maxSide);
  const within = (side: number) => Math.min(most, Math.max(LEAST_SIDE, Math.floor(side)));
  const aimed = (density: number) =>
    AIM * longest * Math.sqrt(maxBytes / (density * whole.width * whole.height));
  const known = densities.get(name);
  let small = await jpeg(maps, name, known === undefined ? most : within(aimed(known)));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const side = Math.max(small.width, small.height);
    const density = small.bytes.length / (small.width * small.height);
    densities.set(name, density);
    const over = small.bytes.length > maxBytes;
    // The frame before took more than twice as many bytes.
    const spare = attempt === 0 && 2 * small.bytes.length < maxBytes;
    const next = within(over ? Math.min(0.95 * side, aimed(density)) : aimed(density));
    if (!(over || spare) || next === side) break;
    small = await jpeg(maps, name, next);
  }
  return small;
}

async function jpeg(maps: QualityMaps, name: PictureName, maxSide: number): Promise<Preview> {
  const { pair } = maps;
  const { width, height, data } =
    name === 'map'
      ? mapOf(maps, { maxSide }).image
      : name === 'difference'
        ? pair.difference({ maxSide }).image
        : pair[name].image({ maxSide });
  const rgba = new Uint8Array(4 * width * height);
  for (let from = 0, to = 0; from < data.length; to++)
    rgba[to] = (to & 3) === 3 ? 255 : (data[from++] as number);
  const { encode } = await import('jpeg-js');
  const bytes = new Uint8Array(encode({ width, height, data: rgba }, QUALITY).data);
  return { width, height, bytes, mimeType: 'image/jpeg' };
}
