/**
 * @module evaluate/evaluate
 * Evaluates models on the rows of a table's split: compares predictions with the target, and ranks the models.
 */
import { messageOf, modelError, usageError } from '../core/errors.js';
import { mean } from '../core/numbers.js';
import type { Origin } from '../core/origin.js';
import { counted, quoted } from '../core/printable.js';
import { loadTinyModel } from '../tiny/load.js';
import { checkSize } from '../tiny/onnx/check.js';
import type {
  TinyDevice,
  TinyDeviceChoice,
  TinyModel,
  TinyModelOptions,
  TinyPlatform,
  TinyPrecision,
  TinyRuntimeName,
} from '../tiny/types.js';
import { bootstrap, type Intervals } from './bootstrap.js';
import { type Agreement, agreementOf, type Sample, sampleOf, type Units } from './correlation.js';
import {
  type BoundInputs,
  bindInputs,
  type Groups,
  groupsAmong,
  type LeftOut,
  type SplitRows,
  selectRows,
} from './rows.js';
import { type Split, TARGET_COLUMN } from './table/columns.js';
import type { TableColumns } from './table/read.js';

/** Options of `evaluateModel` and `compareModels`. */
export interface EvaluateOptions extends Pick<TinyModelOptions, 'fp16' | 'verify'> {
  /** The part of the table to evaluate on. Default `test`. */
  readonly split?: Split;
  /** Column to predict. Default `mos`. */
  readonly target?: string;
  /** The graph input for the features. Default: the sidecar's, else `features`, else the first. */
  readonly inputName?: string;
  /** Codec-aware models: the encoder of all rows. Default: the column `codec` or `encoder`. */
  readonly codec?: string;
  /** Codec-aware models: the preset of all rows. Default: the column `preset`. */
  readonly preset?: string;
  /** Codec-aware models: the rate factor of all rows. Default: the column `crf`. */
  readonly crf?: number;
  /** Device that runs the model. Default `auto`. */
  readonly device?: TinyDeviceChoice;
  /** Threads of the runtime. Default 0: the runtime decides. */
  readonly threads?: number;
  /** Run the model or its 8-bit sibling. Default `auto`: as its registry or sidecar says. */
  readonly precision?: TinyPrecision;
  /**
   * Draws of the bootstrap; 0 omits the intervals. Default 1000; fewer for large tables, so that about 20 million rows
   * are drawn, but at least 200.
   */
  readonly resamples?: number;
  /** Seed of the bootstrap. Default 1. */
  readonly seed?: number;
  /** Node: who named the model and the table. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
  readonly signal?: AbortSignal;
}

/** How the intervals were computed. */
export interface BootstrapFacts {
  /** Resampled units: keys with all their rows, clips, or single rows if the table has neither. */
  readonly unit: 'key' | 'clip' | 'row';
  readonly units: number;
  readonly resamples: number;
  readonly seed: number;
  /** Confidence level. */
  readonly level: number;
}

/** Figures of one key's rows. */
export interface KeyAgreement extends Agreement {
  readonly key: string;
  readonly mean_prediction: number;
  readonly mean_target: number;
}

/** Figures over clips, from the mean prediction and mean target of each. */
export interface ClipAgreement extends Agreement {
  readonly intervals: Intervals | null;
}

/** Result of an evaluation. The first keys are those of the reference implementation. */
export interface Evaluation extends Agreement {
  /** Id or path as requested. */
  readonly model: string;
  /** Name of the table. */
  readonly features: string;
  /** The evaluated split; always `all` for a table without keys. */
  readonly split: Split;
  /** Features in the model's order. */
  readonly columns: readonly string[];
  /** The predicted column. */
  readonly target: string;
  /** 95 % intervals of the figures; if `null`, `notes` says why. */
  readonly intervals: Intervals | null;
  readonly bootstrap: BootstrapFacts | null;
  /** `null` for a table without keys and clips. */
  readonly clips: ClipAgreement | null;
  /** In order of first appearance; `null` for a table without keys. */
  readonly per_key: readonly KeyAgreement[] | null;
  readonly left_out: LeftOut;
  readonly runtime: TinyRuntimeName;
  readonly device: TinyDevice;
  /** Remarks on the figures, full sentences. */
  readonly notes: readonly string[];
}

/** A model that could not be evaluated. */
export interface FailedEvaluation {
  readonly model: string;
  /** The reason, a full sentence. */
  readonly error: string;
}

/** Several models on one split. */
export interface Comparison {
  /** By descending PLCC; models without a PLCC come last. */
  readonly ranked: readonly Evaluation[];
  /** In the order of the arguments. */
  readonly errors: readonly FailedEvaluation[];
}

/** Rows per call of a session with a free batch size. */
const BATCH = 8192;
const DEFAULT_RESAMPLES = 1000;
const FEWEST_RESAMPLES = 200;
/** Rows to draw in all, if the number of draws is not set. */
const DRAWN_ROWS = 20_000_000;
const LEVEL = 0.95;
/** With fewer units, there are few distinct draws, so intervals are rough. */
const FEW_UNITS = 10;

/**
 * @throws {AnyvmafError} `model` if it cannot be loaded, does not read features or does not output one number per row;
 * `usage` if the table lacks a column or the split has fewer than two rows; `backend` for the device; the signal's
 * reason if aborted
 */
export async function evaluate(
  platform: TinyPlatform,
  model: string,
  table: TableColumns,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const rows = await selectRows(table, options.split ?? 'test', options.target ?? TARGET_COLUMN);
  return evaluateOn(platform, model, table, rows, options);
}

/**
 * Evaluates models one after the other. A model that fails does not stop the others.
 * @throws {AnyvmafError} `usage` without a model, or if the table or the split fits none of them; the signal's reason
 * if aborted
 */
export async function compare(
  platform: TinyPlatform,
  models: readonly string[],
  table: TableColumns,
  options: EvaluateOptions = {},
): Promise<Comparison> {
  if (models.length === 0) throw usageError('No model to compare; name at least one.');
  const rows = await selectRows(table, options.split ?? 'test', options.target ?? TARGET_COLUMN);
  const done: Evaluation[] = [];
  const errors: FailedEvaluation[] = [];
  for (const model of models) {
    try {
      done.push(await evaluateOn(platform, model, table, rows, options));
    } catch (error) {
      options.signal?.throwIfAborted();
      errors.push({ model, error: messageOf(error) });
    }
  }
  const place = ({ plcc }: Evaluation): number => plcc ?? Number.NEGATIVE_INFINITY;
  return { ranked: done.sort((a, b) => (place(b) === place(a) ? 0 : place(b) - place(a))), errors };
}

/** As {@link evaluate}, on selected rows. */
async function evaluateOn(
  platform: TinyPlatform,
  source: string,
  table: TableColumns,
  selected: SplitRows,
  options: EvaluateOptions,
): Promise<Evaluation> {
  options.signal?.throwIfAborted();
  const model = await loadTinyModel(source, platform, {
    verify: options.verify ?? false,
    precision: options.precision ?? 'auto',
  });
  const bound = await bindInputs(model, table, selected.rows, options);
  const { predictions, runtime, device, warnings } = await predict(platform, model, bound, options);
  const usable = selected.rows.map((_, i) => i).filter((i) => bound.usable[i]);
  const lost = selected.rows.length - usable.length;
  if (usable.length < 2)
    throw usageError(
      `Of the ${selected.rows.length} rows of the split ${quoted(selected.split)} of ${table.name}, ` +
        `${usable.length} have all features of ${quoted(source)}, but at least 2 are needed to compute ` +
        'correlations.',
    );
  const prediction = Float64Array.from(usable, (i) => predictions[i]!);
  const target = Float64Array.from(usable, (i) => selected.target[i]!);
  requireFinite(prediction, source, table, (i) => selected.rows[usable[i]!]!);
  const keys = selected.keys && groupsAmong(selected.keys, usable);
  const clips = selected.clips && groupsAmong(selected.clips, usable);
  const figures = figuresOf({ prediction, target }, { keys, clips }, options);
  const left_out = { ...selected.leftOut, no_feature: lost };
  return {
    model: source,
    features: table.name,
    split: selected.split,
    ...figures.agreement,
    columns: bound.columns,
    target: options.target ?? TARGET_COLUMN,
    intervals: figures.intervals,
    bootstrap: figures.bootstrap,
    clips: figures.clips,
    per_key: figures.perKey,
    left_out,
    runtime,
    device,
    notes: [
      ...selected.notes,
      ...(lost > 0 ? [`${counted(lost, 'row')} left out: a feature is missing or not finite.`] : []),
      ...figures.notes,
      ...(model.entry?.smoke ? [`The registry calls ${quoted(source)} a model for load tests only.`] : []),
      ...model.warnings,
      ...warnings,
    ],
  };
}

function requireFinite(
  prediction: Float64Array,
  source: string,
  table: TableColumns,
  rowOf: (i: number) => number,
): void {
  const bad = prediction.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  throw modelError(
    `The tiny model ${quoted(source)} gives ${prediction[bad]} for row ${rowOf(bad)} of ${table.name}, although all ` +
      'inputs are finite; it cannot be evaluated.',
  );
}

async function predict(
  { runtimes }: TinyPlatform,
  model: TinyModel,
  { inputs, batch, usable: { length } }: BoundInputs,
  { device = 'auto', threads = 0, fp16 = false, signal }: EvaluateOptions,
) {
  const step = batch ?? BATCH;
  const shapeOf = ({ name, width }: BoundInputs['inputs'][number], rows: number): readonly number[] =>
    model.graph.inputs.find((input) => input.name === name)?.dims?.length === 1 ? [rows] : [rows, width];
  const shapes = inputs.map((input) => [input.name, shapeOf(input, Math.min(step, length))] as const);
  checkSize(model, Object.fromEntries(shapes));
  const session = await runtimes.open(model, { device, threads, fp16 });
  try {
    const predictions = new Float64Array(length);
    for (let start = 0; start < length; start += step) {
      signal?.throwIfAborted();
      const rows = Math.min(step, length - start);
      const fed = inputs.map((input) => {
        const { name, width, data } = input;
        const part = data.subarray(start * width, (start + rows) * width);
        return [name, { data: part, dims: shapeOf(input, rows) }] as const;
      });
      const outputs = await session.run(Object.fromEntries(fed));
      predictions.set(scoresOf(model, outputs, rows), start);
    }
    return { predictions, runtime: session.runtime, device: session.device, warnings: session.notes };
  } finally {
    await session.close();
  }
}

/** The first output, one number per row. */
function scoresOf(
  { source, graph, sidecar }: TinyModel,
  outputs: Awaited<ReturnType<Awaited<ReturnType<TinyPlatform['runtimes']['open']>>['run']>>,
  rows: number,
): Float64Array {
  const name = sidecar.outputNames?.[0] ?? graph.outputs[0]?.name ?? '';
  const output = outputs[name];
  if (!output) {
    const names = Object.keys(outputs).map((name) => quoted(name));
    throw modelError(
      `The sidecar of the tiny model ${quoted(source)} names the output ${quoted(name)}, but the graph has ` +
        `${names.join(', ')}.`,
    );
  }
  const { data, dims } = output;
  const each = data.length / rows;
  if (each !== 1 && !(sidecar.outputReduce === 'mean' && Number.isInteger(each) && each > 0))
    throw modelError(
      `The output ${quoted(name)} of the tiny model ${quoted(source)} has the shape [${dims.join(', ')}] for ` +
        `${rows} rows, but one number per row is needed: the shape [${rows}].`,
    );
  const [low, high] = sidecar.outputRange ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const scores = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let i = 0; i < each; i++) sum += data[row * each + i]!;
    scores[row] = Math.min(high, Math.max(low, sum / each));
  }
  return scores;
}

/** Draws of the bootstrap for a table of this many rows. */
export function drawsOf(rows: number): number {
  return Math.max(FEWEST_RESAMPLES, Math.min(DEFAULT_RESAMPLES, Math.floor(DRAWN_ROWS / rows)));
}

/** Figures over all rows, clips and keys that have at least two rows of finite numbers. */
function figuresOf(
  { prediction, target }: Pick<Sample, 'prediction' | 'target'>,
  { keys, clips }: Pick<SplitRows, 'keys' | 'clips'>,
  { resamples, seed = 1 }: Pick<EvaluateOptions, 'resamples' | 'seed'>,
) {
  const n = prediction.length;
  const sample = sampleOf(prediction, target);
  const agreement = agreementOf(sample);
  const notes = [...constantNotes(prediction, 'predictions'), ...constantNotes(target, 'targets')];

  const named = keys ?? clips;
  const unit = keys ? 'key' : clips ? 'clip' : 'row';
  const units = named
    ? { count: named.names.length, of: named.of }
    : { count: n, of: Uint32Array.from({ length: n }, (_, i) => i) };
  const draws = resamples ?? drawsOf(n);
  const facts: BootstrapFacts | null =
    draws > 0 && units.count > 1
      ? { unit, units: units.count, resamples: draws, seed: seed >>> 0, level: LEVEL }
      : null;
  if (draws > 0) {
    if (units.count < 2) {
      notes.push(`All rows belong to one ${unit}: results do not generalise, so there are no intervals.`);
    } else if (units.count < FEW_UNITS) {
      notes.push(`The intervals are rough: they rest on only ${units.count} ${unit}s.`);
    }
    if (unit === 'row')
      notes.push(
        'The table has no keys, so the bootstrap drew single rows; frames of one clip are similar, so the true intervals ' +
          'are wider.',
      );
  }
  return {
    agreement,
    intervals: facts && bootstrap(sample, units, facts),
    bootstrap: facts,
    clips: clips && clipFigures(prediction, target, clips, units, facts),
    perKey: keys && keyFigures(prediction, target, keys),
    notes,
  };
}

function constantNotes(values: Float64Array, name: string): string[] {
  const [first = 0] = values;
  if (values.some((value) => value !== first)) return [];
  return [`All ${name} are ${first}, so correlations are undefined.`];
}

/** Figures over the means of clips. Drawing a key draws all of its clips. */
function clipFigures(
  prediction: Float64Array,
  target: Float64Array,
  clips: Groups,
  { count, of: unitOf }: Units,
  facts: BootstrapFacts | null,
): ClipAgreement {
  const sample = sampleOf(meansOf(prediction, clips), meansOf(target, clips));
  const of = new Uint32Array(clips.names.length);
  for (let i = 0; i < clips.of.length; i++) of[clips.of[i]!] = unitOf[i]!;
  return { ...agreementOf(sample), intervals: facts && bootstrap(sample, { count, of }, facts) };
}

function meansOf(values: Float64Array, { names, of }: Groups): Float64Array {
  const sums = new Float64Array(names.length);
  const counts = new Uint32Array(names.length);
  for (let i = 0; i < values.length; i++) {
    const group = of[i]!;
    sums[group]! += values[i]!;
    counts[group]!++;
  }
  return sums.map((sum, group) => sum / counts[group]!);
}

function keyFigures(prediction: Float64Array, target: Float64Array, { names, of }: Groups): KeyAgreement[] {
  const members = names.map((): number[] => []);
  for (let i = 0; i < of.length; i++) members[of[i]!]!.push(i);
  return names.map((key, k) => {
    const rows = members[k]!;
    const predicted = Float64Array.from(rows, (i) => prediction[i]!);
    const targets = Float64Array.from(rows, (i) => target[i]!);
    const means = { mean_prediction: mean(predicted), mean_target: mean(targets) };
    return { key, ...agreementOf(sampleOf(predicted, targets)), ...means };
  });
}
