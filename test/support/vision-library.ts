/**
 * @module test/support/vision-library
 * A stand-in for `@huggingface/transformers` without model, weights or network that records how it is used.
 */
import type { GenerativeModel, Loader, TokenTensor, VisionLibrary } from '../../src/mcp/describer.js';

/** Starts every answer of the stand-in. */
export const SAID = 'stand-in, not a model: it sees a picture of';

export interface StandInOptions {
  /** Why models do not load, by repository. */
  readonly broken?: Readonly<Record<string, string>>;
  /** Called before each answer. */
  readonly onGenerate?: (inputs: Readonly<Record<string, unknown>>) => Promise<void> | void;
}

class Picture {
  readonly size: string;

  constructor(data: Uint8Array, width: number, height: number, channels: 3) {
    if (data.length !== width * height * channels)
      throw new Error('the picture has the wrong number of bytes');
    this.size = `${width}x${height}`;
  }
}

class Tokens implements TokenTensor {
  readonly dims: readonly number[];
  readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.dims = [1, text.length];
  }

  slice(rows: null | readonly [number, number | null], columns?: null | readonly [number, number | null]) {
    if (rows !== null || !columns) throw new Error('only columns are cut');
    return new Tokens(this.text.slice(columns[0], columns[1] ?? undefined));
  }
}

/** A library and a record of its use. */
export function standIn({ broken = {}, onGenerate }: StandInOptions = {}) {
  const loaded: string[] = [];
  const questions: string[] = [];
  let interrupted = 0;

  const decode = (tokens: TokenTensor) => {
    if (!(tokens instanceof Tokens)) throw new Error('not tokens');
    return [tokens.text];
  };
  const sizeOf = (picture: unknown) => {
    if (!(picture instanceof Picture)) throw new Error('not a picture');
    return picture.size;
  };
  const model: GenerativeModel = {
    async generate(inputs) {
      await onGenerate?.(inputs);
      const { input_ids: prompt, size } = inputs;
      if (!(prompt instanceof Tokens)) throw new Error('no prompt');
      return new Tokens(`${prompt.text} ${SAID}\n ${String(size)}. `);
    },
  };
  const models: Loader<GenerativeModel> = {
    async from_pretrained(repository, options) {
      const why = broken[repository];
      if (why !== undefined) throw new Error(why);
      if (options?.dtype === undefined) throw new Error('no precision was asked for');
      options.progress_callback?.({ status: 'progress', file: 'weights', progress: 42.7 });
      loaded.push(repository);
      return model;
    },
  };
  const prompt = (text: string) => {
    questions.push(text);
    return new Tokens(text);
  };
  const library: VisionLibrary = {
    AutoProcessor: {
      from_pretrained: async () =>
        Object.assign(
          // SmolVLM takes text and pictures, Moondream2 a picture alone.
          async (...inputs: readonly unknown[]) => {
            const [first, pictures] = inputs;
            return typeof first === 'string' && Array.isArray(pictures)
              ? { input_ids: prompt(first), size: sizeOf(pictures[0]) }
              : { size: sizeOf(first) };
          },
          {
            apply_chat_template: (messages: readonly unknown[]) => JSON.stringify(messages),
            batch_decode: decode,
          },
        ),
    },
    AutoTokenizer: {
      from_pretrained: async () =>
        Object.assign((text: string) => ({ input_ids: prompt(text) }), { batch_decode: decode }),
    },
    AutoModelForVision2Seq: models,
    Moondream1ForConditionalGeneration: models,
    RawImage: Picture,
    InterruptableStoppingCriteria: class {
      interrupt() {
        interrupted++;
      }
    },
  };
  return {
    library,
    loaded,
    questions,
    get interrupted() {
      return interrupted;
    },
  };
}
