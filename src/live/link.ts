/**
 * @module live/link
 * Links a measurement to the server's thread: their messages, its progress, and commands, which it carries out at frame
 * boundaries. Frames travel as plain doubles.
 */
import { AnyvmafError, messageOf, usageError } from '../core/errors.js';
import { USUAL_RATE } from '../core/numbers.js';
import type { ScoreRun, Scorer } from '../engine/contract/types.js';
import { requireSteerable, STEERED } from '../engine/live/steerable.js';
import { type RunFacts, type RunObserver, Steering, type SwapOutcome } from '../engine/live/steering.js';
import { type Alarm, type AlarmRule, Alarms, MainScore, Seconds } from './alarms.js';

/** Statistics of a second of video. */
export interface SecondLine {
  /** Number of seconds of video scored so far, this one included. */
  readonly second: number;
  /** Last frame of the second. */
  readonly frame: number;
  readonly metric: string;
  readonly mean: number;
  readonly min: number;
}

export type MeasurementFacts = Omit<RunFacts, 'taken'>;

export type Command =
  | { readonly kind: 'swap'; readonly model: string; readonly replace?: string }
  | { readonly kind: 'alarm'; readonly rule: AlarmRule }
  | { readonly kind: 'pause' | 'resume' | 'stop' };

/** An error in a form that crosses threads. */
export interface Refusal {
  readonly code: string;
  /** A full sentence. */
  readonly message: string;
}

/** Where a server listens. */
export type Listening =
  | {
      /** Two file descriptors of the caller; the first bytes select JSON lines or `Content-Length` framing. */
      readonly transport: 'stdio';
      readonly input: number;
      readonly output: number;
    }
  | {
      /** A Unix socket of mode 0700, in a folder that only its owner may enter. */
      readonly transport: 'unix';
      readonly path: string;
    }
  | {
      /** HTTP on 127.0.0.1: events and requests at `path`, the Model Context Protocol's Streamable HTTP at `/mcp`. */
      readonly transport: 'sse';
      /** 0 for any free port. */
      readonly port: number;
      /** Default `/mcp/sse`. */
      readonly path?: string;
      /** Serves a page at `/` that shows the measurement. Default false. */
      readonly dashboard?: boolean;
    };

export interface ServerSettings {
  /** Most waiting commands of a measurement; others are answered "busy". */
  readonly queueDepth: number;
  /** Frames of each measurement to keep; absent for all. */
  readonly keep?: number;
  /** Like `keep`, in seconds of video. */
  readonly keepSeconds?: number;
  /** Folders from which clients may name files. */
  readonly folders: readonly string[];
  /** Most seconds for scoring a pair of files; absent for ten minutes. */
  readonly maxSeconds?: number;
  /** Name that the server reports to clients. */
  readonly name: string;
}

export type ToServer =
  | { readonly kind: 'measurement'; readonly id: number; readonly name: string }
  | { readonly kind: 'planned'; readonly id: number; readonly facts: MeasurementFacts }
  | { readonly kind: 'names'; readonly id: number; readonly names: readonly string[] }
  /** Scored frames: their numbers, and one row of values for each. */
  | {
      readonly kind: 'frames';
      readonly id: number;
      readonly numbers: Float64Array;
      readonly values: Float64Array;
    }
  | { readonly kind: 'pulse'; readonly id: number; readonly taken: number; readonly state: RunState }
  | { readonly kind: 'swapped'; readonly id: number; readonly swap: SwapOutcome }
  | { readonly kind: 'alarm'; readonly id: number; readonly alarm: Alarm }
  | { readonly kind: 'ended'; readonly id: number; readonly error?: string }
  | { readonly kind: 'answer'; readonly call: number; readonly result?: object; readonly refusal?: Refusal }
  | { readonly kind: 'listen'; readonly ticket: number; readonly where: Listening }
  | { readonly kind: 'close' };

export type FromServer =
  | { readonly kind: 'command'; readonly call: number; readonly id: number; readonly command: Command }
  | {
      readonly kind: 'listening';
      readonly ticket: number;
      readonly address?: string;
      readonly refusal?: Refusal;
    };

export type RunState = 'waiting' | 'running' | 'paused' | 'stopping' | 'finished' | 'failed';

/** Milliseconds that scored frames may wait to be sent. */
const BATCH_TIME = 50;
/** Most scored frames that wait to be sent. */
const BATCH = 256;
/** Milliseconds until commands run without a new frame: a pause counts as a frame boundary. */
const IDLE_TIME = 20;

export interface LinkOptions {
  readonly id: number;
  readonly name: string;
  /** Sends to the server's thread; absent without a server. */
  readonly post?: ((message: ToServer, transfer?: ArrayBuffer[]) => void) | undefined;
  /** Receives pending commands; called at each frame boundary. */
  readonly poll?: (() => void) | undefined;
  readonly maxDrainPerFrame: number;
  /** Folders from which clients may name models. */
  readonly folders: readonly string[];
  readonly alarms: readonly AlarmRule[];
  readonly onAlarm?: ((alarm: Alarm) => void) | undefined;
  readonly onSecond?: ((line: SecondLine) => void) | undefined;
}

interface Waiting {
  readonly call: number;
  /** False while a model is loading. */
  ready: boolean;
  carryOut: () => object;
}

const closing = () => usageError('The server is closing.');
const ended = () => usageError('The measurement has ended.');

export class Link implements RunObserver {
  readonly steering: Steering;
  readonly #options: LinkOptions;
  readonly #alarms: Alarms;
  #facts: RunFacts | undefined;
  #state: RunState = 'waiting';
  readonly #waiting: Waiting[] = [];
  #idle: NodeJS.Timeout | undefined;
  #names: readonly string[] | undefined;
  #numbers: number[] = [];
  #values: number[] = [];
  #told = 0;
  #late: NodeJS.Timeout | undefined;
  /** The score for alarms and `onSecond`. */
  readonly #main = new MainScore();
  #detached = false;
  /** Number of the next frame. */
  #next = 0;
  readonly #seconds = new Seconds();
  /** Scored frames per second of video. */
  #perSecond = 1;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.steering = new Steering(this, { by: 'foreign', folders: options.folders });
    this.#alarms = new Alarms(options.alarms);
    this.#post({ kind: 'measurement', id: options.id, name: options.name });
  }

  get alarmsRaised(): number {
    return this.#alarms.raised;
  }

  /** @throws {AnyvmafError} `usage` for an alarm about a metric that is not measured */
  planned(facts: RunFacts): void {
    this.#facts = facts;
    const main = facts.models[0]?.name;
    this.#main.begin(main);
    const perSecond = (facts.rate ?? USUAL_RATE) / facts.subsample;
    this.#alarms.start(perSecond, facts.metrics, main, facts.models);
    this.#perSecond = perSecond;
    const { taken: _, format, ...told } = facts;
    const { width, height, bitDepth, chroma } = format;
    const plain = { ...told, format: { width, height, bitDepth, chroma } };
    this.#post({ kind: 'planned', id: this.#options.id, facts: plain });
    // It may have been paused or stopped before.
    this.#setState();
    this.#flush();
  }

  /** Releases the measurement: no client can resume it any more. */
  detach(): void {
    this.#detached = true;
    for (const { call } of this.#waiting.splice(0)) this.#refuse(call, closing());
    clearTimeout(this.#idle);
    this.steering.release();
  }

  boundary(): void {
    this.#options.poll?.();
    this.#drain();
  }

  frame(frame: number, values: Float64Array, names: readonly string[]): void {
    this.#watch(frame, values, names);
    if (!this.#options.post) return;
    if (names !== this.#names) {
      this.#flush();
      this.#names = names;
      this.#post({ kind: 'names', id: this.#options.id, names: [...names] });
    }
    this.#numbers.push(frame);
    for (let i = 0; i < values.length; i++) this.#values.push(values[i] ?? Number.NaN);
    if (this.#numbers.length >= BATCH || performance.now() - this.#told >= BATCH_TIME) this.#flush();
    else this.#late ??= setTimeout(() => this.#flush(), 2 * BATCH_TIME).unref();
  }

  swapped(swap: SwapOutcome): void {
    this.#main.swap(swap);
    this.#post({ kind: 'swapped', id: this.#options.id, swap });
  }

  ended(error?: unknown): void {
    this.#flush();
    this.#state = error === undefined ? 'finished' : 'failed';
    clearTimeout(this.#idle);
    for (const { call } of this.#waiting.splice(0)) this.#refuse(call, ended());
    this.#post({
      kind: 'ended',
      id: this.#options.id,
      ...(error !== undefined && { error: messageOf(error) }),
    });
  }

  /** Queues a command for the next frame boundary. */
  command(call: number, command: Command): void {
    const isOver = this.#state === 'finished' || this.#state === 'failed';
    if (this.#detached || isOver) {
      this.#refuse(call, this.#detached ? closing() : ended());
      return;
    }
    const waiting: Waiting = { call, ready: true, carryOut: () => this.#carryOut(command) };
    this.#waiting.push(waiting);
    if (command.kind === 'swap') this.#prepare(waiting, command);
    this.#drainLater();
  }

  #prepare(waiting: Waiting, command: Command & { readonly kind: 'swap' }): void {
    waiting.ready = false;
    const { model, ...options } = command;
    this.steering.prepare(model).then(
      (loaded) => {
        waiting.carryOut = () => this.steering.swap(loaded, options);
        waiting.ready = true;
      },
      (error) => {
        waiting.carryOut = () => {
          throw error;
        };
        waiting.ready = true;
      },
    );
  }

  #carryOut(command: Command): object {
    const { kind } = command;
    if (kind === 'alarm') this.#alarms.add(command.rule);
    else if (kind === 'pause') this.steering.pause();
    else if (kind === 'resume') this.steering.resume();
    else if (kind === 'stop') this.steering.stop();
    this.#setState();
    this.#flush();
    return { state: this.#state, frame: this.#next };
  }

  #setState(): void {
    const { stopped, paused } = this.steering;
    this.#state = stopped ? 'stopping' : paused ? 'paused' : this.#facts ? 'running' : 'waiting';
  }

  #drain(): void {
    let left = this.#options.maxDrainPerFrame;
    for (let i = 0; i < this.#waiting.length && left > 0; ) {
      const waiting = this.#waiting[i];
      if (!waiting?.ready) {
        i++;
        continue;
      }
      this.#waiting.splice(i, 1);
      left--;
      try {
        const result = waiting.carryOut();
        this.#post({ kind: 'answer', call: waiting.call, result });
      } catch (error) {
        this.#refuse(waiting.call, error);
      }
    }
  }

  /** Between two tasks of this thread no frame is being scored, so commands need not wait for the next. */
  #drainLater(): void {
    if (this.#idle || this.#waiting.length === 0) return;
    this.#idle = setTimeout(() => {
      this.#idle = undefined;
      this.#drain();
      this.#drainLater();
    }, IDLE_TIME);
  }

  #refuse(call: number, error: unknown): void {
    const refusal: Refusal =
      error instanceof AnyvmafError
        ? { code: error.code, message: error.message }
        : { code: 'internal', message: messageOf(error) };
    this.#post({ kind: 'answer', call, refusal });
  }

  #watch(frame: number, values: Float64Array, names: readonly string[]): void {
    this.#next = frame + (this.#facts?.subsample ?? 1);
    const main = this.#main.at(frame);
    const { onAlarm, onSecond, id } = this.#options;
    for (const alarm of this.#alarms.take(frame, values, names, main)) {
      onAlarm?.(alarm);
      this.#post({ kind: 'alarm', id, alarm });
    }
    const value = main === undefined ? undefined : values[names.indexOf(main)];
    if (!onSecond || main === undefined || value === undefined) return;
    const done = this.#seconds.take(value, this.#perSecond);
    if (!done) return;
    const { second, mean, min } = done;
    onSecond({ second, frame, metric: main, mean, min });
  }

  #flush(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#told = performance.now();
    const { id } = this.#options;
    if (this.#numbers.length > 0) {
      const numbers = Float64Array.from(this.#numbers);
      const values = Float64Array.from(this.#values);
      this.#numbers = [];
      this.#values = [];
      this.#post({ kind: 'frames', id, numbers, values }, [numbers.buffer, values.buffer]);
    }
    this.#post({ kind: 'pulse', id, taken: this.#facts?.taken() ?? 0, state: this.#state });
  }

  #post(message: ToServer, transfer?: ArrayBuffer[]): void {
    this.#options.post?.(message, transfer);
  }
}

export type WatchOptions = Pick<LinkOptions, 'onAlarm' | 'onSecond'> & {
  readonly alarms: readonly AlarmRule[];
};

/** @throws {AnyvmafError} `usage` for a measurement that is already watched, or over */
export function watchMeasurement(
  measurement: Scorer | ScoreRun,
  options: WatchOptions,
): { readonly alarmsRaised: number } {
  const link = new Link({ id: 0, name: 'main', maxDrainPerFrame: 1, folders: [], ...options });
  requireSteerable(measurement)[STEERED](link.steering);
  return link;
}
