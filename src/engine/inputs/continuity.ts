/**
 * @module engine/inputs/continuity
 * Watches over a whole run whether the two videos stay together: takes signatures of all pairs, and says what was found.
 */
import { PAIR_BYTES, SIGNATURE_BYTES, Signer } from '../../media/align/signature.js';
import { SlipDetector } from '../../media/align/slips.js';
import { slipFindings, unwatchedFinding } from '../../media/preflight/slips.js';
import { bySeverity, uncheckedFinding } from '../../media/preflight/text.js';
import type { Finding } from '../../media/preflight/types.js';
import type { FrameSource } from '../../media/types.js';
import type { KnownInputs, ReadyInputs } from './inputs.js';
import { passing } from './observed-source.js';

/** Pairs of which one frame was read and the other was not, before nobody waits for it any longer. */
const MOST_WAITING = 64;

/** Signatures of pairs as they arrive. */
export class Continuity {
  readonly #watch = new SlipDetector();
  /** Signatures of pairs that come before their turn, by the first of them. */
  readonly #early = new Map<number, Uint8Array>();
  /** Pairs of which one signature is there. */
  readonly #half = new Map<number, Uint8Array>();
  #next = 0;
  #defect: { readonly error: unknown } | undefined;
  /** Why frames cannot be watched. */
  readonly #prevented: string | undefined;
  /** Whether pictures that stand for several by their times are told by the times. */
  readonly #byTime: boolean;

  /** @param subsample one pair in so many is scored */
  constructor({ plan }: KnownInputs, subsample: number) {
    if (subsample > 1) this.#prevented = `only one frame in ${subsample} is scored`;
    else if (plan && plan.ratio !== 1) this.#prevented = 'the frame rates differ';
    this.#byTime = plan?.paired?.consecutive === false;
  }

  /** Whether signatures are of any use. */
  get takes(): boolean {
    return this.#prevented === undefined;
  }

  /** Takes signatures of consecutive pairs from `first` on, in any order. */
  add(first: number, signatures: Uint8Array): void {
    if (signatures.length > 0) this.#early.set(first, signatures);
    for (;;) {
      const ready = this.#early.get(this.#next);
      if (!ready) return;
      this.#early.delete(this.#next);
      this.#attempt(() => {
        for (let at = 0; at < ready.length; at += PAIR_BYTES) this.#watch.add(ready, at);
      });
      this.#next += ready.length / PAIR_BYTES;
    }
  }

  /** The pair to read in this thread, so that its frames are taken as they come by. */
  follow(pair: ReadyInputs): ReadyInputs {
    if (!this.takes || pair.reference === pair.distorted) return pair;
    return {
      ...pair,
      reference: this.#followed(pair.reference, pair.skipReference, 0),
      distorted: this.#followed(pair.distorted, pair.skipDistorted, SIGNATURE_BYTES),
    };
  }

  /**
   * All findings: what is known of the beginning, and what was found after it.
   * @param pairs that were scored
   * @param backend that read them
   */
  findings(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    return [...known, ...this.#found(pairs, known, backend)].sort(bySeverity);
  }

  #found(pairs: number, known: readonly Finding[], backend: string): readonly Finding[] {
    if (this.#defect) return [uncheckedFinding('all frames', this.#defect.error)];
    if (this.#prevented !== undefined) return [unwatchedFinding(this.#prevented)];
    if (this.#next < pairs) {
      return [unwatchedFinding(`the backend ${backend} reads pictures that anyvmaf does not see`)];
    }
    const findings = slipFindings(this.#watch.finish(), known);
    return this.#byTime ? findings.filter(({ code }) => code !== 'freeze') : findings;
  }

  #followed(source: FrameSource, skip: number, at: number): FrameSource {
    const signer = new Signer(source.info);
    let next = skip;
    const { checkFrame } = source;
    const followed = passing(source, (index, luma) => {
      // A frame may be read again, as the history of those after it.
      if (index !== next) return;
      next++;
      this.#attempt(() => this.#take(index - skip, (pair) => signer.sign(luma, pair, at)));
    });
    // What nobody looks at is not read for this either.
    return checkFrame ? { ...followed, checkFrame: checkFrame.bind(source) } : followed;
  }

  /** Takes one signature of a pair, and the pair once both are there. */
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

  /** Goes on with frames unless that has failed before; a defect is for {@link findings} to say. */
  #attempt(take: () => void): void {
    if (this.#defect) return;
    try {
      take();
    } catch (error) {
      this.#defect = { error };
    }
  }
}
