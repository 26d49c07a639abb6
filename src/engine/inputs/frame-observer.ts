/**
 * @module engine/inputs/frame-observer
 * Observes the frames of a pair while it is scored, so that nothing is decoded twice: the first frames for alignment and
 * preflight, and signatures of all frames, which show whether the videos stay aligned.
 */
import type { InputRole } from '../../core/errors.js';
import type { FramePlanes } from '../../core/frame.js';
import { alignThumbs } from '../../media/align/index.js';
import { SlipDetector } from '../../media/align/slips.js';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/thumbnail.js';
import { PassingThumbs } from '../../media/align/thumbs.js';
import { FIELD_RUN } from '../../media/evidence/fields.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { MappedSource } from '../../media/pairing/sources.js';
import type { AlignResult } from '../../media/pairing/types.js';
import type { Finding, SideFacts, SideMeasurements } from '../../media/preflight/findings.js';
import { judge } from '../../media/preflight/judge.js';
import { uncheckedFinding } from '../../media/preflight/make.js';
import { FrameMeter, measuredPlanes, rescaleBorders, spreadFrames } from '../../media/preflight/measure.js';
import { slipFindings, unwatchedFinding } from '../../media/preflight/moments.js';
import type { FrameSource } from '../../media/types.js';
import { InOrder } from '../contract/platform.js';
import type { Pair } from '../pair/pair.js';

/** Frames to measure for fields if a video is read with gaps or repetitions: three periods of pulldown. */
const MAPPED_FIELDS = 16;

export interface Observed {
  readonly alignment: AlignResult;
  readonly reference: SideMeasurements;
  readonly distorted: SideMeasurements;
}

export interface ObserverOptions {
  /** Facts before pairing. */
  readonly facts: { readonly reference: SideFacts; readonly distorted: SideFacts };
  readonly expected: number | null;
  /** Number of pairs to measure for borders and sharpness. */
  readonly measured: number;
  /** The alignment if known, else a search around the current offset. */
  readonly alignment: AlignResult | Search;
}

/** Tries `window` offsets on each side of `offset`, with at most `maxFrames` frames. */
interface Search {
  readonly offset: number;
  /** Reference frames per distorted frame. */
  readonly rateRatio: number;
  /** Reference frame of each distorted frame, counted from the first frames read, if the ratio does not determine it. */
  readonly partners?: ArrayLike<number>;
  readonly window: number;
  readonly maxFrames: number;
}

interface Side {
  readonly thumbs: PassingThumbs;
  readonly meter: FrameMeter;
  /** Pairs measured so far. */
  readonly seen: Set<number>;
}

/** Observes until the first error, and stores it so that reading does not fail. */
class Guard {
  defect: { readonly error: unknown } | undefined;

  attempt<T>(observe: () => T): T | undefined {
    if (this.defect) return undefined;
    try {
      return observe();
    } catch (error) {
      this.defect = { error };
      return undefined;
    }
  }
}

export class FrameObserver {
  readonly #options: ObserverOptions;
  readonly #at: ReadonlySet<number>;
  readonly #sides: Side[] = [];
  readonly #alignment: Promise<AlignResult>;
  /** Whether the alignment is known; further pairs need only be measured. */
  settled = false;
  readonly #guard = new Guard();
  /** Read this pair instead of the given one. */
  readonly pair: OpenPair;

  constructor(pair: OpenPair, options: ObserverOptions) {
    this.#options = options;
    this.#at = new Set(spreadFrames(options.expected, options.measured));
    const { alignment, facts } = options;
    const mapped = (role: InputRole) => (pair.mapped?.role === role ? pair.mapped.source : undefined);
    const { skip } = pair;
    const reference = this.#observed(pair.reference, skip.reference, facts.reference, mapped('reference'));
    const distorted = this.#observed(pair.distorted, skip.distorted, facts.distorted, mapped('distorted'));
    this.pair = { ...pair, reference, distorted };
    this.#alignment = 'reason' in alignment ? Promise.resolve(alignment) : this.#search(alignment);
    const finished = () => {
      this.settled = true;
      this.#end();
    };
    this.#alignment.then(finished, finished);
  }

  unmeasured(): readonly number[] {
    return [...this.#at].filter((frame) => this.#sides.some(({ seen }) => !seen.has(frame)));
  }

  /** Measures a pair that was read elsewhere. Call in ascending order. */
  measure(frame: number, reference: FramePlanes, distorted: FramePlanes): void {
    this.#guard.attempt(() => {
      for (const [i, { meter, seen }] of this.#sides.entries()) {
        if (!seen.has(frame)) meter.add(frame, i === 0 ? reference : distorted);
        seen.add(frame);
      }
    });
  }

  /** Call after the last pair. */
  async result(): Promise<Observed> {
    this.#end();
    const alignment = await this.#alignment;
    if (this.#guard.defect) throw this.#guard.defect.error;
    const [reference, distorted] = this.#sides.map(({ meter }) => meter.result);
    if (!reference || !distorted) throw new Error('both videos are observed');
    const { facts } = this.#options;
    const format = this.pair.reference.info;
    return {
      alignment,
      reference: { ...reference, borders: rescaleBorders(reference.borders, format, facts.reference) },
      distorted: { ...distorted, borders: rescaleBorders(distorted.borders, format, facts.distorted) },
    };
  }

  async #search({ offset, rateRatio, partners, window, maxFrames }: Search): Promise<AlignResult> {
    const [first, second] = this.#sides;
    if (!first || !second) throw new Error('both videos are observed');
    const search = { rateRatio, window, maxFrames };
    return alignThumbs(first.thumbs, second.thumbs, search, { base: offset, partners });
  }

  #end(): void {
    for (const { thumbs } of this.#sides) thumbs.end();
  }

  #observed(
    source: FrameSource,
    skip: number,
    { colorRange, width, height }: SideFacts,
    mapped?: MappedSource,
  ): FrameSource {
    // The search supports different rates, but not repeated or missing frames.
    const frames = (mapped ?? source).info;
    const thumbs = new PassingThumbs(frames);
    // Scaling destroys fields.
    const whole =
      frames.width === width && frames.height === height && frames.bitDepth === source.info.bitDepth;
    const meter = new FrameMeter({ ...source.info, ...(colorRange && { colorRange }) });
    let [shown, wanted] = [0, true];
    mapped?.showAll(
      (luma) =>
        this.#guard.attempt(() => {
          const follows = whole && shown < MAPPED_FIELDS;
          if (follows) meter.addFields(shown++, luma);
          if (wanted) wanted = thumbs.add(luma);
          return wanted || follows;
        }) ?? false,
    );
    const seen = new Set<number>();
    this.#sides.push({ thumbs, meter, seen });
    let planes: FramePlanes | undefined;
    const observe = (frame: number, found: FramePlanes) => {
      if (!mapped) thumbs.add(found.y);
      if (!mapped && whole && this.#isFieldOf(frame)) meter.addFields(frame, found.y);
      if (!this.#at.has(frame)) return;
      seen.add(frame);
      meter.add(frame, found);
    };
    return observedSource(
      source,
      skip,
      (index, found) => this.#guard.attempt(() => observe(index - skip, found)),
      (index) => {
        if (!this.#at.has(index - skip)) return undefined;
        planes ??= measuredPlanes(source.info);
        return planes;
      },
    );
  }

  #isFieldOf(frame: number): boolean {
    for (let before = 0; before < FIELD_RUN; before++) if (this.#at.has(frame - before)) return true;
    return false;
  }
}

/** Most pairs with only one signature; ignores further pairs. */
const MOST_WAITING = 64;

export interface ContinuityRules {
  /** Why frames cannot be checked, as a clause. */
  readonly prevented?: string;
  /** Whether frames are repeated because their times say so. */
  readonly byTime: boolean;
  /** Distorted frame i is paired with reference frame i + offset. Default 0. */
  readonly offset?: number;
}

export function continuityRules({ plan }: Pick<Pair, 'plan'>, subsample: number): ContinuityRules {
  const prevented =
    subsample > 1
      ? `only one frame in ${subsample} is scored`
      : plan && plan.ratio !== 1 && plan.options.pairing.pairBy !== 'distorted'
        ? 'the frame rates differ'
        : undefined;
  const byTime = plan?.paired?.consecutive === false;
  const offset = plan?.options.offset ?? 0;
  return { ...(prevented !== undefined && { prevented }), byTime, ...(offset !== 0 && { offset }) };
}

export class Continuity {
  readonly #slips = new SlipDetector();
  readonly #signed: InOrder<Uint8Array>;
  /** Pairs with one signature so far. */
  readonly #half = new Map<number, Uint8Array>();
  readonly #guard = new Guard();
  readonly #rules: ContinuityRules;

  /** @param signed takes the signatures instead of checking them, from its next pair on */
  constructor(rules: ContinuityRules, signed?: InOrder<Uint8Array>) {
    this.#rules = rules;
    const check = (signatures: Uint8Array) => {
      for (let at = 0; at < signatures.length; at += PAIR_BYTES) this.#slips.add(signatures, at);
    };
    this.#signed = signed ?? new InOrder((signatures) => this.#guard.attempt(() => check(signatures)));
  }

  get active(): boolean {
    return this.#rules.prevented === undefined;
  }

  /** Takes signatures of consecutive pairs from `first`, in any order. */
  add(first: number, signatures: Uint8Array): void {
    this.#signed.add(first, signatures.length / PAIR_BYTES, signatures);
  }

  /** Wraps the pair to sign frames as this thread reads them. */
  observe(pair: OpenPair): OpenPair {
    if (!this.active || pair.reference === pair.distorted) return pair;
    return {
      ...pair,
      reference: this.#observed(pair.reference, pair.skip.reference, 0),
      distorted: this.#observed(pair.distorted, pair.skip.distorted, SIGNATURE_BYTES),
    };
  }

  /** Adds the findings of a whole run to the `known` ones of its beginning. */
  findings(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    const found = this.#found(pairs, known, backend);
    // A slip in all frames replaces one in the first frames.
    const again = found.some(({ code }) => code === 'slip');
    return judge([...known.filter(({ code }) => !(again && code === 'slip')), ...found]);
  }

  /** The finding of a defect in signing, which ends the check. */
  get defect(): Finding | undefined {
    const { defect } = this.#guard;
    return defect && uncheckedFinding('all frames', defect.error);
  }

  #found(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    if (this.defect) return [this.defect];
    const { prevented, byTime, offset } = this.#rules;
    if (prevented !== undefined) return [unwatchedFinding(prevented)];
    if (this.#signed.next < pairs)
      return [unwatchedFinding(`the backend ${backend} reads pictures that anyvmaf does not see`)];
    const findings = slipFindings(this.#slips.finish(), known, offset);
    return byTime ? findings.filter(({ code }) => code !== 'freeze') : findings;
  }

  #observed(source: FrameSource, skip: number, at: number): FrameSource {
    const signer = new Signer(source.info);
    const { checkFrame } = source;
    const observed = observedSource(source, skip + this.#signed.next, (index, { y: luma }) =>
      this.#guard.attempt(() => this.#take(index - skip, (pair) => signer.sign(luma, pair, at))),
    );
    // Do not read a frame only for its signature.
    return checkFrame ? { ...observed, checkFrame: checkFrame.bind(source) } : observed;
  }

  /** Signs one frame, and passes on the pair when both are signed. */
  #take(index: number, sign: (pair: Uint8Array) => void): void {
    const half = this.#half.get(index);
    const pair = half ?? new Uint8Array(PAIR_BYTES);
    if (!half && this.#half.size >= MOST_WAITING) return;
    sign(pair);
    if (half) {
      this.#half.delete(index);
      this.add(index, pair);
    } else this.#half.set(index, pair);
  }
}

/** Reports each frame from `first` once; `all` adds unrequested planes. Workers cannot open it. */
function observedSource(
  source: FrameSource,
  first: number,
  observe: (index: number, planes: FramePlanes) => void,
  all?: (index: number) => FramePlanes | undefined,
): FrameSource {
  let next = first;
  return {
    info: source.info,
    seekable: source.seekable,
    readFrame(index, requested) {
      const into = { ...(requested.cb || index !== next ? undefined : all?.(index)), ...requested };
      const observed = (found: boolean) => {
        // A frame may be read again as history of later frames.
        if (found && index === next) {
          next++;
          observe(index, into);
        }
        return found;
      };
      const reading = source.readFrame(index, into);
      return typeof reading === 'boolean' ? observed(reading) : reading.then(observed);
    },
    close: () => source.close(),
  };
}
