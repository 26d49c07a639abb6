/**
 * @module engine/inputs/pair-checks
 * Checks a pair around its scoring: what both videos declare before it, and their pictures while frames are read.
 */
import type { Finding } from '../../media/preflight/types.js';
import type { CheckedOptions, InputOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import type { Requested } from '../plan/plan.js';
import type { Continuity } from './continuity.js';
import type { KnownInputs, ReadyInputs } from './known.js';
import type { Preflight } from './preflight.js';
import type { SharedInspection } from './shared-inspection.js';

/** How the frames of a run are read. */
interface Reading {
  /** Pairs, where known. */
  readonly expected: number | null;
  /** Whether this thread reads them; frames that workers or programs read cannot be observed. */
  readonly inThread: boolean;
  /** Whether to inspect the pictures of a pair that is compared as stored too. */
  readonly inspectStored: boolean;
}

/** The checks of one run. */
export class PairChecks {
  readonly #platform: Platform;
  readonly #checked: InputOptions & Pick<CheckedOptions, 'subsample'>;
  readonly #shared: SharedInspection | undefined;
  readonly #signal: AbortSignal;
  readonly #loading: Promise<typeof import('./continuity.js')> | undefined;
  #preflight: Preflight | undefined;
  #continuity: Continuity | undefined;
  /** Checks of a pair that is compared as stored, which go on while workers start. */
  #stored: Promise<void> | undefined;

  /** @param signal ends what is decoded for checks */
  constructor(
    platform: Platform,
    checked: InputOptions & Pick<CheckedOptions, 'subsample'>,
    shared: SharedInspection | undefined,
    signal: AbortSignal,
  ) {
    this.#platform = platform;
    this.#checked = checked;
    this.#shared = shared;
    this.#signal = signal;
    // Without a reference there is nothing to compare the video with.
    const wanted = checked.pairing.preflight && !checked.noReference;
    this.#loading = wanted ? import('./continuity.js') : undefined;
    this.#loading?.catch(() => {});
  }

  /** @throws {AnyvmafError} `mismatch` for a pair that cannot be compared, with `strict` also for one that may be wrong */
  async refuse(known: KnownInputs, requested: Pick<Requested, 'models'>): Promise<void> {
    const { strict } = this.#checked.pairing;
    // What stored pairs declare was checked when they were opened.
    if (!this.#loading || !(strict || known.plan || (known.ofBytes ?? []).length > 0)) return;
    const preflight = await this.#open(known, requested);
    preflight.refuseErrors();
    if (!strict) return;
    preflight.readAgain(this.#signal);
    await preflight.refuseWarnings();
  }

  /** Starts the checks that go on while frames are read; returns the pair to read. */
  async observe(
    known: KnownInputs,
    requested: Pick<Requested, 'models'>,
    ready: ReadyInputs,
    { expected, inThread, inspectStored }: Reading,
  ): Promise<ReadyInputs> {
    if (!this.#loading) return ready;
    const { pairing, subsample } = this.#checked;
    let pair = ready;
    if (this.#preflight && known.plan && !pairing.strict) {
      const observed = inThread ? this.#preflight.observe(pair, expected) : undefined;
      if (!observed) this.#preflight.readAgain(this.#signal);
      pair = observed ?? pair;
    }
    const { Continuity } = await this.#loading;
    this.#continuity = new Continuity(known, subsample);
    if (inThread) pair = this.#continuity.observe(pair);
    if (!known.plan && !pairing.strict) {
      this.#stored = this.#checkStored(known, requested, inspectStored);
      this.#stored.catch(() => {});
    }
    return pair;
  }

  /** What takes signatures of pairs that only workers read. */
  get continuity(): Continuity | undefined {
    return this.#continuity?.active ? this.#continuity : undefined;
  }

  /**
   * Everything found, once all pairs are measured.
   * @param backend that read them
   * @returns `undefined` where nothing was checked
   * @throws {AnyvmafError} `mismatch` with `strict`, for findings of the whole run
   */
  async findings(pairs: number, backend: string): Promise<readonly Finding[] | undefined> {
    await this.#stored;
    const known = (await this.#preflight?.inspection())?.findings;
    const found = known && (this.#continuity?.findings(pairs, known, backend) ?? known);
    if (this.#checked.pairing.strict) this.#preflight?.refuse(found ?? []);
    return found;
  }

  /** Waits until nothing is decoded for checks. */
  async close(): Promise<void> {
    await this.#preflight?.close();
  }

  /** Decoding the pictures costs time and memory of which a stored pair's run has little, so only on request. */
  async #checkStored(known: KnownInputs, requested: Pick<Requested, 'models'>, inspect: boolean) {
    const preflight = this.#preflight ?? (await this.#open(known, requested));
    if (inspect) preflight.readAgain(this.#signal);
  }

  async #open(known: KnownInputs, requested: Pick<Requested, 'models'>): Promise<Preflight> {
    const { Preflight } = await import('./preflight.js');
    this.#preflight = new Preflight(this.#platform, known, requested, this.#checked, this.#shared);
    return this.#preflight;
  }
}
