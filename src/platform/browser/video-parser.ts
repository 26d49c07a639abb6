/**
 * @module platform/browser/video-parser
 * Decodes videos in a parser thread of a browser: the optional package `mediabunny` over WebCodecs.
 */
import { ioError } from '../../core/errors.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/remote.js';
import { createTrackDecoder, openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';

/**
 * @param place address of mediabunny, if the host names one; else it is imported by name
 * @throws {AnyvmafError} `io` if it cannot be loaded
 */
export async function serveBrowserVideo(
  place: string | undefined,
  monitor: Monitor,
): Promise<Served<VideoCalls>> {
  keepQueuesShort(globalThis);
  const decoder = createTrackDecoder({
    engine: 'WebCodecs',
    library: await importLibrary(place),
    openInput: (video) => openLent(video, monitor),
    progress: monitor.progress,
    remedies: [
      { purpose: 'fix', option: 'decoder', value: 'wasm', aim: '(ffmpeg.wasm decodes more)' },
      CONVERT_WITHOUT_LOSS,
    ],
  });
  return serveVideo(decoder);
}

async function importLibrary(place: string | undefined): Promise<Mediabunny> {
  try {
    const library: Mediabunny =
      place === undefined
        ? // A literal name, for bundlers and import maps.
          await import('mediabunny')
        : await import(/* @vite-ignore */ /* webpackIgnore: true */ new URL(place, location.href).href);
    // Its warnings come back as errors.
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

/** Packets that may wait for a decoder. */
const MOST = 8;

/** Reported for a longer queue, so that the library waits. */
const FULL = 1000;

/**
 * Makes the decoders of this thread report a full queue early. mediabunny queues up to 40 packets until the first
 * wanted frame is there; after a seek into a group of pictures, decoding the rest of them would delay that frame.
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
