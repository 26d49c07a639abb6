/**
 * @module platform/node/mediabunny-decoder
 * The mediabunny decoder in Node: the optional packages `mediabunny` and `@mediabunny/server`, which brings libavcodec.
 */
import { AnyvmafError } from '../../errors.js';
import type { Decoder } from '../../media/decoder.js';
import { FOREIGN } from '../../media/origin.js';
import { createMediabunnyDecoder } from '../mediabunny/decoder.js';
import type { Mediabunny } from '../mediabunny/host.js';
import { guardDecoders, isPatched, silenceLibav } from './mediabunny-guard.js';
import { openReadable } from './readable-input.js';

const ABSENT =
  'the packages mediabunny and @mediabunny/server are not installed; install them with ' +
  'npm install mediabunny @mediabunny/server, or install ffmpeg.';

/** Loaded once a process: decoders are registered for all of it. */
let library: Promise<Mediabunny> | undefined;

/**
 * mediabunny over libavcodec; usable where `mediabunny` and `@mediabunny/server` are installed.
 * @param origin of the names of its files
 */
export function nodeMediabunnyDecoder(origin = FOREIGN): Decoder {
  return createMediabunnyDecoder({
    engine: 'libavcodec',
    async availability() {
      try {
        await load();
        return { id: 'mediabunny', usable: true };
      } catch (error) {
        return {
          id: 'mediabunny',
          usable: false,
          reason: error instanceof Error ? error.message : String(error),
        };
      }
    },
    load,
    openInput: (input) => openReadable(input, 'mediabunny', origin),
    isPatched,
    remedy: 'install ffmpeg, which decodes more',
  });
}

function load(): Promise<Mediabunny> {
  library ??= register();
  // A failure is not kept: the packages may be installed meanwhile.
  library.catch(() => {
    library = undefined;
  });
  return library;
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
