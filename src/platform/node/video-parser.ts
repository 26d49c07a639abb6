/**
 * @module platform/node/video-parser
 * What a parser process of Node does with videos: the optional packages `mediabunny` and `@mediabunny/server`, which brings
 * libavcodec. Of damage it says what `@mediabunny/server` passes over: decoders that fail are closed without ending the
 * process, patched-up frames are recognised, and libavcodec's own messages stay off the terminal.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { VideoSample } from 'mediabunny';
import { AnyvmafError } from '../../core/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/calls.js';
import { createTrackDecoder } from '../mediabunny/decoder.js';
import { openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';

const ABSENT =
  'the packages mediabunny and @mediabunny/server are not installed; install them with ' +
  'npm install mediabunny @mediabunny/server, or install ffmpeg.';

/**
 * Loads the library, once a process.
 * @throws {AnyvmafError} `io` when it is not installed
 */
export async function serveNodeVideo(monitor: Monitor): Promise<Served<VideoCalls>> {
  const decoder = createTrackDecoder({
    engine: 'libavcodec',
    library: await register(),
    openInput: (video) => openLent(video, monitor),
    progress: monitor.progress,
    isPatched,
    failureAt,
    remedies: ['install ffmpeg, which decodes more'],
  });
  return serveVideo(decoder);
}

async function register(): Promise<Mediabunny> {
  let mediabunny: Mediabunny;
  let server: typeof import('@mediabunny/server');
  try {
    [mediabunny, server] = await Promise.all([import('mediabunny'), import('@mediabunny/server')]);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND') throw new AnyvmafError('io', ABSENT, { cause });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AnyvmafError(
      'io',
      `@mediabunny/server cannot be loaded: ${why}; install it again, or install ffmpeg.`,
      {
        cause,
      },
    );
  }
  guardDecoders(mediabunny);
  server.registerMediabunnyServer();
  await silenceLibav();
  // What it warns of comes back as errors.
  mediabunny.Logging.level = mediabunny.LogLevel.Errors;
  return mediabunny;
}

/** The parts of a decoder of `@mediabunny/server` that matter here; its frame is libavcodec's AVFrame. */
interface GuardedDecoder {
  decode(packet: unknown): Promise<void> | void;
  readonly frame?: { readonly flags?: number; readonly decodeErrorFlags?: number };
}

/** libavutil's AV_FRAME_FLAG_CORRUPT. */
const CORRUPT = 1;

/** Samples that libavcodec filled with guesses where it could not decode. */
const patched = new WeakSet<VideoSample>();

/** Why there are no samples after these, which stand for none themselves. */
const failures = new WeakMap<VideoSample, unknown>();

/** How a decoder hands out samples, and the time of its last one in seconds. */
interface Outlet {
  readonly emit: (sample: VideoSample) => void;
  last?: number;
}

/** Why a decoder failed where this sample would be, `undefined` for samples that it decoded. */
function failureAt(sample: VideoSample): unknown {
  return failures.get(sample);
}

/** Whether a sample holds guesses in place of what was coded. */
function isPatched(sample: VideoSample): boolean {
  return patched.has(sample);
}

/**
 * Stands between mediabunny and its custom decoders. mediabunny gives each new decoder its `onError` and `onSample` by
 * assignment, which these accessors see.
 */
function guardDecoders({ CustomVideoDecoder, VideoSample: Sample }: Mediabunny): void {
  const outlets = new WeakMap<object, Outlet>();

  Object.defineProperty(CustomVideoDecoder.prototype, 'onError', {
    configurable: true,
    set(this: GuardedDecoder, onError: (error: unknown) => void) {
      own(this, 'onError', onError);
      // A decoder whose promise rejects cannot be closed any more, and closing it then ends the process.
      const decode = this.decode.bind(this);
      let failed = false;
      own(this, 'decode', async (packet: unknown) => {
        if (failed) return;
        try {
          await decode(packet);
        } catch (error) {
          failed = true;
          const outlet = outlets.get(this);
          if (outlet?.last === undefined) return onError(error);
          // An error would overtake the samples that wait to be read, so that where the video ends would depend on timing.
          const place = new Sample(new Uint8Array(6), {
            format: 'I420',
            codedWidth: 2,
            codedHeight: 2,
            timestamp: outlet.last,
          });
          failures.set(place, error);
          outlet.emit(place);
        }
      });
    },
  });
  Object.defineProperty(CustomVideoDecoder.prototype, 'onSample', {
    configurable: true,
    set(this: GuardedDecoder, onSample: (sample: VideoSample) => void) {
      const outlet: Outlet = { emit: onSample };
      outlets.set(this, outlet);
      own(this, 'onSample', (sample: VideoSample) => {
        outlet.last = sample.timestamp;
        const { flags = 0, decodeErrorFlags = 0 } = this.frame ?? {};
        if ((flags & CORRUPT) !== 0 || decodeErrorFlags !== 0) patched.add(sample);
        onSample(sample);
      });
    },
  });
}

function own(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { configurable: true, writable: true, value });
}

/** Messages are the business of whoever calls; libavcodec would print its own between them. */
async function silenceLibav(): Promise<void> {
  try {
    const { resolve } = createRequire(import.meta.url);
    const file = createRequire(resolve('@mediabunny/server')).resolve('node-av');
    const { Log, AV_LOG_QUIET } = await import(pathToFileURL(file).href);
    Log.setLevel(AV_LOG_QUIET);
  } catch {
    // Louder than wished, and nothing else.
  }
}
