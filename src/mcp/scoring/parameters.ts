/**
 * @module mcp/scoring/parameters
 * The parameters that tools share, each written once: names, ranges and defaults are the reference's; what is ours says
 * so in its description.
 */
import * as z from 'zod/v4';
import {
  DECODERS,
  GPU_BACKENDS,
  OWN_GPU_BACKENDS,
  TINY_DEVICE_CHOICES,
  TINY_PRECISIONS,
  TINY_RESIZES,
} from '../../core/choices.js';
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

const NOT_YET = 'Refused in this build.';

const flag = (description: string) => z.boolean().default(false).describe(description);

/** Size and samples of raw planar YUV. */
export const geometry = {
  width: z.int().min(1).describe('Frame width in samples.'),
  height: z.int().min(1).describe('Frame height in lines.'),
  pixfmt: z.enum(['420', '422', '444']).describe('Chroma subsampling of both files.'),
  bitdepth: z
    .literal([8, 10, 12, 16])
    .describe('Bits per sample of both files; above 8, two bytes per sample, little endian.'),
};

/** Who is compared, as stored frames. */
export const rawPair = {
  ref: referencePath(
    'Reference video: planar YUV, or Y4M whose header agrees with the geometry. Leave it out with no_reference only.',
  ),
  dis: inputPath('Distorted video, of the same kind and geometry.'),
  ...geometry,
};

/** Who is compared: video files of whatever kind. */
export const encodedPair = {
  reference_encoded: referencePath(
    'Reference video: MP4, MOV, MKV, WebM, Y4M or whatever else a decoder here reads. Leave it out with no_reference only.',
  ),
  distorted_encoded: inputPath('Distorted video to judge against it.'),
};

/** Who is compared, whatever the files are: the tools that are ours take every kind. */
export const anyPair = {
  reference: inputPath('Reference video: a video file of any container, Y4M, or raw YUV with its geometry.'),
  distorted: inputPath('Distorted video to judge against it.'),
};

/** The geometry of raw videos, for tools that also take others. */
export const optionalGeometry = {
  width: geometry.width.describe('Raw YUV only: frame width; give all four of the geometry.').optional(),
  height: geometry.height.describe('Raw YUV only: frame height.').optional(),
  pixfmt: geometry.pixfmt.describe('Raw YUV only: chroma subsampling.').optional(),
  bitdepth: geometry.bitdepth.describe('Raw YUV only: bits per sample.').optional(),
};

export const model = modelString(
  'Model string of the vmaf tool: version=NAME (see list_models) or path=FILE, then name=KEY, disable_clip, ' +
    'enable_transform and EXTRACTOR.OPTION=VALUE, joined by colons. auto picks the HD or the 4K model by picture size.',
  DEFAULT_MODEL,
);

export const backend = z
  .enum(['auto', ...BACKENDS])
  .default('auto')
  .describe(
    'What measures frames. cpu: the built-in core, always there. webgpu: a GPU, with the same values; hybrid: a GPU beside ' +
      'cpu. cuda, sycl, hip, metal: an installed vmaf that has it. What is not here fails; nothing falls back silently. ' +
      'auto: a healthy native GPU backend, else webgpu where it is faster, else cpu. See list_backends.',
  );

export const precision = z
  .enum(['legacy', 'max', 'full', ...Array.from({ length: 17 }, (_, i) => String(i + 1))])
  .default('legacy')
  .describe(
    'Digits of measured values: legacy has six decimals, as libvmaf; 1 to 17 significant digits; max or full gives ' +
      'doubles that read back the same.',
  );

/** Most frames that anything counts. */
const MAX_COUNT = 2 ** 32 - 1;

export const subsample = z
  .int()
  .min(1)
  .max(MAX_COUNT)
  .default(1)
  .describe('Score every Nth frame; 1 scores all.');

/** How much of the report is answered. */
const detail = z
  .enum(['summary', 'frames'])
  .default('summary')
  .describe(
    'Ours. summary: pooled values, percentiles, worst frames, findings and a link to the full report. frames: the values ' +
      'of every frame as well, which for a long video is more than a model should read.',
  );

/** Tiny ONNX models, beside the others or by themselves. */
const tinyParameters = {
  tiny_model: tinyModel(
    'Tiny ONNX model to score with beside the VMAF models: an id (see list_models) or the path of an .onnx file, with its ' +
      'sidecar .json. What it reads is measured by itself; its values are a metric under its name.',
  ).optional(),
  tiny_device: z
    .enum(TINY_DEVICE_CHOICES)
    .default('auto')
    .describe('What runs it. Any but auto is taken or refused, never replaced; see list_backends.'),
  dnn_ep: z.enum(TINY_DEVICE_CHOICES).describe('Another name of tiny_device.').optional(),
  tiny_threads: z
    .int()
    .min(0)
    .max(1024)
    .describe("Threads of one session on the CPU, 0 for the runtime's default; unset: one per worker.")
    .optional(),
  tiny_fp16: flag('Compute in half precision where the device does (OpenVINO, TensorRT).'),
  tiny_precision: z
    .enum(TINY_PRECISIONS)
    .default('auto')
    .describe('Of a model with an 8-bit sibling: fp32, int8, or as its registry says (auto).'),
  tiny_model_verify: flag('Load the tiny model only if the Sigstore bundle of its registry signs it.'),
  tiny_codec: z
    .string()
    .describe('Codec-aware tiny models: the encoder of the distorted video, such as libx264 or h264.')
    .optional(),
  tiny_preset: z.string().describe("Codec-aware tiny models: the encoder's preset.").optional(),
  tiny_crf: z.int().min(0).max(63).describe('Codec-aware tiny models: constant rate factor.').optional(),
  tiny_resize: z
    .enum(TINY_RESIZES)
    .default('disabled')
    .describe('Filter that brings luma to the size of a picture model; disabled refuses another size.'),
  no_reference: flag(
    'Score the distorted video by itself: no reference is read (leave it out) and no VMAF model runs; needs a tiny_model ' +
      'of kind nr.',
  ),
};

/** What both scoring tools accept beside model, backend, subsample and precision. */
export const scoringParameters = {
  model,
  models: modelStrings(
    'Ours: several model strings in place of model, each with its own name=KEY. They share their features.',
    16,
  ).optional(),
  disable_clip: flag('Do not clip scores to the range of the model.'),
  enable_transform: flag("Apply the model's score transform (vmaf_v0.6.1: seen on a phone)."),
  backend,
  native_cpu: flag(
    'Ours: with backend cpu, score with the installed libvmaf (vmaf, or ffmpeg with the libvmaf filter), not the built-in core.',
  ),
  feature: z
    .array(z.string().min(1))
    .max(64)
    .describe(
      'Features to report beside those of the models, NAME or NAME=OPTION=VALUE:OPTION=VALUE; see list_extractors.',
    )
    .optional(),
  aom_ctc: z
    .enum(['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'])
    .describe(
      'AOM common test conditions of this version: a fixed set of models (vmaf, vmaf_neg) and features (PSNR, CIEDE2000, ' +
        'SSIM and MS-SSIM in dB, PSNR-HVS, from v3.0 CAMBI). Excludes feature, model and what changes models.',
    )
    .optional(),
  nflx_ctc: z
    .enum(['v1.0'])
    .describe(
      'Netflix common test conditions: the 4K models (vmaf, vmaf_neg), PSNR, SSIM in dB and CAMBI. Excludes feature, ' +
        'model and what changes models.',
    )
    .optional(),
  ...tinyParameters,
  no_prediction: flag('Extract features only; the models only say which.'),
  threads: z
    .int()
    .min(0)
    .max(1024)
    .describe('Worker threads at most; 0 or none lets the server choose. The result does not depend on it.')
    .optional(),
  frame_cnt: z.int().min(1).max(MAX_COUNT).describe('Pairs of frames at most.').optional(),
  frame_skip_ref: z
    .int()
    .min(0)
    .max(MAX_COUNT)
    .describe('Frames of the reference to skip at the start.')
    .optional(),
  frame_skip_dist: z
    .int()
    .min(0)
    .max(MAX_COUNT)
    .describe('Frames of the distorted video to skip at the start.')
    .optional(),
  cpumask: z
    .int()
    .min(0)
    .describe(
      'Instruction sets that an installed libvmaf is not to use. The built-in core has one: only 0 fits it.',
    )
    .optional(),
  gpumask: z
    .int()
    .min(0)
    .describe('0 allows all work on a GPU. Other values are passed to a GPU backend; auto then takes cpu.')
    .optional(),
  sycl_device: z.int().min(0).describe('Number of the device, with backend sycl.').optional(),
  hip_device: z.int().min(0).describe('Number of the device, with backend hip.').optional(),
  metal_device: z.int().min(0).describe('Number of the device, with backend metal.').optional(),
  subsample,
  precision,
  output_fmt: z
    .enum(['json', 'xml', 'csv', 'sub'])
    .default('json')
    .describe('Format of the report. All but json give {format, output}, every frame in output as text.'),
  csv: flag('Short for output_fmt csv.'),
  sub: flag('Short for output_fmt sub.'),
  view_distance: z
    .number()
    .min(3)
    .max(24)
    .describe("Viewing distance in picture heights, for the models' ADM feature. Default: the model's own.")
    .optional(),
  display_height: z
    .int()
    .min(1)
    .describe("Height of the display in lines, for the models' ADM feature. Default: the model's own.")
    .optional(),
  target_width: z.int().min(0).default(0).describe(`Reserved by the reference. ${NOT_YET}`),
  target_height: z.int().min(0).default(0).describe(`Reserved by the reference. ${NOT_YET}`),
  target_scaling: z
    .enum(['none', 'bilinear', 'bicubic', 'lanczos'])
    .default('none')
    .describe(`Reserved by the reference. ${NOT_YET}`),
  detail,
};

/** Parsed {@link scoringParameters}. */
export type ScoringInput = CheckedArguments<z.output<z.ZodObject<typeof scoringParameters>>>;

/** How two videos that are not alike are brought together; all of it ours. */
export const pairingParameters = {
  scale: z
    .enum(['bicubic', 'bilinear', 'lanczos', 'none'])
    .describe(
      'Ours: filter that brings both videos to one size; none refuses different sizes. Default: bicubic, but two Y4M or ' +
        'raw videos must be of one size unless a filter is named.',
    )
    .optional(),
  scale_to: z
    .string()
    .regex(/^(ref|dis|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'ref, dis, or a size such as 1920x1080')
    .describe('Ours: the size to score at: ref (the default), dis, or WIDTHxHEIGHT for both.')
    .optional(),
  frame_rate_policy: z
    .enum(['nearest', 'strict'])
    .describe(
      'Ours: nearest pairs frames by time; strict also refuses different rates and missing, repeated or dropped frames. ' +
        'Default: nearest, but two Y4M or raw videos are paired by number.',
    )
    .optional(),
  offset: z
    .union([z.int(), z.literal('auto')])
    .default(0)
    .describe(
      'Ours: distorted frame n goes with reference frame n + offset; auto searches it. See find_alignment.',
    ),
  range: z
    .strictObject({
      unit: z.enum(['frames', 'seconds']).default('frames'),
      start: z.number().min(0).default(0),
      end: z.number().min(0).describe('Exclusive; to the end where absent.').optional(),
    })
    .describe('Ours: the part of the reference to score.')
    .optional(),
  preflight: z
    .boolean()
    .default(true)
    .describe('Ours: look for what makes the score wrong; findings are in the result under preflight.'),
  strict: flag('Ours: refuse a pair of which preflight warns.'),
  allow_damaged: flag('Ours: score up to the first damage instead of refusing the file.'),
  decoder: z
    .enum(['auto', ...DECODERS])
    .default('auto')
    .describe('Ours: what decodes; auto takes what is installed.'),
};

/** Parsed {@link pairingParameters}. */
export type PairingInput = z.output<z.ZodObject<typeof pairingParameters>>;
