/**
 * @module engine/shards/inputs
 * Opens a shard's part of the two videos, and the whole pair to inspect it. Pairs keep their numbers in the run.
 */
import { reopen } from '../../media/open.js';
import {
  type OpenPair,
  openPlanned,
  type PairingPlan,
  partOfPlan,
  type Side,
  shardOfPlan,
} from '../../media/pairing/prepare.js';
import type { FilePlatform } from '../../media/platform.js';
import { openPair, type RunInputs } from '../inputs/open.js';
import type { Pair } from '../pair/pair.js';

export interface ShardRange {
  readonly first: number;
  /** The pair after the last. */
  readonly end: number;
  /** First pair to read, as history of `first`. */
  readonly lead: number;
  readonly total: number;
  /** Whether it is the last shard, which reads on like a run in one piece. */
  readonly last: boolean;
}

export class ShardInputs {
  readonly #known: Pair;
  readonly #files: FilePlatform;
  readonly #inputs: RunInputs;
  #whole: Promise<OpenPair> | undefined;
  #part: Promise<OpenPair> | undefined;

  constructor(known: Pair, files: FilePlatform, inputs: RunInputs) {
    this.#known = known;
    this.#files = files;
    this.#inputs = inputs;
  }

  /** Opens the pairs of a shard and its lead-in; needs a plan. */
  part({ lead, end, last }: ShardRange): Promise<OpenPair> {
    const plan = this.#plan();
    const opening = openPlanned(shardOfPlan(plan, lead, last ? null : end));
    this.#part = opening.then((pair) => ({
      ...pair,
      skip: { reference: pair.skip.reference - lead, distorted: pair.skip.distorted - lead },
      limit: plan.count ?? end,
    }));
    return this.#part;
  }

  /** Opens stored videos, of which any part can be read. */
  stored(): Promise<OpenPair> {
    return this.#inputs.open();
  }

  /** Opens the pair from its start a second time; returns stored videos as they are. */
  whole(): Promise<OpenPair> {
    this.#whole ??= this.#known.plan ? openPlanned(this.#plan()) : openPair(this.#known);
    return this.#whole;
  }

  /** Opens one pair again; the caller closes it. */
  again(pair: number): Promise<OpenPair> {
    return openPlanned(partOfPlan(this.#plan(), pair, 1));
  }

  /** Waits for pending openings. */
  async close(): Promise<void> {
    if (!this.#known.plan) return;
    for (const opening of [this.#whole, this.#part]) {
      const pair = await opening?.catch(() => undefined);
      await Promise.all([pair?.reference.close(), pair?.distorted.close()]);
    }
  }

  /** The plan with stored videos reopened, so that parts can be read and closed independently. */
  #plan(): PairingPlan {
    const { plan } = this.#known;
    if (!plan) throw new Error('a plan is needed to open a part');
    const { reference, distorted } = plan.sides;
    return { ...plan, sides: { reference: this.#anew(reference), distorted: this.#anew(distorted) } };
  }

  #anew(side: Side): Side {
    if (side.kind !== 'frames') return side;
    const { descriptor } = side.source;
    return descriptor ? { ...side, source: reopen(descriptor, this.#files) } : side;
  }
}
