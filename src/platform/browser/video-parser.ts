/**
 * @module platform/browser/video-parser
 * Decodes videos in a parser thread of a browser, with the optional package `mediabunny` over WebCodecs.
 */
import { ioError } from '../../core/errors.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/remote.js';
import { openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';

/** @param place address of mediabunny; default: its name @throws {AnyvmafError} `io` if it cannot be loaded */
export async function serveBrowserVideo(
  place: string | undefined,
  monitor: Monitor,
): Promise<Served<VideoCalls>> {
  keepQueuesShort(globalThis);
  return serveVideo({
    engine: 'WebCodecs',
    library: await importLibrary(place),
    openInput: (video) => openLent(video, monitor),
    progress: monitor.progress,
    remedies: [
      { purpose: 'fix', option: 'decoder', value: 'wasm', aim: '(ffmpeg.wasm decodes more)' },
      CONVERT_WITHOUT_LOSS,
    ],
  });
}

async function importLibrary(place: string | undefined): Promise<Mediabunny> {
  try {
    const library: Mediabunny =
      place === undefined
        ? // A literal name, for bundlers and import maps.
          await import('mediabunny')
        : await import(/* @vite-ignore */ /* webpackIgnore: true */ new URL(place, location.href).href);
    // Its warnings also arrive as errors.
    library.Logging.level = library.LogLevel.Errors;
    return library;
  } catch (cause) {
    throw ioError(
      'the library mediabunny cannot be loaded; install mediabunny and bundle it, or name its URL with ' +
        'configure({ mediabunny }).',
      { cause },
    );
  }
}

/** Most packets that wait for a decoder. */
const MOST = 8;

/** Reported size of a longer queue, which makes the library wait. */
const FULL = 1000;

/**
 * Makes the decoders of this thread report a full queue early. mediabunny queues up to 40 packets until the first wanted
 * frame arrives; after a seek into a group of pictures, decoding the remaining packets would delay that frame.
 * @param scope the thread's global scope
 */
export function keepQueuesShort(scope: { VideoDecoder: typeof VideoDecoder }): void {
  scope.VideoDecoder = class extends scope.VideoDecoder {
    override get decodeQueueSize(): number {
      const size = super.decodeQueueSize;
      return size > MOST ? FULL : size;
    }
  };
}
