/**
 * @module mcp/vision/library
 * The few things of `@huggingface/transformers` that describing a picture needs, written down here because the package
 * is optional and usually not there.
 */

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

/** Something that is loaded by the name of a repository. */
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
 * @throws whatever importing it throws, and an `Error` when it is not what is needed
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
