/**
 * @module mcp/scoring/model-files
 * Where the models that ship with the package lie, and how large they are.
 */
import { stat } from 'node:fs/promises';
import { listModels, type ModelSummary } from '../../index.js';

/** A model of the package as a file. */
export interface ModelFileFacts {
  readonly summary: ModelSummary;
  /** Within the package, `model/NAME.json`. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** The models of the package, the default first. */
export async function builtInModels(): Promise<readonly ModelFileFacts[]> {
  const models = await listModels();
  return Promise.all(
    models.map(async (summary) => {
      const path = `model/${summary.name}.json`;
      const { size } = await stat(new URL(`../../../${path}`, import.meta.url));
      return { summary, path, sizeBytes: size };
    }),
  );
}
