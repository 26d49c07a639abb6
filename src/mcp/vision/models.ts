/**
 * @module mcp/vision/models
 * The vision-language models that can describe a picture, the preferred first, and how each is asked.
 */
import type { RgbImage } from '../../index.js';
import type { GenerativeModel, LoadOptions, ModelInputs, VisionLibrary } from './library.js';

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
    const options = withProgress(onProgress);
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
    const options = withProgress(onProgress);
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
export const VISION_MODELS: readonly VisionModel[] = [smolVlm, moondream2];

function withProgress(onProgress: LoadOptions['progress_callback']): LoadOptions {
  return onProgress ? { progress_callback: onProgress } : {};
}

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
