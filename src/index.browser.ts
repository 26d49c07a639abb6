/**
 * @module index.browser
 * The public API of anyvmaf in browsers, in pages and in workers; documented in `index`, which has the same names.
 */
import { describeModel as describe, listModels as list } from './model/registry.js';
import { browserPlatform, configureBrowser } from './platform/browser/platform.js';
import type {
  Assets,
  ModelDescription,
  ModelSummary,
  Report,
  ScoreOptions,
  ScoreRequest,
  Scorer,
  ScorerOptions,
  VideoFormat,
} from './public.js';
import { scorePair } from './score/engine.js';
import { openScorer } from './score/scorer.js';

export * from './public.js';

/** Scores a distorted video against its reference. */
export function score(request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> {
  return scorePair(browserPlatform, request, options);
}

/** Opens a scorer for frames that the caller brings. */
export function createScorer(format: VideoFormat, options: ScorerOptions = {}): Promise<Scorer> {
  return openScorer(browserPlatform, format, options);
}

/** The models that ship with the package. */
export function listModels(): Promise<readonly ModelSummary[]> {
  return list(browserPlatform.models);
}

/** All about one model that ships with the package. */
export function describeModel(name: string): Promise<ModelDescription> {
  return describe(name, browserPlatform.models);
}

/** Says where the package's own files are, for programs whose bundler moved them. */
export function configure(assets: Assets): void {
  configureBrowser(assets);
}
