/**
 * @module search/shots
 * The shots of a source: from cut to cut, none shorter than a minimum, long ones in parts.
 */
import { AnyvmafError } from '../core/errors.js';
import { counted, shown } from '../core/printable.js';
import type { VideoInput } from '../media/types.js';
import { CutFinder } from './cuts.js';
import type { FrameRun, SearchPlatform } from './host.js';
import { inSession, type Session } from './session.js';
import { checkShotOptions } from './shots-options.js';
import type { DetectedShots, Shot, ShotLimits, ShotOptions } from './shots-types.js';
import { SHORTEST_SHOT, spaced, watchSource } from './source-cuts.js';

const LONGEST = 10;
/** Frames of a shot at most: its lossless copy and the list of its times stay small. */
const MOST_FRAMES = 2000;

/**
 * Finds the shots of a video.
 * @throws {AnyvmafError} as the public `detectShots` says
 */
export async function detectShots(
  platform: SearchPlatform,
  source: VideoInput,
  options: ShotOptions = {},
): Promise<DetectedShots> {
  checkShotOptions(options);
  const { onProgress, ...limits } = options;
  return inSession(platform, source, { ...limits, cache: false }, async (session) => ({
    frames: session.facts.times.length,
    frameRate: session.perSecond,
    shots: await shotsOf(session, limits, onProgress),
  }));
}

/**
 * The shots of the session's source.
 * @param most frames that a shot may have at most, whatever the limits allow
 */
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
  if (decoded !== times.length) {
    throw new AnyvmafError(
      'media',
      `${shown(track.name)} lists ${counted(times.length, 'frame')} and decodes to ${decoded}; it may be damaged. Copy it with ` +
        'ffmpeg first, which lists what is there.',
    );
  }
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

/**
 * Limits in frames.
 * @param most frames that a shot may have for other reasons
 */
export function frameLimits(
  { minSeconds = SHORTEST_SHOT, maxSeconds = LONGEST }: ShotLimits,
  perSecond: number,
  most: number,
): { readonly shortest: number; readonly longest: number } {
  const longest = Math.max(2, Math.min(MOST_FRAMES, most, Math.round(maxSeconds * perSecond)));
  return {
    longest,
    shortest: Math.max(1, Math.min(Math.floor(longest / 2), Math.round(minSeconds * perSecond))),
  };
}

function runsBetween(cuts: readonly number[], frames: number): readonly FrameRun[] {
  const starts = [0, ...cuts];
  return starts.map((first, i) => ({ first, count: (starts[i + 1] ?? frames) - first }));
}

/** Equal parts of a long run, each begun where the pictures change most nearby. */
export function split(
  { first, count }: FrameRun,
  longest: number,
  changes: readonly number[],
): readonly FrameRun[] {
  const parts = Math.ceil(count / longest);
  if (parts < 2) return [{ first, count }];
  const length = count / parts;
  const starts = [first];
  // A part may be shorter than the others, never longer than allowed.
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
