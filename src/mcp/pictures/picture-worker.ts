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
  mapQuality,
  type QualityMaps,
} from '../../index.js';
import { extractFrames } from '../checked-api.js';
import type {
  FromPictureThread,
  PictureJob,
  PictureName,
  Png,
  TakenPair,
  ToPictureThread,
} from './protocol.js';

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

async function pairPictures(pair: FramePair, { previews, plainSide }: PictureJob): Promise<TakenPair> {
  const maps = await mapQuality(pair);
  const pictures = {
    reference: await png(maps, 'reference'),
    distorted: await png(maps, 'distorted'),
    difference: await png(maps, 'difference'),
    map: await png(maps, 'map'),
  };
  const small: Partial<Record<PictureName, Png>> = {};
  if (previews)
    for (const name of previews.names) small[name] = await fitting(maps, name, pictures[name], previews);
  return {
    index: pair.index,
    format: pair.reference.format,
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
    const drawn = maps.render(size);
    return { width: drawn.image.width, height: drawn.image.height, bytes: await drawn.png() };
  }
  const { width, height } = name === 'difference' ? pair.difference(size).image : pair[name].image(size);
  const bytes = await (name === 'difference' ? pair.differencePng(size) : pair[name].png(size));
  return { width, height, bytes };
}

/** Attempts at a size whose file is small enough. */
const ATTEMPTS = 4;

/** A copy no larger than allowed, in samples and in bytes: the whole picture where it is small enough. */
async function fitting(
  maps: QualityMaps,
  name: PictureName,
  whole: Png,
  { maxSide, maxBytes }: NonNullable<PictureJob['previews']>,
): Promise<Png> {
  let copy = whole;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const side = Math.max(copy.width, copy.height);
    if (side <= maxSide && copy.bytes.length <= maxBytes) break;
    // Smaller pictures have more detail a sample, so aim a little lower.
    const fits = Math.floor(side * Math.min(1, 0.9 * Math.sqrt(maxBytes / copy.bytes.length)));
    copy = await png(maps, name, Math.max(16, Math.min(maxSide, fits)));
  }
  return copy;
}
