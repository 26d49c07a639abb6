/**
 * @module search/cuts
 * Finds where the shots of a video begin, and how busy its pictures are.
 */
import { isObject, jsonOf } from '../core/arguments.js';
import { mediaError } from '../core/errors.js';
import { counted, shown } from '../core/printable.js';
import type { VideoInput } from '../media/types.js';
import { checkOptions } from './checks.js';
import { ACTIVITY_KEY, type FrameRun, inSession, type SearchPlatform, type Session } from './session.js';
import { isNumbers, keyOf } from './targets.js';
import type { DetectedShots, Shot, ShotLimits, ShotOptions } from './types.js';

export const THUMBNAIL = { width: 64, height: 36 } as const;

const { width: WIDTH, height: HEIGHT } = THUMBNAIL;
const BLOCK_WIDTH = 16;
const BLOCK_HEIGHT = 12;
/** Maximum motion of a block, in samples. */
const REACH_X = 6;
const REACH_Y = 4;
/** Added to the contrast of pictures, in 8-bit levels, so that noise in flat or dark ones does not count. */
const FLOOR = 6;
/** Histogram bins, and their share of the change. */
const BINS = 32;
const HISTOGRAM_SHARE = 0.3;
/** Frames on either side to compare a change with. */
const AROUND = 8;
/** Factor by which a cut exceeds the third largest change around it; fades and fast motion change all the time. */
const STANDS_OUT = 1.7;
/** Fraction of a change below which two pictures show the same scene. */
const SAME_SCENE = 0.5;
/** Default change that counts as a cut, from 0 to about 1. */
const CUT_THRESHOLD = 0.3;

interface Picture {
  readonly luma: Uint8Array;
  /** Mean absolute deviation. */
  readonly contrast: number;
  readonly bins: Float64Array;
}

export class CutFinder {
  readonly #threshold: number;
  readonly #flash: number;
  #recent: Picture[] = [];
  #count = 0;
  /** Change from the previous frame; 0 for the first. */
  readonly #changes: number[] = [];
  /** Possible cuts, until later pictures show whether they are flashes. */
  #open: number[] = [];
  readonly #flashes = new Set<number>();

  constructor(perSecond: number, threshold: number = CUT_THRESHOLD) {
    this.#threshold = threshold;
    // A flash lasts at most a fifth of a second.
    this.#flash = Math.max(1, Math.min(12, Math.round(perSecond / 5)));
  }

  add(luma: Uint8Array): void {
    const picture = pictureOf(luma);
    const before = this.#recent.at(-1);
    const change = before ? changeBetween(before, picture) : 0;
    this.#changes.push(change);
    this.#recent.push(picture);
    // Keep as many pictures before and after an edge as a flash may last.
    if (this.#recent.length > 2 * this.#flash + 2) this.#recent.shift();
    const at = this.#count++;
    if (change >= this.#threshold) this.#open.push(at);
    this.#settle();
  }

  get changes(): readonly number[] {
    return this.#changes;
  }

  /** First frames after cuts, ascending. */
  cuts(): readonly number[] {
    return this.#changes.flatMap((change, at) =>
      change >= this.#threshold && !this.#flashes.has(at) && standsOut(this.#changes, at) ? [at] : [],
    );
  }

  /** Marks an edge as a flash if a picture shortly after it resembles one shortly before it. */
  #settle(): void {
    const newest = this.#count - 1;
    const picture = this.#recent.at(-1) as Picture;
    this.#open = this.#open.filter((at) => newest - at <= this.#flash);
    for (const at of this.#open) {
      if (this.#flashes.has(at)) continue;
      const limit = (this.#changes[at] as number) * SAME_SCENE;
      // The pair spans the edge, at most a flash apart.
      const earliest = Math.max(newest - this.#flash - 1, newest - this.#recent.length + 1, 0);
      for (let other = earliest; other < at; other++) {
        const earlier = this.#recent[this.#recent.length - 1 - (newest - other)];
        if (newest - other > 1 && earlier && changeBetween(earlier, picture) < limit) {
          this.#flashes.add(at);
          break;
        }
      }
    }
  }
}

/** True if a change exceeds all but two around it, which may be other cuts. */
function standsOut(changes: readonly number[], at: number): boolean {
  const change = changes[at] as number;
  const around: number[] = [];
  for (let i = Math.max(1, at - AROUND); i <= Math.min(changes.length - 1, at + AROUND); i++) {
    if (i !== at) around.push(changes[i] as number);
  }
  const [, , third = 0] = around.sort((a, b) => b - a);
  return change > third * STANDS_OUT;
}

function pictureOf(luma: Uint8Array): Picture {
  const copy = luma.slice();
  const bins = new Float64Array(BINS);
  let sum = 0;
  for (const level of copy) {
    sum += level;
    // Split between two bins, so that small changes of brightness make small differences.
    const place = (level * (BINS - 1)) / 255;
    const low = Math.floor(place);
    bins[low] = (bins[low] as number) + 1 - (place - low);
    if (low + 1 < BINS) bins[low + 1] = (bins[low + 1] as number) + place - low;
  }
  const mean = sum / copy.length;
  let distance = 0;
  for (const level of copy) distance += Math.abs(level - mean);
  return { luma: copy, contrast: distance / copy.length, bins };
}

/** From 0 to about 1. */
function changeBetween(a: Picture, b: Picture): number {
  const residual = motionResidual(a.luma, b.luma) / ((a.contrast + b.contrast) / 2 + FLOOR);
  let moved = 0;
  for (let i = 0; i < BINS; i++) moved += Math.abs((a.bins[i] as number) - (b.bins[i] as number));
  const histogram = moved / (2 * a.luma.length);
  return (1 - HISTOGRAM_SHARE) * Math.min(1, residual) + HISTOGRAM_SHARE * histogram;
}

/** Mean absolute error of predicting `b` from motion-compensated blocks of `a`. 8-bit levels. */
function motionResidual(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let y = 0; y < HEIGHT; y += BLOCK_HEIGHT) {
    for (let x = 0; x < WIDTH; x += BLOCK_WIDTH) sum += blockResidual(a, b, x, y);
  }
  return sum / (WIDTH * HEIGHT);
}

function blockResidual(a: Uint8Array, b: Uint8Array, x: number, y: number): number {
  let best = blockDifference(a, b, x, y, 0, Number.POSITIVE_INFINITY);
  for (let dy = -REACH_Y; dy <= REACH_Y; dy++) {
    if (y + dy < 0 || y + dy + BLOCK_HEIGHT > HEIGHT) continue;
    for (let dx = -REACH_X; dx <= REACH_X; dx++) {
      if (x + dx < 0 || x + dx + BLOCK_WIDTH > WIDTH) continue;
      best = Math.min(best, blockDifference(a, b, x, y, dy * WIDTH + dx, best));
    }
  }
  return best;
}

/** @param enough sum at which it may stop early */
function blockDifference(a: Uint8Array, b: Uint8Array, x: number, y: number, offset: number, enough: number) {
  let sum = 0;
  for (let row = y; row < y + BLOCK_HEIGHT; row++) {
    const start = row * WIDTH + x;
    for (let i = start; i < start + BLOCK_WIDTH; i++) {
      sum += Math.abs((a[i + offset] as number) - (b[i] as number));
    }
    if (sum >= enough) return sum;
  }
  return sum;
}

export interface Activity {
  /** First frames of all shots but the first, ascending. */
  readonly cuts: readonly number[];
  /** Square root of the mean difference from the more similar neighbour, in 8-bit levels: motion to code. */
  readonly motion: readonly number[];
  /** Log of 1 plus the mean difference between neighbouring samples. */
  readonly texture: readonly number[];
}

const FINENESS = 1000;

function rounded(value: number): number {
  return Math.round(value * FINENESS) / FINENESS;
}

/** @param steps mean difference of each picture from the one before; infinite for the first */
function motionAt(steps: readonly number[], at: number): number {
  const least = Math.min(steps[at] as number, steps[at + 1] ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(least) ? rounded(Math.sqrt(least)) : 0;
}

function differenceOf(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs((a[i] as number) - (b[i] as number));
  return sum / a.length;
}

function textureOf(luma: Uint8Array): number {
  let sum = 0;
  for (let i = WIDTH; i < luma.length; i++) {
    if (i % WIDTH === 0) continue;
    const level = luma[i] as number;
    sum += Math.abs(level - (luma[i - 1] as number)) + Math.abs(level - (luma[i - WIDTH] as number));
  }
  return sum / luma.length;
}

/** `undefined` unless it is the complete activity of a source with that many frames. */
function parseActivity(text: string, frames: number): Activity | undefined {
  const data = jsonOf(text);
  const { cuts, motion, texture } = isObject(data) ? data : {};
  if (!isNumbers(cuts) || !isNumbers(motion) || !isNumbers(texture)) return undefined;
  const ascending = cuts.every((cut, i) => Number.isInteger(cut) && cut > (cuts[i - 1] ?? 0) && cut < frames);
  if (!ascending || motion.length !== frames || texture.length !== frames) return undefined;
  return { cuts, motion, texture };
}

/** In seconds. */
const SHORTEST_SHOT = 0.5;
/** Longest source, in frames, to decode for choosing samples by shot, which is cheap compared with encoding. */
const DECODED_FOR_SAMPLES = 20_000;
/** Frames between progress reports. */
const NOTICE = 100;

/** Returns the number of frames. @param onFrame gets 8-bit luma, valid until it returns, and the count so far */
async function watchSource(
  { host, source, facts: { track }, signal }: Session,
  onFrame: (luma: Uint8Array, seen: number) => void,
): Promise<number> {
  const seen = await host.thumbnails(source, track, THUMBNAIL, (luma, i) => onFrame(luma, i + 1), signal);
  signal.throwIfAborted();
  return seen;
}

/** Cached with the points of searches. `undefined` for a long source, or if it decodes to another frame count. */
export async function activityOf(session: Session): Promise<Activity | undefined> {
  const { facts, store, perSecond, options } = session;
  const total = facts.times.length;
  if (total > DECODED_FOR_SAMPLES) return undefined;
  const key = `${ACTIVITY_KEY}${await keyOf([facts.identity, total])}`;
  for (const line of (await store?.read(key)) ?? []) {
    const cached = parseActivity(line, total);
    if (cached) return cached;
  }
  const finder = new CutFinder(perSecond);
  const steps: number[] = [];
  const texture: number[] = [];
  let before: Uint8Array | undefined;
  const seen = await watchSource(session, (luma, frames) => {
    finder.add(luma);
    steps.push(before ? differenceOf(luma, before) : Number.POSITIVE_INFINITY);
    texture.push(rounded(Math.log1p(textureOf(luma))));
    before = luma.slice();
    if (frames % NOTICE === 1) options.onStage?.({ kind: 'finding', frames, total });
  });
  if (seen !== total) return undefined;
  const shortest = Math.max(1, Math.round(SHORTEST_SHOT * perSecond));
  const cuts = spaced(finder.cuts(), finder.changes, total, shortest);
  const activity = { cuts, motion: steps.map((_, at) => motionAt(steps, at)), texture };
  await store?.add(key, JSON.stringify(activity));
  return activity;
}

/** Drops cuts that would make a shot too short: of two, the weaker one. */
export function spaced(
  cuts: readonly number[],
  changes: readonly number[],
  frames: number,
  shortest: number,
): readonly number[] {
  const strongest = cuts.toSorted((a, b) => (changes[b] as number) - (changes[a] as number) || a - b);
  const distant: number[] = [];
  for (const cut of strongest) {
    const near = [0, frames, ...distant].some((other) => Math.abs(other - cut) < shortest);
    if (!near) distant.push(cut);
  }
  return distant.sort((a, b) => a - b);
}

const LONGEST = 10;
/** Maximum frames of a shot, which limits its lossless copy and its list of times. */
const MOST_FRAMES = 2000;

/** @throws {AnyvmafError} as the public `detectShots` says */
export async function detectShots(
  platform: SearchPlatform,
  source: VideoInput,
  options: ShotOptions = {},
): Promise<DetectedShots> {
  checkOptions('shots', options);
  const { onProgress, ...limits } = options;
  return inSession(platform, source, { ...limits, cache: false }, async (session) => ({
    frames: session.facts.times.length,
    frameRate: session.perSecond,
    shots: await shotsOf(session, limits, onProgress),
  }));
}

/** @param most limit of frames per shot, whatever the options allow */
export async function shotsOf(
  session: Session,
  limits: ShotLimits,
  onProgress?: ShotOptions['onProgress'],
  most: number = MOST_FRAMES,
): Promise<readonly Shot[]> {
  const { facts, perSecond } = session;
  const { times, track } = facts;
  const finder = new CutFinder(perSecond, limits.threshold);
  const decoded = await watchSource(session, (luma, seen) => {
    finder.add(luma);
    onProgress?.(seen, times.length);
  });
  if (decoded !== times.length)
    throw mediaError(
      `${shown(track.name)} lists ${counted(times.length, 'frame')} but decodes to ${decoded}; it may be damaged. Remux it with ` +
        'ffmpeg first, which lists the frames that are there.',
    );
  const { shortest, longest } = frameLimits(limits, perSecond, most);
  const cuts = spaced(finder.cuts(), finder.changes, times.length, shortest);
  return runsBetween(cuts, times.length).flatMap((run) =>
    split(run, longest, finder.changes).map((part) => shotOf(part, run, finder.changes, session)),
  );
}

function shotOf(
  { first, count }: FrameRun,
  whole: FrameRun,
  changes: readonly number[],
  { facts: { times }, perSecond }: Session,
): Shot {
  const start = times[first] as number;
  const end = times[first + count] ?? (times.at(-1) as number) + 1 / perSecond;
  const begins = first === 0 ? 'start' : first === whole.first ? 'cut' : 'split';
  return { first, count, start, seconds: end - start, begins, change: changes[first] ?? 0 };
}

/** Limits in frames. @param most another limit of frames per shot */
export function frameLimits(
  { minSeconds = SHORTEST_SHOT, maxSeconds = LONGEST }: ShotLimits,
  perSecond: number,
  most: number,
): { readonly shortest: number; readonly longest: number } {
  const longest = Math.max(2, Math.min(MOST_FRAMES, most, Math.round(maxSeconds * perSecond)));
  const shortest = Math.max(1, Math.min(Math.floor(longest / 2), Math.round(minSeconds * perSecond)));
  return { longest, shortest };
}

function runsBetween(cuts: readonly number[], frames: number): readonly FrameRun[] {
  const starts = [0, ...cuts];
  return starts.map((first, i) => ({ first, count: (starts[i + 1] ?? frames) - first }));
}

/** Splits a long run into equal parts, each begun at the largest change nearby. */
export function split(
  { first, count }: FrameRun,
  longest: number,
  changes: readonly number[],
): readonly FrameRun[] {
  const parts = Math.ceil(count / longest);
  if (parts < 2) return [{ first, count }];
  const length = count / parts;
  const starts = [first];
  // A part may be shorter than the others, but never longer than allowed.
  const slack = Math.floor(Math.min(longest - length, length / 2) / 2);
  for (let part = 1; part < parts; part++) {
    const middle = Math.round(first + part * length);
    let best = middle;
    for (let at = middle - slack; at <= middle + slack; at++) {
      if ((changes[at] ?? 0) > (changes[best] ?? 0)) best = at;
    }
    starts.push(best);
  }
  return starts.map((start, i) => ({ first: start, count: (starts[i + 1] ?? first + count) - start }));
}
