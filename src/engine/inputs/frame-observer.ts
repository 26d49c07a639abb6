/**
 * @module engine/inputs/frame-observer
 * Observes the frames of a pair while it is scored, so that nothing is decoded twice: the first ones for alignment and
 * preflight, and signatures of all, which show whether the videos stay aligned over a whole run.
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
import type { Pair } from '../pair/pair.js';

/** Frames whose fields are measured if a video is read with gaps or repetitions: three periods of pulldown. */
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
  /** Pairs whose borders and sharpness are measured. */
  readonly measured: number;
  /** The alignment if already known, else how to search for it around the offset in use. */
  readonly alignment: AlignResult | Search;
}

/** Tries `window` offsets on either side of `offset`, using at most `maxFrames` frames. */
interface Search {
  readonly offset: number;
  /** Reference frames per distorted frame. */
  readonly rateRatio: number;
  /** Reference frame of each distorted one, counted from the first frames read, if the ratio does not tell. */
  readonly partners?: ArrayLike<number>;
  readonly window: number;
  readonly maxFrames: number;
}

/** What is taken of one video. */
interface Side {
  readonly thumbs: PassingThumbs;
  readonly meter: FrameMeter;
  /** Pairs measured so far. */
  readonly seen: Set<number>;
}

/** Observes until that fails once; the error is kept, so that reading does not fail. */
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
  #settled = false;
  readonly #guard = new Guard();
  /** The observed pair: read it instead of the given one. */
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
      this.#settled = true;
      this.#end();
    };
    this.#alignment.then(finished, finished);
  }

  /** Whether the alignment is known, so that further pairs need only be measured. */
  get settled(): boolean {
    return this.#settled;
  }

  unmeasured(): readonly number[] {
    return [...this.#at].filter((frame) => this.#sides.some(({ seen }) => !seen.has(frame)));
  }

  /** Measures a pair that was read elsewhere, after all with smaller numbers. */
  measure(frame: number, reference: FramePlanes, distorted: FramePlanes): void {
    this.#guard.attempt(() => {
      for (const [i, { meter, seen }] of this.#sides.entries()) {
        if (!seen.has(frame)) meter.add(frame, i === 0 ? reference : distorted);
        seen.add(frame);
      }
    });
  }

  /** Call once all pairs are read. */
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
    return alignThumbs(
      first.thumbs,
      second.thumbs,
      { rateRatio, window, maxFrames },
      { base: offset, partners },
    );
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

/** Most pairs with only one signature; further pairs are ignored. */
const MOST_WAITING = 64;

export interface ContinuityRules {
  /** Why frames cannot be checked. */
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

/** Takes signatures of a shard's pairs; they are checked once those of all shards are there. */
export interface SignatureSink {
  /** The first of its pairs; earlier ones are read as history only. */
  readonly first: number;
  /** Signatures of consecutive pairs from `first`, in any order. */
  take(first: number, signatures: Uint8Array): void;
}

export class Continuity {
  readonly #slips = new SlipDetector();
  /** Signatures that arrived out of order, by their first pair. */
  readonly #early = new Map<number, Uint8Array>();
  /** Pairs with one signature so far. */
  readonly #half = new Map<number, Uint8Array>();
  #next = 0;
  readonly #guard = new Guard();
  readonly #rules: ContinuityRules;
  readonly #sink: SignatureSink | undefined;

  /** @param sink takes the signatures instead of checking them */
  constructor(rules: ContinuityRules, sink?: SignatureSink) {
    this.#rules = rules;
    this.#sink = sink;
  }

  get active(): boolean {
    return this.#rules.prevented === undefined;
  }

  /** Takes signatures of consecutive pairs from `first`; calls may come in any order. */
  add(first: number, signatures: Uint8Array): void {
    if (this.#sink) {
      if (signatures.length > 0) this.#sink.take(first, signatures);
      return;
    }
    if (signatures.length > 0) this.#early.set(first, signatures);
    for (;;) {
      const ready = this.#early.get(this.#next);
      if (!ready) return;
      this.#early.delete(this.#next);
      this.#guard.attempt(() => {
        for (let at = 0; at < ready.length; at += PAIR_BYTES) this.#slips.add(ready, at);
      });
      this.#next += ready.length / PAIR_BYTES;
    }
  }

  /** Wraps the pair so that reading it in this thread takes signatures of its frames. */
  observe(pair: OpenPair): OpenPair {
    if (!this.active || pair.reference === pair.distorted) return pair;
    return {
      ...pair,
      reference: this.#observed(pair.reference, pair.skip.reference, 0),
      distorted: this.#observed(pair.distorted, pair.skip.distorted, SIGNATURE_BYTES),
    };
  }

  /** Adds the findings of a whole run to the `known` ones about its beginning. */
  findings(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    const found = this.#found(pairs, known, backend);
    // A slip found in all frames replaces the one found in the first frames.
    const again = found.some(({ code }) => code === 'slip');
    return judge([...known.filter(({ code }) => !(again && code === 'slip')), ...found]);
  }

  /** The finding of a defect in taking signatures, which ends the check. */
  get defect(): Finding | undefined {
    const { defect } = this.#guard;
    return defect && uncheckedFinding('all frames', defect.error);
  }

  #found(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    if (this.defect) return [this.defect];
    const { prevented, byTime, offset } = this.#rules;
    if (prevented !== undefined) return [unwatchedFinding(prevented)];
    if (this.#next < pairs) {
      return [unwatchedFinding(`the backend ${backend} reads pictures that anyvmaf does not see`)];
    }
    const findings = slipFindings(this.#slips.finish(), known, offset);
    return byTime ? findings.filter(({ code }) => code !== 'freeze') : findings;
  }

  #observed(source: FrameSource, skip: number, at: number): FrameSource {
    const signer = new Signer(source.info);
    const { checkFrame } = source;
    const observed = observedSource(source, skip + (this.#sink?.first ?? 0), (index, { y: luma }) =>
      this.#guard.attempt(() => this.#take(index - skip, (pair) => signer.sign(luma, pair, at))),
    );
    // Do not read a frame only for its signature.
    return checkFrame ? { ...observed, checkFrame: checkFrame.bind(source) } : observed;
  }

  /** Adds the signature of one frame, and passes on the pair's once it has both. */
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

/**
 * Reports planes as frames are read from number `first` on, each frame once; `all` adds planes that the reader does not
 * want. Workers cannot open it.
 */
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
    readFrame(index, asked) {
      const into = { ...(asked.cb || index !== next ? undefined : all?.(index)), ...asked };
      const observed = (found: boolean) => {
        // A frame may be read again, as history of later frames.
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
