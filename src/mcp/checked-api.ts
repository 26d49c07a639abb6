/**
 * @module mcp/checked-api
 * The functions of the public API that open files, as tools call them: only with checked paths and models, and always
 * with the origin of the call, by which each file is checked again when it is opened.
 */
import * as api from '../index.js';
import type { CheckedModel, CheckedPath } from './paths.js';

/** A pair of videos; without a reference where the distorted one is scored by itself. */
export interface CheckedRequest {
  readonly reference?: CheckedPath;
  readonly distorted: CheckedPath;
  readonly raw?: api.RawVideoFormat;
}

/** Options of which those that name files are checked. */
export type CheckedOptions<Options> = Omit<Options, 'models' | 'tiny'> & {
  readonly models?: readonly CheckedModel[];
  readonly tiny?: readonly (api.TinyModelOptions & { readonly model: CheckedModel })[];
};

type FromCall<Options> = CheckedOptions<Options> & { readonly origin: api.Origin };

export const score: (
  request: CheckedRequest,
  options: FromCall<api.ScoreOptions>,
) => ReturnType<typeof api.score> = api.score;

export const scoreMany: (
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: FromCall<api.ScoreManyOptions>,
) => ReturnType<typeof api.scoreMany> = api.scoreMany;

export const inspect: (
  request: CheckedRequest,
  options: FromCall<api.InspectOptions>,
) => ReturnType<typeof api.inspect> = api.inspect;

export const align: (
  request: CheckedRequest,
  options: FromCall<api.AlignOptions>,
) => ReturnType<typeof api.align> = api.align;

export const extractFrames: (
  request: CheckedRequest,
  frames: readonly number[],
  options: FromCall<api.ExtractOptions>,
) => ReturnType<typeof api.extractFrames> = api.extractFrames;

export const openModel: (
  model: CheckedModel,
  options: FromCall<api.OpenModelOptions>,
) => ReturnType<typeof api.openModel> = api.openModel;

export const evaluateModel: (
  model: CheckedModel,
  table: CheckedPath,
  options: FromCall<api.EvaluateOptions>,
) => ReturnType<typeof api.evaluateModel> = api.evaluateModel;

export const compareModels: (
  models: readonly CheckedModel[],
  table: CheckedPath,
  options: FromCall<api.EvaluateOptions>,
) => ReturnType<typeof api.compareModels> = api.compareModels;
