/**
 * @module platform/node/decoders
 * Video decoders in Node, in order of preference: ffmpeg, mediabunny with its server package, ffmpeg.wasm (the optional
 * package `@ffmpeg/core`, in worker threads).
 */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { type AnyvmafError, ioError, messageOf, usageError } from '../../core/errors.js';
import { FOREIGN, type Origin } from '../../core/origin.js';
import { shown } from '../../core/printable.js';
import type { Decoder, TrackRequest } from '../../media/decoder.js';
import { blobReader, bytesReader } from '../../media/readers.js';
import { type ByteReader, RemoteVideo, type VideoInput } from '../../media/types.js';
import { obtainPart } from '../../parts/consent.js';
import { partFile } from '../../parts/table.js';
import { WasmDecoder } from '../ffmpeg-wasm/decoder.js';
import type {
  FromWasmWorker,
  JobInput,
  LoadedCore,
  OpenedInput,
  ToWasmWorker,
  WasmHost,
} from '../ffmpeg-wasm/protocol.js';
import { createRemoteDecoder } from '../mediabunny/remote.js';
import { createFfmpegDecoder } from './ffmpeg/decoder.js';
import type { InputAccess } from './ffmpeg/input.js';
import { nodeFilesOf } from './files.js';
import { startNodeParser, startThread } from './workers.js';

/** Sets of decoders to cache: more than the origins of a program. */
const CACHED = 16;

/** By permissions; reused, because decoders cache what they read. */
const made = new Map<string, readonly Decoder[]>();

/** @param scripts this package's `node-ffmpeg-worker.js` and `node-parser-worker.js` */
export function nodeDecoders(
  access: InputAccess & Pick<DecoderRequest, 'track'>,
  { worker, parser }: { readonly worker: () => URL; readonly parser: () => URL },
): readonly Decoder[] {
  const { origin, track } = access;
  const key = JSON.stringify(access);
  const decoders = made.get(key) ?? [
    createFfmpegDecoder(access),
    nodeMediabunnyDecoder({ script: parser, origin, track }),
    nodeWasmDecoder({ script: worker, origin, track }),
  ];
  const [oldest] = made.keys();
  if (!made.has(key) && made.size >= CACHED && oldest !== undefined) made.delete(oldest);
  made.set(key, decoders);
  return decoders;
}

interface DecoderRequest {
  readonly script: () => URL;
  /** Origin of file names. Default: foreign. */
  readonly origin?: Origin;
  /** Default: a default track, else the largest. */
  readonly track?: TrackRequest;
}

/** mediabunny over libavcodec, in parser processes; needs `mediabunny` and `@mediabunny/server`. */
export function nodeMediabunnyDecoder({ script, origin = FOREIGN, track }: DecoderRequest): Decoder {
  return createRemoteDecoder({
    track,
    startWorker: () => startNodeParser(script()),
    task: () => ({ kind: 'video' }),
    openInput: (input) => openReadable(input, 'mediabunny', origin),
  });
}

const { resolve: resolveModule } = createRequire(import.meta.url);

/** Bytes per request of a thread. */
const BLOCK = 1 << 20;

/** FFmpeg in WebAssembly; needs `@ffmpeg/core` or the part `decoder`. Its script is `node-ffmpeg-worker.js`. */
export function nodeWasmDecoder({ script, origin = FOREIGN, track }: DecoderRequest): Decoder {
  return new WasmDecoder({
    track,
    sharedMemory: true,
    remedy: 'install ffmpeg, which can, or the packages mediabunny and @mediabunny/server',
    core() {
      const files = coreFiles();
      return files ? () => compile(files) : ABSENT;
    },
    obtain: (signal) => obtainPart('decoder', signal),
    openInput: (input) => openInput(input, origin),
    startThread: () => startThread<ToWasmWorker, FromWasmWorker>(script(), 'anyvmaf ffmpeg.wasm'),
  });
}

const ABSENT =
  'the package @ffmpeg/core is not installed; install it with npm install @ffmpeg/core@0.12, or install ffmpeg.';

/** The core's files in the part `decoder`. */
const CORE = '@ffmpeg/core/dist/umd/ffmpeg-core';

async function compile({ script, wasm }: Record<'script' | 'wasm', string>): Promise<LoadedCore> {
  try {
    return { module: await WebAssembly.compile(await readFile(wasm)), script };
  } catch (cause) {
    const message = `ffmpeg.wasm cannot be loaded from ${wasm}: ${messageOf(cause)}; install @ffmpeg/core again.`;
    throw ioError(message, { cause });
  }
}

function coreFiles(): Parameters<typeof compile>[0] | undefined {
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

async function fileVersion(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats && `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

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

interface ReadableInput {
  /** The user's name of it. */
  readonly name: string;
  readonly size: number;
  readonly reader: ByteReader;
  /** Path of a file, to open it again, checked by its origin. */
  readonly path?: string;
}

/** @throws {AnyvmafError} `io` if it cannot be read, `usage` if it can be read only once or is not encoded video */
async function openReadable(input: VideoInput, decoder: string, origin: Origin): Promise<ReadableInput> {
  if (input instanceof Uint8Array) return readable('the byte array', bytesReader(input));
  if (input instanceof Blob) {
    const name = 'name' in input && typeof input.name === 'string' ? input.name : 'the Blob';
    return readable(name, blobReader(input, name));
  }
  if (input instanceof RemoteVideo) return readable(input.content.name, input.content.reader());
  if (typeof input === 'string' || input instanceof URL) {
    const name = String(input);
    if (/^https?:/i.test(name) && !existsSync(input)) {
      throw usageError(
        `${shown(name)} is a URL, which only the ffmpeg decoder fetches; install ffmpeg, or download the video and ` +
          'give its path.',
      );
    }
    const opened = await nodeFilesOf(origin).open(input);
    if (opened.kind === 'random') return { ...readable(name, opened.reader), path: opened.path };
    opened.stream.close();
    throw readOnce(name, decoder);
  }
  throw readOnce(typeof input === 'number' ? `file descriptor ${input}` : 'this input', decoder);
}

function readable(name: string, reader: ByteReader): ReadableInput {
  if (reader.size > 0) return { name, size: reader.size, reader };
  reader.close();
  throw ioError(`${shown(name)} is empty.`);
}

function readOnce(name: string, decoder: string): AnyvmafError {
  return usageError(
    `${shown(name)} is not a file, and ${decoder} reads encoded video more than once; give it as a file.`,
  );
}
