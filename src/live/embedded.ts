/**
 * @module live/embedded
 * Serves running measurements in their process: a thread for clients, and a link for each measurement.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { oneOf, requireObject } from '../core/arguments.js';
import { AnyvmafError, type ErrorCode, internalError, usageError } from '../core/errors.js';
import { CHECKS, isTexts } from '../core/option-checks.js';
import { quoted, showValue } from '../core/printable.js';
import { fitting, type Shape, whole } from '../core/shapes.js';
import type { ScoreRun, Scorer } from '../engine/contract/types.js';
import { requireSteerable, STEERED } from '../engine/live/steerable.js';
import { type Alarm, parseAlarm } from './alarms.js';
import {
  type FromServer,
  Link,
  type Listening,
  type SecondLine,
  type ServerSettings,
  type ToServer,
} from './link.js';

const SCRIPT = new URL('./live-thread.js', import.meta.url);
/** Limit of the thread's young generation, in MB; Node.js defaults to 48. */
const YOUNG_MEGABYTES = 8;

/** Options of `createEmbeddedServer`. */
export interface EmbeddedServerOptions {
  /** Most commands of a measurement that may wait for a frame boundary, 1..4096; others get "busy". Default 64. */
  readonly queueDepth?: number;
  /** Most commands carried out at one frame boundary, 1..64. Default 4. */
  readonly maxDrainPerFrame?: number;
  /** Real paths of folders from which clients may name videos and model files. Default: none. */
  readonly folders?: readonly string[];
  /** Frames of each measurement that clients can ask about; older ones count in pooled values only. Default: all. */
  readonly keepFrames?: number;
  /** Like `keepFrames`, in seconds of video; 25 frames a second if the source states no rate. */
  readonly keepSeconds?: number;
  /** Rules such as `p5<80 for 3s`; clients are notified when an alarm begins and when it ends. */
  readonly alarms?: readonly string[];
  /** Called on this thread when an alarm begins or ends. */
  readonly onAlarm?: (alarm: Alarm) => void;
  /** Called after every second of video, or 25 frames if the source states no rate. */
  readonly onSecond?: (line: SecondLine) => void;
  /** Name of the measurement. Default `main`. */
  readonly name?: string;
  /** Name that the server reports to clients. Default `anyvmaf-live`. */
  readonly userAgent?: string;
}

/** A server of running measurements. */
export interface EmbeddedServer extends AsyncDisposable {
  /**
   * Adds another measurement.
   * @param name by which clients choose it
   * @throws {AnyvmafError} `usage` if the name is taken or the measurement already has a server
   */
  add(measurement: Scorer | ScoreRun, name: string): void;
  /**
   * Starts to listen; may be called several times.
   * @returns its address: a URL or a path
   * @throws {AnyvmafError} `io` if the address cannot be bound
   */
  listen(where: Listening): Promise<{ readonly address: string }>;
  /** Alarms raised so far. */
  readonly alarmsRaised: number;
  /** Closes all connections and ends the thread; the measurements continue. May be called twice. */
  close(): Promise<void>;
}

/**
 * Creates a server for a measurement.
 * @param script the thread's script; replaced in tests
 * @throws {AnyvmafError} `usage` for wrong options or a measurement that cannot be served
 */
export function openEmbeddedServer(
  measurement: Scorer | ScoreRun,
  options: EmbeddedServerOptions = {},
  script: URL = SCRIPT,
): EmbeddedServer {
  const settings = checkServerOptions(options);
  requireSteerable(measurement);
  const server = new MeasurementServer(settings, options, script);
  try {
    server.add(measurement, options.name ?? 'main');
  } catch (error) {
    void server.close();
    throw error;
  }
  return server;
}

type Checked = ServerSettings & { readonly maxDrainPerFrame: number };

/** A measurement's name is checked when it is added. */
const OPTIONS: Readonly<Record<keyof EmbeddedServerOptions, Shape<unknown>>> = {
  queueDepth: whole(1, 4096),
  maxDrainPerFrame: whole(1, 64),
  folders: fitting('a list of paths', isTexts),
  keepFrames: whole(1, 2 ** 31),
  // Infinity keeps all.
  keepSeconds: fitting('a number above 0', (value) => typeof value === 'number' && value > 0),
  alarms: fitting('a list of rules', isTexts),
  onAlarm: CHECKS.function,
  onSecond: CHECKS.function,
  name: () => {},
  userAgent: () => {},
};

/** Options of each transport. */
const LISTENING: Readonly<Record<Listening['transport'], readonly string[]>> = {
  stdio: ['transport', 'input', 'output'],
  unix: ['transport', 'path'],
  sse: ['transport', 'port', 'path', 'dashboard'],
};

function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const local = unknown === 'host' ? ' The server can be reached from this machine only.' : '';
  throw usageError(`unknown ${what} ${quoted(unknown)}; available: ${known.join(', ')}.${local}`);
}

function checkServerOptions(options: EmbeddedServerOptions): Checked {
  requireObject('options', options);
  refuseUnknown('server option', options, Object.keys(OPTIONS));
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) OPTIONS[name as keyof EmbeddedServerOptions](name, value);
  const { queueDepth = 64, maxDrainPerFrame = 4, folders = [], keepFrames, keepSeconds, userAgent } = options;
  return {
    queueDepth,
    maxDrainPerFrame,
    folders,
    keep: keepFrames,
    keepSeconds,
    name: userAgent ?? 'anyvmaf-live',
  };
}

class MeasurementServer implements EmbeddedServer {
  readonly #settings: Checked;
  readonly #options: EmbeddedServerOptions;
  readonly #rules;
  readonly #links = new Map<string, Link>();
  readonly #byId: Link[] = [];
  readonly #tickets = new Map<number, (message: FromServer & { readonly kind: 'listening' }) => void>();
  #ticket = 0;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #failure: unknown;
  #closing: Promise<void> | undefined;

  constructor(settings: Checked, options: EmbeddedServerOptions, script: URL) {
    this.#settings = settings;
    this.#options = options;
    this.#rules = (options.alarms ?? []).map(parseAlarm);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const { maxDrainPerFrame: _, ...workerData } = settings;
    this.#worker = new Worker(script, {
      name: 'anyvmaf-live',
      execArgv: [],
      // Answers are short-lived; a larger young generation would only enlarge the process.
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
      // Descriptors come from the caller and are closed with their connection.
      trackUnmanagedFds: false,
      workerData: { ...workerData, port: port2 },
      transferList: [port2],
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread of the server has ended')));
    this.#port.on('message', (message: FromServer) => this.#take(message));
    this.#port.unref();
  }

  get alarmsRaised(): number {
    return [...this.#links.values()].reduce((sum, link) => sum + link.alarmsRaised, 0);
  }

  add(measurement: Scorer | ScoreRun, name: string): void {
    const steerable = requireSteerable(measurement);
    if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name))
      throw usageError(
        `The name ${showValue(name)} of the measurement must have 1 to 64 letters, digits, -, _ or dots.`,
      );
    if (this.#links.has(name)) throw usageError(`A measurement named ${showValue(name)} already exists.`);
    const { maxDrainPerFrame, folders } = this.#settings;
    const { onAlarm, onSecond } = this.#options;
    const link = new Link({
      id: this.#byId.length,
      name,
      post: (message, transfer = []) => this.#post(message, transfer),
      poll: () => this.#poll(),
      maxDrainPerFrame,
      folders,
      alarms: this.#rules,
      onAlarm,
      onSecond,
    });
    this.#byId.push(link);
    try {
      steerable[STEERED](link.steering);
    } catch (error) {
      link.ended(error);
      throw error;
    }
    this.#links.set(name, link);
  }

  async listen(where: Listening): Promise<{ readonly address: string }> {
    requireObject('where to listen', where);
    const { transport } = where;
    oneOf('transport', transport, ['stdio', 'unix', 'sse']);
    refuseUnknown(`option of the transport ${transport}:`, where, LISTENING[transport]);
    if (this.#closing) throw usageError('The server is closed; create another one.');
    if (this.#failure) throw internalError('The server has failed.', { cause: this.#failure });
    const ticket = this.#ticket++;
    this.#port.ref();
    const answer = await new Promise<FromServer & { readonly kind: 'listening' }>((resolve) => {
      this.#tickets.set(ticket, resolve);
      this.#post({ kind: 'listen', ticket, where });
    });
    this.#tickets.delete(ticket);
    if (this.#tickets.size === 0) this.#port.unref();
    const { refusal, address = '' } = answer;
    if (refusal) throw new AnyvmafError(refusal.code as ErrorCode, refusal.message);
    return { address };
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    for (const link of this.#byId) link.detach();
    const closed = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#post({ kind: 'close' });
    const late = setTimeout(() => void this.#worker.terminate(), CLOSE_TIME);
    if (this.#failure === undefined) await closed;
    clearTimeout(late);
    this.#port.close();
  }

  #post(message: ToServer, transfer: ArrayBuffer[] = []): void {
    if (this.#failure === undefined) this.#port.postMessage(message, transfer);
  }

  /** Takes messages that arrive while a long task blocks the event loop. */
  #poll(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.#take(next.message);
  }

  #take(message: FromServer): void {
    if (message.kind === 'listening') this.#tickets.get(message.ticket)?.(message);
    else this.#byId[message.id]?.command(message.call, message.command);
  }

  /** Called when the thread has ended; the measurements continue. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const link of this.#byId) link.detach();
    for (const [ticket, answer] of this.#tickets) {
      const refusal = { code: 'internal', message: 'The thread of the server has ended.' };
      answer({ kind: 'listening', ticket, refusal });
    }
  }
}

/** Milliseconds until a closing thread is terminated. */
const CLOSE_TIME = 3000;
