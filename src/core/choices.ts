/**
 * @module core/choices
 * Every list of words that more than one part takes: types, schemas and the choices of options come from it.
 */

/** What decodes video, besides this package's own readers of Y4M and raw YUV. */
export const DECODERS = ['ffmpeg', 'mediabunny', 'wasm'] as const;
export type DecoderId = (typeof DECODERS)[number];
/** `none` reads Y4M and raw YUV only. */
export const DECODER_CHOICES = ['auto', ...DECODERS, 'none'] as const;
export type DecoderChoice = (typeof DECODER_CHOICES)[number];

/** Chroma formats from the coarsest to the finest. */
export const CHROMA_FORMATS = ['400', '420', '422', '444'] as const;

/** Ranges of sample values: 16 to 235 of 256 for luma, or all. */
export const COLOR_RANGES = ['limited', 'full'] as const;
export type ColorRange = (typeof COLOR_RANGES)[number];

/** Matrices between RGB and luma with chroma, by ffmpeg's scale filter. */
export const COLOR_MATRICES = ['bt601', 'bt709', 'bt2020'] as const;
export type ColorMatrix = (typeof COLOR_MATRICES)[number];

/** How three planes become R'G'B'. `gbr`: they are G, B and R, as H.273 has it. In the order of wasm/include/perceptual.h. */
export const COLOUR_MATRICES = [
  'gbr',
  'bt709',
  'bt601',
  'bt2020',
  'smpte240m',
  'fcc',
  'ycgco',
  'bt2020c',
  'ictcp',
] as const;
/** Which colours R, G and B are. `p3`: Display P3. */
export const PRIMARIES = ['bt709', 'bt2020', 'p3', 'dci-p3', 'bt470m', 'bt470bg', 'smpte170m'] as const;
/** Transfer characteristics. `srgb`: IEC 61966-2-1. `bt1886`: gamma 2.4. `bt709`: the inverse of the camera's curve. */
export const TRANSFERS = ['srgb', 'bt1886', 'gamma22', 'gamma28', 'linear', 'bt709', 'pq', 'hlg'] as const;
/** Where a chroma sample lies among the luma samples that it covers. */
export const SITINGS = ['left', 'center', 'topleft'] as const;
/** How chroma is brought to the size of luma. */
export const CHROMA_UPSAMPLERS = ['bicubic', 'bilinear', 'nearest'] as const;

/** Tools whose conversion to light metrics of colour can repeat. `libjxl`: its tools on PNG files that ffmpeg makes of frames. */
export const COLOUR_AS = ['libjxl', 'vship', 'vszip'] as const;
export type ColourAs = (typeof COLOUR_AS)[number];

/** Whether decoders add the film grain that an AV1 encoder took out; `both` scores with and without it. */
export const FILM_GRAIN = ['on', 'off', 'both'] as const;

/** `strict`: one distorted frame for each reference frame, at the same time. `nearest`: the nearest in time. */
export const FRAME_RATE_POLICIES = ['strict', 'nearest'] as const;
export type FrameRatePolicy = (typeof FRAME_RATE_POLICIES)[number];

/** The video whose frames are scored, each with the frame at its time of the other. */
export const PAIR_BY = ['reference', 'distorted'] as const;
export type PairBy = (typeof PAIR_BY)[number];

/** Backends that run on a graphics processor, all of them through an installed `vmaf`. */
export const GPU_BACKENDS = ['cuda', 'sycl', 'hip', 'metal'] as const;
export type GpuBackend = (typeof GPU_BACKENDS)[number];

/** Parts of anyvmaf that are fetched when they are first needed. */
export const PART_NAMES = ['decoder', 'tiny', 'webgpu'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** Backends of this package that measure on a GPU: alone as far as it can, or side by side with the core. */
export const OWN_GPU_BACKENDS = ['webgpu', 'hybrid'] as const;
export type OwnGpuBackend = (typeof OWN_GPU_BACKENDS)[number];

/**
 * A backend, or `auto`: a healthy native GPU backend where there is one, else a GPU by WebGPU where that is faster than this
 * package's own core, else that.
 */
export const BACKEND_CHOICES = [
  'auto',
  'cpu',
  'wasm',
  'native-cpu',
  ...GPU_BACKENDS,
  ...OWN_GPU_BACKENDS,
] as const;
export type BackendChoice = (typeof BACKEND_CHOICES)[number];
/**
 * What measures frames. `cpu` and `wasm` are two names of this package's own core; `webgpu` is a GPU, `hybrid` both side by
 * side; `native-cpu` is an installed `vmaf`, or else an ffmpeg or ffprobe with the libvmaf filter.
 */
export type BackendName = Exclude<BackendChoice, 'auto'>;

/** libvmaf's four formats and `ndjson`, ours. */
export const REPORT_FORMATS = ['xml', 'json', 'csv', 'sub', 'ndjson'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The parts of a table to evaluate on, in the reference's order. */
export const SPLITS = ['train', 'val', 'test', 'all'] as const;
export type Split = (typeof SPLITS)[number];

/** Filters that bring one video to the other's size. */
export const SCALE_FILTERS = ['bicubic', 'bilinear', 'lanczos'] as const;
export type ScaleFilter = (typeof SCALE_FILTERS)[number];

/** `libvmaf-3.2`: today's arithmetic. `libvmaf-3.0`: motion as libvmaf 2.x to 3.0 computed it (spec 2.4). */
export const COMPATS = ['libvmaf-3.2', 'libvmaf-3.0'] as const;
export type Compat = (typeof COMPATS)[number];

/** What VMAF v1 models know of a scaled encode: its size and depth, or nothing. */
export const V1_SETTINGS = ['encode', 'plain'] as const;
export type V1Settings = (typeof V1_SETTINGS)[number];

/** Kinds of installed program: libvmaf's own tool, or one of ffmpeg's with the libvmaf filter. */
export type NativeFlavour = 'vmaf' | 'ffmpeg' | 'ffprobe';

/** Devices of tiny models: the reference's, then ours. */
export const TINY_DEVICES = [
  'cpu',
  'cuda',
  'openvino',
  'openvino-npu',
  'openvino-cpu',
  'openvino-gpu',
  'coreml',
  'coreml-ane',
  'coreml-gpu',
  'coreml-cpu',
  'rocm',
  'tensorrt',
  'webgpu',
  'directml',
] as const;

/** What may be asked for: a device, or whichever works first. */
export const TINY_DEVICE_CHOICES = ['auto', ...TINY_DEVICES] as const;

/** Whether a tiny model that has an 8-bit sibling runs as that: as its registry says, never, or always. */
export const TINY_PRECISIONS = ['auto', 'fp32', 'int8'] as const;

/** Filters that bring luma to a model's size; `disabled` refuses another. */
export const TINY_RESIZES = ['bilinear', 'nearest', 'bicubic', 'disabled'] as const;

/** Short names of models, which libvmaf does not know; `phone` is the default model with its transform. */
export const SHORT_MODEL_NAMES: ReadonlyMap<string, string> = new Map([
  ['hd', 'vmaf_v0.6.1'],
  ['phone', 'vmaf_v0.6.1'],
  ['neg', 'vmaf_v0.6.1neg'],
  ['4k', 'vmaf_4k_v0.6.1'],
  ['4k-neg', 'vmaf_4k_v0.6.1neg'],
]);

/** Maps of a pair of frames: losses of VMAF's features by location, or Butteraugli's difference of each pixel. */
export const MAP_KINDS = ['both', 'vif', 'adm', 'butteraugli'] as const;
export type MapKind = (typeof MAP_KINDS)[number];

/** Versions of the AOM common test conditions. */
export const AOM_CTC_VERSIONS = ['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'] as const;
/** A version of the AOM common test conditions. */
export type AomCtc = (typeof AOM_CTC_VERSIONS)[number];
/** Versions of the Netflix common test conditions. */
export const NFLX_CTC_VERSIONS = ['v1.0'] as const;
/** A version of the Netflix common test conditions. */
export type NflxCtc = (typeof NFLX_CTC_VERSIONS)[number];
