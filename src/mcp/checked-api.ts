/**
 * @module mcp/checked-api
 * The public functions that open files, typed for tools: only with checked paths and models, and an origin.
 */

import type { BenchOptions, BenchResult } from '../bench/run.js';
import * as api from '../index.js';
import type { CheckedModel, CheckedPath } from './paths.js';

/** A pair of videos; without a reference for no-reference scores. */
export interface CheckedRequest {
  readonly reference?: CheckedPath;
  readonly distorted: CheckedPath;
  readonly raw?: api.RawVideoFormat;
}

/** Options whose file names are checked. */
export type CheckedOptions<Options> = Omit<Options, 'models' | 'tiny'> & {
  readonly models?: readonly CheckedModel[];
  readonly tiny?: readonly (api.TinyModelOptions & { readonly model: CheckedModel })[];
};

type Call = (...args: never[]) => unknown;
type FromCall<Options> = CheckedOptions<NonNullable<Options>> & { readonly origin: api.Origin };
type OnPair<F extends Call> = (request: CheckedRequest, options: FromCall<Parameters<F>[1]>) => ReturnType<F>;
type OnVideo<F extends Call> = (video: CheckedPath, options: FromCall<Parameters<F>[1]>) => ReturnType<F>;
type OnTable<F extends Call, Models> = (
  models: Models,
  table: CheckedPath,
  options: FromCall<Parameters<F>[2]>,
) => ReturnType<F>;

export const score: OnPair<typeof api.score> = api.score;
export const inspect: OnPair<typeof api.inspect> = api.inspect;
export const describeVideo: OnVideo<typeof api.describeVideo> = api.describeVideo;
export const align: OnPair<typeof api.align> = api.align;

export const scoreMany: (
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: FromCall<api.ScoreManyOptions>,
) => ReturnType<typeof api.scoreMany> = api.scoreMany;

/** @param options `onResult` receives each job's report as it ends, or its error */
export const scoreBatch = async (
  jobs: readonly CheckedRequest[],
  {
    onResult,
    ...options
  }: FromCall<api.BatchOptions> & {
    readonly onResult: (result: api.Report | api.AnyvmafError, index: number) => void;
  },
): Promise<void> => {
  for await (const { index, report, error } of api.scoreBatch(jobs, options))
    onResult(report ?? error ?? new api.AnyvmafError('internal', 'The pair has no result.'), index);
};

export const extractFrames: (
  request: CheckedRequest,
  frames: readonly number[],
  options: FromCall<api.ExtractOptions>,
) => ReturnType<typeof api.extractFrames> = api.extractFrames;

export const searchQuality: OnVideo<typeof api.searchQuality> = api.searchQuality;
export const buildLadder: OnVideo<typeof api.buildLadder> = api.buildLadder;
export const compareEncoders: OnVideo<typeof api.compareEncoders> = api.compareEncoders;
export const tuneShots: OnVideo<typeof api.tuneShots> = api.tuneShots;
export const openModel: (
  model: CheckedModel,
  options: FromCall<api.OpenModelOptions>,
) => ReturnType<typeof api.openModel> = api.openModel;

export const evaluateModel: OnTable<typeof api.evaluateModel, CheckedModel> = api.evaluateModel;
export const compareModels: OnTable<typeof api.compareModels, readonly CheckedModel[]> = api.compareModels;

/** Takes no paths: the benchmark makes its own videos. */
export const runBenchmark = async (options: BenchOptions): Promise<BenchResult> =>
  (await import('../bench/run.js')).runBenchmark(options);
