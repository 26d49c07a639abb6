/**
 * @module engine/inputs/open
 * Opens two inputs of any kind as sources whose n-th frames form pairs, and checks them: declared properties before scoring,
 * pictures while frames are read.
 */
import { unlessAborted } from '../../core/abort.js';
import { ofInput, usageError } from '../../core/errors.js';
import { changed } from '../../core/options.js';
import type { OpenedInput, OpenedInputs } from '../../media/open.js';
import { closeInput, openInputs } from '../../media/open.js';
import type { Side } from '../../media/pair.js';
import { checkPair } from '../../media/pair.js';
import type { OpenDecoder, OpenPair } from '../../media/pairing/prepare.js';
import type { Finding } from '../../media/preflight/findings.js';
import { closeAll } from '../../media/sources.js';
import type { FrameSource } from '../../media/types.js';
import type { InOrder } from '../contract/platform.js';
import type { InputContext } from '../contract/scope.js';
import type { ScoreRequest } from '../contract/types.js';
import { closePair, type Pair, storedPair } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';
import type { Continuity, ContinuityRules } from './frame-observer.js';
import type { Preflight, WholePair } from './preflight.js';

/** Identifies the videos and plans their pairing. @throws {AnyvmafError} as the public `score`; the signal's reason */
export async function identifyPair(request: ScoreRequest, context: InputContext): Promise<Pair> {
  const { platform, checked, signal, colour } = context;
  const { pairing, single } = checked;
  const inputs = await openInputs(single ? { distorted: request.distorted } : request, {
    raw: request.raw,
    platform: platform.files,
    decoding: {
      urls: pairing.urls,
      streams: !single && (pairing.decoder === 'auto' || pairing.decoder === 'ffmpeg'),
    },
    partialFrame: pairing.damage === 'accept' ? 'drop' : single ? undefined : 'refuse',
    signal,
  });
  const { reference, distorted } = inputs;
  try {
    const known = reference
      ? await identify(context, { reference, distorted })
      : await ofInput('distorted', async () => (await import('./pairing.js')).pairAlone(context, distorted));
    if (checked.colours === 'no') return known;
    const { coloursOf } = await import('./pictures.js');
    return { ...known, colours: coloursOf(known.sides, known.plan, colour, pairing.colourAs) };
  } catch (error) {
    await Promise.allSettled([reference && closeInput(reference), closeInput(distorted)]);
    throw error;
  }
}

async function identify(context: InputContext, inputs: Required<OpenedInputs>): Promise<Pair> {
  const { checked } = context;
  const { pairing, skip, frameCount } = checked;
  const { reference, distorted } = inputs;
  const isSequence = (input: OpenedInput) => 'kind' in input && input.sequence;
  if (pairing.rate !== undefined && !isSequence(reference) && !isSequence(distorted)) {
    throw usageError(
      `is ${pairing.rate}, but neither video is an image sequence, and other videos have their own rate; leave it out.`,
      { about: 'rate' },
    );
  }
  const ofBytes = await byteFindings(context, inputs);
  const uniting = changed(pairing, ({ unites }) => unites !== undefined);
  if (
    'kind' in reference ||
    'kind' in distorted ||
    uniting.length > 0 ||
    pairing.range !== undefined ||
    pairing.offset !== 0 ||
    pairing.filters !== undefined ||
    Object.keys(pairing.tracks).length > 0 ||
    (pairing.colourAs === 'libjxl' && checked.colours !== 'no') ||
    (pairing.commonBitDepth && reference.info.bitDepth !== distorted.info.bitDepth)
  ) {
    const { pairVideos } = await import('./pairing.js');
    return { ...(await pairVideos(context, inputs)), ofBytes };
  }
  const warnings = checkPair(reference.info, distorted.info, checked);
  const side = (source: FrameSource): Side => ({ kind: 'frames', source, times: null });
  const sides = { reference: side(reference), distorted: side(distorted) };
  return { sides, skip, frameCount, warnings, ofBytes };
}

async function byteFindings(
  { platform, checked }: InputContext,
  { reference, distorted }: Required<OpenedInputs>,
): Promise<readonly Finding[]> {
  const { preflight, tracks } = checked.pairing;
  // A file may be compared with another track of itself.
  if (!preflight || tracks.reference?.index !== tracks.distorted?.index) return [];
  const { findingsOfBytes } = await import('./byte-findings.js');
  return findingsOfBytes([reference, distorted], platform.files);
}

/** Opens decoders if needed. @param open replaces the default opener */
export async function openPair(known: Pair, open?: OpenDecoder): Promise<OpenPair> {
  if (known.plan) {
    const { openPlanned } = await import('../../media/pairing/prepare.js');
    return openPlanned(known.plan, open);
  }
  const stored = storedPair(known);
  if (!stored) throw new Error('a plan is needed to decode');
  return stored;
}

/** Most milliseconds to wait for aborted probes. */
const PROBE_END = 1000;

/** Inputs of one run. Close them in any state. */
export class RunInputs {
  readonly known: Promise<Pair>;
  #known: Pair | undefined;
  #ready: Promise<OpenPair> | undefined;

  constructor(known: Promise<Pair>) {
    this.known = known.then((inputs) => {
      this.#known = inputs;
      return inputs;
    });
    this.known.catch(() => {});
  }

  open(openDecoder?: OpenDecoder): Promise<OpenPair> {
    this.#ready = this.known.then((known) => openPair(known, openDecoder));
    return this.#ready;
  }

  /** Waits for decoders to end, or a second if they are still probing. */
  async close(): Promise<void> {
    const pair = await this.#ready?.catch(() => undefined);
    if (pair) await closeAll([pair.reference, pair.distorted]);
    else if (this.#known) await closePair(this.#known);
    else {
      const closing = this.known.then(closePair);
      // A stalled server may delay it longer.
      await unlessAborted(AbortSignal.timeout(PROBE_END), closing).catch(() => {});
    }
  }
}

/** How the pairs of a run are read. */
export interface Reading {
  /** False if workers or programs read the frames, which hides them from this thread. */
  readonly inThread: boolean;
  /** Takes the signatures of a shard's pairs. */
  readonly signed?: InOrder<Uint8Array>;
  /** Absent for shards that do not inspect the pictures. */
  readonly inspected?: {
    readonly expected: number | null;
    /** As above, for all pairs. */
    readonly inThread: boolean;
    /** Whether to inspect the pictures of stored pairs too. */
    readonly stored: boolean;
    /** Set if the run reads only a part of the pairs. */
    readonly whole?: WholePair;
  };
}

export class PairChecks {
  readonly #inputs: InputContext;
  readonly #loading: Promise<typeof import('./frame-observer.js')> | undefined;
  #preflight: Preflight | undefined;
  #continuity: Continuity | undefined;
  /** Checks of a stored pair, while workers start. */
  #stored: Promise<void> | undefined;

  constructor(inputs: InputContext) {
    this.#inputs = inputs;
    // Without a reference, there is nothing to compare.
    const { pairing, single } = inputs.checked;
    this.#loading = pairing.preflight && !single ? import('./frame-observer.js') : undefined;
    this.#loading?.catch(() => {});
  }

  /** @throws {AnyvmafError} `mismatch` if the pair cannot be compared; with `strict` and `inspects`, also for warnings */
  async refuse(known: Pair, requested: RequestedModels, inspects = true): Promise<void> {
    const { strict } = this.#inputs.checked.pairing;
    // Stored pairs were checked when they were opened.
    if (!this.#loading || !(strict || known.plan || (known.ofBytes ?? []).length > 0)) return;
    const preflight = await this.#open(known, requested);
    preflight.refuseErrors();
    if (!strict || !inspects) return;
    preflight.readAgain();
    preflight.refuse((await preflight.inspection()).findings);
  }

  /** Starts the checks that run while frames are read. @returns the pair to read */
  async observe(
    known: Pair,
    requested: RequestedModels,
    ready: OpenPair,
    reading: Reading,
  ): Promise<OpenPair> {
    const { inThread, inspected, signed } = reading;
    const pair = (inspected && this.#inspect(known, requested, ready, inspected)) ?? ready;
    if (!this.#loading) return pair;
    const { Continuity, continuityRules } = await this.#loading;
    this.#continuity = new Continuity(continuityRules(known, this.#inputs.checked.subsample), signed);
    return inThread ? this.#continuity.observe(pair) : pair;
  }

  /** Inspects pictures while they are read for scoring, or reads them again. @returns the pair to read, if another one */
  #inspect(
    known: Pair,
    requested: RequestedModels,
    ready: OpenPair,
    { expected, inThread, stored, whole }: NonNullable<Reading['inspected']>,
  ): OpenPair | undefined {
    // With `strict`, they were inspected before.
    if (!this.#loading || this.#inputs.checked.pairing.strict) return undefined;
    if (!known.plan) {
      this.#stored = this.#checkStored(known, requested, stored);
      this.#stored.catch(() => {});
      return undefined;
    }
    const preflight = this.#preflight;
    if (inThread && whole && preflight?.observeAhead(whole)) return undefined;
    const observed = inThread && !whole ? preflight?.observe(ready, expected) : undefined;
    if (!observed) preflight?.readAgain();
    return observed;
  }

  /** Findings of a measured shard; `known` only from the shard that inspects the whole pair. */
  async shardFindings(): Promise<{ readonly known?: readonly Finding[]; readonly defect?: Finding }> {
    const known = await this.#inspected();
    this.#refuseStrictly(known);
    const defect = this.#continuity?.defect;
    return { ...(known && { known }), ...(defect && { defect }) };
  }

  async #inspected(): Promise<readonly Finding[] | undefined> {
    await this.#stored;
    return (await this.#preflight?.inspection())?.findings;
  }

  #refuseStrictly(findings: readonly Finding[] = []): void {
    if (this.#inputs.checked.pairing.strict) this.#preflight?.refuse(findings);
  }

  /** Rules for checking frames when all shards are complete. */
  async rulesOf(known: Pair): Promise<{ readonly continuity?: ContinuityRules }> {
    if (!this.#loading) return {};
    const { continuityRules } = await this.#loading;
    return { continuity: continuityRules(known, this.#inputs.checked.subsample) };
  }

  /** Takes signatures of pairs that workers read. */
  get continuity(): Continuity | undefined {
    return this.#continuity?.active ? this.#continuity : undefined;
  }

  /** `undefined` if nothing was checked. @throws {AnyvmafError} `mismatch` for any error or warning, with `strict` */
  async findings(pairs: number, backend: string): Promise<readonly Finding[] | undefined> {
    const known = await this.#inspected();
    const found = known && (this.#continuity?.findings(pairs, known, backend) ?? known);
    this.#refuseStrictly(found);
    return found;
  }

  /** Waits for decoding of checks to end. */
  async close(): Promise<void> {
    await this.#preflight?.close();
  }

  /** Inspects pictures only on request: that takes long compared with scoring a stored pair. */
  async #checkStored(known: Pair, requested: RequestedModels, inspect: boolean) {
    const preflight = this.#preflight ?? (await this.#open(known, requested));
    if (inspect) preflight.readAgain();
  }

  async #open(known: Pair, requested: RequestedModels): Promise<Preflight> {
    const { Preflight } = await import('./preflight.js');
    this.#preflight = new Preflight(this.#inputs, known, requested);
    return this.#preflight;
  }
}
