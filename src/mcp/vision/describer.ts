/**
 * @module mcp/vision/describer
 * Finds a vision-language model that runs here, once, and asks it what it sees.
 */
import { onAbort, unlessAborted } from '../../core/abort.js';
import type { RgbImage } from '../../index.js';
import { importVisionLibrary, VISION_PACKAGE, type VisionLibrary } from './library.js';
import { type LoadedModel, VISION_MODELS, type VisionModel } from './models.js';

/** A model that describes pictures. */
export interface Describer {
  readonly modelId: string;
  /**
   * What it sees.
   * @throws whatever the model does; the signal's reason when it aborts
   */
  describe(image: RgbImage, question: string, signal: AbortSignal): Promise<string>;
}

/** No model runs here, and how to get one. */
export interface NoDescriber {
  readonly modelId: null;
  /** A phrase for people: what to install, or why nothing loads. */
  readonly hint: string;
}

/** Where to search for one; everything has a default. */
export interface DescriberOptions {
  /** Default: the installed package. */
  readonly library?: () => Promise<VisionLibrary>;
  readonly models?: readonly VisionModel[];
  /** Told while files of a model are fetched. */
  readonly onProgress?: (message: string) => void;
}

/** Longest side of a picture as models see it; both make smaller parts of it themselves. */
export const DESCRIBED_SIDE = 1024;

/** Whether an import failed because there is no such package. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
    error.message.includes(VISION_PACKAGE)
  );
}

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

/** Tries the models in turn; never throws. */
export async function findDescriber(options: DescriberOptions = {}): Promise<Describer | NoDescriber> {
  const { library: load = importVisionLibrary, models = VISION_MODELS, onProgress } = options;
  let library: VisionLibrary;
  try {
    library = await load();
  } catch (error) {
    const hint = isMissing(error)
      ? `install with npm install ${VISION_PACKAGE}, then restart the server`
      : `${VISION_PACKAGE} does not load: ${reason(error)}`;
    return { modelId: null, hint };
  }
  const failures: string[] = [];
  for (const model of models) {
    try {
      const loaded = await model.load(library, ({ status, file, progress }) => {
        if (status !== 'progress' || file === undefined) return;
        onProgress?.(`fetching ${model.id}: ${file} ${Math.floor(progress ?? 0)} %`);
      });
      return describer(model.id, loaded, library);
    } catch (error) {
      failures.push(`${model.id}: ${reason(error)}`);
    }
  }
  return { modelId: null, hint: `no model loads (${failures.join('; ')})` };
}

function describer(modelId: string, model: LoadedModel, library: VisionLibrary): Describer {
  return {
    modelId,
    async describe(image, question, signal) {
      signal.throwIfAborted();
      const Criteria = library.InterruptableStoppingCriteria;
      const criteria = Criteria && new Criteria();
      const forget = onAbort(signal, () => criteria?.interrupt());
      try {
        const said = await unlessAborted(
          signal,
          model.ask(image, question, criteria ? { stopping_criteria: criteria } : {}),
        );
        return said.replace(/\s+/g, ' ').trim();
      } finally {
        forget();
      }
    },
  };
}

let found: Promise<Describer | NoDescriber> | undefined;

/** {@link findDescriber}, once for the life of the process: models take seconds to load and gigabytes to hold. */
export function sharedDescriber(onProgress: (message: string) => void): Promise<Describer | NoDescriber> {
  found ??= findDescriber({ onProgress });
  return found;
}
