/**
 * @module cli/tiny-options
 * The options about tiny ONNX models. Pure.
 */
import { TINY_DEVICE_CHOICES, TINY_PRECISIONS, TINY_RESIZES } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import type { ScoreOptions, TinyModelOptions } from '../index.js';
import {
  choiceValue,
  type Draft,
  grouped,
  type OptionReaders,
  type OptionUse,
  takeOption,
  unsignedValue,
} from './options.js';

const TINY = 'Tiny models';
const MAX_THREADS = 1024;
/** As in the reference, higher rate factors mean the highest. */
const MAX_CRF = 63;

/** The options in the order in which help lists them. */
export const TINY_OPTIONS = grouped(
  TINY,
  [
    {
      name: 'tiny-model',
      argument: 'MODEL',
      help:
        "also score with this ONNX model: an id that 'anyvmaf tiny list' shows, or a file. May be repeated; the options " +
        'below then go with the model before them',
    },
    {
      name: 'tiny-device',
      argument: 'NAME',
      help: "what runs it: auto (default) or a device of 'anyvmaf tiny devices'; one that is not here is an error",
    },
    { name: 'dnn-ep', argument: 'NAME', help: 'another name of --tiny-device' },
    {
      name: 'tiny-threads',
      argument: 'N',
      help: 'threads of one session on the CPU (0: runtime default; default: one per worker)',
    },
    { name: 'tiny-fp16', help: 'compute in half precision where the device does (OpenVINO, TensorRT)' },
    {
      name: 'tiny-precision',
      argument: 'NAME',
      help: 'of a model with an 8-bit sibling run fp32 or int8 (default: auto, as its registry says)',
    },
    { name: 'tiny-model-verify', help: 'load only what the Sigstore bundle of the registry signs' },
    {
      name: 'tiny-codec',
      argument: 'NAME',
      help: 'codec-aware models: the encoder, libx264, h264 and so on',
    },
    { name: 'tiny-preset', argument: 'NAME', help: "codec-aware models: the encoder's preset" },
    { name: 'tiny-crf', argument: 'N', help: 'codec-aware models: rate factor, 0 to 63' },
    {
      name: 'tiny-resize',
      argument: 'FILTER',
      help: 'bring luma to the size of the model: bilinear, nearest, bicubic or disabled (default: another size is an error)',
    },
  ],
  { ours: true },
);

type Options = Draft<ScoreOptions>;
type Model = Draft<TinyModelOptions>;

type Name = Exclude<(typeof TINY_OPTIONS)[number]['name'], 'tiny-model'>;

const device = (use: OptionUse) => ({ device: choiceValue(use, TINY_DEVICE_CHOICES) });

const READERS: OptionReaders<Name, Model> = {
  'tiny-device': device,
  'dnn-ep': device,
  'tiny-threads': (use) => ({ threads: unsignedValue(use, 0, MAX_THREADS) }),
  'tiny-fp16': () => ({ fp16: true }),
  'tiny-precision': (use) => ({ precision: choiceValue(use, TINY_PRECISIONS) }),
  'tiny-model-verify': () => ({ verify: true }),
  'tiny-codec': (use) => ({ codec: text(use) }),
  'tiny-preset': (use) => ({ preset: text(use) }),
  'tiny-crf': (use) => ({ crf: Math.min(MAX_CRF, unsignedValue(use, 28)) }),
  'tiny-resize': (use) => ({ resize: choiceValue(use, TINY_RESIZES) }),
};

/** Gathers {@link TINY_OPTIONS} one by one. */
export class TinyArguments {
  /** Options before the first model apply to all models. */
  readonly #shared: Partial<Model> = {};
  readonly #models: (Partial<Model> & { readonly model: string })[] = [];
  readonly #used = new Set<string>();

  /**
   * Takes one option.
   * @returns false when it is none of {@link TINY_OPTIONS}
   * @throws {AnyvmafError} `usage`
   */
  take(use: OptionUse): boolean {
    const current: Partial<Model> = this.#models.at(-1) ?? this.#shared;
    if (use.name === 'tiny-model') {
      this.#models.push({ model: text(use) });
      return true;
    }
    const before = current.device;
    if (!takeOption(READERS, use, current)) return false;
    if (before !== undefined && before !== current.device) {
      throw usageError(
        `--tiny-device and --dnn-ep are two names of one option, but say ${before} and ${current.device}; give one`,
      );
    }
    this.#used.add(use.label);
    return true;
  }

  /**
   * Puts the models into the options.
   * @param needing another option that needs a model
   * @throws {AnyvmafError} `usage` when options are about a model that is not there
   */
  finish(options: Options, needing: string | undefined): void {
    const [first = needing] = this.#used;
    if (this.#models.length === 0) {
      if (first === undefined) return;
      throw usageError(`${first} is about a tiny model, but none is given; add --tiny-model`);
    }
    options.tiny = this.#models.map((model) => ({ ...this.#shared, ...model }));
  }
}

function text(use: OptionUse): string {
  if (use.value !== '') return use.value;
  throw usageError(`${use.label} is empty, but it needs a value`);
}
