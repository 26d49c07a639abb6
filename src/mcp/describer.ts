/**
 * @module mcp/describer
 * Finds a vision-language model that runs here. Declares the types that it needs of an optional package.
 */
import { onAbort, unlessAborted } from '../core/abort.js';
import { messageOf } from '../core/errors.js';
import type { RgbImage } from '../index.js';

/** Token ids, of shape [batch, tokens]. */
export interface TokenTensor {
  readonly dims: readonly number[];
  slice(...ranges: readonly (null | readonly [number, number | null])[]): TokenTensor;
}

export type ModelInputs = Readonly<Record<string, unknown>>;

/** Prepares pictures and, for SmolVLM, text. */
export interface Processor {
  (...inputs: readonly unknown[]): Promise<ModelInputs>;
  apply_chat_template(
    messages: readonly unknown[],
    options: { readonly add_generation_prompt: boolean },
  ): string;
  batch_decode(tokens: TokenTensor, options: { readonly skip_special_tokens: boolean }): string[];
}

export interface Tokenizer {
  (text: string): ModelInputs;
  batch_decode(tokens: TokenTensor, options: { readonly skip_special_tokens: boolean }): string[];
}

export interface GenerativeModel {
  generate(inputs: ModelInputs): Promise<TokenTensor>;
}

export interface LoadOptions {
  /** Precision of each file. */
  readonly dtype?: Readonly<Record<string, string>>;
  readonly progress_callback?: (event: { status?: string; file?: string; progress?: number }) => void;
}

export interface Loader<T> {
  from_pretrained(repository: string, options?: LoadOptions): Promise<T>;
}

export interface VisionLibrary {
  readonly AutoProcessor: Loader<Processor>;
  readonly AutoTokenizer: Loader<Tokenizer>;
  readonly AutoModelForVision2Seq: Loader<GenerativeModel>;
  readonly Moondream1ForConditionalGeneration: Loader<GenerativeModel>;
  readonly RawImage: new (data: Uint8Array, width: number, height: number, channels: 3) => unknown;
  /** Absent in old versions. */
  readonly InterruptableStoppingCriteria?: new () => { interrupt(): void };
}

/** A variable, so that compiler and bundlers do not resolve the package. */
export const VISION_PACKAGE: string = '@huggingface/transformers';

/** @throws errors of the import, and an `Error` if the package lacks necessary classes */
export async function importVisionLibrary(): Promise<VisionLibrary> {
  const found: unknown = await import(VISION_PACKAGE);
  if (!isVisionLibrary(found))
    throw new Error('its version lacks required classes, which version 3 or later has');
  return found;
}

function isVisionLibrary(found: unknown): found is VisionLibrary {
  if (typeof found !== 'object' || found === null) return false;
  const names = ['AutoProcessor', 'AutoTokenizer', 'AutoModelForVision2Seq', 'RawImage'] as const;
  return names.every((name) => name in found && typeof Reflect.get(found, name) === 'function');
}

/** Answers a question about a picture. @param extra inputs of the generation */
type Ask = (image: RgbImage, question: string, extra: ModelInputs) => Promise<string>;

/** A few sentences. */
const MAX_TOKENS = 128;
/** With four-bit decoders both models run on a CPU within 4 GB. */
const DTYPES = { embed_tokens: 'fp16', vision_encoder: 'q8', decoder_model_merged: 'q4' } as const;

const SMOL_VLM = 'HuggingFaceTB/SmolVLM-Instruct';

async function loadSmolVlm(library: VisionLibrary, options: LoadOptions): Promise<Ask> {
  const processor = await library.AutoProcessor.from_pretrained(SMOL_VLM, options);
  const precise = { ...options, dtype: DTYPES };
  const model = await library.AutoModelForVision2Seq.from_pretrained(SMOL_VLM, precise);
  return async (image, question, extra) => {
    const content = [{ type: 'image' }, { type: 'text', text: question }];
    const messages = [{ role: 'user', content }];
    const text = processor.apply_chat_template(messages, { add_generation_prompt: true });
    const inputs = await processor(text, [rawImage(library, image)]);
    const tokens = await generate(model, inputs, extra);
    const answer = tokens.slice(null, [promptLength(inputs), null]);
    return processor.batch_decode(answer, { skip_special_tokens: true })[0] ?? '';
  };
}

/** Repository of Moondream's ONNX files. */
const MOONDREAM = 'Xenova/moondream2';

async function loadMoondream(library: VisionLibrary, options: LoadOptions): Promise<Ask> {
  const [processor, tokenizer] = await Promise.all([
    library.AutoProcessor.from_pretrained(MOONDREAM, options),
    library.AutoTokenizer.from_pretrained(MOONDREAM, options),
  ]);
  const precise = { ...options, dtype: DTYPES };
  const model = await library.Moondream1ForConditionalGeneration.from_pretrained(MOONDREAM, precise);
  return async (image, question, extra) => {
    const text = tokenizer(`<image>\n\nQuestion: ${question}\n\nAnswer:`);
    const inputs = { ...text, ...(await processor(rawImage(library, image))) };
    const tokens = await generate(model, inputs, extra);
    const [output = ''] = tokenizer.batch_decode(tokens, { skip_special_tokens: true });
    // The output repeats the question.
    return output.slice(output.lastIndexOf('Answer:') + 'Answer:'.length);
  };
}

/** By their names in results, in order of preference. */
const VISION_MODELS = { [SMOL_VLM]: loadSmolVlm, 'vikhyatk/moondream2': loadMoondream } as const;

function rawImage({ RawImage }: VisionLibrary, { data, width, height }: RgbImage): unknown {
  return new RawImage(data, width, height, 3);
}

function generate(model: GenerativeModel, inputs: ModelInputs, extra: ModelInputs) {
  return model.generate({ ...inputs, ...extra, do_sample: false, max_new_tokens: MAX_TOKENS });
}

/** Tokens of the prompt, which the output repeats before the answer. */
function promptLength({ input_ids: ids }: ModelInputs): number {
  if (typeof ids !== 'object' || ids === null || !('dims' in ids) || !Array.isArray(ids.dims)) return 0;
  const length: unknown = ids.dims.at(-1);
  return typeof length === 'number' ? length : 0;
}

export interface Describer {
  readonly modelId: string;
  /** @throws errors of the model; the signal's reason */
  describe(image: RgbImage, question: string, signal: AbortSignal): Promise<string>;
}

export interface NoDescriber {
  readonly modelId: null;
  /** What to install, or why nothing loads, as a phrase for people. */
  readonly hint: string;
}

/** Longest side of a picture for the models, in samples; both split it themselves. */
export const DESCRIBED_SIDE = 1024;

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
    error.message.includes(VISION_PACKAGE)
  );
}

/** An error's message on one short line. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\s+/g, ' ').trim().slice(0, 200);
}

/**
 * Tries the models in turn; never throws.
 * @param onProgress called while files of a model are downloaded
 * @param load replaced in tests
 */
export async function findDescriber(
  onProgress: (message: string) => void,
  load = importVisionLibrary,
): Promise<Describer | NoDescriber> {
  let library: VisionLibrary;
  try {
    library = await load();
  } catch (error) {
    const hint = isMissing(error)
      ? `install with npm install ${VISION_PACKAGE}, then restart the server`
      : `${VISION_PACKAGE} could not be loaded: ${reasonOf(error)}`;
    return { modelId: null, hint };
  }
  const failures: string[] = [];
  for (const [modelId, loadModel] of Object.entries(VISION_MODELS)) {
    try {
      const ask = await loadModel(library, {
        progress_callback({ status, file, progress }) {
          if (status !== 'progress' || file === undefined) return;
          onProgress(`fetching ${modelId}: ${file} ${Math.floor(progress ?? 0)} %`);
        },
      });
      return { modelId, describe: interruptible(ask, library) };
    } catch (error) {
      failures.push(`${modelId}: ${reasonOf(error)}`);
    }
  }
  return { modelId: null, hint: `no model could be loaded (${failures.join('; ')})` };
}

function interruptible(
  ask: Ask,
  { InterruptableStoppingCriteria: Criteria }: VisionLibrary,
): Describer['describe'] {
  return async (image, question, signal) => {
    signal.throwIfAborted();
    const criteria = Criteria && new Criteria();
    const forget = onAbort(signal, () => criteria?.interrupt());
    const answer = ask(image, question, criteria ? { stopping_criteria: criteria } : {});
    try {
      return (await unlessAborted(signal, answer)).replace(/\s+/g, ' ').trim();
    } finally {
      forget();
    }
  };
}

let found: Promise<Describer | NoDescriber> | undefined;

/**
 * {@link findDescriber}, until it finds one: models take seconds to load and gigabytes of memory.
 * @param find replaced in tests
 */
export async function sharedDescriber(
  onProgress: (message: string) => void,
  find = findDescriber,
): Promise<Describer | NoDescriber> {
  found ??= find(onProgress);
  const asked = found;
  const describer = await asked;
  // A download that failed may succeed later.
  if (describer.modelId === null && found === asked) found = undefined;
  return describer;
}
