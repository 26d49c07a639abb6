/**
 * @module platform/node/wasm-decoder
 * The ffmpeg.wasm decoder in Node: the optional package `@ffmpeg/core`, in worker threads.
 */
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { AnyvmafError } from '../../core/errors.js';
import { FOREIGN, type Origin } from '../../core/origin.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { ByteReader } from '../../media/platform.js';
import { obtainPart } from '../../parts/consent.js';
import { partFile } from '../../parts/store.js';
import { WasmDecoder } from '../ffmpeg-wasm/decoder.js';
import type {
  FromWasmWorker,
  JobInput,
  LoadedCore,
  OpenedInput,
  ToWasmWorker,
  WasmHost,
} from '../ffmpeg-wasm/protocol.js';
import { startThread } from './pool.js';
import { openReadable } from './readable-input.js';

const { resolve: resolveModule } = createRequire(import.meta.url);

/** Bytes that a thread requests from this one at once. */
const BLOCK = 1 << 20;

export interface NodeWasmOptions {
  /** This package's `node-ffmpeg-worker.js`. */
  readonly worker?: () => URL;
  /** Of the names of its files. Default: not the user. */
  readonly origin?: Origin;
  readonly track?: TrackRequest;
}

/** FFmpeg in WebAssembly; needs the package `@ffmpeg/core`, or the part `decoder`. */
export function nodeWasmDecoder(options: NodeWasmOptions = {}): Decoder {
  const worker = options.worker ?? (() => new URL('./node-ffmpeg-worker.js', import.meta.url));
  return new WasmDecoder({
    track: options.track,
    sharedMemory: true,
    remedy: 'install ffmpeg, which can, or the packages mediabunny and @mediabunny/server',
    core() {
      const files = coreFiles();
      return files ? () => compile(files) : ABSENT;
    },
    obtain: (signal) => obtainPart('decoder', signal),
    openInput: (input) => openInput(input, options.origin ?? FOREIGN),
    startThread: () => startThread<ToWasmWorker, FromWasmWorker>(worker(), 'anyvmaf ffmpeg.wasm'),
  });
}

const ABSENT =
  'the package @ffmpeg/core is not installed; install it with npm install @ffmpeg/core@0.12, or install ffmpeg.';

/** The core's files in the part `decoder`. */
const CORE = '@ffmpeg/core/dist/umd/ffmpeg-core';

interface CoreFiles {
  readonly script: string;
  readonly wasm: string;
}

async function compile({ script, wasm }: CoreFiles): Promise<LoadedCore> {
  try {
    return { module: await WebAssembly.compile(await readFile(wasm)), script };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `ffmpeg.wasm cannot be loaded from ${wasm}: ${why}; install @ffmpeg/core again.`;
    throw new AnyvmafError('io', message, { cause });
  }
}

function coreFiles(): CoreFiles | undefined {
  try {
    return { script: resolveModule('@ffmpeg/core'), wasm: resolveModule('@ffmpeg/core/wasm') };
  } catch {
    const [script, wasm] = [partFile('decoder', `${CORE}.js`), partFile('decoder', `${CORE}.wasm`)];
    return script !== undefined && wasm !== undefined ? { script, wasm } : undefined;
  }
}

async function openInput(input: Parameters<WasmHost['openInput']>[0], origin: Origin): Promise<OpenedInput> {
  const { name, size, path, reader } = await openReadable(input, 'ffmpeg.wasm', origin);
  const extension = /^\.(\w{1,8})$/.exec(extname(name))?.[1];
  const common = { name, size, extension, close: () => reader.close() };
  if (path !== undefined)
    return { ...common, version: await fileVersion(path), jobInput: () => ({ kind: 'file', path, origin }) };
  return {
    ...common,
    jobInput: (): JobInput => ({
      kind: 'remote',
      size,
      memory: {
        control: new Int32Array(new SharedArrayBuffer(8)),
        bytes: new Uint8Array(new SharedArrayBuffer(BLOCK)),
      },
    }),
    serve: (job, position, length) => serve(reader, job, position, length),
  };
}

/** Changes with the content of a file. */
async function fileVersion(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats && `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

/** Answers a waiting thread. */
async function serve(reader: ByteReader, input: JobInput, position: number, length: number): Promise<void> {
  if (input.kind !== 'remote') return;
  const { control, bytes } = input.memory;
  const block = new Uint8Array(Math.min(length, bytes.length));
  let got = -1;
  try {
    got = await reader.read(position, [block]);
    bytes.set(block);
  } finally {
    control[1] = got;
    Atomics.store(control, 0, 1);
    Atomics.notify(control, 0);
  }
}
