/**
 * @module media/evidence/fields
 * Detects from luma whether frames weave two fields of different times, and which comes first. Labels are often wrong.
 */
import { samplesOf } from '../../core/frame.js';
import { mean } from '../../core/numbers.js';

/** Consecutive frames to measure at one place: five steps, the period of 3:2 pulldown. */
export const FIELD_RUN = 6;

/** Compares a frame with the next. Shares and ratios are over blocks of 16 x 16 samples. */
export interface FieldStep {
  readonly frame: number;
  /** True if enough of the picture moves to judge. */
  readonly moves: boolean;
  /** Share of moving blocks whose neighbouring lines differ more than lines of one field do. */
  readonly combed: number;
  /**
   * Log of how much better the next top field fits this bottom field than vice versa: positive for top first, about
   * 0 for progressive frames.
   */
  readonly order: number;
  /** Line differences with each pair of lines swapped, over those as stored; above 1 if the lines are in order. */
  readonly exchanged: number;
}

export interface FieldEvidence {
  /** `woven`: fields of different times. `pulldown`: in two of five frames (film at 29.97 fps). `exchanged`: swapped lines. */
  readonly kind: 'progressive' | 'woven' | 'pulldown' | 'exchanged';
  /** For `woven` and `pulldown`, if certain. */
  readonly first?: 'top-first' | 'bottom-first';
}

/** Rows without padding, little-endian above 8 bits. */
interface Luma {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

const BLOCK = 16;
/** Most columns to sample; all rows are read. */
const COLUMNS = 320;
/** Least mean difference of a moving block between frames, in 8-bit levels. */
const MOTION = 2;
const MOVING = 0.02;
/** Neighbouring lines of a combed block differ by this factor more than lines of a field, and by this many levels. */
const COMB_RATIO = 1.3;
const COMB_LEVEL = 2;

export class FieldMeter {
  readonly #format: Luma;
  readonly #step: number;
  readonly #columns: number;
  readonly #rows: number;
  readonly #steps: FieldStep[] = [];
  #spare: Uint16Array | undefined;
  #before: { readonly frame: number; readonly samples: Uint16Array } | undefined;

  constructor(format: Luma) {
    this.#format = format;
    this.#step = Math.max(1, Math.ceil(format.width / COLUMNS));
    this.#columns = Math.floor(format.width / this.#step / BLOCK) * BLOCK;
    // Each line is compared with the second one after it.
    this.#rows = Math.floor((format.height - 2) / BLOCK) * BLOCK;
  }

  /** Adds a frame; one that does not follow the last starts a new run. */
  add(frame: number, luma: Uint8Array): void {
    if (this.#columns <= 0 || this.#rows <= 0) return;
    const samples = this.#sampled(luma);
    const before = this.#before;
    this.#before = { frame, samples };
    if (!before) return;
    if (frame === before.frame + 1)
      this.#steps.push({ frame: before.frame, ...this.#stepOf(before.samples, samples) });
    this.#spare = before.samples;
  }

  get steps(): readonly FieldStep[] {
    return [...this.#steps];
  }

  /** Samples every few columns of all rows; reuses the spare buffer. */
  #sampled(luma: Uint8Array): Uint16Array {
    const { width, bitDepth } = this.#format;
    const [step, columns, rows] = [this.#step, this.#columns, this.#rows + 2];
    const stored = samplesOf(luma, bitDepth);
    const samples = this.#spare ?? new Uint16Array(columns * rows);
    this.#spare = undefined;
    for (let y = 0, to = 0; y < rows; y++) {
      for (let x = 0, at = y * width; x < columns; x++, at += step, to++) samples[to] = stored[at] as number;
    }
    return samples;
  }

  #stepOf(now: Uint16Array, next: Uint16Array): Omit<FieldStep, 'frame'> {
    const [columns, rows] = [this.#columns, this.#rows];
    const level = BLOCK * BLOCK * 2 ** (this.#format.bitDepth - 8);
    let [blocks, moving, combed, own, topNext, bottomNext, whole, exchanged] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let top = 0; top < rows; top += BLOCK) {
      for (let left = 0; left < columns; left += BLOCK) {
        let motion = 0;
        let lines = 0;
        let field = 0;
        let swapped = 0;
        let topBlock = 0;
        let bottomBlock = 0;
        for (let y = top; y < top + BLOCK; y += 2) {
          for (let at = y * columns + left, end = at + BLOCK; at < end; at++) {
            const a = now[at] as number;
            const b = now[at + columns] as number;
            const c = now[at + 2 * columns] as number;
            const d = now[at + 3 * columns] as number;
            const nextA = next[at] as number;
            const nextB = next[at + columns] as number;
            const nextC = next[at + 2 * columns] as number;
            motion += Math.abs(a - nextA) + Math.abs(b - nextB);
            lines += Math.abs(a - b) + Math.abs(b - c);
            field += Math.abs(a - c) + Math.abs(b - d);
            topBlock += Math.abs(nextA - b) + Math.abs(nextC - b);
            bottomBlock += Math.abs(a - nextB) + Math.abs(c - nextB);
            // With lines swapped, each odd line is followed by the even line three below.
            swapped += Math.abs(a - b) + Math.abs(a - d);
          }
        }
        blocks++;
        whole += lines;
        exchanged += swapped;
        if (motion < MOTION * level) continue;
        moving++;
        own += lines;
        topNext += topBlock;
        bottomNext += bottomBlock;
        if (lines > COMB_RATIO * field && lines > COMB_LEVEL * level) combed++;
      }
    }
    const moves = moving >= 4 && moving >= MOVING * blocks && own > 0;
    return {
      moves,
      combed: moves ? combed / moving : 0,
      order: moves ? Math.log((bottomNext + 1) / (topNext + 1)) : 0,
      exchanged: whole > 0 ? exchanged / whole : 1,
    };
  }
}

/** Least share of combed blocks in a combed frame. */
const COMBED = 0.1;
/** Least {@link FieldStep.order} of fields of different times: one order is 1.4 times as rough as the other. */
const APART = Math.log(1.4);
const MOST = 0.3;

/**
 * Least share of frames with one order, and their mean share of combed blocks, if vertical motion hides most combs.
 * Rolling credits show an order too, but no combs.
 */
const ORDERED = 0.8;
const FEW_COMBS = 0.01;
/** Largest median {@link FieldStep.order} of progressive frames. */
const NO_ORDER = 0.1;

/**
 * Weaker limits if the other video has the same content without combs: mean share of combed blocks, its ratio to the
 * other's, mean order (also minus the other's), and share of frames that agree. Encodes of progressive frames move
 * the mean order by up to 0.07.
 */
const BESIDE = { combs: 0.005, times: 4, order: 0.15, share: 0.9 } as const;
/** Largest {@link FieldStep.exchanged} of swapped lines. */
const EXCHANGED = 0.85;
/** Largest share of combed blocks in pulldown's whole frames, relative to combed ones; encoders smear combs. */
const OTHERS = 0.5;
const ENOUGH = 3;

/** `undefined` if too little moves or nothing is certain. @param beside the other video of the pair */
export function judgeFields(
  steps: readonly FieldStep[],
  beside: readonly FieldStep[] = [],
): FieldEvidence | undefined {
  const moving = steps.filter(({ moves }) => moves);
  if (moving.length < ENOUGH) return undefined;
  const woven = moving.filter(isWoven);
  if (isPulldown(steps)) return { kind: 'pulldown', ...firstField(woven) };
  if (woven.length >= MOST * moving.length && woven.length >= ENOUGH)
    return { kind: 'woven', ...firstField(woven) };
  for (const [sign, first] of [[1, 'top-first'] as const, [-1, 'bottom-first'] as const]) {
    const ordered = moving.filter(({ order }) => sign * order >= APART);
    const combs = ordered.reduce((sum, { combed }) => sum + combed, 0);
    if (ordered.length >= ORDERED * moving.length && combs >= FEW_COMBS * ordered.length)
      return { kind: 'woven', first };
  }
  const wrong = moving.filter(({ exchanged, order }) => exchanged <= EXCHANGED && Math.abs(order) < APART);
  if (2 * wrong.length > moving.length) return { kind: 'exchanged' };
  const others = beside.filter(({ moves }) => moves);
  const first = firstBeside(moving, others);
  if (first)
    return { kind: isPulldown(steps, ({ combed }) => combed >= BESIDE.combs) ? 'pulldown' : 'woven', first };
  const middle = moving.map(({ order }) => order).sort((a, b) => a - b)[moving.length >> 1] ?? 0;
  return Math.abs(middle) <= NO_ORDER ? { kind: 'progressive' } : undefined;
}

/** The first field, if a video has combs and an order that the other video of the same content lacks. */
function firstBeside(mine: readonly FieldStep[], other: readonly FieldStep[]): FieldEvidence['first'] {
  if (other.length < ENOUGH) return undefined;
  const combs = mean(mine.map(({ combed }) => combed));
  if (combs < BESIDE.combs || combs < BESIDE.times * mean(other.map(({ combed }) => combed)))
    return undefined;
  const order = mean(mine.map((step) => step.order));
  const sign = Math.sign(order);
  const more = sign * (order - mean(other.map((step) => step.order)));
  const alike = mine.filter((step) => sign * step.order > 0).length;
  if (Math.min(sign * order, more) < BESIDE.order || alike < BESIDE.share * mine.length) return undefined;
  return sign > 0 ? 'top-first' : 'bottom-first';
}

export function isCombed(steps: readonly FieldStep[], beside: readonly FieldStep[] = []): boolean {
  return (judgeFields(steps, beside)?.kind ?? 'progressive') !== 'progressive';
}

function isWoven({ moves, combed, order }: FieldStep): boolean {
  return moves && combed >= COMBED && Math.abs(order) >= APART;
}

function share(steps: readonly FieldStep[], n: number): number {
  return steps[n]?.combed ?? 0;
}

/** True if two neighbours in five moving frames are woven and the others much less combed: twice, with no other two woven. */
function isPulldown(steps: readonly FieldStep[], weaves = isWoven): boolean {
  let periods = 0;
  for (let at = 0; at + 5 <= steps.length; ) {
    const five = steps.slice(at, at + 5);
    const start = five[0]?.frame ?? 0;
    if (!five.every(({ moves, frame }, i) => moves && frame === start + i)) {
      at++;
      continue;
    }
    const [first, second, third] = [...five.keys()].sort((a, b) => share(five, b) - share(five, a));
    if (first === undefined || second === undefined || third === undefined) return false;
    const apart = Math.abs(first - second);
    at += 5;
    // Slow motion leaves few combs.
    if (![first, second].every((i) => five[i] && weaves(five[i]))) continue;
    if ((apart !== 1 && apart !== 4) || share(five, third) > OTHERS * share(five, second)) return false;
    periods++;
  }
  return periods >= 2;
}

function firstField(woven: readonly FieldStep[]): Pick<FieldEvidence, 'first'> {
  const top = woven.filter(({ order }) => order > 0).length;
  if (top >= 0.8 * woven.length) return { first: 'top-first' };
  return top <= 0.2 * woven.length ? { first: 'bottom-first' } : {};
}

export type Deinterlacing = 'labelled' | 'top-first' | 'bottom-first';

/** How to deinterlace, if at all; certain evidence overrides the video's `label`. */
export function deinterlacing(
  label: string | undefined,
  evidence: FieldEvidence | undefined,
): Deinterlacing | undefined {
  const labelled = label === 'top-first' || label === 'bottom-first';
  if (evidence?.kind === 'woven' && evidence.first && evidence.first !== label) return evidence.first;
  return labelled || evidence?.kind === 'woven' ? 'labelled' : undefined;
}

export function deinterlacer(how: Deinterlacing): string {
  const parity = { labelled: '', 'top-first': ':parity=tff', 'bottom-first': ':parity=bff' };
  return `bwdif=mode=send_frame${parity[how]}`;
}
