/**
 * @module cli/tiny-options
 * The options of tiny ONNX models. Pure.
 */
import { TINY_DEVICE_CHOICES, TINY_PRECISIONS, TINY_RESIZES } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import type { ScoreOptions, TinyModelOptions } from '../index.js';
import { choiceValue, grouped, type Option, type OptionUse, unsignedValue } from './options.js';

const TINY = 'Tiny models';
const MAX_THREADS = 1024;
/** As in the reference, higher rate factors count as this one. */
const MAX_CRF = 63;

type Model = Partial<TinyModelOptions> & { readonly model: string };

export interface TinySettings {
  readonly tiny: {
    /** From options before the first model, which apply to all models. */
    readonly shared: Partial<Model>;
    readonly models: readonly Model[];
    /** Label of the first option about a model. */
    readonly used?: string;
  };
}

/** Makes an option apply to the model before it. */
const ofModel =
  (read: (use: OptionUse, model: Partial<Model>) => Partial<Model>): Option<TinySettings>['read'] =>
  (use, { tiny: { shared, models, used = use.label } = { shared: {}, models: [] } }) => {
    const last = models.at(-1);
    if (last) return { tiny: { shared, models: models.with(-1, { ...last, ...read(use, last) }), used } };
    return { tiny: { shared: { ...shared, ...read(use, shared) }, models, used } };
  };

const deviceReader = ofModel((use, { device: before }) => {
  const device = choiceValue(use, TINY_DEVICE_CHOICES);
  if (before === undefined || before === device) return { device };
  throw usageError(
    `--tiny-device and --dnn-ep are two names of one option, but say ${before} and ${device}; give one`,
  );
});

export const TINY_OPTIONS = grouped<TinySettings>(
  TINY,
  [
    {
      name: 'tiny-model',
      argument: 'MODEL',
      help:
        "also score with this ONNX model: an id that 'anyvmaf tiny list' shows, or a file. May be repeated; each " +
        'option below applies to the model before it',
      read: (use, { tiny = { shared: {}, models: [] } }) => ({
        tiny: { ...tiny, models: [...tiny.models, { model: text(use) }] },
      }),
    },
    {
      name: 'tiny-device',
      argument: 'NAME',
      help:
        "device that runs it: auto (default) or one of 'anyvmaf tiny devices'; one that is not available is " +
        'an error',
      read: deviceReader,
    },
    { name: 'dnn-ep', argument: 'NAME', help: 'alias of --tiny-device', read: deviceReader },
    {
      name: 'tiny-threads',
      argument: 'N',
      help: 'threads of one session on the CPU (0: runtime default; default: one per worker)',
      read: ofModel((use) => ({ threads: unsignedValue(use, 0, MAX_THREADS) })),
    },
    {
      name: 'tiny-fp16',
      help: 'compute in half precision if the device supports it (OpenVINO, TensorRT)',
      read: ofModel(() => ({ fp16: true })),
    },
    {
      name: 'tiny-precision',
      argument: 'NAME',
      help: 'precision of a model that has an 8-bit version: fp32 or int8 (default: auto, as its registry says)',
      read: ofModel((use) => ({ precision: choiceValue(use, TINY_PRECISIONS) })),
    },
    {
      name: 'tiny-model-verify',
      help: "load only models that the registry's Sigstore bundle signs",
      read: ofModel(() => ({ verify: true })),
    },
    {
      name: 'tiny-codec',
      argument: 'NAME',
      help: 'codec-aware models: the encoder, libx264, h264 and so on',
      read: ofModel((use) => ({ codec: text(use) })),
    },
    {
      name: 'tiny-preset',
      argument: 'NAME',
      help: "codec-aware models: the encoder's preset",
      read: ofModel((use) => ({ preset: text(use) })),
    },
    {
      name: 'tiny-crf',
      argument: 'N',
      help: 'codec-aware models: rate factor, 0 to 63',
      read: ofModel((use) => ({ crf: Math.min(MAX_CRF, unsignedValue(use, 28)) })),
    },
    {
      name: 'tiny-resize',
      argument: 'FILTER',
      help:
        'resize luma to the size of the model: bilinear, nearest, bicubic or disabled (default: another size ' +
        'is an error)',
      read: ofModel((use) => ({ resize: choiceValue(use, TINY_RESIZES) })),
    },
  ],
  { ours: true },
);

/**
 * @param needing another option that needs a model
 * @throws {AnyvmafError} `usage` for options of a model if there is none
 */
export function tinyOf(
  { tiny: { shared, models, used = undefined } = { shared: {}, models: [] } }: Partial<TinySettings>,
  needing: string | undefined,
): ScoreOptions['tiny'] {
  const first = used ?? needing;
  if (models.length > 0) return models.map((model) => ({ ...shared, ...model }));
  if (first === undefined) return undefined;
  throw usageError(`${first} requires a tiny model; add --tiny-model`);
}

function text(use: OptionUse): string {
  if (use.value !== '') return use.value;
  throw usageError(`${use.label} is empty, but it needs a value`);
}
