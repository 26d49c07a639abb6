/**
 * @module platform/browser/browser-ffmpeg-worker
 * Module worker of a browser that runs FFmpeg in WebAssembly.
 */
import { type CreateFfmpegCore, type RunningJob, type SyncReader, startJob } from '../ffmpeg-wasm/job.js';
import type { FromWasmWorker, JobInput, ToWasmWorker } from '../ffmpeg-wasm/protocol.js';

/** Exists only in workers; TypeScript's DOM library lacks it. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

const post = (message: FromWasmWorker, transfer: ArrayBuffer[] = []): void =>
  self.postMessage(message, { transfer });
let job: RunningJob | undefined;

self.onmessage = async ({ data: message }: MessageEvent<ToWasmWorker>) => {
  if (message.kind !== 'start') return job?.take(message);
  try {
    const library: { default: CreateFfmpegCore } = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ message.script
    );
    job = startJob(message, { create: library.default, reader: openReader(message.job.input), post });
  } catch (error) {
    post({ kind: 'failed', what: 'io', message: error instanceof Error ? error.message : String(error) });
  }
};

function openReader(input: JobInput): SyncReader {
  if (input.kind !== 'blob') throw new Error(`a worker of a browser cannot read a ${input.kind}`);
  const { blob } = input;
  const files = new FileReaderSync();
  return {
    size: blob.size,
    read(into, position) {
      const bytes = new Uint8Array(files.readAsArrayBuffer(blob.slice(position, position + into.length)));
      into.set(bytes);
      return bytes.length;
    },
  };
}
