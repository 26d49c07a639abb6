/**
 * @module platform/browser/wasm-decoder
 * The ffmpeg.wasm decoder in a browser: `@ffmpeg/core`, fetched when it is first needed, in module workers.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { Decoder } from '../../media/decoder.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { createWasmDecoder, FFMPEG_VERSION } from '../ffmpeg-wasm/decoder.js';
import type { LoadedCore, WasmThread } from '../ffmpeg-wasm/host.js';
import { canSuspend } from '../ffmpeg-wasm/job.js';
import type { FromWasmWorker, ToWasmWorker } from '../ffmpeg-wasm/protocol.js';
import { holdWorker } from './module-worker.js';
import { readableBlob } from './readable-blob.js';

/** Where the decoder's files are; asked when they are needed. */
export interface BrowserWasmPlaces {
  /** Folder of `ffmpeg-core.js` and `ffmpeg-core.wasm` (`@ffmpeg/core/dist/esm/`). */
  core(): string | URL | undefined;
  /** This package's `browser-ffmpeg-worker.js`, when the host moved it. */
  worker(): string | URL | undefined;
}

/** FFmpeg in WebAssembly. Nothing is fetched unless the host says where it is. */
export function browserWasmDecoder(places: BrowserWasmPlaces, track?: TrackRequest): Decoder {
  /** Compiled once a page. */
  let core: Promise<LoadedCore> | undefined;
  const absence = (): string | undefined => {
    if (places.core() === undefined) {
      return 'ffmpeg.wasm is not set up; serve the folder @ffmpeg/core/dist/esm and name it with configure({ ffmpegCore }).';
    }
    if (!crossOriginIsolated && !canSuspend()) {
      return (
        'ffmpeg.wasm cannot be made to wait in this browser; serve the page with Cross-Origin-Opener-Policy: ' +
        'same-origin and Cross-Origin-Embedder-Policy: require-corp, or use a newer browser.'
      );
    }
    return undefined;
  };

  return createWasmDecoder({
    ...(track && { track }),
    get sharedMemory() {
      return crossOriginIsolated;
    },
    remedy: `use a browser whose WebCodecs can, or ${CONVERT_WITHOUT_LOSS}`,
    async availability() {
      const reason = absence();
      return { id: 'wasm', usable: !reason, ...(reason ? { reason } : { version: FFMPEG_VERSION }) };
    },
    load() {
      const reason = absence();
      const folder = places.core();
      if (reason !== undefined || folder === undefined) {
        return Promise.reject(new AnyvmafError('io', `ffmpeg.wasm cannot be used: ${reason}`));
      }
      core ??= load(new URL(folder, location.href));
      // A failure is not kept: the network may be back next time.
      core.catch(() => {
        core = undefined;
      });
      return core;
    },
    async openInput(input) {
      const { name, blob } = readableBlob(input);
      const extension = /\.(\w{1,8})$/.exec(name)?.[1];
      return {
        name,
        size: blob.size,
        ...(extension !== undefined && { extension }),
        jobInput: () => ({ kind: 'blob', blob }),
        close() {},
      };
    },
    startThread: () => startThread(places.worker()),
  });
}

async function load(folder: URL): Promise<LoadedCore> {
  const base = folder.href.endsWith('/') ? folder : new URL(`${folder.href}/`);
  const wasm = new URL('ffmpeg-core.wasm', base);
  try {
    const response = await fetch(wasm);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    // Not streamed: servers seldom know the type that streaming asks for.
    const module = await WebAssembly.compile(await response.arrayBuffer());
    return { module, script: new URL('ffmpeg-core.js', base).href };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AnyvmafError('io', `ffmpeg.wasm cannot be loaded from ${wasm.href}: ${why}.`, { cause });
  }
}

function startThread(script: string | URL | undefined): WasmThread {
  const worker =
    script === undefined
      ? // Spelt out in one expression, by which bundlers find the script and bring it along.
        new Worker(new URL('./browser-ffmpeg-worker.js', import.meta.url), {
          type: 'module',
          name: 'anyvmaf ffmpeg',
        })
      : new Worker(script, { type: 'module', name: 'anyvmaf ffmpeg' });
  return holdWorker<ToWasmWorker, FromWasmWorker>(worker, 'ffmpegWorker');
}
