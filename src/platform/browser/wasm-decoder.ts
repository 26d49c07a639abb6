/**
 * @module platform/browser/wasm-decoder
 * The ffmpeg.wasm decoder in a browser: `@ffmpeg/core`, fetched on first use, in module workers.
 */
import { AnyvmafError } from '../../core/errors.js';
import type { Assets } from '../../engine/contract/platform.js';
import type { Decoder } from '../../media/decoder.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import { WasmDecoder } from '../ffmpeg-wasm/decoder.js';
import { canSuspend } from '../ffmpeg-wasm/job.js';
import type { FromWasmWorker, LoadedCore, ToWasmWorker, WasmThread } from '../ffmpeg-wasm/protocol.js';
import { readableBlob } from './readable-blob.js';
import { holdWorker } from './workers.js';

/**
 * FFmpeg in WebAssembly. Fetches nothing unless the host names its address.
 * @param assets returns the current addresses: `ffmpegCore` is the folder of `ffmpeg-core.js` and `ffmpeg-core.wasm`
 * (`@ffmpeg/core/dist/esm/`)
 */
export function browserWasmDecoder(assets: () => Assets, track?: TrackRequest): Decoder {
  return new WasmDecoder({
    track,
    get sharedMemory() {
      return crossOriginIsolated;
    },
    remedy: `use a browser whose WebCodecs can, or ${CONVERT_WITHOUT_LOSS}`,
    core() {
      const folder = assets().ffmpegCore;
      if (folder === undefined) {
        return 'ffmpeg.wasm is not set up; serve the folder @ffmpeg/core/dist/esm and name it with configure({ ffmpegCore }).';
      }
      if (!crossOriginIsolated && !canSuspend()) {
        return (
          'ffmpeg.wasm cannot wait for its input on this page; serve the page with Cross-Origin-Opener-Policy: ' +
          'same-origin and Cross-Origin-Embedder-Policy: require-corp, or use a newer browser.'
        );
      }
      return () => load(new URL(folder, location.href));
    },
    async openInput(input) {
      const { name, blob } = readableBlob(input);
      return {
        name,
        size: blob.size,
        extension: /\.(\w{1,8})$/.exec(name)?.[1],
        jobInput: () => ({ kind: 'blob', blob }),
        close() {},
      };
    },
    startThread: () => startThread(assets().ffmpegWorker),
  });
}

async function load(folder: URL): Promise<LoadedCore> {
  const base = folder.href.endsWith('/') ? folder : new URL(`${folder.href}/`);
  const wasm = new URL('ffmpeg-core.wasm', base);
  try {
    const response = await fetch(wasm);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    // Not streamed: servers seldom send the type that streaming requires.
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
      ? // One expression, so that bundlers find and ship the script.
        new Worker(new URL('./browser-ffmpeg-worker.js', import.meta.url), {
          type: 'module',
          name: 'anyvmaf ffmpeg',
        })
      : new Worker(script, { type: 'module', name: 'anyvmaf ffmpeg' });
  return holdWorker<ToWasmWorker, FromWasmWorker>(worker, 'ffmpegWorker');
}
