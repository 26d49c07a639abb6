/**
 * @module platform/node/node-parser-worker
 * Parser process of Node, which ends with its parent.
 */
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { ParserTask } from '../../engine/contract/platform.js';
import type { FromParser, ToParser } from '../../parsing/protocol.js';
import { serveParser } from '../../parsing/serve.js';
import { readMessages, writeMessage } from './message-pipe.js';

/** Descriptor of the pipe for answers. */
const ANSWERS = 3;

/** Milliseconds between checks of the watchdog thread. */
const CHECK = 500;

/** [0]: turns of the event loop; [1]: milliseconds for which it may stall, 0 for no limit. */
const life = new Int32Array(new SharedArrayBuffer(8));

const output = new Socket({ fd: ANSWERS, readable: false, writable: true });
const end = (): never => process.exit(0);
output.on('error', end);

readMessages(
  process.stdin,
  serveParser(
    (message: FromParser, transfer) => {
      if (message.kind === 'patience')
        Atomics.store(life, 1, Number.isFinite(message.silence) ? Math.ceil(message.silence) : 0);
      // Also counts work that blocks timers.
      if (message.kind === 'alive') Atomics.add(life, 0, 1);
      writeMessage(output, message, transfer);
    },
    async (task: ParserTask, monitor) => {
      switch (task.kind) {
        case 'video':
          return (await import('./video-parser.js')).serveNodeVideo(monitor);
        case 'evaluation': {
          const [{ serveEvaluation }, { nodeTiny }] = await Promise.all([
            import('../../evaluate/serve.js'),
            import('./tiny/platform.js'),
          ]);
          const { models, origin = { by: 'foreign' } } = task.settings;
          const folder = () => new URL(models ?? new URL('../../../model/', import.meta.url));
          return serveEvaluation(nodeTiny(folder, origin), monitor);
        }
      }
    },
  ) satisfies (message: ToParser<ParserTask>) => void,
  end,
);
process.stdin.on('end', end).on('error', end);

// Ctrl-C reaches every process of a terminal; the parent decides.
process.on('SIGINT', () => {});

setInterval(() => Atomics.add(life, 0, 1), CHECK).unref();

// A watchdog: while busy with a file, this thread does not notice the parent's end.
new Worker(
  `const { workerData: { life, check } } = require('node:worker_threads');
  const parent = process.ppid;
  let [beats, silent] = [0, 0];
  setInterval(() => {
    const now = Atomics.load(life, 0);
    silent = now === beats ? silent + check : 0;
    beats = now;
    const patience = Atomics.load(life, 1);
    const forgotten = patience > 0 && silent > 5 * patience + 2000;
    if (forgotten || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  }, check);`,
  {
    eval: true,
    workerData: { life, check: CHECK },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  },
).unref();
