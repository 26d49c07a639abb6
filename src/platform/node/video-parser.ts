/**
 * @module platform/node/video-parser
 * Decodes videos in a parser process of Node with `mediabunny` and `@mediabunny/server` (libavcodec). Reports damage that
 * the latter ignores, keeps failed decoders from ending the process, and libavcodec's messages off the terminal.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { VideoSample } from 'mediabunny';
import { codeOf, ioError, messageOf } from '../../core/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/remote.js';
import { openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';

const ABSENT =
  'the packages mediabunny and @mediabunny/server are not installed; install them with ' +
  'npm install mediabunny @mediabunny/server, or install ffmpeg.';

/** Loads the library. @throws {AnyvmafError} `io` if it is not installed */
export async function serveNodeVideo(monitor: Monitor): Promise<Served<VideoCalls>> {
  return serveVideo({
    engine: 'libavcodec',
    library: await register(),
    openInput: (video) => openLent(video, monitor),
    progress: monitor.progress,
    isPatched: (sample) => patched.has(sample),
    failureAt: (sample) => failures.get(sample),
    remedies: ['install ffmpeg, which decodes more'],
  });
}

async function register(): Promise<Mediabunny> {
  let mediabunny: Mediabunny;
  let server: typeof import('@mediabunny/server');
  try {
    [mediabunny, server] = await Promise.all([import('mediabunny'), import('@mediabunny/server')]);
  } catch (cause) {
    if (codeOf(cause) === 'ERR_MODULE_NOT_FOUND') throw ioError(ABSENT, { cause });
    const message = `@mediabunny/server cannot be loaded: ${messageOf(cause)}; install it again, or install ffmpeg.`;
    throw ioError(message, { cause });
  }
  guardDecoders(mediabunny);
  server.registerMediabunnyServer();
  await silenceLibav();
  // Its warnings also arrive as errors.
  mediabunny.Logging.level = mediabunny.LogLevel.Errors;
  return mediabunny;
}

/** The used parts of `@mediabunny/server`'s decoder; its frame is libavcodec's AVFrame. */
interface GuardedDecoder {
  decode(packet: unknown): Promise<void> | void;
  readonly frame?: { readonly flags?: number; readonly decodeErrorFlags?: number };
}

/** libavutil's AV_FRAME_FLAG_CORRUPT. */
const CORRUPT = 1;

/** Samples with guesses of libavcodec. */
const patched = new WeakSet<VideoSample>();

/** Errors, by the samples that stand for them and end the video. */
const failures = new WeakMap<VideoSample, unknown>();

/** A decoder's output, and the time of its last sample in seconds. */
interface Outlet {
  readonly emit: (sample: VideoSample) => void;
  last?: number;
}

/** mediabunny assigns `onError` and `onSample` to each new custom decoder; these accessors intercept that. */
function guardDecoders({ CustomVideoDecoder, VideoSample: Sample }: Mediabunny): void {
  const outlets = new WeakMap<object, Outlet>();

  Object.defineProperty(CustomVideoDecoder.prototype, 'onError', {
    configurable: true,
    set(this: GuardedDecoder, onError: (error: unknown) => void) {
      own(this, 'onError', onError);
      // Closing a decoder whose promise has rejected would end the process.
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
          // An error would overtake unread samples, so that the end of the video would depend on timing.
          const shape = { format: 'I420', codedWidth: 2, codedHeight: 2 } as const;
          const place = new Sample(new Uint8Array(6), { ...shape, timestamp: outlet.last });
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

/** Stops libavcodec from printing: the caller reports what matters. */
async function silenceLibav(): Promise<void> {
  try {
    const { resolve } = createRequire(import.meta.url);
    const file = createRequire(resolve('@mediabunny/server')).resolve('node-av');
    const { Log, AV_LOG_QUIET } = await import(pathToFileURL(file).href);
    Log.setLevel(AV_LOG_QUIET);
  } catch {
    // Only more verbose.
  }
}
