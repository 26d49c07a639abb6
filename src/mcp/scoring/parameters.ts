/**
 * @module mcp/scoring/parameters
 * Shared parameters, with names, ranges and defaults of the reference MCP server unless described otherwise, and
 * their conversion to options of the API and pairs to score.
 */
import * as z from 'zod/v4';
import {
  GPU_BACKENDS,
  OWN_GPU_BACKENDS,
  TINY_DEVICE_CHOICES,
  TINY_PRECISIONS,
  TINY_RESIZES,
} from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { MOST_FRAMES } from '../../core/frame.js';
import { namesAmong, type OPTION_WORDS, type OptionWords, wordsOf } from '../../core/option-words.js';
import { OPTIONS, type OptionKind, type OptionRow } from '../../core/options.js';
import { parseSize, SIZE_PATTERN } from '../../core/size.js';
import type { RawVideoFormat, ScoreOptions } from '../../index.js';
import type { SnakeCase } from '../../report/kinds.js';
import type { CheckedRequest } from '../checked-api.js';
import {
  type CheckedArguments,
  type InputFile,
  inputPath,
  modelString,
  modelStrings,
  type ReferenceFile,
  referencePath,
  tinyModel,
} from '../paths.js';
import { choice, flag, text, whole } from '../schemas.js';

export const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/** Backends by the names of the reference MCP server. */
export const BACKENDS = ['cpu', ...GPU_BACKENDS, ...OWN_GPU_BACKENDS] as const;

const NOT_YET = 'Reserved; refused in this build.';

function isBitDepth(bits: number): bits is 8 | 10 | 12 | 16 {
  return bits === 8 || bits === 10 || bits === 12 || bits === 16;
}

const geometry = {
  width: z.int().min(1).describe('Frame width in samples.'),
  height: z.int().min(1).describe('Frame height in lines.'),
  pixfmt: z.enum(['420', '422', '444']).describe('Chroma subsampling of both files.'),
  // Some hosts refuse an enum of numbers.
  bitdepth: whole(8, 16)
    .refine(isBitDepth, '"bitdepth" must be 8, 10, 12 or 16')
    .describe('Bits per sample: 8, 10, 12 or 16; above 8 two bytes each, little endian.'),
};

/** A pair of raw or Y4M files. */
export const rawPair = {
  ref: referencePath('Reference video: planar YUV or Y4M; omit only with no_reference.'),
  dis: inputPath('Distorted video, of the same format and geometry.'),
  ...geometry,
};

/** A pair of video files of any kind. */
export const encodedPair = {
  reference_encoded: referencePath('Reference video; omit only with no_reference.'),
  distorted_encoded: inputPath('Distorted video.'),
};

/** A pair of any kind, raw video included, for our own tools. */
export const anyPair = {
  reference: inputPath('Reference video: encoded, Y4M, or raw YUV with its geometry.'),
  distorted: inputPath('Distorted video.'),
};

/** The geometry of raw video, for tools that also take other files. */
export const optionalGeometry = {
  width: geometry.width.describe('Frame width. Raw YUV needs these four.').optional(),
  height: geometry.height.describe('Frame height.').optional(),
  pixfmt: geometry.pixfmt.describe('Chroma subsampling.').optional(),
  bitdepth: geometry.bitdepth.describe('Bits per sample: 8, 10, 12 or 16.').optional(),
};

export const model = modelString(
  'version=NAME (list_models), path=FILE or auto (by size); options after colons.',
  DEFAULT_MODEL,
);

export const backend = choice(['auto', ...BACKENDS], 'Backend (list_backends); fails if unavailable.');

export const precision = z
  .string()
  .regex(/^(legacy|max|full|[1-9]|1[0-7])$/, 'legacy, max, full or 1 to 17')
  .default('legacy')
  .describe('Digits: legacy (six decimals), 1 to 17, max or full (17).');

type Name = keyof typeof OPTION_WORDS & keyof typeof OPTIONS & keyof TableOptions;
type Row<N extends Name> = (typeof OPTIONS)[N];
type Words<N extends Name> = (typeof OPTION_WORDS)[N];

/** The option's type; sizes are text. */
type ValueOf<N extends Name> = Row<N>['kind'] extends 'size' ? string : NonNullable<TableOptions[N]>;

/** A parameter is optional without a default, or if its words say so. */
type SchemaOf<N extends Name> =
  Words<N> extends { readonly optional: true }
    ? z.ZodOptional<z.ZodType<ValueOf<N>>>
    : Row<N> extends { readonly default: unknown }
      ? z.ZodDefault<z.ZodType<ValueOf<N>>>
      : z.ZodOptional<z.ZodType<ValueOf<N>>>;

type ParameterOf<N extends Name> =
  Words<N> extends { readonly parameter: infer Given extends string } ? Given : SnakeCase<N>;

type Among = 'scoring' | 'pairing' | 'filters';
type TableParameters<A extends Among> = {
  [N in Name as Words<N> extends { readonly among: A } ? ParameterOf<N> : never]: SchemaOf<N>;
};

const SCHEMAS: Readonly<Partial<Record<OptionKind, (row: OptionRow, words: OptionWords) => z.ZodType>>> = {
  flag: () => z.boolean(),
  count: ({ least = 0, most = MOST_FRAMES }, words) =>
    z
      .int()
      .min(words.least ?? least)
      .max(most),
  mask: ({ least = 0, most = MOST_FRAMES }) => whole(least, most),
  choice: ({ of = [] }, { without }) => z.enum(of.filter((choice) => choice !== without)),
  version: ({ of = [] }) => z.enum(of),
  crop: ({ of = [] }) => z.enum(of),
  offset: () => z.union([z.int(), z.enum(['auto'])]),
  size: () =>
    z.string().regex(new RegExp(`^(ref|dis|${SIZE_PATTERN})$`), 'ref, dis, or a size such as 1920x1080'),
  range: () =>
    z.strictObject({
      unit: z.enum(['frames', 'seconds']).default('frames'),
      start: z.number().min(0).default(0),
      end: z.number().min(0).describe('Exclusive.').optional(),
    }),
};

function tableParameters<A extends Among>(among: A): TableParameters<A> {
  const parameters = namesAmong(among).map((name) => {
    const row: OptionRow = OPTIONS[name];
    const words = wordsOf(name);
    const { parameter, about, optional } = words;
    const schema = SCHEMAS[row.kind]?.(row, words) ?? z.string();
    const described = about === undefined ? schema : schema.describe(about);
    const mayLack = optional || row.default === undefined;
    return [parameter, mayLack ? described.optional() : described.default(row.default)];
  });
  return Object.fromEntries(parameters);
}

const scoring = tableParameters('scoring');
export const { subsample } = scoring;

const detail = choice(
  ['summary', 'frames'],
  'frames: values of all frames, as far as they fit; summary: a link to them.',
);

export const target = text(400)
  .describe('Comma-separated bounds for a verdict: 93 (the mean), vmaf.p5>=80, cvvdp>=9.5.')
  .optional();

const tinyParameters = {
  tiny_model: tinyModel('Additional tiny ONNX model: id from list_models, or .onnx file.').optional(),
  tiny_device: choice(TINY_DEVICE_CHOICES, 'Device for it; only auto may fall back.'),
  dnn_ep: z.enum(TINY_DEVICE_CHOICES).describe('Another name of tiny_device.').optional(),
  tiny_threads: whole(0, 1024).describe('Threads of one session; 0: runtime default.').optional(),
  tiny_fp16: flag('Half precision (OpenVINO, TensorRT).'),
  tiny_precision: choice(TINY_PRECISIONS, 'Precision, for models that also come in int8.'),
  tiny_model_verify: flag('Require a signature in its registry.'),
  tiny_codec: z.string().describe('Codec-aware models: the encoder, such as libx264.').optional(),
  tiny_preset: z.string().describe("The encoder's preset.").optional(),
  tiny_crf: whole(0, 63).describe("The encoder's CRF.").optional(),
  tiny_resize: z
    .enum(TINY_RESIZES)
    .default('disabled')
    .describe('Resizes luma for a picture model; disabled refuses other sizes.'),
};

export const scoringParameters = {
  model,
  models: modelStrings('Several models instead of model, each with its own name=KEY.', 16).optional(),
  disable_clip: flag('Do not clip scores.'),
  enable_transform: flag("Apply the model's score transform (vmaf_v0.6.1: phone)."),
  backend,
  native_cpu: flag('backend cpu runs an installed libvmaf.'),
  feature: z
    .array(z.string().min(1))
    .max(64)
    .describe(
      'Additional features (ssimulacra2, butteraugli, cvvdp, xpsnr, psnr): NAME or NAME=OPTION=VALUE:OPTION=VALUE; see list_extractors.',
    )
    .optional(),
  ...tinyParameters,
  ...scoring,
  precision,
  output_fmt: choice(
    ['json', 'xml', 'csv', 'sub'],
    'All but json return {format, output}: every frame as text.',
  ),
  csv: flag('Short for output_fmt csv.'),
  sub: flag('Short for output_fmt sub.'),
  view_distance: z
    .number()
    .min(3)
    .max(24)
    .describe("Viewing distance in picture heights; default: the model's.")
    .optional(),
  display_height: z.int().min(1).describe("Display height in lines; default: the model's.").optional(),
  target_width: z.int().min(0).default(0).describe(NOT_YET),
  target_height: z.int().min(0).default(0).describe(NOT_YET),
  target_scaling: z.enum(['none', 'bilinear', 'bicubic', 'lanczos']).default('none').describe(NOT_YET),
  detail,
  target,
};

export type ScoringInput = CheckedArguments<z.output<z.ZodObject<typeof scoringParameters>>>;

export const filters = z
  .strictObject(tableParameters('filters'))
  .describe('Crops: W:H:X:Y; vf_*: ffmpeg filters; tracks from 0.')
  .optional();

/** Pairing of two different videos; not in the reference MCP server. */
export const pairingParameters = { ...tableParameters('pairing'), filters };

export type PairingInput = z.output<z.ZodObject<typeof pairingParameters>>;

export const encoderOptions = z
  .record(z.string().max(64), z.string().max(400))
  .default({})
  .describe('Encoder options, such as {"preset": "slow"}.');

export const encoderName = z
  .string()
  .max(64)
  .describe('ffmpeg encoder name: libx264, libx265, libsvtav1, libaom-av1, libvpx-vp9 or another.');

export const searchRange = (what: string) =>
  z.object({ min: z.number(), max: z.number() }).optional().describe(what);

export const encodingSource = {
  src: inputPath('Video to encode; may be raw YUV.'),
  width: whole(1, 16384).describe('Width of raw YUV.').optional(),
  height: whole(1, 16384).describe('Height of raw YUV.').optional(),
  framerate: z.number().positive().max(1000).describe('Frame rate of raw YUV. Default 25.').optional(),
  pix_fmt: z
    .string()
    .max(32)
    .describe("Pixel format of raw YUV (default yuv420p) and of encodes (default: the source's).")
    .optional(),
};

export const MOST_SECONDS = 7200;

export const callLimits = {
  max_seconds: whole(1, MOST_SECONDS).default(900).describe('Time limit in seconds.'),
  max_encodes: z.int().min(1).describe('Maximum number of encodes.').optional(),
  max_temp_gb: z.number().min(0.1).max(100).default(4).describe('Maximum temporary gigabytes.'),
  dry_run: flag('Only report the maximum number of encodes.'),
};

export const encodingLimits = { full: flag('Encode the whole source, not samples.'), ...callLimits };

/** Options of the table, whose parameters name no files. */
export type TableOptions = Omit<ScoreOptions, 'models' | 'tiny' | 'backend' | 'features'>;

export function tableOptions(input: object): TableOptions {
  const all: Readonly<Record<string, unknown>> = { ...input };
  const options: Record<string, unknown> = {};
  for (const among of ['scoring', 'pairing', 'filters'] as const) {
    const given = among === 'filters' ? Object(all.filters) : all;
    for (const name of namesAmong(among)) {
      const value = given[wordsOf(name).parameter];
      // Leave others unset: their defaults depend on the videos.
      if (value !== undefined)
        options[name] = OPTIONS[name].kind === 'size' ? (parseSize(value) ?? value) : value;
    }
  }
  return options;
}

type RawPairInput = CheckedArguments<z.output<z.ZodObject<typeof rawPair>>> & {
  readonly no_reference: boolean;
};

/** @throws {AnyvmafError} `usage` if the reference is missing */
export function rawRequest(input: RawPairInput): CheckedRequest {
  const { ref: reference, dis: distorted, width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  return {
    ...pairRequest({ reference, distorted }, 'ref', input.no_reference),
    raw: { width, height, chroma, bitDepth },
  };
}

/** @throws {AnyvmafError} `usage` if the reference is missing */
export function pairRequest(
  { reference, distorted }: { readonly reference?: ReferenceFile; readonly distorted: InputFile },
  name = 'reference',
  single = false,
): CheckedRequest {
  if (single) return { distorted: distorted.path };
  if (reference?.path !== undefined) return { reference: reference.path, distorted: distorted.path };
  throw usageError(`${name} is missing; it may be omitted only with no_reference.`);
}

export type OptionalGeometry = z.output<z.ZodObject<typeof optionalGeometry>>;

/** `undefined` without a geometry. @throws {AnyvmafError} `usage` for an incomplete geometry */
export function rawFormat(input: OptionalGeometry): RawVideoFormat | undefined {
  const { width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  if (width !== undefined && height !== undefined && chroma !== undefined && bitDepth !== undefined)
    return { width, height, chroma, bitDepth };
  const missing = (['width', 'height', 'pixfmt', 'bitdepth'] as const).filter(
    (name) => input[name] === undefined,
  );
  if (missing.length === 4) return undefined;
  throw usageError(
    `The geometry of raw video lacks ${missing.join(', ')}; pass width, height, pixfmt and bitdepth, ` +
      'or none of them for videos that declare their own.',
  );
}

export type AnyPairInput = CheckedArguments<z.output<z.ZodObject<typeof anyPair>>> & OptionalGeometry;

/** @throws {AnyvmafError} `usage` for an incomplete geometry */
export function anyRequest(input: AnyPairInput): CheckedRequest {
  const raw = rawFormat(input);
  return { ...pairRequest(input), raw };
}
