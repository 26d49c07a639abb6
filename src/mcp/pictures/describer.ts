/**
 * @module mcp/pictures/describer
 * Finds a vision-language model that runs here, once, and asks it what it sees. The types of `@huggingface/transformers` that this
 * needs are declared here, as the package is optional and usually missing.
 */
import { onAbort, unlessAborted } from '../../core/abort.js';
import type { RgbImage } from '../../index.js';

/** A tensor of numbers of tokens: rows of the batch, tokens of a row. */
export interface TokenTensor {
  readonly dims: readonly number[];
  slice(...ranges: readonly (null | readonly [number, number | null])[]): TokenTensor;
}

/** Named inputs of a model. */
export type ModelInputs = Readonly<Record<string, unknown>>;

/** Prepares pictures, and for SmolVLM the text as well. */
export interface Processor {
  (...inputs: readonly unknown[]): Promise<ModelInputs>;
  apply_chat_template(
    messages: readonly unknown[],
    options: { readonly add_generation_prompt: boolean },
  ): string;
  batch_decode(tokens: TokenTensor, options: { readonly skip_special_tokens: boolean }): string[];
}

/** Turns text into tokens and back. */
export interface Tokenizer {
  (text: string): ModelInputs;
  batch_decode(tokens: TokenTensor, options: { readonly skip_special_tokens: boolean }): string[];
}

/** A loaded model. */
export interface GenerativeModel {
  generate(inputs: ModelInputs): Promise<TokenTensor>;
}

/** How a model is loaded: which of its files, in which precision. */
export interface LoadOptions {
  readonly dtype?: Readonly<Record<string, string>>;
  readonly progress_callback?: (event: {
    readonly status?: string;
    readonly file?: string;
    readonly progress?: number;
  }) => void;
}

/** Loads something by the name of a repository. */
export interface Loader<T> {
  from_pretrained(repository: string, options?: LoadOptions): Promise<T>;
}

/** The package. */
export interface VisionLibrary {
  readonly AutoProcessor: Loader<Processor>;
  readonly AutoTokenizer: Loader<Tokenizer>;
  readonly AutoModelForVision2Seq: Loader<GenerativeModel>;
  readonly Moondream1ForConditionalGeneration: Loader<GenerativeModel>;
  readonly RawImage: new (data: Uint8Array, width: number, height: number, channels: 3) => unknown;
  /** Absent in old versions. */
  readonly InterruptableStoppingCriteria?: new () => { interrupt(): void };
}

/** The package's name; a variable, so that neither compiler nor bundler resolves it. */
export const VISION_PACKAGE: string = '@huggingface/transformers';

/**
 * The installed package.
 * @throws whatever importing it throws, and an `Error` if it lacks classes that are needed
 */
export async function importVisionLibrary(): Promise<VisionLibrary> {
  const found: unknown = await import(VISION_PACKAGE);
  if (!isVisionLibrary(found))
    throw new Error('its version lacks classes that are needed, version 3 or later has them');
  return found;
}

function isVisionLibrary(found: unknown): found is VisionLibrary {
  if (typeof found !== 'object' || found === null) return false;
  const names = ['AutoProcessor', 'AutoTokenizer', 'AutoModelForVision2Seq', 'RawImage'] as const;
  return names.every((name) => name in found && typeof Reflect.get(found, name) === 'function');
}

/** A model that is loaded and can be asked. */
export interface LoadedModel {
  /** @param extra further inputs of the generation */
  ask(image: RgbImage, question: string, extra: ModelInputs): Promise<string>;
}

/** A model that can be loaded. */
export interface VisionModel {
  /** The name in results: the one that people know. */
  readonly id: string;
  /** Where its ONNX files are. */
  readonly repository: string;
  load(library: VisionLibrary, onProgress: LoadOptions['progress_callback']): Promise<LoadedModel>;
}

/** Tokens of an answer at most: a few sentences. */
const MAX_TOKENS = 128;

/** Decoders in four bits, the rest as published for this use: both run on a CPU within 4 GB. */
const DTYPES = { embed_tokens: 'fp16', vision_encoder: 'q8', decoder_model_merged: 'q4' } as const;

const smolVlm: VisionModel = {
  id: 'HuggingFaceTB/SmolVLM-Instruct',
  repository: 'HuggingFaceTB/SmolVLM-Instruct',
  async load(library, onProgress) {
    const options = { progress_callback: onProgress };
    const processor = await library.AutoProcessor.from_pretrained(this.repository, options);
    const model = await library.AutoModelForVision2Seq.from_pretrained(this.repository, {
      ...options,
      dtype: DTYPES,
    });
    return {
      async ask(image, question, extra) {
        const content = [{ type: 'image' }, { type: 'text', text: question }];
        const text = processor.apply_chat_template([{ role: 'user', content }], {
          add_generation_prompt: true,
        });
        const inputs = await processor(text, [rawImage(library, image)]);
        const tokens = await generate(model, inputs, extra);
        const answer = tokens.slice(null, [promptLength(inputs), null]);
        return processor.batch_decode(answer, { skip_special_tokens: true })[0] ?? '';
      },
    };
  },
};

const moondream2: VisionModel = {
  id: 'vikhyatk/moondream2',
  repository: 'Xenova/moondream2',
  async load(library, onProgress) {
    const options = { progress_callback: onProgress };
    const [processor, tokenizer] = await Promise.all([
      library.AutoProcessor.from_pretrained(this.repository, options),
      library.AutoTokenizer.from_pretrained(this.repository, options),
    ]);
    const model = await library.Moondream1ForConditionalGeneration.from_pretrained(this.repository, {
      ...options,
      dtype: DTYPES,
    });
    return {
      async ask(image, question, extra) {
        const text = tokenizer(`<image>\n\nQuestion: ${question}\n\nAnswer:`);
        const inputs = { ...text, ...(await processor(rawImage(library, image))) };
        const tokens = await generate(model, inputs, extra);
        const [said = ''] = tokenizer.batch_decode(tokens, { skip_special_tokens: true });
        // It repeats the question.
        return said.slice(said.lastIndexOf('Answer:') + 'Answer:'.length);
      },
    };
  },
};

/** SmolVLM, then Moondream2. */
const VISION_MODELS: readonly VisionModel[] = [smolVlm, moondream2];

function rawImage({ RawImage }: VisionLibrary, { data, width, height }: RgbImage): unknown {
  return new RawImage(data, width, height, 3);
}

function generate(model: GenerativeModel, inputs: ModelInputs, extra: ModelInputs) {
  return model.generate({ ...inputs, ...extra, do_sample: false, max_new_tokens: MAX_TOKENS });
}

/** Tokens of the prompt, which come back before those of the answer. */
function promptLength({ input_ids: ids }: ModelInputs): number {
  if (typeof ids !== 'object' || ids === null || !('dims' in ids) || !Array.isArray(ids.dims)) return 0;
  const length: unknown = ids.dims.at(-1);
  return typeof length === 'number' ? length : 0;
}

/** A model that describes pictures. */
export interface Describer {
  readonly modelId: string;
  /**
   * Answers a question about a picture.
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
