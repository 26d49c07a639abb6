/**
 * @module platform/browser/webcodecs-decoder
 * The mediabunny decoder in a browser: the optional package `mediabunny` over the browser's own WebCodecs.
 */
import { AnyvmafError } from '../../errors.js';
import type { Decoder } from '../../media/decoder.js';
import { blobReader } from '../../media/readers.js';
import { createMediabunnyDecoder } from '../mediabunny/decoder.js';
import type { Mediabunny } from '../mediabunny/host.js';
import { readableBlob } from './readable-blob.js';

/** @param place where the library is, when the host says so; otherwise it is imported by its name */
export function webCodecsDecoder(place: () => string | URL | undefined): Decoder {
  let library: Promise<Mediabunny> | undefined;
  function load(): Promise<Mediabunny> {
    library ??= importLibrary(place());
    // A failure is not kept: the network may be back next time.
    library.catch(() => {
      library = undefined;
    });
    return library;
  }

  return createMediabunnyDecoder({
    engine: 'WebCodecs',
    async availability() {
      const reason = typeof VideoDecoder === 'undefined' ? NO_WEBCODECS : await absence(load);
      return { id: 'mediabunny', usable: reason === undefined, ...(reason !== undefined && { reason }) };
    },
    load,
    async openInput(input) {
      const { name, blob } = readableBlob(input);
      return { name, reader: blobReader(blob, name) };
    },
    remedy: 'ffmpeg.wasm decodes more, or convert it to H.264, VP9 or AV1 first',
  });
}

const NO_WEBCODECS = 'this browser has no WebCodecs, or not on a page that came over plain HTTP; use HTTPS.';

async function absence(load: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function importLibrary(place: string | URL | undefined): Promise<Mediabunny> {
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
