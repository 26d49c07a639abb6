/**
 * @module engine/score
 * Scores a pair or samples of it: opens, checks, plans, measures and builds the report.
 */

import { usageError } from '../core/errors.js';
import { readsOnce } from '../media/open.js';
import { checkMeasurable } from '../media/pair.js';
import type { OpenDecoder } from '../media/pairing/prepare.js';
import { beyondLibvmaf } from '../metrics/options.js';
import { buildReport } from '../report/build.js';
import type { Report } from '../report/schema.js';
import { isOwnBackend, type NativeBackend } from './backends/native/types.js';
import { type CheckedOptions, checkOptions, checkRequest, refuseUnchecked } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { type InputContext, inScope, type Scope } from './contract/scope.js';
import type { ScoreOptions, ScoreRequest, ScoreRun } from './contract/types.js';
import { identifyPair, PairChecks, RunInputs } from './inputs/open.js';
import { STEERED, type Steerable } from './live/steerable.js';
import type { Steering } from './live/steering.js';
import type { BackendChosen } from './measure/choice.js';
import { openCore } from './measure/core.js';
import {
  describePair,
  type Extent,
  expectPairs,
  formatOf,
  lengthsOf,
  lightOf,
  type Pair,
  refuseEmpty,
  refuseTruncated,
} from './pair/pair.js';
import { loadModules, loadRequested, scoredSize } from './plan/plan.js';
import type { OpenBackend } from './results/report-parts.js';
import { headOf, inputsOf, lateWarnings, Meter, sayLengths } from './results/report-parts.js';
import type { ScorePart } from './score-in-parts.js';

/** Differences from other runs of the same videos. */
export interface RunVariant extends Pick<InputContext, 'colour' | 'shared' | 'alignment' | 'part'> {
  /** Replaces media/decoders. */
  readonly openDecoder?: OpenDecoder;
  readonly steering?: Steering;
  /** Metrics of another pass over the pair that only the core has: no installed program measures this one. */
  readonly beside?: readonly string[];
}

interface Call {
  readonly platform: Platform;
  readonly request: ScoreRequest;
  readonly options: ScoreOptions;
  readonly variant?: RunVariant;
}

/** @throws {AnyvmafError} as the public `score`; the signal's reason when aborted */
function scoreWhole(call: Call): Promise<Report> {
  return inScope(call.options, (options, scope) => run({ ...call, options }, scope));
}

async function run(call: Call, scope: Scope): Promise<Report> {
  const { platform, request, options, variant = {} } = call;
  const { steering, openDecoder, beside = [], ...own } = variant;
  const checked = keptFromPrograms(checkOptions(options, 'score'), beside);
  const context = { ...own, platform, checked, signal: scope.signal };
  // Load inputs and models concurrently; report errors of inputs before those of models.
  const inputs = scope.own(new RunInputs(identifyPair(request, context)));
  const openBackend = prepareBackend(context, options, inputs.known, steering);
  const checks = scope.own(new PairChecks(context));
  const known = await inputs.known;
  const bothGrains = checked.pairing.grain === 'both' && addsGrain(known);
  if (bothGrains) refuseBothGrains(call);
  if (bothGrains || (known.apart && canReadTwice(request))) {
    await inputs.close();
    return scope.join(runTwice(call, bothGrains, known));
  }
  // Stored pairs were checked when they were opened.
  if (known.plan) checkMeasurable(known.plan.format, checked.colours);
  const backend = await openBackend();
  await checks.refuse(known, backend.requested);
  // If aborted while opening inputs, do not start decoders or workers.
  scope.signal.throwIfAborted();
  const ready = await inputs.open(openDecoder);
  const planned = scope.own(backend.plan(ready));
  await refuseTruncated(ready);
  scope.signal.throwIfAborted();

  const { expected, bound } = expectPairs(ready);
  const aside = planned.isAside(expected);
  const inThread = !aside || describePair(ready) === undefined;
  // Inspecting would take longer than a run short enough for this thread.
  const inspectStored = options.preflight === true && aside;
  const inspected = { expected, inThread, stored: inspectStored };
  const pair = await checks.observe(known, backend.requested, ready, { inThread, inspected });
  const meter = new Meter(options.onProgress, expected);
  const stated = inputsOf(known);
  const head = (extent?: Extent) => headOf(stated, checked, extent);
  const measured = await planned.measure({
    ...{ pair, expected, bound, meter },
    continuity: inThread ? undefined : checks.continuity,
    onStart: (start) => options.onStart?.({ ...head(), ...start }),
  });
  refuseEmpty(pair, measured.extent);
  meter.finish();
  const { extent, warnings } = measured;
  const findings = await checks.findings(extent.pairs, measured.backend_used);
  const lengths = { lengths: lengthsOf(pair), extent, planned: known.plan !== undefined };
  const said = sayLengths({ inputs: stated, ...lengths }, checked, findings);
  return buildReport({
    ...head(extent),
    fps: meter.fps,
    ...measured,
    ...(checked.pairing.grain === 'both' && { withoutGrain: [] }),
    pairing: checked.single ? undefined : pair.describe?.(extent.pairs),
    preflight: said.findings,
    frameCount: extent.pairs,
    warnings: [...known.warnings, ...lateWarnings(known, pair), ...warnings, ...said.warnings],
  });
}

/** @param beside metrics of another pass, for which no program is installed either */
function keptFromPrograms({ native, ...others }: CheckedOptions, beside: readonly string[]): CheckedOptions {
  const coreOnly = [...new Set([...native.coreOnly, ...beside])];
  return { ...others, native: { ...native, coreOnly } };
}

/** Reads the pictures twice: with and without film grain, or for colour metrics and for others in different formats. */
async function runTwice(
  { platform, request, options, variant = {} }: Call,
  bothGrains: boolean,
  { alignment, plan }: Pair,
): Promise<Report> {
  const { scoreApart, scoreBothGrains } = await import('./score-in-parts.js');
  const offset = plan?.options.offset;
  const beside = beyondLibvmaf(options.features ?? []);
  const part = (options: ScoreOptions, main: boolean) => {
    const { colour, part } = variant;
    const own = main ? { ...variant, alignment, beside } : { colour, part };
    return scoreWhole({ platform, request, options, variant: own });
  };
  return bothGrains
    ? scoreBothGrains(options, offset, part)
    : scoreApart(options, offset, part, variant.steering);
}

/** Whether a decoder adds film grain to one of the videos. */
function addsGrain({ sides }: Pair): boolean {
  return [sides.reference, sides.distorted].some(
    (side) => side.kind === 'encoded' && side.video.facts.filmGrain === 'added',
  );
}

function refuseBothGrains({ request, variant }: Call): void {
  const isWatched = variant?.steering !== undefined;
  if (!isWatched && canReadTwice(request)) return;
  const why = isWatched
    ? 'a run that is watched measures its frames once'
    : 'one of the videos is a stream, which can be read only once';
  throw usageError(`is both, which measures the pair twice, but ${why}; use on or off.`, { about: 'grain' });
}

function canReadTwice({ reference = '', distorted }: ScoreRequest): boolean {
  return [reference, distorted].every(
    (video) => !readsOnce(video) && !(typeof video === 'object' && 'readFrame' in video),
  );
}

/** Releases everything before it settles. @throws {AnyvmafError} as the public `score`; the signal's reason */
export async function scorePair(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions = {},
  variant: RunVariant = {},
): Promise<Report> {
  checkCall(request, options);
  if (options.samples === undefined) return scoreWhole({ platform, request, options, variant });
  if (variant.steering) {
    throw usageError(
      'samples and a run that is watched or steered exclude each other; leave one of them out.',
    );
  }
  const { scoreSampled } = await import('./score-in-parts.js');
  const scorePart: ScorePart = (videos, own, reading) =>
    scoreWhole({ platform, request: videos, options: own, variant: reading });
  return scoreSampled(platform, request, options, scorePart);
}

/**
 * Starts loading models and the core, or searching for a program.
 * @returns a function that opens the backend, and throws errors of loading or searching
 */
function prepareBackend(
  { platform, checked, signal }: InputContext,
  options: ScoreOptions,
  pair: Promise<Pair>,
  steering: Steering | undefined,
): () => Promise<OpenBackend> {
  const { backend } = checked;
  const format = async () => scoredSize(await pair);
  const load = () => loadModules(platform, loadRequested(checked, platform, format));
  const loading = isOwnBackend(backend) ? load() : undefined;
  const choose = async (): Promise<BackendChosen> =>
    (await import('./measure/choice.js')).chooseBackend(platform, checked, signal);
  const choosing = loading ? undefined : choose();
  for (const early of [loading, choosing]) early?.catch(() => {});
  return async () => {
    const known = await pair;
    const { native, notes } = (await choosing) ?? { notes: [] };
    const run = { platform, checked, options, steering, light: lightOf(known) };
    const unused = unusedDevices(checked);
    if (!native) return openCore(await (loading ?? load()), { ...run, notes: [...notes, ...unused] });
    if (steering && backend !== 'auto') {
      throw usageError(
        `The backend ${native.backend} reports frames only at the end, so a run on it cannot be watched; use cpu, webgpu or hybrid.`,
      );
    }
    const { nativeProblem, openNative } = await import('./measure/native.js');
    const unfit = () =>
      steering
        ? 'it reports frames only at the end, but this run is watched'
        : nativeProblem(native, formatOf(known));
    const problem = backend === 'auto' ? unfit() : undefined;
    if (problem !== undefined) {
      const why = `The backend ${native.backend} was not used: ${problem}.`;
      return openCore(await load(), { ...run, notes: [...notes, why, ...unused] });
    }
    const stored = known.plan === undefined;
    const { onFrame } = options;
    const said = [...notes, ...unusedDevices(checked, native.backend)];
    return openNative(platform, native, checked, { stored, notes: said, onFrame, size: format, signal });
  };
}

/** A sentence for each mask and device that is not used. @param backend of the installed program; absent: the core */
function unusedDevices({ native: { devices } }: CheckedOptions, backend?: NativeBackend): string[] {
  const why = backend === undefined ? 'no installed program measured' : `the backend ${backend} measured`;
  const isUsed = (name: string) =>
    backend !== undefined && (name.endsWith('mask') || name === `${backend}Device`);
  // A mask of 0 masks nothing; device 0 is the first one.
  const isGiven = (name: string, value: unknown) =>
    value !== undefined && (value !== 0 || name.endsWith('Device'));
  return Object.entries(devices).flatMap(([name, value]) =>
    isGiven(name, value) && !isUsed(name) ? [`${name} has no effect: ${why}.`] : [],
  );
}

/** @throws {AnyvmafError} `usage` for options and requests that no run takes */
function checkCall(request: ScoreRequest, options: ScoreOptions): void {
  const checked = checkOptions(options, 'score');
  refuseUnchecked(checked);
  checkRequest(request, checked.single);
}

/** Opens nothing. @throws {AnyvmafError} `usage` as the public `score` */
export function prepareRun(platform: Platform, request: ScoreRequest, options: ScoreOptions = {}): ScoreRun {
  checkCall(request, options);
  return new PreparedRun((steering) => scorePair(platform, request, options, steering ? { steering } : {}));
}

class PreparedRun implements ScoreRun, Steerable {
  readonly #score: (steering: Steering | undefined) => Promise<Report>;
  #steering: Steering | undefined;
  #started = false;

  constructor(score: (steering: Steering | undefined) => Promise<Report>) {
    this.#score = score;
  }

  async start(): Promise<Report> {
    if (this.#started) throw usageError('The run has started already; prepare another one.');
    this.#started = true;
    try {
      const report = await this.#score(this.#steering);
      this.#steering?.ended();
      return report;
    } catch (error) {
      this.#steering?.ended(error);
      throw error;
    }
  }

  [STEERED](steering: Steering): void {
    if (this.#started) throw usageError('The run has started; create its server before.');
    if (this.#steering && !this.#steering.released)
      throw usageError('The run has a server already; it can have only one.');
    this.#steering = steering;
  }
}
