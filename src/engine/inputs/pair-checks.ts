/**
 * @module engine/inputs/pair-checks
 * Checks a pair: declared properties before scoring, pictures while frames are read.
 */
import type { OpenPair } from '../../media/pairing/prepare.js';
import type { Finding } from '../../media/preflight/types.js';
import type { Pair } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';
import type { InputContext } from './context.js';
import type { Continuity, ContinuityRules, SignatureSink } from './continuity.js';
import type { Preflight, WholePair } from './preflight.js';

interface Reading {
  readonly expected: number | null;
  /** False if workers or programs read them: such frames cannot be observed. */
  readonly inThread: boolean;
  /** Whether to inspect the pictures of pairs compared as stored too. */
  readonly inspectStored: boolean;
}

export interface ShardChecks {
  readonly requested: RequestedModels;
  readonly inThread: boolean;
  readonly signatures: SignatureSink;
  /** The whole pair, for the shard that inspects it. */
  readonly whole?: WholePair & Pick<Reading, 'inThread' | 'inspectStored'>;
}

export class PairChecks {
  readonly #inputs: InputContext;
  readonly #loading: Promise<typeof import('./continuity.js')> | undefined;
  #preflight: Preflight | undefined;
  #continuity: Continuity | undefined;
  /** Checks of a pair compared as stored, while workers start. */
  #stored: Promise<void> | undefined;

  constructor(inputs: InputContext) {
    this.#inputs = inputs;
    // Without a reference there is nothing to compare the video with.
    const { pairing, single } = inputs.checked;
    const wanted = pairing.preflight && !single;
    this.#loading = wanted ? import('./continuity.js') : undefined;
    this.#loading?.catch(() => {});
  }

  /** @throws {AnyvmafError} `mismatch` if the pair cannot be compared; if `strict` and `inspects`, also for warnings */
  async refuse(known: Pair, requested: RequestedModels, inspects = true): Promise<void> {
    const { strict } = this.#inputs.checked.pairing;
    // Stored pairs were checked when they were opened.
    if (!this.#loading || !(strict || known.plan || (known.ofBytes ?? []).length > 0)) return;
    const preflight = await this.#open(known, requested);
    preflight.refuseErrors();
    if (!strict || !inspects) return;
    preflight.readAgain(this.#inputs.signal);
    await preflight.refuseWarnings();
  }

  /** Starts the checks that run while frames are read; returns the pair to read. */
  async observe(
    known: Pair,
    requested: RequestedModels,
    ready: OpenPair,
    { expected, inThread, inspectStored }: Reading,
  ): Promise<OpenPair> {
    if (!this.#loading) return ready;
    const { pairing, subsample } = this.#inputs.checked;
    let pair = ready;
    if (this.#preflight && known.plan && !pairing.strict) {
      const observed = inThread ? this.#preflight.observe(pair, expected) : undefined;
      if (!observed) this.#preflight.readAgain(this.#inputs.signal);
      pair = observed ?? pair;
    }
    const { Continuity, continuityRules } = await this.#loading;
    this.#continuity = new Continuity(continuityRules(known, subsample));
    if (inThread) pair = this.#continuity.observe(pair);
    if (!known.plan && !pairing.strict) {
      this.#stored = this.#checkStored(known, requested, inspectStored);
      this.#stored.catch(() => {});
    }
    return pair;
  }

  /** Starts the checks of a shard, which takes signatures of its own pairs only; returns the pair to read. */
  async observeShard(known: Pair, ready: OpenPair, work: ShardChecks): Promise<OpenPair> {
    if (!this.#loading) return ready;
    const { pairing, subsample } = this.#inputs.checked;
    const { Continuity, continuityRules } = await this.#loading;
    this.#continuity = new Continuity(continuityRules(known, subsample), work.signatures);
    const { whole, requested } = work;
    if (whole && !pairing.strict) {
      if (known.plan) {
        if (!(whole.inThread && this.#preflight?.observeAhead(whole, this.#inputs.signal)))
          this.#preflight?.readAgain(this.#inputs.signal);
      } else {
        this.#stored = this.#checkStored(known, requested, whole.inspectStored);
        this.#stored.catch(() => {});
      }
    }
    return work.inThread ? this.#continuity.observe(ready) : ready;
  }

  /** Findings once its pairs are measured; `known` only from the shard that inspects the whole pair. */
  async shardFindings(): Promise<{ readonly known?: readonly Finding[]; readonly defect?: Finding }> {
    await this.#stored;
    const known = (await this.#preflight?.inspection())?.findings;
    if (this.#inputs.checked.pairing.strict && known) this.#preflight?.refuse(known);
    const defect = this.#continuity?.defect;
    return { ...(known && { known }), ...(defect && { defect }) };
  }

  /** Rules for checking a shard's frames once all shards are there. */
  async rulesOf(known: Pair): Promise<{ readonly continuity?: ContinuityRules }> {
    if (!this.#loading) return {};
    const { continuityRules } = await this.#loading;
    return { continuity: continuityRules(known, this.#inputs.checked.subsample) };
  }

  /** Takes signatures of pairs that only workers read. */
  get continuity(): Continuity | undefined {
    return this.#continuity?.active ? this.#continuity : undefined;
  }

  /** `undefined` if nothing was checked. @throws {AnyvmafError} `mismatch` with `strict`, for any error or warning */
  async findings(pairs: number, backend: string): Promise<readonly Finding[] | undefined> {
    await this.#stored;
    const known = (await this.#preflight?.inspection())?.findings;
    const found = known && (this.#continuity?.findings(pairs, known, backend) ?? known);
    if (this.#inputs.checked.pairing.strict) this.#preflight?.refuse(found ?? []);
    return found;
  }

  /** Waits until decoding for checks has ended. */
  async close(): Promise<void> {
    await this.#preflight?.close();
  }

  /** Inspecting pictures would take much of a stored pair's short run, so it is done on request only. */
  async #checkStored(known: Pair, requested: RequestedModels, inspect: boolean) {
    const preflight = this.#preflight ?? (await this.#open(known, requested));
    if (inspect) preflight.readAgain(this.#inputs.signal);
  }

  async #open(known: Pair, requested: RequestedModels): Promise<Preflight> {
    const { Preflight } = await import('./preflight.js');
    this.#preflight = new Preflight(this.#inputs, known, requested);
    return this.#preflight;
  }
}
