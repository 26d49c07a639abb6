/**
 * @module platform/node/wasm-decoder
 * The ffmpeg.wasm decoder in Node: the optional package `@ffmpeg/core`, in worker threads.
 */
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AnyvmafError } from '../../core/errors.js';
import { FOREIGN, type Origin } from '../../core/origin.js';
import type { Decoder } from '../../media/decoder.js';
import type { TrackRequest } from '../../media/evidence/track.js';
import type { ByteReader } from '../../media/platform.js';
import { obtainPart } from '../../parts/consent.js';
import { partFile } from '../../parts/store.js';
import { createWasmDecoder, FFMPEG_VERSION } from '../ffmpeg-wasm/decoder.js';
import type { LoadedCore, OpenedInput, WasmHost, WasmThread } from '../ffmpeg-wasm/host.js';
import type { FromWasmWorker, JobInput } from '../ffmpeg-wasm/protocol.js';
import { openReadable } from './readable-input.js';

const { resolve: resolveModule } = createRequire(import.meta.url);

/** Bytes that a thread asks of this one at once. */
const BLOCK = 1 << 20;

/** Where the decoder's own files are. */
export interface NodeWasmOptions {
  /** This package's `node-ffmpeg-worker.js`. */
  readonly worker?: () => URL;
  /** Of the names of its files. Default: somebody else named them. */
  readonly origin?: Origin;
  readonly track?: TrackRequest;
}

/** FFmpeg in WebAssembly; usable where the package `@ffmpeg/core` is installed, or the part `decoder`. */
export function nodeWasmDecoder(options: NodeWasmOptions = {}): Decoder {
  const worker = options.worker ?? (() => new URL('./node-ffmpeg-worker.js', import.meta.url));
  const host: WasmHost = {
    ...(options.track && { track: options.track }),
    sharedMemory: true,
    remedy: 'install ffmpeg, which can, or the packages mediabunny and @mediabunny/server',
    async availability() {
      const usable = coreFiles() !== undefined;
      return { id: 'wasm', usable, ...(usable ? { version: FFMPEG_VERSION } : { reason: ABSENT }) };
    },
    obtain: (signal) => obtainPart('decoder', signal),
    load: loadCore,
    openInput: (input) => openInput(input, options.origin ?? FOREIGN),
    startThread: () => startThread(worker()),
  };
  return createWasmDecoder(host);
}

const ABSENT =
  'the package @ffmpeg/core is not installed; install it with npm install @ffmpeg/core@0.12, or install ffmpeg.';

/** The core's files in the part `decoder`. */
const CORE = '@ffmpeg/core/dist/umd/ffmpeg-core';

/** Compiled once a process. */
let core: Promise<LoadedCore> | undefined;

function loadCore(): Promise<LoadedCore> {
  core ??= compile();
  // A failure is not kept: the package may be installed meanwhile.
  core.catch(() => {
    core = undefined;
  });
  return core;
}

async function compile(): Promise<LoadedCore> {
  const files = coreFiles();
  if (!files) throw new AnyvmafError('io', `ffmpeg.wasm cannot be used: ${ABSENT}`);
  try {
    return { module: await WebAssembly.compile(await readFile(files.wasm)), script: files.script };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AnyvmafError(
      'io',
      `ffmpeg.wasm cannot be loaded from ${files.wasm}: ${why}; install @ffmpeg/core again.`,
      {
        cause,
      },
    );
  }
}

function coreFiles(): { readonly script: string; readonly wasm: string } | undefined {
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
  const common = { name, size, ...(extension !== undefined && { extension }), close: () => reader.close() };
  if (path !== undefined) {
    const version = await fileVersion(path);
    return { ...common, ...(version && { version }), jobInput: () => ({ kind: 'file', path, origin }) };
  }
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

/** Changes when the content of a file does. */
async function fileVersion(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats && `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

/** Answers a thread that waits. */
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

function startThread(script: URL): WasmThread {
  // Flags of the process, such as --import of a test runner, are not meant for it.
  const worker = new Worker(script, { name: 'anyvmaf ffmpeg.wasm', execArgv: [] });
  let ended = false;
  return {
    post: (message) => worker.postMessage(message),
    listen(onMessage, onDeath) {
      const died = (how: string): void => {
        if (!ended) onDeath(how);
      };
      worker.on('message', (message: FromWasmWorker) => onMessage(message));
      worker.on('messageerror', (error) => died(`a message could not be read (${error.message}).`));
      worker.on('error', (error) => died(`${error.message}.`));
      worker.on('exit', (code) => died(`its thread ended with code ${code}.`));
    },
    terminate() {
      ended = true;
      void worker.terminate();
    },
  };
}
