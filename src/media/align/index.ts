/**
 * @module media/align/index
 * Finds the temporal offset between two videos from the luma of their first seconds, and its probability among all others.
 */
import { counted } from '../../core/printable.js';
import {
  type AlignCandidate,
  type AlignOptions,
  type AlignReason,
  type AlignResult,
  DEFAULT_WINDOW,
  type Thumbs,
} from '../pairing/types.js';
import { Evidence, type Fitness } from './evidence.js';
import { BEGINNING, SlipDetector } from './slips.js';

/** Pairs at the outermost offsets in the first round of reading. */
const FIRST_PAIRS = 50;
/** Minimum default of {@link AlignOptions.maxFrames}. */
const MIN_MAX_FRAMES = 300;
/** Most frames of the faster video to read per frame of the slower one. */
const MOST_AHEAD = 16;

interface ThumbsOptions {
  /** Offset of the first thumbnails, added to the result. Default 0. */
  readonly base?: number;
  /** Reference frame of each distorted frame at offset 0, ascending; needed if the rate ratio does not determine it. */
  readonly partners?: ArrayLike<number>;
  /** Windows to try in turn while the answer is ambiguous. Default: none. */
  readonly wider?: readonly number[];
}

/**
 * Finds the offset at which distorted frame i shows the same picture as reference frame i + offset. Sizes, bit
 * depths, brightness and contrast may differ. Reads no more frames than needed.
 * @throws errors of the readers; the signal's reason
 */
export async function alignThumbs(
  first: Thumbs,
  second: Thumbs,
  options: AlignOptions,
  { base = 0, partners, wider = [] }: ThumbsOptions = {},
): Promise<AlignResult> {
  const { window = DEFAULT_WINDOW, rateRatio: ratio = 1, assumed = 0 } = options;
  const { maxFrames = Math.max(4 * window, MIN_MAX_FRAMES) } = options;
  const evidence = new Evidence(ratio, partners);

  async function readTo(frames: number): Promise<void> {
    const { reference, distorted } = framesToRead(frames, ratio);
    await Promise.all([
      first.readTo(reference, (t) => evidence.add('reference', t), options.signal),
      second.readTo(distorted, (t) => evidence.add('distorted', t), options.signal),
    ]);
  }

  let found: AlignResult | undefined;
  for (const span of [window, ...wider]) {
    const most = span === window ? maxFrames : framesForWider(span);
    for (let frames = Math.min(most, span + FIRST_PAIRS); ; frames = Math.min(most, 2 * frames)) {
      await readTo(frames);
      found = search(evidence, span, assumed, base);
      if (!found.ambiguous) return fromTheStart(evidence, found, assumed, base);
      if (frames >= most || (first.ended && second.ended)) break;
    }
    // No offset exceeds the length of the videos.
    const { reference, distorted } = evidence.frames;
    if (first.ended && second.ended && span >= Math.max(reference, distorted)) break;
  }
  if (!found) throw new Error('no window was searched');
  return fromTheStart(evidence, found, assumed, base);
}

export function framesForWider(window: number): number {
  return 2 * window;
}

/** Reads fewer frames, to bound memory and time, if one rate exceeds {@link MOST_AHEAD} times the other. */
export function framesToRead(frames: number, ratio: number): { reference: number; distorted: number } {
  const most = frames * MOST_AHEAD;
  return {
    reference: Math.min(most, Math.ceil(frames * Math.max(1, ratio))),
    distorted: Math.min(most, Math.ceil(frames / Math.min(1, ratio))),
  };
}

/** Log likelihood ratio required on either side of a slip. */
const ENOUGH = 6;
const NO_SLIP: readonly AlignReason[] = ['unrelated', 'short'];

/**
 * Returns `found`; if the frames before a slip contradict it, returns the offset before the slip, with the slip.
 * @param assumed the offset at which to look for slips
 * @param base offset of the first thumbnails
 */
function fromTheStart(evidence: Evidence, found: AlignResult, assumed: number, base: number): AlignResult {
  if (!evidence.oneByOne || NO_SLIP.includes(found.reason)) return found;
  const slipped = firstSlip(evidence, assumed);
  if (!slipped) return found;
  const { slip, before } = slipped;
  const after = before + slip.by;
  const frame = slip.frame + Math.max(0, -assumed);
  const early = evidence.favours(before, after, [0, frame]);
  const late = evidence.favours(after, before, [frame, Number.POSITIVE_INFINITY]);
  if (Math.min(early, late) < ENOUGH) return found;
  const offset = before + base;
  const { similarity } = evidence.fitness(before);
  const match = { reference: Math.max(0, offset), distorted: Math.max(0, -offset) };
  return {
    ...found,
    offset,
    confidence: 1 / (1 + Math.exp(-early)),
    candidates: [{ offset, similarity }],
    ambiguous: false,
    reason: 'clear',
    explanation:
      `Distorted frame ${match.distorted} shows reference frame ${match.reference}, but ` +
      `${counted(Math.abs(slip.by), 'frame')} ${Math.abs(slip.by) === 1 ? 'is' : 'are'} ` +
      `${slip.by > 0 ? 'missing' : 'added'} at distorted frame ${frame + Math.max(0, -base)}, so no single offset fits.`,
    slip,
  };
}

function firstSlip(evidence: Evidence, assumed: number) {
  const detector = new SlipDetector();
  for (const pair of evidence.signatures(assumed)) detector.add(pair);
  let before = assumed;
  for (const slip of detector.finish().slips) {
    if (slip.frame >= BEGINNING) return { slip, before };
    before = assumed + slip.ahead;
  }
  return undefined;
}

/** Offsets to try beyond the window, to detect a better one there. */
const BEYOND = 2;
const MIN_FRAMES = 4;
/** Fewest pairs of an offset in videos that are long enough. */
const MIN_PAIRS = 8;
/** A candidate is at most this many times less likely than the best offset. */
const UNLIKELY = 20;
const CLEAR = 0.9;
/** Largest confidence if both kinds of evidence agree, or only one decides; see docs/preflight.md. */
const MOST_STATED = { both: 0.99, one: 0.98 } as const;

/**
 * The odds ignore small differences, so answers are right more often than the odds say. The power of the residuals
 * was fitted to one half of 291 guesses and holds for the other.
 */
const STATED_POWER = { odds: 2, residuals: 5 } as const;
/** An offset this near the end of the window counts as its end. */
const AT_END = 10;
const MAX_CANDIDATES = 12;
const ROUNDS = 8;
/** Unrelated pictures with a smaller mean squared residual, in squared 8-bit levels, are featureless. */
const FEATURELESS = 2;
/** A thumbnail with a smaller mean squared change repeats its predecessor; in squared 8-bit levels. */
const STILL = 0.05 ** 2;
/** A picture whose block averages have a larger mean squared change has moved on. */
const MOVES = 0.3 ** 2;

/**
 * Searches among offsets of at most `window` frames.
 * @param assumed the offset to return if the pictures do not decide
 * @param base offset of the first thumbnails; added to the result
 */
export function search(evidence: Evidence, window: number, assumed: number, base = 0): AlignResult {
  const tried = tryOffsets(evidence, window);
  const best = choose(evidence, tried);
  const fitness = best === undefined ? undefined : tried.get(best);
  if (best === undefined || !fitness) return tooShort(evidence, assumed, base);

  // Odds of each offset against the best; the best's probability is 1 / total.
  let total = 0;
  const odds = new Map<number, number>();
  const candidates: AlignCandidate[] = [];
  for (const [offset, { similarity }] of tried) {
    const against = offset === best ? 1 : Math.exp(-evidence.favours(best, offset));
    odds.set(offset, against);
    total += against;
    if (against * UNLIKELY >= 1) candidates.push({ offset, similarity });
  }
  const related = isRelated(fitness);
  // If both offsets show the same pictures, compression alone decides which fits better.
  const isDistinct = best === assumed || !tried.has(assumed) || evidence.tellsApart(best, assumed);
  if (!isDistinct) addAlike(evidence, best, tried, candidates);
  const most = isDistinct ? 1 : 1 / candidates.length;
  const clear = related && Math.min(1 / total, most) >= CLEAR && Math.abs(best) <= window;
  const reason = clear
    ? 'clear'
    : explainDoubt(candidates, best, window, related || fitness.error <= FEATURELESS);
  candidates.sort((a, b) => Math.abs(a.offset - best) - Math.abs(b.offset - best));

  // Short videos do not reach the ends of the window.
  const reached = Math.min(window, Math.max(...[...tried.keys()].map(Math.abs)));
  const within = candidates.map(({ offset }) => offset).filter((offset) => Math.abs(offset) <= window);
  const stay = !related || (!clear && within.includes(assumed));
  const offset = stay ? assumed : Math.max(-window, Math.min(window, best));
  const at = tried.get(offset) ?? fitness;
  const cap = !clear ? CLEAR : both(evidence, best, odds) ? MOST_STATED.both : MOST_STATED.one;
  const match = firstMatch(evidence, offset, base);
  const named = candidates.map((candidate) => ({ ...candidate, offset: candidate.offset + base }));
  return {
    offset: offset + base,
    ...(!evidence.oneByOne && { match }),
    confidence: related ? Math.min(most, cap, stated(offset, best, odds, tried)) : 0,
    candidates: clear
      ? [{ offset: offset + base, similarity: at.similarity }]
      : named.slice(0, MAX_CANDIDATES),
    compared: at.pairs,
    ambiguous: !clear,
    reason,
    explanation: explain(reason, best + base, named, [base - reached, base + reached], at.pairs, match),
    similarity: at.similarity,
    levels: { gain: at.gain, bias: at.bias },
    repeated: evidence.repeated(offset, STILL, MOVES),
  };
}

function tryOffsets(evidence: Evidence, window: number): Map<number, Fitness> {
  const { reference, distorted } = evidence.frames;
  const shorter = Math.min(reference, distorted);
  const tried = new Map<number, Fitness>();
  if (shorter < MIN_FRAMES) return tried;
  const pairs = Math.min(MIN_PAIRS, Math.ceil(shorter / 2));
  for (let offset = -window - BEYOND; offset <= window + BEYOND; offset++) {
    const [first, end] = evidence.range(offset);
    if (end - first >= pairs) tried.set(offset, evidence.fitness(offset));
  }
  return tried;
}

/** True if both kinds of evidence favour the best offset over the second best. */
function both(evidence: Evidence, best: number, odds: ReadonlyMap<number, number>): boolean {
  let next: number | undefined;
  for (const [offset, against] of odds) {
    if (offset !== best && (next === undefined || against > (odds.get(next) ?? 0))) next = offset;
  }
  if (next === undefined) return false;
  const { pictures, changes } = evidence.kinds(best, next);
  return pictures > 0 && changes > 0;
}

function stated(
  offset: number,
  best: number,
  odds: ReadonlyMap<number, number>,
  tried: ReadonlyMap<number, Fitness>,
): number {
  const rank = (candidate: number) => tried.get(candidate)?.rank ?? Number.NEGATIVE_INFINITY;
  const weight = (candidate: number) =>
    (odds.get(candidate) ?? 0) ** STATED_POWER.odds *
    Math.exp(STATED_POWER.residuals * Math.min(0, rank(candidate) - rank(best)));
  let total = 0;
  for (const candidate of tried.keys()) total += weight(candidate);
  return total > 0 ? weight(offset) / total : 0;
}

function addAlike(
  evidence: Evidence,
  best: number,
  tried: ReadonlyMap<number, Fitness>,
  candidates: AlignCandidate[],
): void {
  const known = new Set(candidates.map(({ offset }) => offset));
  for (const [offset, { similarity }] of tried) {
    if (!known.has(offset) && !evidence.tellsApart(best, offset)) candidates.push({ offset, similarity });
  }
}

/** The earliest matching frames, counted from the starts of the videos. */
function firstMatch(evidence: Evidence, offset: number, base: number): NonNullable<AlignResult['match']> {
  if (evidence.oneByOne) {
    const whole = offset + base;
    return { reference: Math.max(0, whole), distorted: Math.max(0, -whole) };
  }
  const [distorted] = evidence.range(offset);
  return {
    reference: evidence.partner(distorted, offset) + Math.max(0, base),
    distorted: distorted + Math.max(0, -base),
  };
}

/** The offset that beats all others over common pairs. */
function choose(evidence: Evidence, tried: ReadonlyMap<number, Fitness>): number | undefined {
  let best: number | undefined;
  for (const [offset, { rank }] of tried) {
    if (best === undefined || rank > tried.get(best)!.rank) best = offset;
  }
  for (let round = 0; round < ROUNDS && best !== undefined; round++) {
    let challenger: number = best;
    let lead = 0;
    for (const offset of tried.keys()) {
      if (offset === best) continue;
      const favour = evidence.favours(offset, best);
      if (favour > lead) [challenger, lead] = [offset, favour];
    }
    if (challenger === best) break;
    best = challenger;
  }
  return best;
}

function isRelated({ similarity, changes }: Fitness): boolean {
  return similarity >= 0.9 || changes >= 0.4 || (similarity >= 0.6 && changes >= 0.2);
}

function explainDoubt(candidates: readonly AlignCandidate[], best: number, window: number, related: boolean) {
  if (!related) return 'unrelated';
  const offsets = candidates.map(({ offset }) => offset).sort((a, b) => a - b);
  // If all fitting offsets are at one end, a better one lies beyond.
  const beyond =
    Math.abs(best) > window && offsets.every((offset) => offset * Math.sign(best) > window - AT_END);
  if (beyond) return 'edge';
  // Contiguous offsets mean too little motion; gaps mean that pictures repeat.
  return offsets.every((offset, k) => k === 0 || offset - offsets[k - 1]! === 1) ? 'static' : 'repetitive';
}

function tooShort(evidence: Evidence, assumed: number, base: number): AlignResult {
  const frames = Math.min(evidence.frames.reference, evidence.frames.distorted);
  const { pairs, similarity, gain, bias } = evidence.fitness(assumed);
  return {
    offset: assumed + base,
    confidence: 0,
    candidates: [],
    compared: pairs,
    ambiguous: true,
    reason: 'short',
    explanation: `${frames === 1 ? '1 frame is' : `${frames} frames are`} too few to find an offset.`,
    similarity,
    levels: similarity > 0 ? { gain, bias } : { gain: 1, bias: 0 },
    repeated: { reference: 0, distorted: 0 },
  };
}

function explain(
  reason: Exclude<AlignReason, 'short'>,
  best: number,
  candidates: readonly AlignCandidate[],
  [lowest, highest]: readonly [lowest: number, highest: number],
  pairs: number,
  match: NonNullable<AlignResult['match']>,
): string {
  const offsets = candidates.map((candidate) => candidate.offset).sort((a, b) => a - b);
  const [low, high] = [offsets[0] ?? best, offsets.at(-1) ?? best];
  switch (reason) {
    case 'clear':
      return `Distorted frame ${match.distorted} shows reference frame ${match.reference}, over ${pairs} pairs.`;
    case 'static':
      return (
        'Too little motion in the compared frames, or compression removed it: ' +
        (low === high
          ? `offset ${best} fits best, but not clearly.`
          : `offsets ${low} to ${high} fit about equally well.`)
      );
    case 'repetitive': {
      const shown = offsets.slice(0, MAX_CANDIDATES).join(', ');
      const more = offsets.length > MAX_CANDIDATES ? ` and ${offsets.length - MAX_CANDIDATES} more` : '';
      return `The content repeats itself: offsets ${shown}${more} fit equally well.`;
    }
    case 'edge':
      return `The best offset lies beyond the ${(highest - lowest) / 2} frames searched; search a wider window.`;
    case 'unrelated':
      return `No offset from ${lowest} to ${highest} fits: the videos show different content, or one is cropped or framed differently.`;
  }
}
