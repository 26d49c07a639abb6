/**
 * @module evaluate/evaluation
 * Evaluates tiny models on a table of features (a file, a Blob or bytes). Table and model are untrusted, so a thread
 * that can be terminated reads and evaluates them.
 */
import { requireAttached, requireObject, requireText, requireTexts, wrongType } from '../core/arguments.js';
import { TINY_PRECISIONS } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { checkOrigin, type Origin } from '../core/origin.js';
import { among, optional, whole } from '../core/shapes.js';
import { openBytes } from '../media/open.js';
import type { ByteReader, FilePlatform } from '../media/types.js';
import { Parser } from '../parsing/parser.js';
import type { ParserWorker } from '../parsing/protocol.js';
import type { TinyPlatform } from '../tiny/types.js';
import type { Comparison, EvaluateOptions, Evaluation } from './evaluate.js';
import { parseSplit } from './table/columns.js';

/** A Parquet file: its path or file URL, a `File` or Blob, or its bytes. */
export type TableInput = string | URL | Blob | Uint8Array;

export interface EvaluationPlatform {
  readonly files: FilePlatform;
  tiny(): Promise<TinyPlatform>;
  startParser(): ParserWorker;
  /** First message to the thread. */
  evaluationTask(): unknown;
}

// --- messages to the thread ---

export interface EvaluationSettings {
  /** URL of the built-in models' folder, ending in `/`. Browsers may omit it for the package's own folder. */
  readonly models?: string;
  /** Who named the models; absent in browsers. */
  readonly origin?: Origin;
  /** Browsers: base URL of relative model addresses, and the URL of onnxruntime-web. */
  readonly base?: string;
  readonly onnxruntime?: string;
}

export interface LentTable {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

interface EvaluationRequest {
  readonly table: LentTable;
  readonly options: Omit<EvaluateOptions, 'signal'>;
}

/** Calls of a thread; each thread runs one evaluation. */
export interface EvaluationCalls {
  evaluate(request: EvaluationRequest & { readonly model: string }): Evaluation;
  compare(request: EvaluationRequest & { readonly models: readonly string[] }): Comparison;
}

// --- the calling side ---

/** Implements the public `evaluateModel`. */
export async function evaluateModelOn(
  platform: EvaluationPlatform,
  model: string,
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  requireText('model', model, 'the id or the path of a tiny model');
  return withTable(platform, features, options, (parser, asked) =>
    parser.call('evaluate', { ...asked, model }, { signal: options.signal }),
  );
}

/** Implements the public `compareModels`. */
export async function compareModelsOn(
  platform: EvaluationPlatform,
  models: readonly string[],
  features: TableInput,
  options: EvaluateOptions = {},
): Promise<Comparison> {
  requireTexts('models', models);
  return withTable(platform, features, options, (parser, asked) =>
    parser.call('compare', { ...asked, models }, { signal: options.signal }),
  );
}

async function withTable<T>(
  platform: EvaluationPlatform,
  features: TableInput,
  options: EvaluateOptions,
  use: (parser: Parser<EvaluationCalls>, asked: EvaluationRequest) => Promise<T>,
): Promise<T> {
  requireObject('options', options);
  checkOptions(options);
  requireTable(features);
  checkOrigin(options.origin);
  const { signal, ...rest } = options;
  signal?.throwIfAborted();
  const name = nameOf(features);
  const reader = await openTable(features, name, platform.files);
  try {
    // Not in the thread, which may be terminated.
    await (await platform.tiny()).runtimes.obtain?.(options.device ?? 'auto', signal);
  } catch (error) {
    reader.close();
    throw error;
  }
  const parser = new Parser<EvaluationCalls>(platform.startParser(), platform.evaluationTask());
  parser.lend(reader);
  try {
    return await use(parser, { table: { name, size: reader.size }, options: rest });
  } finally {
    parser.close();
    reader.close();
  }
}

function requireTable(features: TableInput): void {
  const expected = 'a table of features: the path or file URL of a Parquet file, a Blob, or its bytes';
  if (typeof features === 'string') return;
  requireAttached('features', features);
  if (ArrayBuffer.isView(features) && features instanceof Uint8Array) return;
  requireObject('features', features, expected);
  if (!(features instanceof URL || features instanceof Blob)) throw wrongType('features', features, expected);
}

/** Checks options beyond their types. */
function checkOptions({ split, resamples, seed, crf, threads, precision }: EvaluateOptions): void {
  if (split !== undefined) parseSplit(split);
  optional(whole(0, 100_000))('resamples', resamples);
  optional(whole(0, 0xffffffff))('seed', seed);
  optional(whole(0, 1024))('threads', threads);
  optional(among(TINY_PRECISIONS))('precision', precision);
  if (crf !== undefined && !(crf >= 0 && crf <= 63))
    throw usageError(`crf is ${crf}, but it must be from 0 to 63.`);
}

function nameOf(features: TableInput): string {
  if (typeof features === 'string') return features;
  if (features instanceof URL) return features.href;
  return 'name' in features && typeof features.name === 'string' ? features.name : 'the table';
}

async function openTable(features: TableInput, name: string, files: FilePlatform): Promise<ByteReader> {
  const file = await openBytes(features, name, files);
  if (file.kind === 'random') return file.reader;
  file.stream.close();
  throw usageError(
    `${name} is a stream, but Parquet metadata is at the end of the file; pass a regular file.`,
  );
}
