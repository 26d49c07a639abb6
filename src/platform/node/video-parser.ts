/**
 * @module platform/node/video-parser
 * What a parser process of Node does with videos: the optional packages `mediabunny` and `@mediabunny/server`, which brings
 * libavcodec.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { Monitor, Served } from '../../parsing/serve.js';
import type { VideoCalls } from '../mediabunny/calls.js';
import { createTrackDecoder } from '../mediabunny/decoder.js';
import { openLent, serveVideo } from '../mediabunny/serve.js';
import type { Mediabunny } from '../mediabunny/track.js';
import { failureAt, guardDecoders, isPatched, silenceLibav } from './mediabunny-guard.js';

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
