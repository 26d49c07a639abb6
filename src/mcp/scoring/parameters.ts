/**
 * @module mcp/scoring/parameters
 * The parameters that tools share, each written once: names, ranges and defaults are the reference's; what is ours says
 * so in its description.
 */
import * as z from 'zod/v4';
import {
  COLOR_MATRICES,
  COLOR_RANGES,
  DECODERS,
  FILM_GRAIN,
  GPU_BACKENDS,
  OWN_GPU_BACKENDS,
  PAIR_BY,
  TINY_DEVICE_CHOICES,
  TINY_PRECISIONS,
  TINY_RESIZES,
} from '../../core/choices.js';
import { MOST_FRAMES } from '../../core/frame.js';
import {
  type CheckedArguments,
  inputPath,
  modelString,
  modelStrings,
  referencePath,
  tinyModel,
} from '../paths.js';

/** The default model of every scoring tool. */
export const DEFAULT_MODEL = 'version=vmaf_v0.6.1';

/** Backends by the reference's names. */
export const BACKENDS = ['cpu', ...GPU_BACKENDS, ...OWN_GPU_BACKENDS] as const;

const NOT_YET = 'Reserved; refused in this build.';

const flag = (description: string) => z.boolean().default(false).describe(description);

function isBitDepth(bits: number): bits is 8 | 10 | 12 | 16 {
  return bits === 8 || bits === 10 || bits === 12 || bits === 16;
}

/** Size and samples of raw planar YUV. */
export const geometry = {
  width: z.int().min(1).describe('Frame width in samples.'),
  height: z.int().min(1).describe('Frame height in lines.'),
  pixfmt: z.enum(['420', '422', '444']).describe('Chroma subsampling of both files.'),
  // Some hosts refuse an enum of numbers.
  bitdepth: z
    .int()
    .min(8)
    .max(16)
    .refine(isBitDepth, '"bitdepth" must be 8, 10, 12 or 16')
    .describe('Bits per sample: 8, 10, 12 or 16; above 8 two bytes each, little endian.'),
};

/** Who is compared, as stored frames. */
export const rawPair = {
  ref: referencePath('Reference video: planar YUV or Y4M; left out with no_reference only.'),
  dis: inputPath('Distorted video, of the same kind and geometry.'),
  ...geometry,
};

/** Who is compared: video files of whatever kind. */
export const encodedPair = {
  reference_encoded: referencePath('Reference video; left out with no_reference only.'),
  distorted_encoded: inputPath('Distorted video.'),
};

/** Who is compared, whatever the files are: the tools that are ours take every kind. */
export const anyPair = {
  reference: inputPath('Reference video: encoded, Y4M, or raw YUV with its geometry.'),
  distorted: inputPath('Distorted video.'),
};

/** The geometry of raw videos, for tools that also take others. */
export const optionalGeometry = {
  width: geometry.width.describe('Raw YUV needs these four: frame width.').optional(),
  height: geometry.height.describe('Frame height.').optional(),
  pixfmt: geometry.pixfmt.describe('Chroma subsampling.').optional(),
  bitdepth: geometry.bitdepth.describe('Bits per sample: 8, 10, 12 or 16.').optional(),
};

export const model = modelString(
  'version=NAME (list_models), path=FILE or auto (by size); options after colons.',
  DEFAULT_MODEL,
);

export const backend = z
  .enum(['auto', ...BACKENDS])
  .default('auto')
  .describe('What measures: see list_backends; one that is not here fails.');

export const precision = z
  .string()
  .regex(/^(legacy|max|full|[1-9]|1[0-7])$/, 'legacy, max, full or 1 to 17')
  .default('legacy')
  .describe('Digits: legacy (six decimals), 1 to 17, max or full (17).');

export const subsample = z.int().min(1).max(MOST_FRAMES).default(1).describe('Score every Nth frame.');

/** How much of the report is answered. */
const detail = z
  .enum(['summary', 'frames'])
  .default('summary')
  .describe('frames: values of all frames in the answer, as far as they fit; summary links to them.');

/** What a score is to reach. */
export const target = z
  .string()
  .min(1)
  .max(400)
  .describe('Bounds for a verdict, with commas: 93 (the mean), vmaf.p5>=80, cvvdp>=9.5.')
  .optional();

/** Tiny ONNX models, beside the others or by themselves. */
const tinyParameters = {
  tiny_model: tinyModel('Tiny ONNX model to add: an id of list_models, or an .onnx file.').optional(),
  tiny_device: z
    .enum(TINY_DEVICE_CHOICES)
    .default('auto')
    .describe('What runs it; any but auto is never replaced.'),
  dnn_ep: z.enum(TINY_DEVICE_CHOICES).describe('Another name of tiny_device.').optional(),
  tiny_threads: z.int().min(0).max(1024).describe('Threads of one session; 0: runtime default.').optional(),
  tiny_fp16: flag('Half precision (OpenVINO, TensorRT).'),
  tiny_precision: z
    .enum(TINY_PRECISIONS)
    .default('auto')
    .describe('Precision of a model that also has 8 bit.'),
  tiny_model_verify: flag('Only a model that its registry signs.'),
  tiny_codec: z.string().describe('Codec-aware models: the encoder, such as libx264.').optional(),
  tiny_preset: z.string().describe('Its preset.').optional(),
  tiny_crf: z.int().min(0).max(63).describe('Its rate factor.').optional(),
  tiny_resize: z
    .enum(TINY_RESIZES)
    .default('disabled')
    .describe('Resizes luma for a picture model; disabled refuses other sizes.'),
  no_reference: flag('Score the distorted video by itself, with a tiny_model of kind nr.'),
};

/** What both scoring tools accept beside model, backend, subsample and precision. */
export const scoringParameters = {
  model,
  models: modelStrings('Several in place of model, each with its own name=KEY.', 16).optional(),
  disable_clip: flag('Do not clip scores.'),
  enable_transform: flag("The model's score transform (vmaf_v0.6.1: phone)."),
  backend,
  native_cpu: flag('cpu is the installed libvmaf.'),
  feature: z
    .array(z.string().min(1))
    .max(64)
    .describe(
      'Further features (ssimulacra2, butteraugli, cvvdp, xpsnr, psnr): NAME or NAME=OPTION=VALUE:OPTION=VALUE; see list_extractors.',
    )
    .optional(),
  aom_ctc: z
    .enum(['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'])
    .describe('AOM common test conditions. Excludes feature, model and what changes models.')
    .optional(),
  nflx_ctc: z.enum(['v1.0']).describe('Those of Netflix, with the 4K models; as aom_ctc.').optional(),
  ...tinyParameters,
  no_prediction: flag('Features only, no scores.'),
  threads: z.int().min(0).max(1024).describe('Worker threads at most; 0: the server chooses.').optional(),
  frame_cnt: z.int().min(1).max(MOST_FRAMES).describe('Pairs of frames at most.').optional(),
  frame_skip_ref: z.int().min(0).max(MOST_FRAMES).describe('Frames of the reference to skip.').optional(),
  frame_skip_dist: z
    .int()
    .min(0)
    .max(MOST_FRAMES)
    .describe('Frames of the distorted video to skip.')
    .optional(),
  cpumask: z.int().min(0).describe('Instruction sets that libvmaf must not use.').optional(),
  gpumask: z.int().min(0).describe('For an installed libvmaf; 0 allows a GPU.').optional(),
  sycl_device: z.int().min(0).describe('Device of backend sycl.').optional(),
  hip_device: z.int().min(0).describe('Device of backend hip.').optional(),
  metal_device: z.int().min(0).describe('Device of backend metal.').optional(),
  subsample,
  precision,
  output_fmt: z
    .enum(['json', 'xml', 'csv', 'sub'])
    .default('json')
    .describe('All but json give {format, output}: every frame as text.'),
  csv: flag('Short for output_fmt csv.'),
  sub: flag('Short for output_fmt sub.'),
  view_distance: z
    .number()
    .min(3)
    .max(24)
    .describe("Viewing distance in picture heights; default: the model's.")
    .optional(),
  display_height: z.int().min(1).describe("Lines of the display; default: the model's.").optional(),
  target_width: z.int().min(0).default(0).describe(NOT_YET),
  target_height: z.int().min(0).default(0).describe(NOT_YET),
  target_scaling: z.enum(['none', 'bilinear', 'bicubic', 'lanczos']).default('none').describe(NOT_YET),
  detail,
  target,
};

/** Parsed {@link scoringParameters}. */
export type ScoringInput = CheckedArguments<z.output<z.ZodObject<typeof scoringParameters>>>;

const track = z.int().min(0).max(999).optional();

/** What is done to the pictures of encoded videos before they are compared. */
export const filters = z
  .strictObject({
    deinterlace: z.boolean().optional(),
    crop: z.enum(['auto']).optional(),
    crop_reference: z.string().optional(),
    crop_distorted: z.string().optional(),
    vf_reference: z.string().optional(),
    vf_distorted: z.string().optional(),
    grain: z.enum(FILM_GRAIN).optional(),
    color_range: z.enum(COLOR_RANGES).optional(),
    matrix: z.enum(COLOR_MATRICES).optional(),
    pixel_format: z.string().optional(),
    track_reference: track,
    track_distorted: track,
  })
  .describe('Crops: W:H:X:Y; vf_*: ffmpeg; tracks from 0.')
  .optional();

/** How two videos that are not alike are brought together; all of it ours. */
export const pairingParameters = {
  scale: z
    .enum(['bicubic', 'bilinear', 'lanczos', 'none'])
    .describe('Resizing filter; none refuses. Default bicubic (Y4M, raw: none).')
    .optional(),
  scale_to: z
    .string()
    .regex(/^(ref|dis|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'ref, dis, or a size such as 1920x1080')
    .describe('Size to score at: ref (default), dis or WIDTHxHEIGHT.')
    .optional(),
  frame_rate_policy: z
    .enum(['nearest', 'strict'])
    .describe('Default nearest: by time; strict refuses other rates, lost frames.')
    .optional(),
  pair_by: z.enum(PAIR_BY).describe('Whose frames are scored. Default: reference.').optional(),
  offset: z
    .union([z.int(), z.enum(['auto'])])
    .default(0)
    .describe('Distorted frame n is reference n + offset; auto searches.'),
  range: z
    .strictObject({
      unit: z.enum(['frames', 'seconds']).default('frames'),
      start: z.number().min(0).default(0),
      end: z.number().min(0).describe('Exclusive.').optional(),
    })
    .describe('Part of the reference to score.')
    .optional(),
  preflight: z.boolean().default(true).describe('Check for what makes the score wrong.'),
  strict: flag('Refuse a pair that preflight warns of.'),
  allow_damaged: flag('Score a damaged file up to the damage.'),
  decoder: z
    .enum(['auto', ...DECODERS])
    .default('auto')
    .describe('auto takes the first that can.'),
  filters,
};

/** Parsed {@link pairingParameters}. */
export type PairingInput = z.output<z.ZodObject<typeof pairingParameters>>;
