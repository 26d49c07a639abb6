/**
 * @module engine/inputs/continuity
 * Checks by signatures of all pairs, taken as frames are read, whether two videos stay aligned over a whole run.
 */

import type { FramePlanes } from '../../core/frame.js';
import { SlipDetector } from '../../media/align/slips.js';
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/thumbnail.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import { judge } from '../../media/preflight/judge.js';
import { slipFindings, unwatchedFinding } from '../../media/preflight/slips.js';
import { uncheckedFinding } from '../../media/preflight/text.js';
import type { Finding } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { Pair } from '../pair/pair.js';

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
  #defect: { readonly error: unknown } | undefined;
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
      this.#attempt(() => {
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
    return this.#defect && uncheckedFinding('all frames', this.#defect.error);
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
    let next = skip + (this.#sink?.first ?? 0);
    const { checkFrame } = source;
    const observed = observedSource(source, (index, { y: luma }) => {
      // A frame may be read again, as history of later frames.
      if (index !== next) return;
      next++;
      this.#attempt(() => this.#take(index - skip, (pair) => signer.sign(luma, pair, at)));
    });
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

  /** Takes a signature unless an earlier one failed; {@link findings} reports the defect. */
  #attempt(take: () => void): void {
    if (this.#defect) return;
    try {
      take();
    } catch (error) {
      this.#defect = { error };
    }
  }
}

/** Reports planes as frames are read; `all` adds planes that the reader does not want. Workers cannot open it. */
export function observedSource(
  source: FrameSource,
  observe: (index: number, planes: FramePlanes) => void,
  all?: (index: number) => FramePlanes | undefined,
): FrameSource {
  return {
    info: source.info,
    seekable: source.seekable,
    readFrame(index, asked) {
      const into = { ...(asked.cb ? undefined : all?.(index)), ...asked };
      const observed = (found: boolean) => {
        if (found) observe(index, into);
        return found;
      };
      const reading = source.readFrame(index, into);
      return typeof reading === 'boolean' ? observed(reading) : reading.then(observed);
    },
    close: () => source.close(),
  };
}
