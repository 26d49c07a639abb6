/**
 * @module mcp/call-thread
 * Worker thread that measures, see mcp/call-threads.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { AnyvmafError } from '../core/errors.js';
import {
  AWAITED,
  crossing,
  type FromCallThread,
  type ThreadCall,
  type ToCallThread,
} from './call-threads.js';
import * as checked from './checked-api.js';

if (!parentPort) throw new Error('mcp/call-thread must run as a worker thread');
const port = parentPort;

const measuring = { ...checked };
const post = (message: FromCallThread): void => port.postMessage(message);
const returned: Int32Array = workerData;
let signals: ReadonlyMap<string, AbortController> = new Map();

// Standard output belongs to the protocol.
console.log = console.info = console.error;
// Errors after a call must not fail the next one.
const report = (error: unknown) =>
  console.error(
    `anyvmaf mcp: unexpected: ${process.env.ANYVMAF_DEBUG && error instanceof Error ? error.stack : String(error)}`,
  );
process.on('uncaughtException', report).on('unhandledRejection', report);

port.on('message', hear);

function hear(message: ToCallThread): void {
  if (message.kind === 'call') void run(message);
  // Unlike terminating the worker, this removes temporary files and ends child processes.
  else if (message.kind === 'end') process.exit();
  else signals.get(message.signal)?.abort(new AnyvmafError('aborted', 'The call was cancelled.'));
}

/** Reports a callback's call. Blocks until the awaited one has returned, then takes pending abort messages. */
function tell(name: string, values: readonly unknown[]): void {
  const before = Atomics.load(returned, 0);
  post({ kind: 'told', name, args: values.map(crossing) });
  if (name !== AWAITED) return;
  Atomics.wait(returned, 0, before);
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) hear(next.message);
}

async function run({ name, args, functions, signals: named }: ThreadCall): Promise<void> {
  const controllers = new Map(named.map((key) => [key, new AbortController()]));
  signals = controllers;
  const options = {
    ...Object(args.at(-1)),
    ...Object.fromEntries(functions.map((key) => [key, (...values: unknown[]) => tell(key, values)])),
    ...Object.fromEntries([...controllers].map(([key, { signal }]) => [key, signal])),
  };
  const call = measuring[name] as (...args: readonly unknown[]) => Promise<unknown>;
  try {
    post({ kind: 'done', result: await call(...args.slice(0, -1), options) });
  } catch (error) {
    post({ kind: 'failed', error: crossing(error) });
  }
}
