/**
 * @module search/samples
 * Chooses the short runs of frames that stand for a whole video: one in each part of every shot, as long as its share of
 * the video, so that together they move, are detailed and begin shots as the whole does.
 */
import { storedFrameBytes, type VideoFormat } from '../core/frame.js';
import type { Activity } from './activity.js';
import { Balance } from './balance.js';
import type { FrameRun, SourceFacts } from './host.js';

/** A run of frames that is scored, and those around it that are encoded with it. */
export interface Sample {
  /** Frames of the source that are scored. */
  readonly scored: FrameRun;
  /** Frames that are encoded: the scored ones, what leads in to them, and what an encoder looks ahead to. */
  readonly encoded: FrameRun;
}

/** A sample, and the number of the shot that it is of. */
export interface ShotSample extends Sample {
  readonly shot: number;
}

/** How much to sample. */
interface SampleSizes {
  /** Seconds of a part of a shot, where that many parts may be sampled. */
  readonly part: number;
  /** Share of a part that is scored, and the seconds that are enough of it. */
  readonly share: number;
  readonly seconds: number;
  /** Samples that half of a short video must hold: with fewer, the whole is encoded. */
  readonly fewest: number;
  /** Frames of all samples together at most, those that are not scored among them, as share of the video, and their bytes. */
  readonly mostFrames: number;
  readonly mostShare: number;
  readonly mostBytes: number;
}

/**
 * Many short samples: shots differ more than the frames of a shot do, so that the number of samples counts, not their
 * length.
 */
const SAMPLE_SIZES: SampleSizes = {
  part: 2.2,
  share: 0.2,
  seconds: 0.5,
  fewest: 24,
  mostFrames: 4000,
  mostShare: 0.5,
  mostBytes: 6e9,
};

/** Frames before those that are scored, with which a rate control settles, and after them, to which it looks ahead. */
const LEAD = 10;
const AHEAD = 6;
const AROUND = LEAD + AHEAD;
/** Frames of the groups in which encoders order pictures: samples that share one are coded worse. */
const GROUP = 16;

/** By how much parts grow until their samples fit. */
const GROWTH = 1.03;

/** A part of a shot, which one sample stands for. */
interface Part extends FrameRun {
  readonly shot: number;
}

/** What samples are chosen by. */
export interface SampledVideo extends Pick<SourceFacts, 'times' | 'sizes'> {
  readonly track?: VideoFormat;
  /** Without it the whole counts as one shot, whose packets tell what its pictures cost. */
  readonly activity?: Activity;
}

/** Whether half of a video holds enough samples. */
export function isSampled(video: Pick<SampledVideo, 'times'>, limits = SAMPLE_SIZES): boolean {
  const { frames, duration, enough } = lengths(video, limits);
  return duration > 0 && frames / 2 >= limits.fewest * (enough + AROUND);
}

/** Frames and seconds of a video, and the frames that a sample has where its part is long enough. */
function lengths({ times }: Pick<SampledVideo, 'times'>, { seconds }: SampleSizes) {
  const frames = times.length;
  const duration = (times.at(-1) ?? 0) * (frames / Math.max(1, frames - 1));
  const perSecond = frames / duration;
  return { frames, duration, perSecond, enough: Math.max(1, seconds * perSecond) };
}

/**
 * The samples of a video. All frames of it have the same chance to be scored.
 * @returns in order; `null` where samples would not be much shorter than the whole
 */
export function chooseSamples(
  { times, sizes, track, activity }: SampledVideo,
  limits: SampleSizes = SAMPLE_SIZES,
): readonly ShotSample[] | null {
  if (!isSampled({ times }, limits)) return null;
  const { frames, perSecond, enough } = lengths({ times }, limits);
  const stored = track ? limits.mostBytes / storedFrameBytes(track) : frames;
  const fitting = Math.min(limits.mostFrames, stored, frames * limits.mostShare);
  const length = limits.part * perSecond;
  const whole = [0, frames];
  const shots = [0, ...(activity?.cuts ?? []), frames];
  // With more shots than samples, parts without shots are as good.
  const ways = [shots, whole].flatMap((starts) => [GROUP, 1].map((group) => ({ starts, group })));
  const plans = ways.map((way) => planThatFits({ ...way, length, enough, share: limits.share, fitting }));
  const plan = plans.find((one) => one && one.length >= limits.fewest) ?? plans.find((one) => one);
  return plan ? place(plan, frames, new Balance(activity, sizes)) : null;
}

/** How to sample. */
interface Way {
  /** First frames of shots, and the number of frames. */
  readonly starts: readonly number[];
  /** Runs of frames are multiples of this. */
  readonly group: number;
  /** Frames of a part at least. */
  readonly length: number;
  /** The share of a part that is scored, and the frames that are enough of it. */
  readonly share: number;
  readonly enough: number;
  /** Frames that may be encoded. */
  readonly fitting: number;
}

/** A part, and how many frames of it are scored and encoded. */
interface Planned extends Part {
  readonly scored: number;
  readonly encoded: number;
}

/**
 * Parts as short as may be for their samples to fit.
 * @returns `undefined` where there are more shots than samples fit
 */
function planThatFits({
  starts,
  group,
  length,
  enough,
  share,
  fitting,
}: Way): readonly Planned[] | undefined {
  for (let part = length; ; part *= GROWTH) {
    const parts = partsOf(starts, part);
    const plan = planOf(parts, Math.min(share, enough / part), group);
    if (plan.reduce((sum, { encoded }) => sum + encoded, 0) <= fitting) return plan;
    if (parts.length === starts.length - 1 || parts.length <= 2)
      return starts.length === 2 ? plan : undefined;
  }
}

/** As many frames of each part as its share, in the long run: what is left of one is taken from the next. */
function planOf(parts: readonly Part[], share: number, group: number): readonly Planned[] {
  let owed = 0.5;
  return parts.flatMap((part) => {
    owed += part.count * share;
    const scored = Math.min(part.count, Math.floor(owed));
    owed -= scored;
    return scored === 0 ? [] : [{ ...part, scored, encoded: Math.ceil((scored + AROUND) / group) * group }];
  });
}

/** Shots in equal parts of about a length. */
function partsOf(starts: readonly number[], length: number): readonly Part[] {
  return starts.slice(0, -1).flatMap((first, shot) => {
    const all = (starts[shot + 1] as number) - first;
    const count = Math.max(1, Math.round(all / length));
    const at = (part: number) => first + Math.floor((part * all) / count);
    return Array.from({ length: count }, (_, part) => ({
      shot,
      first: at(part),
      count: at(part + 1) - at(part),
    }));
  });
}

function place(plan: readonly Planned[], frames: number, balance: Balance): readonly ShotSample[] {
  return plan.map(({ shot, first, count, scored, encoded }) => {
    const start = balance.place({ first, count }, scored);
    const until = Math.min(frames, start + scored + AHEAD);
    const from = Math.max(0, until - encoded);
    return { shot, scored: { first: start, count: scored }, encoded: { first: from, count: until - from } };
  });
}
