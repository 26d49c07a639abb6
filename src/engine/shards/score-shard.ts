/**
 * @module engine/shards/score-shard
 * Measures one part of a pair like an unsharded run, but reads only that part, from the key frame before it. Pairs keep their
 * numbers in the run.
 */
import { joinBytes } from '../../core/bytes.js';
import { internalError, usageError } from '../../core/errors.js';
import { pickOptions } from '../../core/options.js';
import { quoted, shown } from '../../core/printable.js';
import { version } from '../../core/version.js';
import { readsOnce, reopen } from '../../media/open.js';
import { checkMeasurable, nameOf, type Side } from '../../media/pair.js';
import type { OpenPair, PairingPlan } from '../../media/pairing/prepare.js';
import { openPlanned, partOfPlan, shardOfPlan } from '../../media/pairing/prepare.js';
import { closeAll } from '../../media/sources.js';
import type { FilePlatform } from '../../media/types.js';
import { historyNeeds } from '../backends/measurer.js';
import { isOwnBackend } from '../backends/native/types.js';
import { type CheckedOptions, checkOptions, checkRequest, refuseUnchecked } from '../contract/options.js';
import { InOrder, type Platform } from '../contract/platform.js';
import { type InputContext, inScope, type Scope } from '../contract/scope.js';
import type { ScoreRequest } from '../contract/types.js';
import { identifyPair, openPair, PairChecks, RunInputs } from '../inputs/open.js';
import { type CoreMeasurement, openCore } from '../measure/core.js';
import {
  canReadAgain,
  describePair,
  expectPairs,
  formatOf,
  lengthsOf,
  lightOf,
  type Pair,
  refuseEmpty,
  refuseTruncated,
  storedPair,
  whyNotAgain,
} from '../pair/pair.js';
import { loadModules, loadRequested, type RequestedModels, scoredSize } from '../plan/plan.js';
import { inputsOf, lateWarnings, Meter, type Recorded } from '../results/report-parts.js';
import { checkShard, contentOf, cutShard, planDigest, type ScoreShardOptions } from './shard.js';
import type { Shard, ShardChoice, ShardOptions } from './shard-file.js';

/** Releases everything before it settles. @throws {AnyvmafError} as the public `scoreShard`; the signal's reason */
export async function measureShard(
  platform: Platform,
  request: ScoreRequest,
  shard: ShardChoice,
  options: ScoreShardOptions = {},
): Promise<Shard> {
  const checked = checkOptions(options, 'shard');
  refuseUnchecked(checked);
  checkRequest(request, checked.single);
  checkShard(shard);
  refuseUnfit(request, options, checked);
  return inScope(options, (limited, scope) => {
    const { signal } = scope;
    return new ShardRun({ platform, checked, signal, request, shard, options: limited }, scope).result();
  });
}

/** @throws {AnyvmafError} `usage` for a run that cannot be divided */
function refuseUnfit(request: ScoreRequest, options: ScoreShardOptions, checked: CheckedOptions): void {
  const { backend } = checked;
  if (!isOwnBackend(backend) && backend !== 'auto') {
    throw usageError(
      `the backend ${backend} runs an installed program, which gives no raw measurements to merge; measure shards with ` +
        'wasm, webgpu, hybrid or auto.',
    );
  }
  if (checked.pairing.grain === 'both') {
    throw usageError(
      'is both, but a shard measures its frames once; measure shards with on, and others with off.',
      { about: 'grain' },
    );
  }
  if (options.tiny?.some(({ files }) => files !== undefined)) {
    throw usageError(
      'a tiny model is given as files, which a shard cannot name; give the path of the model.',
    );
  }
  for (const role of ['reference', 'distorted'] as const) {
    const video = request[role];
    if (video !== undefined && !(role === 'reference' && checked.single) && readsOnce(video))
      throw usageError(`the ${role} is a stream, which cannot seek to a shard; give it as a file.`);
  }
}

interface Call extends InputContext {
  readonly request: ScoreRequest;
  readonly shard: ShardChoice;
  readonly options: ScoreShardOptions;
}

class ShardRun {
  readonly #call: Call;
  readonly #scope: Scope;
  readonly #checks: PairChecks;
  readonly #records: Float64Array[] = [];
  readonly #signatures: Uint8Array[] = [];

  constructor(call: Call, scope: Scope) {
    this.#call = call;
    this.#scope = scope;
    this.#checks = scope.own(new PairChecks(call));
  }

  async result(): Promise<Shard> {
    const { platform, request, checked, options, shard, signal } = this.#call;
    const inputs = this.#scope.own(new RunInputs(identifyPair(request, this.#call)));
    const format = async () => scoredSize(await inputs.known);
    const loading = loadModules(platform, loadRequested(checked, platform, format));
    loading.catch(() => {});
    const known = await inputs.known;
    if (known.plan) checkMeasurable(known.plan.format, checked.colours);
    refuseUnreadable(known);
    const light = lightOf(known);
    const backend = openCore(await loading, { platform, checked, options, light, notes: [] });
    // The last shard inspects the pair.
    await this.#checks.refuse(known, backend.requested, shard.number === shard.count);
    signal.throwIfAborted();
    const planned = this.#scope.own(backend.planFor(formatOf(known)));
    const range = this.#cut(known, planned);
    const [files, measured] = await Promise.all([
      this.#identify(known),
      this.#measure(known, backend.requested, { inputs, range, planned }),
    ]);
    return this.#record(known, planned, range, files, measured);
  }

  /** The shard's pairs. @throws {AnyvmafError} `usage` if their total is unknown; `media` if there are none */
  #cut(known: Pair, planned: CoreMeasurement): ShardRange {
    const { shard } = this.#call;
    const { plan } = known;
    const stored = plan ? undefined : storedPair(known);
    const total = plan ? plan.count : stored ? expectPairs(stored).expected : null;
    if (total === null) {
      const name = shown(nameOf(known.sides.distorted));
      throw usageError(
        `the number of pairs of ${name} and its reference is unknown before decoding, so they cannot be divided into shards; ` +
          'score the pair in one piece, or put the videos into a container with times, such as MP4 or MKV.',
      );
    }
    if (total === 0 && stored) refuseEmpty(stored, { pairs: 0, ended: null });
    const { first, end } = cutShard(shard, total);
    const lead = Math.max(0, first - historyNeeds(planned.plan.features.extraction).frames);
    return { first, end, lead, total, last: shard.number === shard.count };
  }

  async #identify({ sides }: Pair): Promise<Shard['files']> {
    const { platform, checked } = this.#call;
    const reference = checked.single ? undefined : await contentOf(sides.reference, platform.files);
    const distorted = await contentOf(sides.distorted, platform.files);
    return { ...(reference && { reference }), ...(distorted && { distorted }) };
  }

  async #measure(
    known: Pair,
    requested: RequestedModels,
    { inputs, range, planned }: { inputs: RunInputs; range: ShardRange; planned: CoreMeasurement },
  ): Promise<Measured> {
    const { options, platform } = this.#call;
    const { plan } = known;
    const reopened = plan && (() => reopenedPlan(plan, platform.files));
    const open = (opening: Promise<OpenPair>) => opened(this.#scope, opening);
    const whole = range.last ? await (reopened ? open(openPlanned(reopened())) : openPair(known)) : undefined;
    const limit = whole ? expectPairs(whole) : { expected: range.end, bound: range.end };
    const meter = new Meter(options.onProgress, range.end - range.first);
    if (range.first === range.end && !range.last) return { meter };
    if (whole) await refuseTruncated(whole);
    const ready = await (reopened ? open(openShard(reopened(), range)) : inputs.open());
    this.#call.signal.throwIfAborted();
    const described = describePair(ready) !== undefined;
    const inThread = !(planned.isAside(range.end - range.first) && described);
    const { expected } = limit;
    const inspected = whole && {
      expected,
      inThread: !(planned.isAside(range.total) && described),
      stored: options.preflight === true && planned.isAside(range.total),
      ...(reopened && {
        whole: {
          pair: whole,
          expected,
          part: (first: number) => openPlanned(partOfPlan(reopened(), first, 1)),
        },
      }),
    };
    const pair = await this.#checks.observe(known, requested, ready, {
      inThread,
      signed: new InOrder((signatures) => this.#signatures.push(signatures), range.first),
      ...(inspected && { inspected }),
    });
    const records = new InOrder<Float64Array>((chunk) => this.#records.push(chunk), range.first);
    const recorded = await planned.record(
      {
        pair,
        first: range.first,
        expected: Math.max(range.first, limit.expected ?? range.end),
        bound: limit.bound,
        meter,
        continuity: inThread ? undefined : this.#checks.continuity,
      },
      (first, count, chunk) => records.add(first, count, chunk),
    );
    if (range.first === 0 && recorded.extent.pairs === 0) refuseEmpty(pair, recorded.extent);
    meter.finish();
    const lengths = whole && lengthsOf(whole);
    return { meter, recorded, ready: pair, ...(lengths && { lengths }) };
  }

  async #record(
    known: Pair,
    planned: CoreMeasurement,
    { first, end, total }: ShardRange,
    files: Shard['files'],
    { recorded, ready, lengths, meter }: Measured,
  ): Promise<Shard> {
    const { shard, options, checked } = this.#call;
    const found = await this.#checks.shardFindings();
    const { extraction, layout } = planned.plan.features;
    const { encode } = scoredSize(known);
    const measured = Math.max(0, (recorded?.extent.pairs ?? first) - first);
    const pairing = checked.single ? undefined : ready?.describe?.(0);
    return {
      version,
      shard: { number: shard.number, count: shard.count },
      options: plainOptions(options),
      format: extraction.format,
      ...(encode && { encode }),
      plan: await planDigest(planned.plan),
      files,
      ...inputsOf(known),
      planned: known.plan !== undefined,
      ...(pairing && { pairing }),
      pairs: { first, end, total, measured, ended: recorded?.extent.ended ?? null },
      seconds: meter.seconds,
      ...(await this.#checks.rulesOf(known)),
      ...(found.defect && { defect: found.defect }),
      ...(lengths && { whole: { lengths, ...(found.known && { findings: found.known }) } }),
      warnings: {
        inputs: known.warnings,
        decoders: ready ? lateWarnings(known, ready) : [],
        backend: recorded?.warnings ?? [],
      },
      backend_used: recorded?.backend_used ?? '',
      implementation: recorded?.implementation ?? checked.implementation,
      threads: recorded?.threads ?? 0,
      ...(recorded?.measurers && { measurers: recorded.measurers }),
      sessions: recorded?.sessions ?? [],
      fields: layout.length,
      records: this.#joined(measured * layout.length),
      signatures: joinBytes(this.#signatures),
    };
  }

  /** @param length doubles of the measured pairs */
  #joined(length: number): Float64Array<ArrayBuffer> {
    const all = new Float64Array(length);
    let at = 0;
    for (const chunk of this.#records) {
      const wanted = chunk.subarray(0, length - at);
      all.set(wanted, at);
      at += wanted.length;
    }
    if (at < length) throw internalError('Records of some pairs are missing.');
    return all;
  }
}

/** Has no records if the shard has no pairs. */
interface Measured {
  readonly meter: Meter;
  readonly recorded?: Recorded;
  readonly ready?: OpenPair;
  readonly lengths?: ReturnType<typeof lengthsOf>;
}

/** Options that affect the result, as plain data. */
function plainOptions(options: ScoreShardOptions): ShardOptions {
  return pickOptions(options, ({ machine }) => !machine);
}

/** @throws {AnyvmafError} `usage` for a video that cannot be opened again, or pictures needed in two formats */
function refuseUnreadable({ sides, apart }: Pair): void {
  for (const role of ['reference', 'distorted'] as const) {
    const side = sides[role];
    if (canReadAgain(side)) continue;
    throw usageError(
      `the ${role} ${quoted(nameOf(side))} cannot be divided into shards, because ${whyNotAgain(side)}; give it as a file.`,
    );
  }
  if (!apart) return;
  throw usageError(
    'a shard reads its pictures once, but colour metrics and the others need them in different formats; measure shards ' +
      'with colour metrics alone and shards without them, or score the pair in one piece.',
  );
}

export interface ShardRange {
  readonly first: number;
  /** The pair after the last. */
  readonly end: number;
  /** First pair to read, for the history of `first`. */
  readonly lead: number;
  readonly total: number;
  /** Whether it is the last shard, which reads to the end like an unsharded run. */
  readonly last: boolean;
}

/** Opens the pairs of a shard with its lead-in, numbered as in the run. */
async function openShard(plan: PairingPlan, { lead, end, last }: ShardRange): Promise<OpenPair> {
  const pair = await openPlanned(shardOfPlan(plan, lead, last ? null : end));
  const skip = { reference: pair.skip.reference - lead, distorted: pair.skip.distorted - lead };
  return { ...pair, skip, limit: plan.count ?? end };
}

/** Opens videos that the scope closes. */
function opened(scope: Scope, opening: Promise<OpenPair>): Promise<OpenPair> {
  scope.own({
    async close() {
      const pair = await opening.catch(() => undefined);
      if (pair) await closeAll([pair.reference, pair.distorted]);
    },
  });
  return opening;
}

/** The plan with stored videos reopened, to read and close parts independently. */
function reopenedPlan(plan: PairingPlan, files: FilePlatform): PairingPlan {
  const again = (side: Side): Side => {
    if (side.kind !== 'frames' || !side.source.descriptor) return side;
    return { ...side, source: reopen(side.source.descriptor, files) };
  };
  const { reference, distorted } = plan.sides;
  return { ...plan, sides: { reference: again(reference), distorted: again(distorted) } };
}
