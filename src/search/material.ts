/**
 * @module search/material
 * Chooses the frames to encode: the whole source, or samples that represent it.
 */
import { storedFrameBytes, type VideoFormat } from '../core/frame.js';
import type { VideoInput } from '../media/types.js';
import { type Activity, activityOf } from './cuts.js';
import type { FrameRun, Session, SourceFacts } from './session.js';
import { isExtreme, type Statistic } from './targets.js';

/** Frames of a source to encode, and which of them to score. */
export interface Material {
  /** Identifies the encoded frames of a source in keys of points. */
  readonly key: unknown;
  /** Scored frames, by index in the source; `null` for the whole. */
  readonly samples: readonly FrameRun[] | null;
  readonly shots?: readonly number[];
  readonly frames: number;
  /** Scored frames, by index in the encoder's input. */
  readonly scored: readonly { readonly from: number; readonly count: number }[];
  readonly scoredFrames: number;
  /** The part to encode, if the rest only surrounds it for metrics that need neighbouring frames. */
  readonly encoded?: FrameRun;
  /** Frames that must be key frames. */
  readonly keys: readonly number[];
  /** Start of each sample in the encoder's input. */
  readonly starts?: readonly number[];
  /** True for the user's file itself. */
  readonly isSource: boolean;
  /** The video to encode and to compare with, created if missing. */
  open(): Promise<VideoInput>;
  /** Removes what {@link open} created. */
  release(): Promise<void>;
}

export function wholeSource({ source, facts }: Session): Material {
  const frames = facts.times.length;
  return {
    key: frames,
    samples: null,
    frames,
    scored: [{ from: 0, count: frames }],
    scoredFrames: frames,
    keys: [],
    isSource: true,
    open: async () => source,
    release: async () => {},
  };
}

/** Samples in one lossless file; the whole if `full`, too short, or for extremes, which samples cannot estimate. */
export async function sampledSource(
  session: Session,
  full: boolean | undefined,
  statistics: readonly Statistic[],
): Promise<Material> {
  // Check the length first: decoding the source takes a while.
  if (full || statistics.some(isExtreme) || !isSampled({ times: session.facts.times }))
    return wholeSource(session);
  const activity = await activityOf(session);
  const samples = chooseSamples({ ...session.facts, activity });
  if (!samples) return wholeSource(session);
  // Encoders choose key frames as in the whole: after cuts, if anywhere.
  const cut = cutMaterial(session, samples, 'samples.y4m');
  return { ...cut, keys: [], starts: cut.keys, shots: samples.map(({ shot }) => shot) };
}

/** Runs of frames in one lossless file of the private folder, cut when needed. */
export function cutMaterial(session: Session, samples: readonly Sample[], name: string): Material {
  const { folder, facts, source, signal, options } = session;
  const runs = samples.map(({ encoded }) => encoded);
  const frames = framesIn(runs);
  const keys = startsOf(runs);
  const scored = samples.map((sample) => sample.scored);
  let cut: Promise<void> | undefined;
  return {
    key: samples.map(({ encoded, scored }) => [encoded, scored]),
    samples: scored,
    frames,
    scored: scored.map(({ first, count }, i) => ({
      from: (keys[i] as number) + first - (runs[i] as FrameRun).first,
      count,
    })),
    scoredFrames: framesIn(scored),
    keys,
    isSource: false,
    async open() {
      if (!cut) options.onStage?.({ kind: 'cutting', samples: runs.length, frames });
      cut ??= folder.cut(source, facts, runs, name, signal);
      await cut;
      return folder.path(name);
    },
    async release() {
      if (!cut) return;
      cut = undefined;
      await folder.remove(name);
    },
  };
}

function framesIn(runs: readonly FrameRun[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

function startsOf(runs: readonly FrameRun[]): readonly number[] {
  let at = 0;
  return runs.map(({ count }) => {
    const start = at;
    at += count;
    return start;
  });
}

/** A scored run, and the frames encoded around it. */
export interface Sample {
  readonly scored: FrameRun;
  /** Encoded frames: lead-in, the scored ones, and lookahead. */
  readonly encoded: FrameRun;
}

interface ShotSample extends Sample {
  readonly shot: number;
}

/** Seconds of a part of a shot, before parts grow until their samples fit. */
const PART = 2.2;
/** Fraction of a part that is scored, and its limit in seconds: shots differ more from each other than within. */
const SHARE = 0.2;
const SECONDS = 0.5;
/** Samples that half of a video must hold; if it holds fewer, the whole is encoded. */
const FEWEST = 24;
/** Limits of all encoded frames: a number, a fraction of the video, and bytes. */
const MOST_FRAMES = 4000;
const MOST_SHARE = 0.5;
const MOST_BYTES = 6e9;
/** Encoded frames before the scored ones, where rate control settles, and after them, for lookahead. */
const LEAD = 10;
const AHEAD = 6;
const AROUND = LEAD + AHEAD;
/** Frames of the groups in which encoders order pictures; samples that share a group are coded worse. */
const GROUP = 16;
const GROWTH = 1.03;

interface Part extends FrameRun {
  readonly shot: number;
}

interface SampledVideo extends Pick<SourceFacts, 'times' | 'sizes'> {
  readonly track?: VideoFormat;
  /** Without it, the whole is one shot, and packet sizes stand for its content. */
  readonly activity?: Activity;
}

function isSampled(video: Pick<SampledVideo, 'times'>): boolean {
  const { frames, duration, enough } = lengths(video);
  return duration > 0 && frames / 2 >= FEWEST * (enough + AROUND);
}

/** `enough`: frames of a sample from a part that is long enough. */
function lengths({ times }: Pick<SampledVideo, 'times'>) {
  const frames = times.length;
  const duration = (times.at(-1) ?? 0) * (frames / Math.max(1, frames - 1));
  const perSecond = frames / duration;
  return { frames, duration, perSecond, enough: Math.max(1, SECONDS * perSecond) };
}

/**
 * Gives all frames the same chance of being scored.
 * @returns in order; `null` if samples would not be much shorter than the whole
 */
export function chooseSamples({ times, sizes, track, activity }: SampledVideo): readonly ShotSample[] | null {
  if (!isSampled({ times })) return null;
  const { frames, perSecond, enough } = lengths({ times });
  const stored = track ? MOST_BYTES / storedFrameBytes(track) : frames;
  const fitting = Math.min(MOST_FRAMES, stored, frames * MOST_SHARE);
  const length = PART * perSecond;
  const whole = [0, frames];
  const shots = [0, ...(activity?.cuts ?? []), frames];
  // If there are more shots than samples, parts that ignore shots are as good.
  const ways = [shots, whole].flatMap((starts) => [GROUP, 1].map((group) => ({ starts, group })));
  const plans = ways.map((way) => planThatFits({ ...way, length, enough, fitting }));
  const plan = plans.find((found) => found && found.length >= FEWEST) ?? plans.find((found) => found);
  return plan ? place(plan, frames, traitsOf(activity, sizes)) : null;
}

interface Way {
  /** First frames of shots, then the number of frames. */
  readonly starts: readonly number[];
  /** Encoded runs are multiples of this. */
  readonly group: number;
  /** Minimum frames of a part. */
  readonly length: number;
  /** Limit of the scored frames of a part. */
  readonly enough: number;
  /** Maximum of encoded frames. */
  readonly fitting: number;
}

interface Planned extends Part {
  readonly scored: number;
  readonly encoded: number;
}

/** The shortest parts whose samples fit; `undefined` for more shots than samples that fit. */
function planThatFits({ starts, group, length, enough, fitting }: Way): readonly Planned[] | undefined {
  for (let part = length; ; part *= GROWTH) {
    const parts = partsOf(starts, part);
    const plan = planOf(parts, Math.min(SHARE, enough / part), group);
    if (plan.reduce((sum, { encoded }) => sum + encoded, 0) <= fitting) return plan;
    if (parts.length === starts.length - 1 || parts.length <= 2)
      return starts.length === 2 ? plan : undefined;
  }
}

/** Scores the same share of every part in the long run: remainders carry over to the next part. */
function planOf(parts: readonly Part[], share: number, group: number): readonly Planned[] {
  let owed = 0.5;
  return parts.flatMap((part) => {
    owed += part.count * share;
    const scored = Math.min(part.count, Math.floor(owed));
    owed -= scored;
    return scored === 0 ? [] : [{ ...part, scored, encoded: Math.ceil((scored + AROUND) / group) * group }];
  });
}

function partsOf(starts: readonly number[], length: number): readonly Part[] {
  return starts.slice(0, -1).flatMap((first, shot) => {
    const all = (starts[shot + 1] as number) - first;
    const count = Math.max(1, Math.round(all / length));
    const at = (part: number) => first + Math.floor((part * all) / count);
    return Array.from({ length: count }, (_, part) => {
      return { shot, first: at(part), count: at(part + 1) - at(part) };
    });
  });
}

/** Golden ratio: its multiples modulo 1 are evenly spread, whatever their number. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Weight of a place's distance from its turn in the order of motion. */
const SPREAD = 0.3;
/** Frames after a cut in which quality settles, and the weight of that trait. */
const SETTLING = 8;
const CUT_WEIGHT = 2;

/** Prefix sums of a property that samples should show as often as the whole. */
type Trait = Float64Array;

/** @param sizes bytes per frame, used without an activity */
function traitsOf(activity: Activity | undefined, sizes: Float64Array): readonly Trait[] {
  if (!activity) return [sums(Array.from(sizes, Math.log1p))];
  return [sums(activity.motion), sums(activity.texture), sums(settling(activity.cuts, sizes.length))];
}

/** Chooses places one after the other, so that all samples together differ least from their parts. */
function place(plan: readonly Planned[], frames: number, traits: readonly Trait[]): readonly ShotSample[] {
  let surplus = traits.map(() => 0);
  let turn = 0.5;
  return plan.map(({ shot, first, count, scored, encoded }) => {
    const expected = traits.map((trait) => (scored * sumOf(trait, first, count)) / count);
    const over = (start: number) =>
      traits.map(
        (trait, i) => (surplus[i] as number) + sumOf(trait, start, scored) - (expected[i] as number),
      );
    const leading = traits[0] as Trait;
    const order = tiles(first, count, scored).sort(
      (a, b) => sumOf(leading, a, scored) - sumOf(leading, b, scored) || a - b,
    );
    const costs = order.map((start, i) => {
      const distance = (i + 0.5) / order.length - turn;
      const square = over(start).reduce((sum, by) => sum + by * by, 0);
      return square / scored ** 2 + SPREAD * distance * distance;
    });
    const start = order[costs.indexOf(Math.min(...costs))] as number;
    surplus = over(start);
    turn = (turn + GOLDEN) % 1;
    const until = Math.min(frames, start + scored + AHEAD);
    const from = Math.max(0, until - encoded);
    return { shot, scored: { first: start, count: scored }, encoded: { first: from, count: until - from } };
  });
}

/** Adjacent places, so that frames at both ends are chosen as often as others. */
function tiles(first: number, count: number, length: number): number[] {
  const places = Math.max(1, Math.round(count / length));
  if (places === 1) return [first + Math.floor((count - length) / 2)];
  return Array.from({ length: places }, (_, i) => first + Math.round((i * (count - length)) / (places - 1)));
}

function settling(cuts: readonly number[], frames: number): number[] {
  const out: number[] = [];
  [0, ...cuts].forEach((cut, i) => {
    for (let at = cut; at < (cuts[i] ?? frames); at++) out.push(CUT_WEIGHT * Math.exp((cut - at) / SETTLING));
  });
  return out;
}

function sums(values: ArrayLike<number>): Trait {
  const out = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) out[i + 1] = (out[i] as number) + (values[i] as number);
  return out;
}

function sumOf(trait: Trait, first: number, count: number): number {
  return (trait[first + count] as number) - (trait[first] as number);
}
