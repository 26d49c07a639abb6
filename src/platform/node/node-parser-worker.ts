/**
 * @module platform/node/node-parser-worker
 * The script of a parser process in Node. It ends with the process that started it.
 */
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { FromParser, ToParser } from '../../parsing/protocol.js';
import { serveParser } from '../../parsing/serve.js';
import type { ParserTask } from '../parser-tasks.js';
import { readMessages, writeMessage } from './message-pipe.js';

/** The descriptor of the pipe for answers. */
const ANSWERS = 3;

const output = new Socket({ fd: ANSWERS, readable: false, writable: true });
const end = (): never => process.exit(0);
output.on('error', end);

readMessages(
  process.stdin,
  serveParser(
    (message: FromParser, transfer) => writeMessage(output, message, transfer),
    async (task: ParserTask, watched) => {
      switch (task.kind) {
        case 'video':
          return (await import('./video-parser.js')).serveNodeVideo(watched);
        case 'evaluation':
          return (await import('./evaluation-parser.js')).serveNodeEvaluation(task.settings, watched);
      }
    },
  ) satisfies (message: ToParser<ParserTask>) => void,
  end,
);
process.stdin.on('end', end).on('error', end);

// Ctrl-C reaches every process of a terminal; the one that started this one decides.
process.on('SIGINT', () => {});

// A file that keeps this thread busy keeps it from noticing that nobody waits any more.
new Worker(
  `const parent = process.ppid;
  setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 500);`,
  { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 } },
).unref();
