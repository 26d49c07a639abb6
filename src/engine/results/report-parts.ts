/**
 * @module engine/results/report-parts
 * The parts of a run's report: results of backends and their interface, facts of inputs and request, warnings about different
 * lengths, and progress.
 */
import type { InputRole } from '../../core/errors.js';
import { version } from '../../core/version.js';
import { factsOf, frameCountOf } from '../../media/pair.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { ReportParts } from '../../report/build.js';
import { membersBy } from '../../report/kinds.js';
import {
  input,
  type Report,
  type ReportHead,
  type ReportInput,
  type ReportMeasurer,
} from '../../report/schema.js';
import type { TinySessionFacts } from '../backends/tiny.js';
import type { CheckedOptions } from '../contract/options.js';
import type { Progress } from '../contract/types.js';
import type { Continuity } from '../inputs/frame-observer.js';
import type { ExpectedPairs, Extent, Pair, PairLengths } from '../pair/pair.js';
import { explainLengths } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';

type Head = ReturnType<typeof headOf>;

/** A backend's part of the report. */
export type Measured = Omit<
  ReportParts,
  keyof Head | 'fps' | 'pairing' | 'preflight' | 'sampling' | 'withoutGrain' | 'frameCount'
> & { readonly extent: Extent };

/** A backend's facts when its first frame is measured. */
export type MeasurementStart = Pick<
  Measured,
  'models' | 'tiny' | 'compat' | 'backend_used' | 'implementation' | 'native' | 'threads'
> & {
  /** In the report's order. */
  readonly metrics: readonly string[];
};

export interface OpenBackend {
  readonly requested: RequestedModels;
  /** @throws {AnyvmafError} if the pair's format cannot be measured */
  plan(pair: OpenPair): PlannedMeasurement;
}

export interface PlannedMeasurement {
  /** Whether measuring leaves the calling thread free. */
  isAside(expected: number | null): boolean;
  /** Measures all pairs. Call once. */
  measure(work: MeasurementWork): Promise<Measured>;
  /** Aborts, and waits for everything to be released. May be called after the end. */
  close(): Promise<void>;
}

/** Raw measurements of some pairs of a run. */
export type Recorded = Pick<
  Measured,
  'extent' | 'backend_used' | 'implementation' | 'measurers' | 'threads' | 'warnings'
> & { readonly sessions: readonly TinySessionFacts[] };

/** The backend that several runs used; `hybrid` if they used different ones. */
export function backendOfRuns(runs: readonly Pick<Recorded, 'backend_used'>[]): string {
  const used = new Set(runs.map((run) => run.backend_used));
  const [only = ''] = used;
  return used.size === 1 ? only : 'hybrid';
}

/** Measurers over several runs, with the sum of their frames. */
export function sumMeasurers(measurers: readonly ReportMeasurer[]): readonly ReportMeasurer[] {
  const together = new Map<string, ReportMeasurer>();
  for (const { frames, ...who } of measurers) {
    const key = JSON.stringify(who);
    together.set(key, { ...who, frames: (together.get(key)?.frames ?? 0) + frames });
  }
  return [...together.values()];
}

export interface MeasurementWork extends ExpectedPairs {
  readonly pair: OpenPair;
  /** First pair to measure. Default 0. */
  readonly first?: number;
  readonly meter: Meter;
  /** Takes signatures of pairs that workers read. */
  readonly continuity?: Continuity;
  /** Call once, before reporting the first frame. */
  readonly onStart: (start: MeasurementStart) => void;
}

type Inputs = Pick<Report, 'reference' | 'distorted'>;

/** The report's inputs, as far as known before reading. */
export function inputsOf({ plan, skip, sides, colours }: Pair): Inputs {
  const of = (role: InputRole) => {
    const side = sides[role];
    const fileSize = (side.kind === 'frames' && side.source.info.fileSize) || undefined;
    const [skipped, colour] = [(plan?.first ?? skip)[role], colours?.[role]];
    return membersBy(input, { ...factsOf(side), frameCount: frameCountOf(side), skipped, fileSize, colour });
  };
  return { reference: of('reference'), distorted: of('distorted') };
}

/** The report's description of the request. @param extent of the finished run */
export function headOf(
  inputs: Inputs,
  { backend, single, subsample }: CheckedOptions,
  extent?: Extent,
): Pick<
  ReportHead,
  'version' | 'reference' | 'distorted' | 'backend_requested' | 'noReference' | 'subsample'
> {
  const read = (role: InputRole): ReportInput => {
    const { frameCount, ...facts } = inputs[role];
    const counted = extent?.ended?.[role] ? facts.skipped + extent.pairs : null;
    return { ...facts, frameCount: frameCount ?? counted };
  };
  return {
    version,
    reference: read('reference'),
    distorted: read('distorted'),
    backend_requested: backend,
    ...(single && { noReference: true as const }),
    subsample,
  };
}

interface LengthFacts {
  readonly inputs: Inputs;
  readonly lengths: PairLengths;
  readonly extent: Extent;
  /** Whether frames are paired or converted, not compared as stored. */
  readonly planned: boolean;
}

/** Reports different lengths once: as a warning with numbers for stored pairs, else preferably as a finding. */
export function sayLengths(
  { inputs, lengths, extent, planned }: LengthFacts,
  { pairing, single, frameCount }: CheckedOptions,
  findings: Report['preflight'],
): { readonly findings: Report['preflight']; readonly warnings: readonly string[] } {
  // The finding already explains it.
  if (findings?.some(({ code }) => code === 'lost-frames')) return { findings, warnings: [] };
  const warnings = pairing.range || single ? [] : explainLengths(inputs, lengths, extent, frameCount);
  const twice = warnings.length > 0 && findings?.some(({ code }) => code === 'frame-count') === true;
  if (!twice) return { findings, warnings };
  if (planned) return { findings, warnings: [] };
  return { findings: findings.filter(({ code }) => code !== 'frame-count'), warnings };
}

/** Warnings of decoders and streams, some of which arrive only at the end. */
export function lateWarnings({ sides }: Pair, pair: OpenPair): string[] {
  return (['reference', 'distorted'] as const).flatMap((role) => {
    const side = sides[role];
    return side.kind === 'encoded' ? pair[role].info.warnings : (side.source.damage ?? []);
  });
}

/** Milliseconds between progress calls. */
const INTERVAL = 100;

export class Meter {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #total: number | null;
  readonly #start = performance.now();
  done = 0;
  #latest = this.#start;
  #reported = this.#start;

  /** @param total pairs expected, `null` while unknown */
  constructor(report: ((progress: Progress) => void) | undefined, total: number | null) {
    this.#report = report;
    this.#total = total;
  }

  /** Pairs per second from the start to the latest pair. */
  get fps(): number {
    const { seconds } = this;
    return seconds > 0 ? this.done / seconds : 0;
  }

  /** Seconds from the start to the latest pair. */
  get seconds(): number {
    return (this.#latest - this.#start) / 1000;
  }

  count(pairs = 1): void {
    this.done += pairs;
    this.#latest = performance.now();
    if (this.#latest - this.#reported < INTERVAL) return;
    this.#reported = this.#latest;
    this.#tell(this.#total);
  }

  finish(): void {
    this.#tell(this.done);
  }

  #tell(framesTotal: number | null): void {
    const { fps } = this;
    const secondsLeft = framesTotal === null || fps === 0 ? null : Math.max(0, framesTotal - this.done) / fps;
    this.#report?.({ framesDone: this.done, framesTotal, fps, secondsLeft });
  }
}
