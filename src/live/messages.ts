/**
 * @module live/messages
 * What the measuring thread and the server's thread tell each other. Frames travel as plain doubles.
 */
import type { RunFacts, SwapOutcome } from '../engine/contract/types.js';
import type { Alarm, AlarmRule } from './alarms.js';

/** Statistics of a second of video. */
export interface SecondLine {
  /** Seconds of video that are done. */
  readonly second: number;
  /** Its last frame. */
  readonly frame: number;
  readonly metric: string;
  readonly mean: number;
  readonly min: number;
}

/** Facts of a planned measurement. */
export type MeasurementFacts = Omit<RunFacts, 'taken'>;

/** What a client can ask of the measuring side. */
export type Command =
  | {
      readonly kind: 'swap';
      readonly model: string;
      readonly replace?: string;
    }
  | { readonly kind: 'alarm'; readonly rule: AlarmRule }
  | { readonly kind: 'pause' | 'resume' | 'stop' };

/** A refusal that crosses to another thread. */
export interface Refusal {
  readonly code: string;
  /** A full sentence. */
  readonly message: string;
}

/** Where a server is to listen. */
export type Listening =
  | {
      /** A pair of descriptors of the caller: JSON lines, or `Content-Length` framing as the first bytes tell. */
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
      /** 0 for any free one. */
      readonly port: number;
      /** Default `/mcp/sse`. */
      readonly path?: string;
      /** Whether to serve a page that shows the measurement, at `/`. Default false. */
      readonly dashboard?: boolean;
    };

/** Settings of the server's thread. */
export interface ServerSettings {
  /** Commands of one measurement that may wait; more are answered "busy". */
  readonly queueDepth: number;
  /** Frames of each measurement to keep for questions; absent for all. */
  readonly keep?: number;
  /** The same in seconds of video. */
  readonly keepSeconds?: number;
  /** Folders from which clients may name files. */
  readonly folders: readonly string[];
  /** Seconds that scoring a pair of files may take; absent for ten minutes. */
  readonly maxSeconds?: number;
  /** What the server calls itself. */
  readonly name: string;
}

/** To the server's thread. */
export type ToServer =
  | { readonly kind: 'measurement'; readonly id: number; readonly name: string }
  | { readonly kind: 'planned'; readonly id: number; readonly facts: MeasurementFacts }
  /** Names of the values of the frames that follow. */
  | { readonly kind: 'names'; readonly id: number; readonly names: readonly string[] }
  /** Frames that are done: their numbers, and their values row by row. */
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

/** From the server's thread. */
export type FromServer =
  | { readonly kind: 'command'; readonly call: number; readonly id: number; readonly command: Command }
  | {
      readonly kind: 'listening';
      readonly ticket: number;
      readonly address?: string;
      readonly refusal?: Refusal;
    }
  | { readonly kind: 'closed' };

/** What a measurement is doing. */
export type RunState = 'waiting' | 'running' | 'paused' | 'stopping' | 'finished' | 'failed';
