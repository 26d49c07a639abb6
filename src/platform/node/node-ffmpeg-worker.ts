/**
 * @module platform/node/node-ffmpeg-worker
 * Worker thread of Node that runs FFmpeg in WebAssembly.
 */
import { fstatSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { openChecked } from '../../files/checked-file.js';
import { type CreateFfmpegCore, type RunningJob, type SyncReader, startJob } from '../ffmpeg-wasm/job.js';
import type { FromWasmWorker, JobInput, RemoteMemory, ToWasmWorker } from '../ffmpeg-wasm/protocol.js';

const port = parentPort;
if (!port) throw new Error('platform/node/node-ffmpeg-worker must run as a worker thread');

// The core expects a browser worker's globals. Deno's `location` is not assignable.
for (const [name, value] of Object.entries({ self: globalThis, location: { href: 'file:///' } }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

const post = (message: FromWasmWorker, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(message, transfer);
let job: RunningJob | undefined;

port.on('message', (message: ToWasmWorker) => {
  if (message.kind !== 'start') return job?.take(message);
  try {
    const create = createRequire(import.meta.url)(message.script) as CreateFfmpegCore;
    job = startJob(message, { create, reader: openReader(message.job.input), post });
  } catch (error) {
    post({ kind: 'failed', what: 'io', message: error instanceof Error ? error.message : String(error) });
  }
});

function openReader(input: JobInput): SyncReader {
  switch (input.kind) {
    case 'file':
      return fileReader(openChecked(input.path, input.origin));
    case 'remote':
      return remoteReader(input.size, input.memory);
    default:
      throw new Error(`a thread of Node cannot read a ${input.kind} by itself`);
  }
}

/** The file closes with the thread. */
function fileReader(fd: number): SyncReader {
  return {
    size: fstatSync(fd).size,
    read(into, position) {
      let done = 0;
      while (done < into.length) {
        const got = readSync(fd, into, done, into.length - done, position + done);
        if (got === 0) break;
        done += got;
      }
      return done;
    },
  };
}

/** Requests blocks from the main thread; keeps the latest. */
function remoteReader(size: number, { control, bytes }: RemoteMemory): SyncReader {
  let start = 0;
  let length = 0;
  function fetch(position: number): void {
    control[0] = 0;
    post({ kind: 'read', position, length: Math.min(bytes.length, size - position) });
    Atomics.wait(control, 0, 0);
    const got = control[1] ?? -1;
    if (got < 0) throw new Error('the data could not be read');
    start = position;
    length = got;
  }
  return {
    size,
    read(into, position) {
      let done = 0;
      while (done < into.length) {
        const at = position + done;
        if (at < start || at >= start + length) {
          if (at >= size) break;
          fetch(at);
          if (length === 0) break;
        }
        const part = bytes.subarray(at - start, Math.min(length, at - start + into.length - done));
        into.set(part, done);
        done += part.length;
      }
      return done;
    },
  };
}
