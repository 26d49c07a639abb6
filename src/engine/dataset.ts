/**
 * @module engine/dataset
 * Builds a table of features, one row per frame of each pair, for training and evaluating models.
 */
import { requireArray, requireObject, requireText, requireTexts } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import type { OptionsOf } from '../core/options.js';
import { sentence } from '../core/printable.js';
import { columnFor } from '../evaluate/table/columns.js';
import { DatasetWriter } from '../evaluate/table/write.js';
import type { VideoInput } from '../media/types.js';
import { EXTRACTORS } from '../metrics/extractors.js';
import { folderOption } from '../metrics/options.js';
import type { Report } from '../report/schema.js';
import { CANONICAL_FEATURES } from '../tiny/features.js';
import type { Platform } from './contract/platform.js';
import type { Progress, ScoreOptions, ScoreRequest } from './contract/types.js';
import { scorePair } from './score.js';

/** A pair of videos with its labels. */
export interface DatasetPair extends ScoreRequest {
  readonly reference: VideoInput;
  /**
   * Name of the source. Rows of one key always belong to one split, so all encodes of a source need the same key.
   * Default: the reference's file name without extension.
   */
  readonly key?: string | number;
  /** Distinguishes the encodes of a key. Default: the distorted file's name without extension. */
  readonly clip?: string;
  /** Opinion score of the clip, written into each of its rows. Either all pairs have one or no pair has. */
  readonly mos?: number;
}

/** Table contents and measuring options. */
export interface DatasetOptions
  extends OptionsOf<'dataset'>,
    Pick<ScoreOptions, 'gate' | 'keep' | 'origin' | 'samples'> {
  /**
   * A model string whose score of each frame becomes the column `teacher`; its inputs become columns too. Its score is
   * also the column `mos` if the pairs have no `mos`.
   */
  readonly teacher?: string;
  /** As {@link ScoreOptions.onProgress}, for the pair of this index. */
  readonly onProgress?: (progress: Progress, index: number) => void;
}

/** Summary of the written table. */
export interface DatasetSummary {
  readonly rows: number;
  readonly pairs: number;
  readonly columns: readonly string[];
  /** Warnings of the pairs' runs: full sentences, each prefixed with the distorted video's name. */
  readonly warnings: readonly string[];
}

/** Extractors of the six canonical features. */
const EXTRACTED = ['adm', 'vif', 'motion'];

/** Yields the file in pieces. @throws {AnyvmafError} `usage` for pairs that do not fit one table; as scoring */
export async function* makeDataset(
  platform: Platform,
  pairs: readonly DatasetPair[],
  options: DatasetOptions = {},
): AsyncGenerator<Uint8Array, DatasetSummary, undefined> {
  requireArray('pairs', pairs, 'an array of pairs');
  for (const pair of pairs) requireObject('a pair', pair);
  requireObject('options', options);
  const { teacher, features = [], onProgress, ...rest } = options;
  requireTexts('features', features);
  if (teacher !== undefined) requireText('teacher', teacher, 'a model string');
  const known = distinctClips(pairs.map(checkPair), pairs);
  checkLabels(pairs);
  const folder = folderOption([...features, ...(teacher === undefined ? [] : [teacher])]);
  if (folder !== undefined) {
    throw usageError(
      `${folder} is for scoring a single pair and cannot be used for a table of features; leave it out.`,
    );
  }
  const given = pairs.some(({ mos }) => mos !== undefined);
  const requested = features.map((spec) => spec.split('=', 1)[0] ?? '');
  const warnings: string[] = [];
  let writer: DatasetWriter | undefined;
  for (const [index, pair] of pairs.entries()) {
    const { key, clip } = known[index] ?? { key: '', clip: '' };
    const { reference, distorted, raw } = pair;
    const report = await scorePair(
      platform,
      { reference, distorted, ...(raw && { raw }) },
      {
        ...rest,
        models: teacher === undefined ? [] : [teacher],
        noPrediction: teacher === undefined,
        features: [...EXTRACTED, ...features.filter((spec) => !EXTRACTED.includes(spec))],
        ...(onProgress && { onProgress: (progress) => onProgress(progress, index) }),
      },
    );
    for (const warning of report.warnings) warnings.push(sentence(`${report.distorted.name}: ${warning}`));
    const names = featureNames(report, requested);
    writer ??= new DatasetWriter({
      features: names,
      target: given || teacher !== undefined,
      teacher: teacher !== undefined,
      facts: facts(report, options, given),
    });
    checkSame(writer, names, report);
    const score = teacherOf(report)?.name;
    for (const { frameNum: frame, metrics } of report.frames) {
      const taught = score === undefined ? undefined : metrics[score];
      const mos = given ? pair.mos : taught;
      const piece = writer.add({ key, clip, frame, mos, teacher: taught, metrics });
      if (piece) yield piece;
    }
  }
  if (!writer) throw usageError('There are no pairs to make a table of; give at least one.');
  yield writer.end();
  return { rows: writer.rows, pairs: pairs.length, columns: writer.columns, warnings };
}

function checkPair({ key, clip, mos, reference, distorted }: DatasetPair, index: number) {
  const which = `pair ${index + 1}`;
  const keyText = key === undefined ? stemOf(reference) : String(key);
  if (keyText === undefined || keyText === '') {
    throw usageError(
      `The key of ${which} is missing, and its reference has no file name to derive it from; give a key.`,
    );
  }
  if (typeof key === 'number' && !Number.isInteger(key))
    throw usageError(`The key of ${which} is ${key}, but a numeric key must be a whole number.`);
  if (mos !== undefined && !Number.isFinite(mos))
    throw usageError(`The mos of ${which} is ${mos}, but it must be a finite number.`);
  return { key: keyText, clip: clip ?? stemOf(distorted) ?? `clip_${index}` };
}

/** Numbers clips of the same name to keep them distinct. */
function distinctClips(
  known: readonly { readonly key: string; readonly clip: string }[],
  pairs: readonly DatasetPair[],
) {
  const nameOf = (key: string, clip: string) => JSON.stringify([key, clip]);
  const taken = new Set(known.map(({ key, clip }) => nameOf(key, clip)));
  const seen = new Set<string>();
  return known.map(({ key, clip }, i) => {
    let own = clip;
    if (seen.has(nameOf(key, clip)) && pairs[i]?.clip === undefined)
      for (let n = 2; taken.has(nameOf(key, own)); n++) own = `${clip}_${n}`;
    seen.add(nameOf(key, clip));
    taken.add(nameOf(key, own));
    return { key, clip: own };
  });
}

function checkLabels(pairs: readonly DatasetPair[]): void {
  const without = pairs.findIndex(({ mos }) => mos === undefined);
  if (without >= 0 && pairs.some(({ mos }) => mos !== undefined)) {
    throw usageError(
      `Pair ${without + 1} has no mos, but others do; give one to each pair, or to none and name a teacher.`,
    );
  }
}

/** A file's name without folders and extension; `undefined` for inputs without a name. */
function stemOf(input: VideoInput): string | undefined {
  const name =
    typeof input === 'string' && input !== '-'
      ? input
      : input instanceof URL
        ? decodeURIComponent(input.pathname)
        : typeof File !== 'undefined' && input instanceof File
          ? input.name
          : undefined;
  const stem = name?.replace(/^.*[\\/]/, '').replace(/(?<=.)\.[^.]*$/, '');
  return stem === '' ? undefined : stem;
}

/**
 * The features that become columns: the six canonical ones, those of requested extractors, and the teacher's inputs; no
 * scores, and no other features of the canonical ones' extractors.
 */
function featureNames(report: Report, requested: readonly string[]): string[] {
  const names = new Set(report.frames.flatMap(({ metrics }) => Object.keys(metrics)));
  const inputs = new Set(report.models.flatMap(({ features }) => features));
  const scores = new Set(
    report.models.flatMap(({ name, collection }) =>
      collection
        ? [name, collection.bagging, collection.stddev, collection.ciLow, collection.ciHigh]
        : [name],
    ),
  );
  const beside = new Set(
    EXTRACTORS.filter(({ name }) => EXTRACTED.includes(name) && !requested.includes(name)).flatMap(
      ({ features }) => features.map(({ alias }) => alias),
    ),
  );
  return [...names].filter((name) => {
    if (scores.has(name)) return false;
    return CANONICAL_FEATURES.includes(columnFor(name)) || inputs.has(name) || !beside.has(name);
  });
}

/** The last model: those of presets come before it. */
function teacherOf({ models }: Report): Report['models'][number] | undefined {
  return models.at(-1);
}

function facts(report: Report, { teacher, compat }: DatasetOptions, given: boolean): Record<string, string> {
  return {
    'anyvmaf.mos': given ? 'given' : teacher === undefined ? 'none' : 'teacher',
    ...(teacher !== undefined && { 'anyvmaf.teacher': teacherOf(report)?.source ?? teacher }),
    ...(compat !== undefined && { 'anyvmaf.compat': compat }),
  };
}

/** All pairs must have the columns of the first: grey videos have fewer. */
function checkSame(writer: DatasetWriter, names: readonly string[], report: Report): void {
  const further = names.map(columnFor).filter((name) => !writer.columns.includes(name));
  if (further.length === 0) return;
  throw usageError(
    `${report.distorted.name} has the features ${further.join(', ')}, which the first pair lacks`,
    { hints: ['make a separate table for it', { purpose: 'omit', option: 'features' }] },
  );
}
