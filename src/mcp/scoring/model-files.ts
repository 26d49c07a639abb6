/**
 * @module mcp/scoring/model-files
 * The models that can be named, with the paths by which tools know them.
 */
import { listModels, type ModelSummary } from '../../index.js';

/** A model as a file. */
export interface ModelFileFacts {
  readonly summary: ModelSummary;
  /** Within the package, `model/FILE.json`; a model that is pulled answers to such a path as well. */
  readonly path: string;
}

/** The models of the package, the default first, then those that can be pulled. */
export async function builtInModels(): Promise<readonly ModelFileFacts[]> {
  const models = await listModels();
  return models.map((summary) => ({ summary, path: `model/${summary.file}` }));
}
