/**
 * @module mcp/live/transports/live-thread
 * The thread that talks to clients of running measurements, and exchanges messages with the measuring side.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { AnyvmafError, messageOf } from '../../../core/errors.js';
import type { FromServer, Listening, ServerSettings, ToServer } from '../../../live/link.js';
import { Hub } from '../hub.js';
import { runningFile } from '../running.js';
import type { Listener } from './streams.js';

const { port, ...settings }: ServerSettings & { readonly port: MessagePort } = workerData;
const post = (message: FromServer) => port.postMessage(message);
const hub = new Hub(settings, post);
const listeners: Listener[] = [];
const running = runningFile(hub);
/** Serializes listening and closing. */
let last: Promise<void> = Promise.resolve();

async function open(where: Listening): Promise<Listener> {
  switch (where.transport) {
    case 'stdio':
      return (await import('./streams.js')).serveDescriptors(hub, where.input, where.output);
    case 'unix':
      return (await import('./streams.js')).serveUnixSocket(hub, where.path);
    case 'sse':
      return (await import('./http.js')).serveHttpStream(hub, where);
  }
}

async function listen(ticket: number, where: Listening): Promise<void> {
  try {
    const listener = await open(where);
    listeners.push(listener);
    // Descriptors belong to the parent process; others cannot connect.
    if (where.transport !== 'stdio') await running.add(listener.address);
    post({ kind: 'listening', ticket, address: listener.address });
  } catch (error) {
    const code = error instanceof AnyvmafError ? error.code : 'internal';
    post({ kind: 'listening', ticket, refusal: { code, message: messageOf(error) } });
  }
}

async function close(): Promise<void> {
  hub.abort();
  await running.close();
  await Promise.all(listeners.map((listener) => listener.close()));
  hub.close();
  port.close();
}

port.on('message', (message: ToServer) => {
  if (message.kind === 'listen') last = last.then(() => listen(message.ticket, message.where));
  else if (message.kind === 'close') last = last.then(close);
  else hub.take(message);
});
