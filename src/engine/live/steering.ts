/**
 * @module engine/live/steering
 * Steers a running measurement: pauses it, stops it, changes its models. Runs in the thread that assembles frames, so that
 * each command takes effect between two frames.
 */
import type { ScoredFormat } from '../../core/colour.js';
import { type AnyvmafError, featureError, usageError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import { quotientOf } from '../../core/numbers.js';
import type { Origin } from '../../core/origin.js';
import { quoted } from '../../core/printable.js';
import { loadModels } from '../../models/load.js';
import { Predictor } from '../../models/predict.js';
import type { LoadedModel } from '../../models/types.js';
import type { FrameMetrics, ReportModel } from '../../report/schema.js';
import type { Platform } from '../contract/platform.js';
import { chooseModel, isOpen, type RunPlan, reportModel, reportModels, settle } from '../plan/plan.js';
import type { FrameWatcher, Scoring } from '../results/scoring.js';

/** Without folders, loads only shipped and pulled models. */
const UNKNOWN: Origin = { by: 'foreign', folders: [] };

export interface RunFacts {
  readonly format: Pick<VideoFormat, 'width' | 'height' | 'bitDepth' | 'chroma'>;
  readonly reference: string;
  readonly distorted: string;
  /** Pictures per second; `null` while unknown. */
  readonly rate: number | null;
  /** Upper limit of pairs; `null` while unknown. */
  readonly total: number | null;
  readonly metrics: readonly string[];
  readonly models: readonly ReportModel[];
  readonly extractors: readonly string[];
  readonly backend: string;
  readonly threads: number;
  readonly subsample: number;
  /** Pairs taken from the videos so far. */
  readonly taken: () => number;
}

export interface ModelSwap {
  /** First frame that the new model scored. */
  readonly frame: number;
  /** Key of the score that ended with the frame before. */
  readonly from: string;
  /** Key of the score that begins. */
  readonly to: string;
}

export interface SwapOutcome extends ModelSwap {
  /** Where the new model comes from. */
  readonly source: string;
}

export interface SwapOptions {
  /** Score key of the model to replace. Default: the only one. */
  readonly replace?: string;
}

export interface RunObserver extends FrameWatcher {
  /** Called once, when the run is planned, before its first frame. An error refuses the run. */
  planned(facts: RunFacts): void;
  /** A change of models takes effect, now or with a later frame. */
  swapped(swap: SwapOutcome): void;
  /** @param error the reason if the run failed */
  ended(error?: unknown): void;
}

export interface SteeredRun {
  /** Facts beyond plan and format. */
  readonly facts: Omit<RunFacts, 'format' | 'rate' | 'metrics' | 'models' | 'extractors'>;
  readonly plan: RunPlan;
  readonly format: ScoredFormat;
  readonly scoring: Scoring;
  readonly platform: Pick<Platform, 'models' | 'ofOrigin'>;
}

export interface MeasuredFrames {
  readonly metrics: readonly string[];
  readonly ofFrame: ReadonlyMap<number, FrameMetrics['metrics']>;
}

export class Steering {
  readonly #observer: RunObserver;
  readonly #origin: Origin;
  #run: SteeredRun | undefined;
  /** Predicting models in the report's order; and all models so far, by score key. */
  #current: LoadedModel[] = [];
  readonly #known = new Map<string, LoadedModel>();
  readonly #swaps: SwapOutcome[] = [];
  #pause: { readonly promise: Promise<void>; readonly end: () => void } | undefined;
  readonly #stopping = new AbortController();
  #released = false;
  /** Values of an earlier pass over the same frames, which the observer gets too. */
  beside: MeasuredFrames | undefined;

  /** @param origin who names the models to load */
  constructor(observer: RunObserver, origin: Origin = UNKNOWN) {
    this.#observer = observer;
    this.#origin = origin;
  }

  /** Whether the run ends with the pairs already taken. */
  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Aborts when the run is stopped. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  get released(): boolean {
    return this.#released;
  }

  get paused(): boolean {
    return this.#pause !== undefined;
  }

  /** Await it before taking the next pair. */
  readonly gate = (): Promise<void> | undefined => this.#pause?.promise;

  pause(): void {
    if (this.#pause || this.stopped) return;
    let end = () => {};
    const promise = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#pause = { promise, end };
  }

  resume(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  stop(): void {
    this.#stopping.abort();
    this.resume();
  }

  /** Lets the run continue without this steering; another may take over. */
  release(): void {
    this.#released = true;
    this.resume();
  }

  /** Starts to steer a planned run. @param before the previous steering */
  begin(run: SteeredRun, before?: Steering): void {
    this.#run = run;
    this.#current = [...run.plan.models];
    for (const model of run.plan.models) this.#known.set(model.name, model);
    if (before) this.#takeOver(before);
    const { plan, format } = run;
    const { metrics = [] } = this.beside ?? {};
    run.scoring.watch(this.beside ? joined(this.#observer, this.beside) : this.#observer);
    this.#observer.planned({
      ...run.facts,
      format,
      rate: quotientOf(format.frameRate) ?? null,
      metrics: [...plan.metrics, ...metrics],
      models: reportModels(plan),
      extractors: plan.features.extractors.map(({ instance }) => instance.spec.name),
    });
    for (const swap of this.#swaps) this.#observer.swapped(swap);
  }

  #takeOver(before: Steering): void {
    this.#current = [...before.#current];
    for (const [name, model] of before.#known) this.#known.set(name, model);
    this.#swaps.push(...before.#swaps);
    if (before.stopped) this.#stopping.abort();
  }

  ended(error?: unknown): void {
    this.resume();
    this.#observer.ended(error);
  }

  /** Model changes up to the last frame, and the models that they added, for the report. */
  report(last: number): { readonly swaps: readonly ModelSwap[]; readonly models: readonly ReportModel[] } {
    const made = this.#swaps.map(({ frame, from, to }): ModelSwap => ({ frame, from, to }));
    const swaps = effective(made.filter(({ frame }) => frame <= last));
    const first = new Set(this.#run?.plan.models.map(({ name }) => name));
    const named = new Set(swaps.map(({ to }) => to).filter((name) => !first.has(name)));
    const models = [...named].flatMap((name) => this.#known.get(name) ?? []);
    return { swaps, models: models.map((model) => reportModel(model)) };
  }

  /** Loads a model at any time. @throws {AnyvmafError} `usage`, `model`, `feature` or `io` if it cannot be loaded */
  async prepare(text: string): Promise<LoadedModel> {
    const { platform, format } = this.#required();
    const { models } = platform.ofOrigin?.(this.#origin) ?? platform;
    const settled = isOpen(text) ? settle(text, chooseModel(format)) : text;
    const load = async (string: string) => {
      const [model] = await loadModels([string], models);
      if (!model) throw usageError(`The model string ${quoted(text)} names no model.`);
      return model;
    };
    const model = await load(settled);
    const taken = this.#known.get(model.name);
    if (taken === undefined || isSame(taken, model)) return model;
    if (/(^|:)name=/.test(settled)) {
      throw usageError(
        `The name ${quoted(model.name)} belongs to another model of this run; give the new one another with name=.`,
      );
    }
    return load(`${settled}:name=${nameOf(model.source)}`);
  }

  /**
   * Changes the model, from the next frame. Call between two frames.
   * @throws {AnyvmafError} `usage` if there is no model to replace or no frame left, `feature` if the model needs
   * features that are not measured
   */
  swap(model: LoadedModel, { replace }: SwapOptions = {}): SwapOutcome {
    const run = this.#required();
    if (this.stopped) throw usageError('The measurement is being stopped; a new model would score no frame.');
    if (run.plan.tiny)
      throw usageError('Models cannot be changed in a run with tiny models; start it without them.');
    const from = this.#replaced(replace);
    if (this.#current.some(({ name }) => name === model.name))
      throw usageError(`The model ${quoted(model.name)} scores this run already.`);
    const missing = model.extractors.filter(({ key }) => !run.scoring.measures(key));
    if (missing.length > 0) throw lacking(model, missing);
    const models = this.#current.map((other) => (other === from ? model : other));
    const measured = run.plan.features.names;
    const predictor = new Predictor(models, measured);
    const taken = predictor.names.find((name) => measured.includes(name));
    if (taken !== undefined)
      throw usageError(
        `The score ${quoted(taken)} of the new model has the name of a feature; give the model another with name=.`,
      );
    const { total } = run.facts;
    if (total !== null && run.scoring.following >= total)
      throw usageError(`All ${total} frames are scored; the new model would score no frame.`);
    const frame = run.scoring.swap(predictor);
    this.#current = models;
    this.#known.set(model.name, model);
    const outcome = { frame, from: from.name, to: model.name, source: model.source };
    this.#swaps.push(outcome);
    this.#observer.swapped(outcome);
    return outcome;
  }

  #replaced(name: string | undefined): LoadedModel {
    const [only, second] = this.#current;
    const names = this.#current.map((model) => model.name).join(', ');
    if (!only) throw usageError('This run predicts no score, so there is no model to replace.');
    if (name === undefined && !second) return only;
    const found = this.#current.find((model) => model.name === name);
    if (found) return found;
    throw usageError(
      name === undefined
        ? `This run has the models ${names}; set replace to the one to end.`
        : `There is no model ${quoted(name)} in this run; it has ${names}.`,
    );
  }

  #required(): SteeredRun {
    if (this.#run) return this.#run;
    throw usageError('The measurement has not begun; ask again after its first frame.');
  }
}

/** Adds the values of an earlier pass to each frame. */
function joined(observer: RunObserver, { metrics, ofFrame }: MeasuredFrames): FrameWatcher {
  let own: readonly string[] = [];
  let all: readonly string[] = metrics;
  return {
    boundary: (frame) => observer.boundary(frame),
    frame(frame, values, names) {
      // Compare by identity: another array means a change of models.
      if (names !== own) all = [...names, ...metrics];
      own = names;
      const found = ofFrame.get(frame) ?? {};
      const further = metrics.map((name) => found[name] ?? Number.NaN);
      observer.frame(frame, Float64Array.of(...values, ...further), all);
    },
  };
}

/** Merges the changes at each frame boundary, and drops those that cancel out. */
function effective(swaps: readonly ModelSwap[]): readonly ModelSwap[] {
  const result: ModelSwap[] = [];
  for (const swap of swaps) {
    const before = result.findIndex(({ frame, to }) => frame === swap.frame && to === swap.from);
    const from = result[before]?.from ?? swap.from;
    if (before >= 0) result.splice(before, 1);
    if (from !== swap.to) result.push({ ...swap, from });
  }
  return result;
}

function lacking(model: LoadedModel, missing: LoadedModel['extractors']): AnyvmafError {
  const names = [...new Set(missing.map(({ key }) => key))].join(', ');
  return featureError(
    `The model ${quoted(model.source)} needs features that this run does not measure: ${names}; start ` +
      'the run with it in alsoModels, which measures them.',
  );
}

/** A file name without `.json`, usable in a model string. */
function nameOf(source: string): string {
  return (source.split(/[\\/]/).at(-1) ?? source).replace(/\.json$/i, '').replace(/[:=]/g, '_');
}

/** Whether two models give the same scores under the same keys. */
function isSame(one: LoadedModel, other: LoadedModel): boolean {
  const inputs = ({ members }: LoadedModel) =>
    members.flatMap((member) => member.inputs.map((input) => input.logName)).join(' ');
  return (
    one.source === other.source &&
    one.disableClip === other.disableClip &&
    one.enableTransform === other.enableTransform &&
    inputs(one) === inputs(other)
  );
}
