/**
 * @module bench/pair-maker
 * Worker that computes a pair of videos and writes them as Y4M files.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { y4mHeader } from '../core/frame.js';
import { y4mFrame } from '../sample/files.js';
import { makeSample, type SampleSide } from '../sample/generator.js';
import type { MakerJob } from './run.js';

const port = parentPort;
if (!port) throw new Error('bench/pair-maker must run as a worker thread');

const { format, frames, seed, paths }: MakerJob = workerData;
const clip = makeSample(format, { seed });
const sides: readonly SampleSide[] = ['reference', 'distorted'];
const files = sides.map((side) => openSync(paths[side], 'w', 0o600));
try {
  for (const file of files) write(file, new TextEncoder().encode(y4mHeader(format)));
  for (let index = 0; index < frames; index++) {
    sides.forEach((side, i) => {
      write(files[i] ?? -1, y4mFrame(clip, side, index));
    });
    port.postMessage(index + 1);
  }
} finally {
  for (const file of files) closeSync(file);
}

function write(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
