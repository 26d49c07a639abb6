/**
 * @module platform/browser/decoders
 * Video decoders in a browser, in order of preference: mediabunny over WebCodecs, in parser threads; then ffmpeg.wasm
 * (`@ffmpeg/core`), fetched on first use, in module workers.
 */
import { ioError, mediaError, messageOf, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { Assets } from '../../engine/contract/platform.js';
import type { Decoder, TrackRequest } from '../../media/decoder.js';
import { CONVERT_WITHOUT_LOSS } from '../../media/errors.js';
import { blobReader } from '../../media/readers.js';
import type { VideoInput } from '../../media/types.js';
import { WasmDecoder } from '../ffmpeg-wasm/decoder.js';
import { canSuspend } from '../ffmpeg-wasm/job.js';
import type { FromWasmWorker, LoadedCore, ToWasmWorker, WasmThread } from '../ffmpeg-wasm/protocol.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { holdWorker, startBrowserParser } from './workers.js';

/** By track; reused, since decoders cache their libraries. */
const made = new Map<string, readonly Decoder[]>();

export function browserDecoders(assets: () => Assets, track?: TrackRequest): readonly Decoder[] {
  const key = JSON.stringify(track ?? null);
  const decoders = made.get(key) ?? [webCodecsDecoder(assets, track), browserWasmDecoder(assets, track)];
  made.set(key, decoders);
  return decoders;
}

const ABSENT = 'this browser has no WebCodecs, or offers them only over HTTPS; load the page over HTTPS';

/** mediabunny over WebCodecs; without WebCodecs, its error points to ffmpeg.wasm. */
function webCodecsDecoder(assets: () => Assets, track?: TrackRequest): Decoder {
  const decoder = createRemoteDecoder({
    track,
    startWorker: () => startBrowserParser(assets().parserWorker),
    task() {
      const library = assets().mediabunny;
      // Resolve relative addresses here: a thread resolves them differently.
      return {
        kind: 'video',
        library: library === undefined ? undefined : new URL(library, location.href).href,
      };
    },
    async openInput(input) {
      const { name, blob } = readableBlob(input);
      return { name, reader: blobReader(blob, name) };
    },
  });
  if (typeof VideoDecoder !== 'undefined') return decoder;
  return {
    ...decoder,
    availability: async () => ({ id: decoder.id, usable: false, reason: ABSENT }),
    async obtain() {
      throw mediaError(ABSENT, {
        hints: [{ purpose: 'fix', option: 'decoder', value: 'wasm', aim: '(ffmpeg.wasm needs none)' }],
      });
    },
  };
}

/** FFmpeg in WebAssembly: `ffmpegCore` names the folder `@ffmpeg/core/dist/esm/`, without which it fetches nothing. */
function browserWasmDecoder(assets: () => Assets, track?: TrackRequest): Decoder {
  return new WasmDecoder({
    track,
    get sharedMemory() {
      return crossOriginIsolated;
    },
    remedy: `use a browser whose WebCodecs can, or ${CONVERT_WITHOUT_LOSS}`,
    core() {
      const folder = assets().ffmpegCore;
      if (folder === undefined)
        return 'ffmpeg.wasm is not set up; serve the folder @ffmpeg/core/dist/esm and name it with configure({ ffmpegCore }).';
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
      const extension = /\.(\w{1,8})$/.exec(name)?.[1];
      return { name, size: blob.size, extension, jobInput: () => ({ kind: 'blob', blob }), close() {} };
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
    // Not streamed: servers rarely send the type that streaming requires.
    const module = await WebAssembly.compile(await response.arrayBuffer());
    return { module, script: new URL('ffmpeg-core.js', base).href };
  } catch (cause) {
    throw ioError(`ffmpeg.wasm cannot be loaded from ${wasm.href}: ${messageOf(cause)}.`, { cause });
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

/** @throws {AnyvmafError} `usage` for inputs that can be read only once, `io` for empty ones */
function readableBlob(input: VideoInput): { readonly name: string; readonly blob: Blob } {
  const named = (name: string, blob: Blob) => {
    if (blob.size === 0) throw ioError(`${shown(name)} is empty.`);
    return { name, blob };
  };
  if (input instanceof Blob)
    return named('name' in input && typeof input.name === 'string' ? input.name : 'the Blob', input);
  // Copy: a Blob refuses shared memory.
  if (input instanceof Uint8Array) return named('the byte array', new Blob([new Uint8Array(input)]));
  throw usageError(
    'encoded video is read more than once and must be a File, Blob or Uint8Array in a browser.',
  );
}
