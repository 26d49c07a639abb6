/**
 * @module engine/score-many
 * Scores several distorted videos against one reference: the runs are concurrent and share its decoded frames.
 */
import { onAbort, TimeLimitError } from '../core/abort.js';
import { requireArray, requireObject } from '../core/arguments.js';
import { AnyvmafError, type ErrorCode, usageError } from '../core/errors.js';
import { openDecoded } from '../media/decoders.js';
import { requireVideo } from '../media/open.js';
import { readsOnce } from '../media/pair.js';
import { Fan, type FramePart, hull } from '../media/pairing/fan.js';
import type { OpenDecoder } from '../media/pairing/prepare.js';
import type { VideoInput } from '../media/types.js';
import { folderOption } from '../metrics/options.js';
import type { Report } from '../report/types.js';
import { checkOptions } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { ScoreManyOptions, ScoreOptions } from './contract/types.js';
import { SharedInputs } from './inputs/context.js';
import { scorePair } from './score.js';

export interface RunsApart {
  /** Options of each run; they override the common ones. */
  readonly each?: readonly ScoreOptions[];
  /** Whether an error concerns its own run only, unless it is an abort. */
  readonly isolated?: boolean;
}

/**
 * Scores all. A failure stops the others unless `onFailure` is set.
 * @returns reports in the order of the distorted videos, without those that failed
 * @throws {AnyvmafError} as the public `scoreMany`
 */
export async function scoreEach(
  platform: Platform,
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions,
  { each, isolated = false }: RunsApart = {},
): Promise<Report[]> {
  requireObject('options', options);
  const { raw, onProgress, onStart, onFrame, onReport, onFailure, signal, ...forAll } = options;
  checkMany(reference, distorted, forAll, signal);
  const several = distorted.length > 1;
  const fans = new ReferenceFans(distorted.length);
  // One signal per run: Node warns of many listeners on one signal.
  const stops = distorted.map(() => new AbortController());
  const sharing = new AbortController();
  const shared = several ? new SharedInputs(['reference'], sharing.signal) : undefined;
  const stop = (reason: unknown) => [...stops, sharing].map((own) => own.abort(reason));
  async function run(video: VideoInput, index: number): Promise<Report | undefined> {
    const common = { ...forAll, ...each?.[index] };
    const own: ScoreOptions = {
      ...common,
      ...(several && {
        threads: common.threads ?? threadsEach(platform, distorted.length, common.maxThreads),
      }),
      ...(stops[index] && { signal: stops[index].signal }),
      ...observersOf(index, { onProgress, onStart, onFrame }),
    };
    const seat = fans.seat();
    try {
      const request = { reference, distorted: video, ...(raw && { raw }) };
      const report = await scorePair(platform, request, own, { openDecoder: seat.open, shared });
      onReport?.(report, index);
      return report;
    } catch (error) {
      const own = isOwn(error) || (isolated && error instanceof AnyvmafError);
      if (!onFailure || stops[index]?.signal.aborted || !own) {
        stop(error);
        throw error;
      }
      onFailure(error as AnyvmafError, index);
      return undefined;
    } finally {
      seat.leave();
    }
  }

  const forget = onAbort(signal, stop);
  try {
    // Runs that another's failure stops reject with that failure.
    const settled = await Promise.allSettled(distorted.map(run));
    return settled.flatMap((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value ?? [];
    });
  } finally {
    forget();
    sharing.abort();
  }
}

/** Adds the run's index to the calls of the caller's observers. */
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

/** At least one worker each; in total about the number of cores or the caller's limit. */
function threadsEach({ parallelism }: Platform, runs: number, most = Number.POSITIVE_INFINITY): number {
  return Math.max(1, Math.floor(Math.min(parallelism, most) / Math.max(1, runs)));
}

/** @throws {AnyvmafError} `usage` for errors that affect all videos; the signal's reason */
function checkMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  shared: Omit<ScoreOptions, 'onProgress' | 'onStart' | 'onFrame' | 'signal'>,
  signal: AbortSignal | undefined,
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

/** Codes of errors about one video; models, features and backends are common to all. */
const OWN: ReadonlySet<ErrorCode> = new Set(['io', 'media', 'mismatch', 'usage']);

function isOwn(error: unknown): boolean {
  return error instanceof AnyvmafError && (OWN.has(error.code) || error instanceof TimeLimitError);
}

/** Decoders of one reference. Runs that need it in the same form share one, even for different parts. */
class ReferenceFans {
  /** Runs that have neither requested the reference nor ended. */
  #expected: number;
  readonly #groups = new Map<string, { readonly parts: FramePart[]; fan?: Promise<Fan> }>();
  #all: () => void = () => {};
  /** Settles once every run has requested a decoder or ended: all readers are known then. */
  readonly #complete = new Promise<void>((resolve) => {
    this.#all = resolve;
  });

  constructor(runs: number) {
    this.#expected = runs;
  }

  seat(): { readonly open: OpenDecoder; leave(): void } {
    let asked = false;
    const count = () => {
      if (asked) return;
      asked = true;
      if (--this.#expected === 0) this.#all();
    };
    return {
      leave: count,
      open: async (video, request, role) => {
        if (role === 'distorted') return openDecoded(video, request);
        // The decoder ends with its last reader, not on one reader's abort.
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
