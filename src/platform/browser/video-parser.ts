/**
 * @module platform/browser/video-parser
 * What a parser thread of a browser does with videos: the optional package `mediabunny` over the browser's own WebCodecs.
 */
import { AnyvmafError } from '../../core/errors.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/calls.js';
import { createTrackDecoder } from '../mediabunny/decoder.js';
import { openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';

/**
 * Loads the library.
 * @param place where it is, when the host says so; otherwise it is imported by its name
 * @throws {AnyvmafError} `io` when it cannot be loaded
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
        ? // By its name, by which bundlers and import maps find it.
          await import('mediabunny')
        : await import(/* @vite-ignore */ /* webpackIgnore: true */ new URL(place, location.href).href);
    // What it warns of comes back as errors.
    library.Logging.level = library.LogLevel.Errors;
    return library;
  } catch (cause) {
    throw new AnyvmafError(
      'io',
      'the library mediabunny cannot be loaded; install mediabunny and bundle it, or name its URL with ' +
        'configure({ mediabunny }).',
      { cause },
    );
  }
}

/** Packets that may wait for a decoder. */
const MOST = 8;

/** What a library that asks is told of a longer queue: it waits. */
const FULL = 1000;

/**
 * Has the decoders of this thread tell that they have enough. mediabunny lets 40 packets wait until the first wanted frame is
 * there; after a jump into a group of pictures, decoding the rest of them would hold up whoever wants that frame.
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
