/**
 * @module platform/node/parser-process
 * Parser workers as processes: killing one ends native code too, which cannot harm any other memory.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { FromParser, ParserWorker } from '../../parsing/protocol.js';
import { readMessages, writeMessage } from './message-pipe.js';

/** Megabytes of JavaScript heap: the index of ten hours of video takes half of it, five million names all. */
const HEAP = 1024;

/** Megabytes in all, including decoded pictures and native libraries. */
const RESIDENT = 3072;

/** Bytes of a memory page in `/proc`. */
const PAGE = 4096;

export function startNodeParser(script: URL): ParserWorker {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP}`, fileURLToPath(script)], {
    env,
    // The fourth is for messages: libraries print to the second and third.
    stdio: ['pipe', 'ignore', env.ANYVMAF_DEBUG ? 'inherit' : 'ignore', 'pipe'],
    windowsHide: true,
  });
  const [input, , , output] = child.stdio;
  if (!input || !(output instanceof Readable)) throw new Error('a parser process has no pipes');
  let ended = false;
  // The caller's timer keeps this process alive while a call is pending.
  const unref = (): void => {
    child.unref();
    for (const pipe of [input, output]) if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  };
  unref();
  // The exit event reports it.
  input.on('error', () => {});
  output.on('error', () => {});
  return {
    memory: HEAP,
    isTooLarge: () => residentMegabytes(child.pid) > RESIDENT,
    post: (message, transfer) => {
      if (!input.destroyed) writeMessage(input, message, transfer);
    },
    listen(onMessage, onDeath) {
      const died = (outOfMemory: boolean, how: string): void => {
        if (ended) return;
        ended = true;
        onDeath({ outOfMemory, how });
      };
      readMessages<FromParser>(output, onMessage, (error) => {
        died(false, `its process sent a malformed message (${error}).`);
        child.kill('SIGKILL');
      });
      child.on('error', (error) => died(false, `its process cannot be started (${error.message}).`));
      child.on('exit', (code, signal) =>
        // V8 aborts when its heap is full.
        died(signal === 'SIGABRT' || code === 134, `its process ended with ${signal ?? `code ${code}`}.`),
      );
      unref();
    },
    terminate() {
      ended = true;
      child.kill('SIGKILL');
      input.destroy();
      output.destroy();
    },
  };
}

/** Resident memory; 0 if the system does not tell. */
function residentMegabytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0;
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return (Number(pages) * PAGE) / (1 << 20);
  } catch {
    return 0;
  }
}
