/**
 * @module index.browser
 * The public API of anyvmaf in browsers, in pages and in workers; documented in `index`, which has the same names.
 */
import { describeModel as describe, listModels as list } from './model/registry.js';
import { browserPlatform, configureBrowser } from './platform/browser/platform.js';
import type {
  AlignOptions,
  AlignResult,
  Assets,
  Inspection,
  InspectOptions,
  ModelDescription,
  ModelSummary,
  Report,
  ScoreManyOptions,
  ScoreOptions,
  ScoreRequest,
  Scorer,
  ScorerOptions,
  VideoFormat,
  VideoInput,
} from './public.js';

export * from './public.js';

/** Scores a distorted video against its reference. */
export async function score(request: ScoreRequest, options: ScoreOptions = {}): Promise<Report> {
  const { scorePair } = await import('./score/engine.js');
  return scorePair(browserPlatform, request, options);
}

/** Scores several distorted videos against one reference, which is decoded only once. */
export async function scoreMany(
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions = {},
): Promise<Report[]> {
  const { scoreEach } = await import('./score/many.js');
  return scoreEach(browserPlatform, reference, distorted, options);
}

/** Looks at a pair without scoring it. */
export async function inspect(request: ScoreRequest, options: InspectOptions = {}): Promise<Inspection> {
  const { inspectPair } = await import('./score/look.js');
  return inspectPair(browserPlatform, request, options);
}

/** Finds the offset at which two videos show the same pictures. */
export async function align(request: ScoreRequest, options: AlignOptions = {}): Promise<AlignResult> {
  const { alignPair } = await import('./score/look.js');
  return alignPair(browserPlatform, request, options);
}

/** Opens a scorer for frames that the caller brings. */
export async function createScorer(format: VideoFormat, options: ScorerOptions = {}): Promise<Scorer> {
  const { openScorer } = await import('./score/scorer.js');
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
