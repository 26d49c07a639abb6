/**
 * @module search/source-cuts
 * The cuts of a session's source, found by decoding all of it to small pictures.
 */
import { type Activity, ActivityMeter, parseActivity } from './activity.js';
import { CutFinder, THUMBNAIL } from './cuts.js';
import { ACTIVITY_KEY } from './host.js';
import { keyOf } from './points.js';
import type { Session } from './session.js';

/** Seconds that a shot has at least. */
export const SHORTEST_SHOT = 0.5;
/** Frames of a source up to which samples go by its shots: decoding all of it costs little beside what is encoded. */
const DECODED_FOR_SAMPLES = 20_000;
/** Frames between two notices of progress. */
const NOTICE = 100;

/**
 * Shows small pictures of every frame of the source.
 * @param onFrame gets luma in 8 bits, valid until it returns, and how many frames there were so far
 * @returns how many there were
 */
export async function watchSource(
  { host, source, facts: { track }, signal }: Session,
  onFrame: (luma: Uint8Array, seen: number) => void,
): Promise<number> {
  const seen = await host.thumbnails(source, track, THUMBNAIL, (luma, i) => onFrame(luma, i + 1), signal);
  signal.throwIfAborted();
  return seen;
}

/**
 * What the source shows, for choosing samples; kept with the points of searches, which the samples belong to.
 * @returns `undefined` for a long source, and for one that does not decode to what it lists
 */
export async function activityOf(session: Session): Promise<Activity | undefined> {
  const { facts, store, perSecond, options } = session;
  const total = facts.times.length;
  if (total > DECODED_FOR_SAMPLES) return undefined;
  const key = `${ACTIVITY_KEY}${await keyOf([facts.identity, total])}`;
  for (const line of (await store?.read(key)) ?? []) {
    const kept = parseActivity(line, total);
    if (kept) return kept;
  }
  const finder = new CutFinder(perSecond);
  const meter = new ActivityMeter();
  const seen = await watchSource(session, (luma, frames) => {
    finder.add(luma);
    meter.add(luma);
    if (frames % NOTICE === 1) options.onStage?.({ kind: 'finding', frames, total });
  });
  if (seen !== total) return undefined;
  const shortest = Math.max(1, Math.round(SHORTEST_SHOT * perSecond));
  const activity = meter.result(spaced(finder.cuts(), finder.changes, total, shortest));
  await store?.add(key, JSON.stringify(activity));
  return activity;
}

/** Cuts with those left out that would make a shot too short: of two, the weaker one. */
export function spaced(
  cuts: readonly number[],
  changes: readonly number[],
  frames: number,
  shortest: number,
): readonly number[] {
  const strongest = cuts.toSorted((a, b) => (changes[b] as number) - (changes[a] as number) || a - b);
  const kept: number[] = [];
  for (const cut of strongest) {
    const near = [0, frames, ...kept].some((other) => Math.abs(other - cut) < shortest);
    if (!near) kept.push(cut);
  }
  return kept.sort((a, b) => a - b);
}
