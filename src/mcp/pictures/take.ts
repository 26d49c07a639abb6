/**
 * @module mcp/pictures/take
 * Extracts frames of videos in a worker thread, one after another, and the messages between both.
 */
import { Worker } from 'node:worker_threads';
import { onAbort } from '../../core/abort.js';
import { AnyvmafError, type ErrorData } from '../../core/errors.js';
import type { ColorMeaning, ExtractOptions, FrameFacts, Origin, RgbImage, VideoFormat } from '../../index.js';
import type { CheckedRequest } from '../checked-api.js';

/** Pictures of a pair. */
export const PICTURES = ['reference', 'distorted', 'difference', 'map'] as const;
export type PictureName = (typeof PICTURES)[number];

/** Which frames of which files, and which pictures of them. */
export interface PictureJob {
  readonly request: CheckedRequest;
  /** Numbers of pairs. */
  readonly frames: readonly number[];
  readonly options: Omit<ExtractOptions, 'signal'> & { readonly origin: Origin };
  /** Whether the map is Butteraugli's, not that of VIF and ADM. */
  readonly butteraugli: boolean;
  /** Longest side of the pictures in samples; absent: they have full size. */
  readonly maxSide?: number;
  /** Limits of the small copies for a model; absent if none are wanted. */
  readonly previews?: {
    readonly names: readonly PictureName[];
    /** Longest side in samples. */
    readonly maxSide: number;
    /** Bytes that one may have: a PNG if that has no more, else a JPEG that is made smaller until it has. */
    readonly maxBytes: number;
  };
  /** Longest side of a copy of the distorted picture in plain RGB, for a describing model; absent: none. */
  readonly plainSide?: number;
}

/** One picture as PNG. */
export interface Png {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A copy for a model. */
export interface Preview extends Png {
  readonly mimeType: 'image/png' | 'image/jpeg';
}

/** All that is made of one pair. */
export interface TakenPair {
  readonly index: number;
  readonly format: VideoFormat;
  /** Width over height as shown. */
  readonly aspect: number;
  readonly reference: TakenSide;
  readonly distorted: TakenSide;
  readonly facts: FrameFacts;
  /** The factor that the difference was multiplied with. */
  readonly gain: number;
  /** In full size unless the job says otherwise. */
  readonly pictures: Readonly<Record<PictureName, Png>>;
  readonly previews: Readonly<Partial<Record<PictureName, Preview>>>;
  readonly plain?: RgbImage;
}

/** Where a picture comes from. */
export interface TakenSide {
  readonly frame: number;
  readonly time: number | null;
  readonly color: ColorMeaning;
}

/** From the thread. */
export type FromPictureThread =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'taken'; readonly pair: TakenPair }
  | { readonly kind: 'done' }
  | ({ readonly kind: 'failed' } & ErrorData);

/** To the thread: a job, then perhaps the wish to stop. */
export type ToPictureThread = { readonly kind: 'job'; readonly job: PictureJob } | { readonly kind: 'stop' };

/** The thread's script in the built package. */
const SCRIPT = new URL('./picture-worker.js', import.meta.url);

/** Milliseconds that the thread gets to stop decoding before it is terminated. */
const GRACE = 150;

/**
 * Extracts frames; `onPair` gets each as soon as it is ready, in ascending order.
 * @param script another place of the thread's script
 * @throws {AnyvmafError} as the public `extractFrames`; the signal's reason when it aborts, once the thread is gone
 */
export async function takePairs(
  job: PictureJob,
  signal: AbortSignal,
  onPair: (pair: TakenPair) => Promise<void> | void,
  script: URL = SCRIPT,
): Promise<void> {
  signal.throwIfAborted();
  // Do not inherit flags of the process, such as --import of a test runner.
  const worker = new Worker(script, { name: 'anyvmaf-pictures', execArgv: [] });
  const post = (message: ToPictureThread): void => worker.postMessage(message);
  let timer: NodeJS.Timeout | undefined;
  let forget = () => {};
  const stop = () => {
    post({ kind: 'stop' });
    timer = setTimeout(() => void worker.terminate(), GRACE);
  };
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      let last: Promise<void> = Promise.resolve();
      let ended = false;
      worker.on('message', (message: FromPictureThread) => {
        switch (message.kind) {
          case 'loaded':
            return post({ kind: 'job', job });
          case 'taken':
            last = last.then(() => onPair(message.pair));
            last.catch(reject);
            return;
          case 'done':
            ended = true;
            return last.then(resolve, reject);
          case 'failed':
            ended = true;
            return reject(new AnyvmafError(message.code, message.message, message));
        }
      });
      worker.once('error', (error) => reject(new AnyvmafError('internal', died(error.message))));
      worker.once('exit', (code) => {
        // The last message and the exit may arrive together.
        if (!ended) reject(new AnyvmafError('internal', died(`it ended with code ${code}`)));
      });
      // The signal may have aborted while the thread started.
      forget = onAbort(signal, stop);
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    forget();
    if (!signal.aborted) timer ??= setTimeout(() => void worker.terminate(), GRACE);
    await gone;
    clearTimeout(timer);
  }
}

function died(how: string): string {
  return `The thread that takes pictures stopped: ${how}; call again.`;
}
