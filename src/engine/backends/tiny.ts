/**
 * @module engine/backends/tiny
 * Tiny ONNX models in a run: loads them before any frame is read, lists the features that they need, and scores with them.
 * Feature models run here on finished rows; picture models run in the threads that hold the frames.
 */
import { modelError, usageError } from '../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import { quoted } from '../../core/printable.js';
import type { ExtractorInstance } from '../../metrics/options.js';
import type { Report, ReportTinyModel, ReportTinyNotice } from '../../report/schema.js';
import type { FeatureBinding, PictureBinding, TinyBinding } from '../../tiny/bind.js';
import { bindTinyModel } from '../../tiny/bind.js';
import { loadTinyModel } from '../../tiny/load.js';
import { checkSize } from '../../tiny/onnx/check.js';
import {
  type ContentTally,
  checkPicture,
  featureShapes,
  pictureShapes,
  TinyPictureScorer,
  TinyRegressor,
} from '../../tiny/scorers.js';
import type {
  TinyModel,
  TinyModelOptions,
  TinyPlatform,
  TinyRuntimes,
  TinySession,
  TinySessionOptions,
} from '../../tiny/types.js';

export interface AttachedTiny {
  readonly options: TinyModelOptions;
  readonly model: TinyModel;
  readonly binding: TinyBinding;
}

/** The tiny models of a run before its format is known. */
export interface TinyRequest {
  /** Extractors that feature models read, in order. */
  readonly extractors: readonly ExtractorInstance[];
  /** @throws {AnyvmafError} `usage` for an unsupported format; `model` if pictures take too much memory or work */
  plan(format: VideoFormat): TinyPlan;
}

/** A picture model, as sent to the threads that hold the frames. */
export interface PictureModel {
  readonly model: Pick<TinyModel, 'source' | 'program' | 'graph'>;
  readonly binding: PictureBinding;
  readonly session: TinySessionOptions;
}

export interface TinySessionFacts {
  /** Name of the model's score. */
  readonly name: string;
  readonly runtime: TinySession['runtime'];
  readonly device: TinySession['device'];
  readonly adapter?: string;
  readonly threads?: number;
  readonly notes: readonly string[];
  /** Tally of the pictures so far, if the model needs it. */
  readonly content?: ContentTally;
}

/** @throws {AnyvmafError} `model`, `usage`, `feature`, `io` if a model cannot be loaded or does not fit the run */
export async function attachTiny(
  wanted: readonly TinyModelOptions[],
  platform: () => Promise<TinyPlatform>,
  single: boolean,
): Promise<TinyRequest> {
  const tiny = await platform();
  const attached = await Promise.all(
    wanted.map(async (options): Promise<AttachedTiny> => {
      const { files, verify = false, precision = 'auto' } = options;
      const model = await loadTinyModel(options.model, tiny, { verify, precision, files });
      const binding = bindTinyModel(model, options);
      if (single) requireNoReference(binding);
      if (binding.kind === 'features') checkSize(model, featureShapes(binding));
      return { options, model, binding };
    }),
  );
  const columns = attached.filter(isOfFeatures).flatMap(({ binding }) => binding.columns);
  return {
    extractors: columns.map(({ instance }) => instance),
    plan: (format) => planTiny(attached, format),
  };
}

/** @throws {AnyvmafError} `usage` if a model needs the missing reference */
function requireNoReference(binding: TinyBinding): void {
  const why =
    binding.kind === 'features'
      ? `reads features (${binding.columns.map(({ feature }) => feature).join(', ')}), which compare with a reference`
      : binding.inputs.some(({ role }) => role === 'reference')
        ? 'compares pictures with those of a reference'
        : undefined;
  if (why === undefined) return;
  throw usageError(
    `The tiny model ${quoted(binding.source)} ${why}, so it cannot score without one; give the reference, or ` +
      'use a no-reference model.',
  );
}

export interface TinyPlan {
  readonly attached: readonly AttachedTiny[];
  /** Scores of picture models, which records hold. */
  readonly pictureMetrics: readonly string[];
  readonly chroma: boolean;
  readonly featureMetrics: readonly string[];
}

function planTiny(attached: readonly AttachedTiny[], format: VideoFormat): TinyPlan {
  const pictures = attached.filter(isPicture);
  for (const { model, binding } of pictures) {
    checkPicture(binding, format);
    checkSize(model, pictureShapes(binding, format));
  }
  const metricsOf = (some: readonly AttachedTiny[]) =>
    some.flatMap(({ binding }) => binding.outputs.map(({ metric }) => metric));
  return {
    attached,
    pictureMetrics: metricsOf(pictures),
    chroma: pictures.some(({ binding }) => binding.channels === 3),
    featureMetrics: metricsOf(attached.filter(isOfFeatures)),
  };
}

type Attached<Binding extends TinyBinding> = AttachedTiny & { readonly binding: Binding };

const isPicture = (tiny: AttachedTiny): tiny is Attached<PictureBinding> => tiny.binding.kind === 'picture';

function isOfFeatures(tiny: AttachedTiny): tiny is Attached<FeatureBinding> {
  return tiny.binding.kind === 'features';
}

function pictureModels({ attached }: TinyPlan): readonly PictureModel[] {
  return attached.filter(isPicture).map(({ model: { source, program, graph }, binding, options }) => ({
    model: { source, program, graph },
    binding,
    session: sessionOptions(options),
  }));
}

/** One thread by default, since workers already run in parallel. */
function sessionOptions(options: TinyModelOptions): TinySessionOptions {
  const { device = 'auto', threads = 1, fp16 = false } = options;
  return { device, threads, fp16 };
}

function factsOf(name: string, { runtime, device, adapter, threads, notes }: TinySession): TinySessionFacts {
  return { name, runtime, device, adapter, threads, notes };
}

interface OpenPicture {
  readonly scorer: TinyPictureScorer;
  readonly session: TinySession;
  readonly facts: TinySessionFacts;
  /** Number of its outputs. */
  readonly width: number;
}

export class PictureScorers {
  readonly #open: readonly OpenPicture[];

  private constructor(open: readonly OpenPicture[]) {
    this.#open = open;
  }

  /** Facts of the sessions, with the tally of the pictures so far. */
  get facts(): readonly TinySessionFacts[] {
    return this.#open.map(({ scorer: { content }, facts }) => (content ? { ...facts, content } : facts));
  }

  /** Whether {@link facts} change with each picture. */
  get counts(): boolean {
    return this.#open.some(({ scorer }) => scorer.content !== undefined);
  }

  /** @throws {AnyvmafError} `backend` if a device is not available or does not start */
  static async open(
    models: readonly PictureModel[],
    runtimes: () => Promise<TinyRuntimes>,
    format: VideoFormat,
  ): Promise<PictureScorers> {
    const open = await openAll(models, async ({ model, session: options, binding }) => {
      const available = await runtimes();
      await available.obtain?.(options.device);
      const session = await available.open(model, options);
      const scorer = new TinyPictureScorer(binding, session, format);
      return { scorer, session, facts: factsOf(binding.name, session), width: binding.outputs.length };
    });
    return new PictureScorers(open);
  }

  /** Copies the pictures of a frame; the caller may reuse the planes. */
  take(reference: FramePlanes, distorted: FramePlanes): void {
    for (const { scorer } of this.#open) scorer.take(reference, distorted);
  }

  /** @param frame for messages @param into receives a value per output of every model, from `offset` */
  async score(frame: number, into: Float64Array, offset: number): Promise<void> {
    let at = offset;
    for (const { scorer, width } of this.#open) {
      await scorer.score(frame, into, at);
      at += width;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map(({ scorer }) => scorer.close()));
  }
}

interface OpenRegressor {
  readonly regressor: TinyRegressor;
  readonly session: TinySession;
  /** Indices of its columns in a row. */
  readonly at: readonly number[];
}

/** Tiny models of a planned run: sets up threads, scores finished rows, and reports. */
export class TinyRun {
  readonly #plan: TinyPlan;
  #open: readonly OpenRegressor[] = [];

  constructor(plan: TinyPlan) {
    this.#plan = plan;
  }

  /** Setup of the threads that hold the frames. */
  get setup(): { readonly pictures?: readonly PictureModel[] } {
    return this.#plan.pictureMetrics.length > 0 ? { pictures: pictureModels(this.#plan) } : {};
  }

  /** @param names of a row's values @throws {AnyvmafError} `backend` if a device is missing or does not start */
  async open(platform: () => Promise<TinyPlatform>, names: readonly string[]): Promise<void> {
    const wanted = this.#plan.attached.filter(isOfFeatures);
    this.#open = await openAll(wanted, async ({ model, binding, options }) => {
      const { runtimes } = await platform();
      const opening = sessionOptions(options);
      await runtimes.obtain?.(opening.device);
      // Rows are few and small: a GPU would wait longer than it computes.
      const session = await runtimes.open(model, { ...opening, only: 'cpu' });
      const at = binding.columns.map(({ logName, feature }) => {
        const found = names.indexOf(logName);
        if (found >= 0) return found;
        throw modelError(
          `The tiny model ${quoted(binding.source)} reads ${feature}, which this run does not measure.`,
        );
      });
      return { regressor: new TinyRegressor(binding, session), session, at };
    });
  }

  /** Absent before {@link open}, and without feature models. */
  get regressors(): TinyRegressors | undefined {
    return this.#open.length > 0 ? this : undefined;
  }

  /** Scores each row with the feature models. @param rows values in the order of the names passed to {@link open} */
  async predict(rows: readonly Float64Array[], frames: readonly number[]): Promise<Float64Array[]> {
    const results = rows.map(() => new Float64Array(this.#plan.featureMetrics.length));
    let column = 0;
    for (const { regressor, at } of this.#open) {
      const input = Float64Array.from(rows.flatMap((row) => at.map((place) => row[place] ?? Number.NaN)));
      const width = regressor.binding.outputs.length;
      const scores = await regressor.predict(input, (row) => frames[row] ?? row);
      for (const [i, result] of results.entries())
        result.set(scores.subarray(i * width, (i + 1) * width), column);
      column += width;
    }
    return results;
  }

  /** @param sessions of picture models, in all threads */
  report(sessions: readonly TinySessionFacts[]): Required<Pick<Report, 'tiny' | 'warnings'>> {
    const own = this.#open.map(({ regressor, session }) => factsOf(regressor.binding.name, session));
    const facts = [...own, ...sessions];
    const used = this.#plan.attached.map((tiny): UsedTiny => {
      const session = facts.find(({ name }) => name === tiny.binding.name);
      return { ...tiny, session, notices: noticesOf(tiny.model, session) };
    });
    const warnings = [
      ...used.flatMap(({ model }) => model.warnings),
      ...used.flatMap(({ notices }) => notices.map(({ message }) => message)),
      ...facts.flatMap(({ notes }) => notes),
      ...used.flatMap(unusedHalves),
    ];
    return { tiny: used.map(reportOf), warnings: [...new Set(warnings)] };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map(({ session }) => session.close()));
  }
}

export type TinyRegressors = Pick<TinyRun, 'predict'>;

/** Opens models in turn; if one fails, closes those opened before. */
async function openAll<T, R extends { readonly session: TinySession }>(
  wanted: readonly T[],
  open: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const opened: R[] = [];
  try {
    for (const item of wanted) opened.push(await open(item));
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ session }) => session.close()));
    throw error;
  }
}

interface UsedTiny extends AttachedTiny {
  readonly session: TinySessionFacts | undefined;
  readonly notices: readonly ReportTinyNotice[];
}

function reportOf({ options, model, binding, session, notices }: UsedTiny): ReportTinyModel {
  const { codec, preset, crf } = options;
  return {
    name: binding.name,
    source: model.source,
    file: model.file,
    sha256: model.sha256,
    manifest_sha256: model.manifestSha256,
    parts: model.parts,
    registered: model.registered,
    kind: model.kind === 'nr' ? 'nr' : 'fr',
    precision_requested: options.precision ?? 'auto',
    quantisation: model.quantisation,
    metrics: binding.outputs.map(({ metric }) => metric),
    features: binding.kind === 'features' ? [...new Set(binding.columns.map(({ logName }) => logName))] : [],
    better: model.sidecar.better ?? 'higher',
    device_requested: options.device ?? 'auto',
    device: session?.device ?? null,
    runtime: session?.runtime ?? null,
    ...(session?.adapter !== undefined && { adapter: session.adapter }),
    ...(session?.threads !== undefined && { threads: session.threads }),
    ...(codec !== undefined && { codec }),
    ...(preset !== undefined && { preset }),
    ...(crf !== undefined && { crf }),
    ...(binding.kind === 'picture' && binding.resize !== 'disabled' && { resize: binding.resize }),
    ...(notices.length > 0 && { notices }),
  };
}

function noticesOf({ source, entry }: TinyModel, session?: TinySessionFacts): readonly ReportTinyNotice[] {
  const notices: ReportTinyNotice[] = [];
  if (entry?.smoke) {
    const message = `The tiny model ${quoted(entry.id)} is for load tests only; ignore its values.`;
    notices.push({ code: 'smoke', message });
  }
  if (entry?.experimental !== undefined) {
    const message = `The tiny model ${quoted(entry.id)} is experimental: ${entry.experimental}.`;
    notices.push({ code: 'experimental', message });
  }
  const { frames, flat, noise } = session?.content ?? { frames: 0, flat: 0, noise: 0 };
  if (flat + noise > 0) {
    const message =
      `${flat + noise} of ${frames} frames are flat or noise (${flat} flat, ${noise} noise), which the tiny model ` +
      `${quoted(source)} cannot score; ignore their values and means over them.`;
    notices.push({ code: 'no-scene', message, frames: flat + noise });
  }
  return notices;
}

function unusedHalves({ options, model, session }: UsedTiny): readonly string[] {
  if (options.fp16 !== true || !session) return [];
  const { device } = session;
  const halves = device === 'tensorrt' || device.startsWith('openvino');
  // 10: the model's own inputs are float16.
  if (halves || model.graph.inputs.some(({ type }) => type === 10)) return [];
  return [
    `tiny_fp16 had no effect: ${device} runs the tiny model ${quoted(model.source)} at its stored precision.`,
  ];
}
