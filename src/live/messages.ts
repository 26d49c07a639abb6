/**
 * @module live/messages
 * Messages between the measuring thread and the server's thread. Frames travel as plain doubles.
 */
import type { RunFacts, SwapOutcome } from '../engine/contract/types.js';
import type { Alarm, AlarmRule } from './alarms.js';

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
  | {
      readonly kind: 'swap';
      readonly model: string;
      readonly replace?: string;
    }
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
  /** Most waiting commands of one measurement; more are answered "busy". */
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
