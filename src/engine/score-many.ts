/**
 * @module engine/score-many
 * Scores many pairs: distorted videos of one reference concurrently, sharing its decoded frames; and batches of pairs with
 * options of their own, which run jobs of the same reference together.
 */
import { onAbort, TimeLimitError } from '../core/abort.js';
import { requireArray, requireObject } from '../core/arguments.js';
import { AnyvmafError, type ErrorCode, ioError, messageOf, usageError } from '../core/errors.js';
import { CHECKS } from '../core/option-checks.js';
import { changed } from '../core/options.js';
import { shown } from '../core/printable.js';
import { whole } from '../core/shapes.js';
import { openDecoded } from '../media/decoders.js';
import { isFrameSource, readsOnce, requireVideo } from '../media/open.js';
import type { OpenDecoder } from '../media/pairing/prepare.js';
import { Fan, type FramePart, hull } from '../media/pairing/sources.js';
import { withReads } from '../media/sources.js';
import type { FrameSource, VideoInput } from '../media/types.js';
import { folderOption } from '../metrics/options.js';
import type { Report } from '../report/schema.js';
import { checkOptions, scoresAlone } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { Scope, SharedInputs, SharedSources, withScope } from './contract/scope.js';
import type { Progress, ScoreManyOptions, ScoreOptions, ScoreRequest } from './contract/types.js';
import { scorePair } from './score.js';

/** @returns reports in the order of the videos, without failed ones @throws {AnyvmafError} as the public `scoreMany` */
export async function scoreEach(
  platform: Platform,
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions = {},
): Promise<Report[]> {
  requireObject('options', options);
  checkMany(reference, distorted, options);
  return withScope(undefined, (scope) => {
    const videos = distorted.map((video) => ({ reference, distorted: video }));
    const sources = scope.own(new SharedSources(videos));
    const own = distorted.map((video) => sources.of(video));
    return runEach(platform, sources.of(reference), own, options);
  });
}

/**
 * @param each options of each run, which override the common ones
 * @param isolated whether errors, other than aborts, affect only their own run
 */
async function runEach(
  platform: Platform,
  reference: VideoInput | undefined,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions,
  { each, isolated = false }: { readonly each?: readonly ScoreOptions[]; readonly isolated?: boolean } = {},
): Promise<Report[]> {
  const { raw, onProgress, onStart, onFrame, onReport, onFailure, signal, ...forAll } = options;
  const several = distorted.length > 1;
  const fans = new ReferenceFans(distorted.length);
  // One signal per run: Node warns of many listeners on one signal.
  const stops = distorted.map(() => new AbortController());
  const sharing = new AbortController();
  const shared = several ? new SharedInputs(['reference'], sharing.signal) : undefined;
  const stop = (reason: unknown) => [...stops, sharing].map((own) => own.abort(reason));
  async function run(video: VideoInput, index: number): Promise<Report | undefined> {
    const common = { ...forAll, ...each?.[index] };
    const seat = fans.seat();
    try {
      // Check before maxThreads is replaced, which would hide an invalid value.
      checkOptions(common, 'score');
      const own: ScoreOptions = {
        ...common,
        ...(several && { maxThreads: threadsEach(platform, distorted.length, common.maxThreads) }),
        ...(stops[index] && { signal: stops[index].signal }),
        ...observersOf(index, { onProgress, onStart, onFrame }),
      };
      const variant = several ? { openDecoder: seat.open, shared } : {};
      const request = { reference: heard(reference, onFailure), distorted: heard(video, onFailure), raw };
      const report = await scorePair(platform, request, own, variant);
      onReport?.(report, index);
      return report;
    } catch (error) {
      const own = isOwn(error) || (isolated && error instanceof AnyvmafError);
      if (!onFailure || stops[index]?.signal.aborted || !own) throw error;
      onFailure(error as AnyvmafError, index);
      return undefined;
    } finally {
      seat.leave();
    }
  }
  const runOrStop = (video: VideoInput, index: number) =>
    run(video, index).catch((error) => {
      stop(error);
      throw error;
    });

  const forget = onAbort(signal, stop);
  try {
    // Stopped runs reject with the failure that stopped them.
    const settled = await Promise.allSettled(distorted.map(runOrStop));
    return settled.flatMap((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value ?? [];
    });
  } finally {
    forget();
    sharing.abort();
  }
}

/** A caller's own source, whose errors become errors of its video: a listener hears of them, and other runs go on. */
function heard<Video extends VideoInput | undefined>(video: Video, listener: unknown): Video | FrameSource {
  if (listener === undefined || video === undefined || !isFrameSource(video)) return video;
  // Scoring refuses incomplete sources.
  if (typeof video.readFrame !== 'function' || typeof video.close !== 'function') return video;
  return withReads(video, async (read, index) => {
    try {
      return await read();
    } catch (cause) {
      if (cause instanceof AnyvmafError) throw cause;
      throw ioError(`reading frame ${index} of ${shown(video.info.name)} failed: ${messageOf(cause)}`, {
        cause,
      });
    }
  });
}

function observersOf(
  index: number,
  { onProgress, onStart, onFrame }: Pick<ScoreManyOptions, 'onProgress' | 'onStart' | 'onFrame'>,
): Pick<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame'> {
  return {
    ...(onProgress && { onProgress: (progress) => onProgress(progress, index) }),
    ...(onStart && { onStart: (head) => onStart(head, index) }),
    ...(onFrame && { onFrame: (frame) => onFrame(frame, index) }),
  };
}

/** Most workers of a run: together, runs use about as many as there are cores, or as the caller allows. */
function threadsEach({ parallelism }: Platform, runs: number, most = Number.POSITIVE_INFINITY): number {
  return Math.max(1, Math.floor(Math.min(parallelism, most) / Math.max(1, runs)));
}

/** @throws {AnyvmafError} `usage` for errors that affect all videos; the signal's reason */
function checkMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  { raw, onProgress, onStart, onFrame, onReport, onFailure, signal, ...shared }: ScoreManyOptions,
): void {
  requireVideo('reference', reference);
  requireArray('distorted', distorted, 'an array of videos');
  for (const [i, video] of distorted.entries()) requireVideo(`distorted[${i}]`, video);
  signal?.throwIfAborted();
  checkOptions(shared, 'score');
  if (distorted.length < 2) return;
  if (readsOnce(reference)) {
    throw usageError(
      'the reference is a stream, which can be read only once, but there are several distorted videos; give it as a ' +
        'file.',
    );
  }
  const folder = folderOption([...(shared.features ?? []), ...(shared.models ?? [])]);
  if (folder !== undefined) {
    throw usageError(
      `${folder} names one folder, but there are ${distorted.length} distorted videos, whose files would have the same ` +
        'names in it; score them one by one, each with a folder of its own.',
    );
  }
}

/** Errors about a single video; models, features and backends affect all. */
const OWN: ReadonlySet<ErrorCode> = new Set(['io', 'media', 'mismatch', 'usage']);

function isOwn(error: unknown): boolean {
  return error instanceof AnyvmafError && (OWN.has(error.code) || error instanceof TimeLimitError);
}

/** Decoders of one reference. Runs that need the same form share a decoder, even for different parts. */
class ReferenceFans {
  /** Runs that have not requested the reference or ended yet. */
  #expected: number;
  readonly #groups = new Map<string, { readonly parts: FramePart[]; fan?: Promise<Fan> }>();
  #all: () => void = () => {};
  /** Settles when every run has requested a decoder or ended, so that all readers are known. */
  readonly #complete = new Promise<void>((resolve) => {
    this.#all = resolve;
  });

  constructor(runs: number) {
    this.#expected = runs;
  }

  seat(): { readonly open: OpenDecoder; leave(): void } {
    let counted = false;
    const count = () => {
      if (counted) return;
      counted = true;
      if (--this.#expected === 0) this.#all();
    };
    return {
      leave: count,
      open: async (video, request, role) => {
        if (role === 'distorted') return openDecoded(video, request);
        // The decoder ends with its last reader, not when one reader aborts.
        const { signal: _, frames, ...form } = request;
        const key = JSON.stringify([video.decoder.id, video.filters, video.facts.track?.index, form]);
        const group = this.#groups.get(key) ?? { parts: [] };
        this.#groups.set(key, group);
        const own = frames ?? { start: 0, end: Number.POSITIVE_INFINITY };
        const reader = group.parts.push(own) - 1;
        count();
        await this.#complete;
        const all = hull(group.parts);
        group.fan ??= openDecoded(video, {
          ...form,
          ...((all.start > 0 || Number.isFinite(all.end)) && { frames: all }),
        }).then((source) => new Fan(source, group.parts.length));
        const fan = await group.fan;
        return fan.tap(reader, { start: own.start - all.start, end: own.end - all.start });
      },
    };
  }
}

/** A pair of a batch. */
export interface BatchJob extends ScoreRequest {
  /** Overrides the options shared by all jobs. */
  readonly options?: Omit<ScoreOptions, 'gate' | 'onProgress' | 'onStart' | 'onFrame' | 'signal' | 'origin'>;
}

/** Progress of a batch. */
export interface BatchProgress {
  readonly jobsDone: number;
  /** Failed jobs, counted in `jobsDone` too. */
  readonly jobsFailed: number;
  readonly jobsTotal: number;
  /** Share of the batch that is done, 0..1; a running job counts by its frames. */
  readonly fraction: number;
  /** Estimated seconds left at the average speed so far; `null` until there is progress. */
  readonly secondsLeft: number | null;
}

/** Options of a batch; scoring options apply to all jobs. */
export interface BatchOptions extends Omit<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame'> {
  /** Most jobs of one reference to run at the same time, 1..64. Default: the number of cores, at most 8. */
  readonly together?: number;
  /** Called at most about ten times a second for each running job. */
  readonly onProgress?: (progress: BatchProgress) => void;
}

/** Outcome of a job. */
export interface BatchResult {
  /** Index of the job. */
  readonly index: number;
  readonly report?: Report;
  /** Why there is no report. */
  readonly error?: AnyvmafError;
}

const MOST_TOGETHER = 64;
const USUAL_TOGETHER = 8;

/** Yields outcomes as jobs end. @throws {AnyvmafError} as the public `scoreBatch`; the signal's reason */
export async function* scoreJobs(
  platform: Platform,
  jobs: readonly BatchJob[],
  options: BatchOptions = {},
): AsyncGenerator<BatchResult, void, undefined> {
  requireArray('jobs', jobs, 'an array of jobs');
  for (const [i, job] of jobs.entries()) {
    requireObject(`jobs[${i}]`, job);
    if (job.options !== undefined) requireObject(`jobs[${i}].options`, job.options);
  }
  requireObject('options', options);
  const { together: requested, onProgress, signal, ...shared } = options;
  if (onProgress !== undefined) CHECKS.function('onProgress', onProgress);
  checkOptions({ ...shared, ...(signal && { signal }) }, 'batch');
  const together = requested ?? Math.min(USUAL_TOGETHER, Math.max(1, platform.parallelism));
  whole(1, MOST_TOGETHER)('together', together);
  const stop = new AbortController();
  const forget = onAbort(signal, (reason) => stop.abort(reason));
  const counter = new Counter(jobs.length, onProgress);
  const scope = new Scope();
  const sources = scope.own(new SharedSources(jobs));
  try {
    const prepared = jobs.map((job, index) => ({
      ...{ index, job: sources.within(job) },
      options: { ...shared, ...job.options },
    }));
    for (const group of groupsOf(prepared, together)) {
      const work = (settle: Settle) => runGroup(platform, group, counter, settle, stop.signal);
      yield* ends(work, () => stop.abort(new AnyvmafError('aborted', 'The batch was aborted.')));
    }
  } catch (error) {
    throw await scope.fail(error);
  } finally {
    forget();
    await scope.close();
  }
}

interface Prepared {
  readonly index: number;
  readonly job: BatchJob;
  readonly options: Omit<BatchOptions, 'together' | 'onProgress' | 'signal'>;
}

type Settle = (result: BatchResult) => void;

/** Groups jobs with the same reference and the same options that affect reading. */
function groupsOf(jobs: readonly Prepared[], together: number): readonly (readonly Prepared[])[] {
  const byReference = new Map<unknown, Map<string, Prepared[]>>();
  const groups: Prepared[][] = [];
  for (const prepared of jobs) {
    const { options } = prepared;
    const { reference, raw } = prepared.job;
    const alone =
      scoresAlone(options) || reference === undefined || reference === null || readsOnce(reference);
    const read = changed(options, ({ reads }) => reads).sort() as (keyof typeof options)[];
    // Invalid values fail their own job: JSON refuses big integers.
    const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
    const key = JSON.stringify([raw, read.map((name) => [name, options[name]])], plain);
    const ways = byReference.get(reference) ?? new Map<string, Prepared[]>();
    byReference.set(reference, ways);
    const open = alone ? undefined : ways.get(key);
    if (open && open.length < together) {
      open.push(prepared);
      continue;
    }
    const group = [prepared];
    groups.push(group);
    ways.set(key, group);
  }
  return groups;
}

/** Yields results until the work ends; `giveUp` aborts it if the consumer stops early. */
async function* ends(
  work: (settle: Settle) => Promise<void>,
  giveUp: () => void,
): AsyncGenerator<BatchResult, void, undefined> {
  const ready: BatchResult[] = [];
  let [wake, over]: [() => void, boolean] = [() => {}, false];
  const running = work((result) => {
    ready.push(result);
    wake();
  }).finally(() => {
    over = true;
    wake();
  });
  running.catch(() => {});
  try {
    while (!over || ready.length > 0) {
      const next = ready.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    if (!over) giveUp();
    await running.catch(() => {});
  }
  await running;
}

async function runGroup(
  platform: Platform,
  group: readonly Prepared[],
  counter: Counter,
  settle: Settle,
  signal: AbortSignal,
): Promise<void> {
  const done = (result: BatchResult) => {
    counter.done(result.index, result.error !== undefined);
    settle(result);
  };
  const fit = group.filter(({ index, options }) => {
    const error = unfit(options);
    if (error) done({ index, error });
    return !error;
  });
  const [first] = fit;
  if (!first) return;
  const at = (place: number) => fit[place]?.index ?? -1;
  const { reference, raw } = first.job;
  await runEach(
    platform,
    reference,
    fit.map(({ job }) => job.distorted),
    {
      raw,
      signal,
      onProgress: (progress, place) => counter.running(at(place), progress),
      onReport: (report, place) => done({ index: at(place), report }),
      onFailure: (error, place) => done({ index: at(place), error }),
    },
    { each: fit.map(({ options }) => options), isolated: true },
  );
}

/** An error if the job writes to a folder whose files other jobs would replace. */
function unfit({ features = [], models = [] }: Pick<ScoreOptions, 'features' | 'models'>) {
  if (!Array.isArray(features) || !Array.isArray(models)) return undefined;
  const folder = folderOption([...features, ...models].filter((text) => typeof text === 'string'));
  return folder === undefined
    ? undefined
    : usageError(
        `${folder} names a folder, whose files other jobs would replace; score this pair on its own.`,
      );
}

class Counter {
  readonly #total: number;
  readonly #report: BatchOptions['onProgress'];
  readonly #start = performance.now();
  /** Fractions of the running jobs, 0..1. */
  readonly #running = new Map<number, number>();
  #done = 0;
  #failed = 0;

  constructor(total: number, report: BatchOptions['onProgress']) {
    this.#total = total;
    this.#report = report;
  }

  running(index: number, { framesDone, framesTotal }: Progress): void {
    if (framesTotal) this.#running.set(index, Math.min(1, framesDone / framesTotal));
    this.#tell();
  }

  done(index: number, failed: boolean): void {
    this.#running.delete(index);
    this.#done++;
    if (failed) this.#failed++;
    this.#tell();
  }

  #tell(): void {
    const begun = [...this.#running.values()].reduce((sum, share) => sum + share, 0);
    const fraction = this.#total > 0 ? Math.min(1, (this.#done + begun) / this.#total) : 1;
    const seconds = (performance.now() - this.#start) / 1000;
    this.#report?.({
      jobsDone: this.#done,
      jobsFailed: this.#failed,
      jobsTotal: this.#total,
      fraction,
      secondsLeft: fraction > 0 ? (seconds * (1 - fraction)) / fraction : null,
    });
  }
}
