/**
 * @module mcp/live/hub
 * The measurements of the server's thread: commands, listeners, events, the story so far for the dashboard, and a limit
 * on the thread's wake-ups.
 */
import { setMaxListeners } from 'node:events';
import { unlessAborted } from '../../core/abort.js';
import { AnyvmafError, type ErrorCode, usageError } from '../../core/errors.js';
import { USUAL_RATE } from '../../core/numbers.js';
import { quoted } from '../../core/printable.js';
import { History } from '../../live/history.js';
import type { Command, FromServer, ServerSettings, ToServer } from '../../live/link.js';

/** Milliseconds of a pause, the longest delay of an answer. */
const REST = 25;
/** The thread pauses after more than MANY rounds within SPAN milliseconds. */
const [MANY, SPAN] = [6, 150];

/** Limits wake-ups of the thread: a round answers all requests that have arrived. */
export class Rounds {
  readonly #cell = new Int32Array(new SharedArrayBuffer(4));
  /** Times of the latest rounds with requests, oldest first. */
  readonly #latest: number[] = [];
  #ending: NodeJS.Immediate | undefined;

  /** Notes a request; the round ends once all that have arrived are taken. */
  asked(): void {
    this.#ending ??= setImmediate(() => this.#end());
  }

  #end(): void {
    this.#ending = undefined;
    const now = performance.now();
    const latest = this.#latest;
    latest.push(now);
    if (latest.length <= MANY) return;
    const first = latest.shift() ?? now;
    // Block the thread: nothing else keeps the system from waking it for each request.
    if (now - first < SPAN) Atomics.wait(this.#cell, 0, 0, REST);
  }
}

/** Least milliseconds between two progress notifications. */
const UPDATE_TIME = 500;
/** Milliseconds that a status is reused: rates and times change by themselves. */
const RECENT_TIME = 100;

export interface LiveEvent {
  readonly kind: 'progress' | 'swap' | 'alarm' | 'state' | 'end';
  readonly measurement: History;
  readonly data: object;
}

/** Most seconds of video in one notification. */
const MOST_SECONDS = 600;

/** When progress was sent, and up to which second of video. */
interface SentProgress {
  readonly at: number;
  timer: NodeJS.Timeout | undefined;
  readonly second: number;
}

export class Hub {
  readonly settings: ServerSettings;
  readonly rounds = new Rounds();
  readonly #recent = new Map<History, { change: number; until: number; document: object }>();
  /** Counts changes, each of which outdates answers. */
  #change = 0;
  readonly #post: (message: FromServer) => void;
  readonly #histories = new Map<number, History>();
  readonly #calls = new Map<
    number,
    { resolve(result: object): void; reject(reason: unknown): void; id: number }
  >();
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  readonly #sent = new Map<History, SentProgress>();
  readonly #closing = new AbortController();
  #call = 0;

  constructor(settings: ServerSettings, post: (message: FromServer) => void) {
    this.settings = settings;
    this.#post = post;
    // Each call adds a listener.
    setMaxListeners(0, this.#closing.signal);
  }

  get measurements(): readonly History[] {
    return [...this.#histories.values()];
  }

  /** A measurement's status, cached briefly while nothing changes, for many clients. @param make builds it */
  recent(measurement: History, make: () => object): object {
    const now = performance.now();
    const known = this.#recent.get(measurement);
    if (known && known.change === this.#change && now < known.until) return known.document;
    const document = make();
    this.#recent.set(measurement, { change: this.#change, until: now + RECENT_TIME, document });
    return document;
  }

  /** Listens to events. @returns a function that removes the listener */
  listen(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Waits for an answer other than `undefined`; asks again after each event, and at the end.
   * @returns `undefined` after `milliseconds`
   * @throws errors of `ask`, and the signal's reason
   */
  until<T>(ask: () => T | undefined, milliseconds: number, signal: AbortSignal): Promise<T | undefined> {
    let end = () => {};
    const found = new Promise<T | undefined>((resolve, reject) => {
      const look = () => {
        try {
          const answer = ask();
          if (answer !== undefined) resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      const late = setTimeout(() => {
        // Frames arrive before the event that tells of them.
        look();
        resolve(undefined);
      }, milliseconds);
      const leave = this.listen(look);
      end = () => {
        clearTimeout(late);
        leave();
      };
      look();
    });
    return unlessAborted(signal, found).finally(end);
  }

  /** Aborts the thread's own work when the server closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** The first measurement if no name is given. @throws {AnyvmafError} `usage` for an unknown name */
  measurement(name: string | undefined): History {
    const all = this.measurements;
    const found = name === undefined ? all[0] : all.find((measurement) => measurement.name === name);
    if (found) return found;
    const names = all.map((measurement) => measurement.name).join(', ');
    throw usageError(`Unknown measurement ${quoted(name ?? '')}; available: ${names}.`);
  }

  waiting({ id }: History): number {
    return [...this.#calls.values()].filter((call) => call.id === id).length;
  }

  /**
   * Sends a command for a frame boundary.
   * @throws {AnyvmafError} `resource` (busy) if too many wait; the measuring side's refusal
   */
  command(measurement: History, command: Command): Promise<object> {
    const { queueDepth } = this.settings;
    if (this.waiting(measurement) >= queueDepth) {
      const busy = `busy: ${queueDepth} commands already wait for a frame boundary; try again in a moment.`;
      throw new AnyvmafError('resource', busy);
    }
    if (measurement.isOver) throw usageError('The measurement has ended.');
    this.#change++;
    return new Promise((resolve, reject) => {
      const call = this.#call++;
      this.#calls.set(call, { resolve, reject, id: measurement.id });
      this.#post({ kind: 'command', call, id: measurement.id, command });
    });
  }

  take(message: ToServer): void {
    this.#change++;
    if (message.kind === 'answer') {
      const { call, result = {}, refusal } = message;
      const waiting = this.#calls.get(call);
      this.#calls.delete(call);
      if (refusal) waiting?.reject(new AnyvmafError(refusal.code as ErrorCode, refusal.message));
      else waiting?.resolve(result);
    }
    if (message.kind === 'measurement') {
      const { id, name } = message;
      this.#histories.set(id, new History(id, name, this.settings));
    }
    const history = 'id' in message ? this.#histories.get(message.id) : undefined;
    if (history) this.#tell(history, message);
  }

  /** Aborts the thread's own work; answers can still be sent. */
  abort(): void {
    this.#closing.abort(new AnyvmafError('aborted', 'The server is closing.'));
  }

  close(): void {
    for (const { timer } of this.#sent.values()) clearTimeout(timer);
    this.#sent.clear();
    this.#listeners.clear();
  }

  #tell(measurement: History, message: ToServer): void {
    switch (message.kind) {
      case 'planned':
        measurement.plan(message.facts);
        break;
      case 'names':
        measurement.setNames(message.names);
        return;
      case 'frames':
        measurement.take(message.numbers, message.values);
        break;
      case 'pulse':
        measurement.taken = message.taken;
        if (measurement.state === message.state || measurement.isOver) return;
        measurement.state = message.state;
        this.#emit({ kind: 'state', measurement, data: { state: message.state } });
        break;
      case 'swapped':
        measurement.swap(message.swap);
        this.#emit({ kind: 'swap', measurement, data: message.swap });
        break;
      case 'alarm':
        measurement.alarm(message.alarm);
        this.#emit({ kind: 'alarm', measurement, data: message.alarm });
        break;
      case 'ended':
        measurement.state = message.error === undefined ? 'finished' : 'failed';
        measurement.error = message.error;
        measurement.version++;
        this.#emitProgress(measurement);
        this.#emit({ kind: 'end', measurement, data: { state: measurement.state, error: message.error } });
        return;
      default:
        return;
    }
    this.#progress(measurement);
  }

  /** Schedules a progress notification, at most two a second. */
  #progress(measurement: History): void {
    const sent = this.#sent.get(measurement) ?? { at: 0, timer: undefined, second: 0 };
    this.#sent.set(measurement, sent);
    if (sent.timer) return;
    const wait = Math.max(0, sent.at + UPDATE_TIME - performance.now());
    sent.timer = setTimeout(() => this.#emitProgress(measurement), wait).unref();
  }

  #emitProgress(measurement: History): void {
    const { timer, second: sent = 0 } = this.#sent.get(measurement) ?? {};
    clearTimeout(timer);
    const fresh = measurement.seconds.slice(-MOST_SECONDS).filter(({ second }) => second > sent);
    const { second = 0 } = measurement.seconds.at(-1) ?? {};
    this.#sent.set(measurement, { at: performance.now(), timer: undefined, second });
    this.#emit({ kind: 'progress', measurement, data: { ...progressOf(measurement), fresh } });
  }

  #emit(event: LiveEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** Worst moments in a progress notification. */
const WORST = 5;

export type Progress = Readonly<ReturnType<typeof progressOf>>;
export type Story = Readonly<ReturnType<typeof storyOf>>;

export function progressOf(measurement: History) {
  const { name, state, measured, queued, toScore, facts, main } = measurement;
  return {
    measurement: name,
    /** Names of the videos; `null` before the run is planned. */
    reference: facts?.reference ?? null,
    distorted: facts?.distorted ?? null,
    state,
    /** Frames scored so far. */
    frames: measured,
    /** Frames read or pushed but not scored yet. */
    queued,
    /** Frames to score in all; `null` while unknown. */
    total: toScore,
    /** Frames per second of wall time. */
    rate: measurement.rate(),
    /** Frames per second of video; 25 if unknown. */
    fps: facts?.rate ?? USUAL_RATE,
    /** Key of the current main score; `null` without a model. */
    metric: main ?? null,
    /** Mean of that score over all frames. */
    mean: (main === undefined ? undefined : measurement.mean(main)) ?? null,
    worst: measurement.worst(WORST),
  };
}

export function storyOf(measurement: History) {
  const { error, seconds, swaps, alarms } = measurement;
  return { ...progressOf(measurement), error: error ?? null, seconds, swaps, alarms };
}
