/**
 * @module search/material
 * What a point encodes: the whole source, samples that stand for it, or a run of its frames.
 */
import type { VideoInput } from '../media/types.js';
import type { FrameRun } from './host.js';
import { chooseSamples, isSampled, type Sample } from './samples.js';
import type { Session } from './session.js';
import { activityOf } from './source-cuts.js';
import { isExtreme, type Statistic } from './targets.js';

/** Scored frames in what is encoded. */
interface ScoredRun {
  readonly from: number;
  readonly count: number;
}

/** Frames of a source to encode, and those of them to score. */
export interface Material {
  /** Tells what is encoded of one source apart, in keys of points. */
  readonly key: unknown;
  /** Scored frames as frames of the source; `null` for the whole. */
  readonly samples: readonly FrameRun[] | null;
  /** Of which shot each sample is, where that is known. */
  readonly shots?: readonly number[];
  /** Frames that an encoder is given. */
  readonly frames: number;
  readonly scored: readonly ScoredRun[];
  /** Those that an encoder is given, where the others only go around them: metrics look across the ends. */
  readonly encoded?: FrameRun;
  /** Frames at which a key frame must begin. */
  readonly keys: readonly number[];
  /** Where each sample begins in what an encoder is given. */
  readonly starts?: readonly number[];
  /** Whether it is the user's file itself. */
  readonly isSource: boolean;
  /** What to encode and to compare with; made when it is asked for first. */
  open(): Promise<VideoInput>;
}

/** The whole source, as it is. */
export function wholeSource({ source, facts }: Session): Material {
  const frames = facts.times.length;
  return {
    key: frames,
    samples: null,
    frames,
    scored: [{ from: 0, count: frames }],
    keys: [],
    isSource: true,
    open: async () => source,
  };
}

/**
 * Samples of the source in one lossless file; the whole where it is too short for samples, or `full`, or where the worst of
 * it is asked for, of which samples say no more than that it is not better than theirs.
 * @param statistics what is asked for
 */
export async function sampledSource(
  session: Session,
  full: boolean | undefined,
  statistics: readonly Statistic[],
): Promise<Material> {
  // Whether there are samples does not depend on what it shows, which takes a while to see.
  if (full || statistics.some(isExtreme) || !isSampled({ times: session.facts.times }))
    return wholeSource(session);
  const activity = await activityOf(session);
  const samples = chooseSamples({ ...session.facts, activity });
  if (!samples) return wholeSource(session);
  // Encoders begin key frames where they do in the whole: after cuts, if anywhere.
  const cut = cutMaterial(session, samples, 'samples.y4m');
  return {
    ...cut,
    keys: [],
    starts: cut.keys,
    shots: samples.map(({ shot }) => shot),
  };
}

/** Runs of the source's frames in one lossless file of the private folder, cut once. */
export function cutMaterial(session: Session, samples: readonly Sample[], name: string): Material {
  const { folder, facts, source, signal, options } = session;
  const runs = samples.map(({ encoded }) => encoded);
  const frames = runs.reduce((sum, { count }) => sum + count, 0);
  const keys = startsOf(runs);
  let cut: Promise<void> | undefined;
  return {
    key: samples.map(({ encoded, scored }) => [encoded, scored]),
    samples: samples.map(({ scored }) => scored),
    frames,
    scored: samples.map(({ encoded, scored }, i) => ({
      from: (keys[i] as number) + scored.first - encoded.first,
      count: scored.count,
    })),
    keys,
    isSource: false,
    async open() {
      if (!cut) options.onStage?.({ kind: 'cutting', samples: runs.length, frames });
      cut ??= folder.cut(source, facts, runs, name, signal);
      await cut;
      return folder.path(name);
    },
  };
}

/** Where each run begins in the file that has them all. */
function startsOf(runs: readonly FrameRun[]): readonly number[] {
  let at = 0;
  return runs.map(({ count }) => {
    const start = at;
    at += count;
    return start;
  });
}
