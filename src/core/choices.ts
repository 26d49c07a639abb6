/**
 * @module core/choices
 * Lists of values that options, types and schemas share.
 */

/** Decoders of encoded video; Y4M and raw YUV have their own readers. */
export const DECODERS = ['ffmpeg', 'mediabunny', 'wasm'] as const;
export type DecoderId = (typeof DECODERS)[number];
/** `none` reads Y4M and raw YUV only. */
export const DECODER_CHOICES = ['auto', ...DECODERS, 'none'] as const;
export type DecoderChoice = (typeof DECODER_CHOICES)[number];

/** Chroma formats, coarsest first. */
export const CHROMA_FORMATS = ['400', '420', '422', '444'] as const;
/** Ranges of sample values: `limited` is 16..235 of 256 for luma. */
export const COLOR_RANGES = ['limited', 'full'] as const;
export type ColorRange = (typeof COLOR_RANGES)[number];

/** Matrices to convert to, as ffmpeg's scale filter names them. */
export const COLOR_MATRICES = ['bt601', 'bt709', 'bt2020'] as const;
export type ColorMatrix = (typeof COLOR_MATRICES)[number];

/** Matrices from planes to R'G'B', in the order of wasm/include/perceptual.h. `gbr`: planes are G, B, R (H.273). */
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
/** Colour primaries. `p3`: Display P3. */
export const PRIMARIES = ['bt709', 'bt2020', 'p3', 'dci-p3', 'bt470m', 'bt470bg', 'smpte170m'] as const;
/** Transfer characteristics. `srgb`: IEC 61966-2-1. `bt1886`: gamma 2.4. `bt709`: the inverse of the camera's curve. */
export const TRANSFERS = ['srgb', 'bt1886', 'gamma22', 'gamma28', 'linear', 'bt709', 'pq', 'hlg'] as const;
/** Position of a chroma sample among the luma samples that it covers. */
export const SITINGS = ['left', 'center', 'topleft'] as const;
export const CHROMA_UPSAMPLERS = ['bicubic', 'bilinear', 'nearest'] as const;
/** Tools whose colour conversion can be reproduced. `libjxl`: its tools on PNG files that ffmpeg writes. */
export const COLOUR_AS = ['libjxl', 'vship', 'vszip'] as const;
export type ColourAs = (typeof COLOUR_AS)[number];

/** Whether decoders apply AV1 film grain; `both` scores with and without it. */
export const FILM_GRAIN = ['on', 'off', 'both'] as const;
/** `strict`: one distorted frame for each reference frame, at the same time. `nearest`: the one nearest in time. */
export const FRAME_RATE_POLICIES = ['strict', 'nearest'] as const;
export type FrameRatePolicy = (typeof FRAME_RATE_POLICIES)[number];

/** The video whose frames are scored, each against the nearest frame of the other. */
export const PAIR_BY = ['reference', 'distorted'] as const;
export type PairBy = (typeof PAIR_BY)[number];

/** GPU backends of an installed `vmaf`. */
export const GPU_BACKENDS = ['cuda', 'sycl', 'hip', 'metal'] as const;
export type GpuBackend = (typeof GPU_BACKENDS)[number];

/** Optional parts of anyvmaf, fetched when first needed. */
export const PART_NAMES = ['decoder', 'tiny', 'webgpu'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** GPU backends of this package: `webgpu` measures as much as it can, `hybrid` shares frames with the core. */
export const OWN_GPU_BACKENDS = ['webgpu', 'hybrid'] as const;
export type OwnGpuBackend = (typeof OWN_GPU_BACKENDS)[number];

/** `auto`: a working native GPU backend, else WebGPU if it is faster than this package's core, else the core. */
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
 * `cpu` and `wasm` are this package's core, `webgpu` is a GPU, `hybrid` is both; `native-cpu` is an installed `vmaf`, or
 * an ffmpeg or ffprobe with the libvmaf filter.
 */
export type BackendName = Exclude<BackendChoice, 'auto'>;

/** libvmaf's four formats, and `ndjson` of this package. */
export const REPORT_FORMATS = ['xml', 'json', 'csv', 'sub', 'ndjson'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Parts of a feature table to evaluate on, in the order of the reference implementation. */
export const SPLITS = ['train', 'val', 'test', 'all'] as const;
export type Split = (typeof SPLITS)[number];

export const SCALE_FILTERS = ['bicubic', 'bilinear', 'lanczos'] as const;
export type ScaleFilter = (typeof SCALE_FILTERS)[number];

/** `libvmaf-3.2`: current arithmetic. `libvmaf-3.0`: motion as in libvmaf 2.x to 3.0 (spec 2.4). */
export const COMPATS = ['libvmaf-3.2', 'libvmaf-3.0'] as const;
export type Compat = (typeof COMPATS)[number];

/** Settings of VMAF v1 models for a scaled encode: its size and bit depth, or none. */
export const V1_SETTINGS = ['encode', 'plain'] as const;
export type V1Settings = (typeof V1_SETTINGS)[number];

/** Installed programs: libvmaf's tool, or a tool of ffmpeg with the libvmaf filter. */
export type NativeFlavour = 'vmaf' | 'ffmpeg' | 'ffprobe';

/** Devices that run tiny models: those of the reference implementation, then this package's. */
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

/** `auto`: the first device that works. */
export const TINY_DEVICE_CHOICES = ['auto', ...TINY_DEVICES] as const;
/** When to use a tiny model's 8-bit variant: as its registry says, never, or always. */
export const TINY_PRECISIONS = ['auto', 'fp32', 'int8'] as const;
/** Filters that resize luma to a model's size; `disabled` refuses other sizes. */
export const TINY_RESIZES = ['bilinear', 'nearest', 'bicubic', 'disabled'] as const;

/** Short names of models, unknown to libvmaf; `phone` is the default model with its score transform. */
export const SHORT_MODEL_NAMES: ReadonlyMap<string, string> = new Map([
  ['hd', 'vmaf_v0.6.1'],
  ['phone', 'vmaf_v0.6.1'],
  ['neg', 'vmaf_v0.6.1neg'],
  ['4k', 'vmaf_4k_v0.6.1'],
  ['4k-neg', 'vmaf_4k_v0.6.1neg'],
]);

/** Maps of a frame pair: losses of VMAF's features by location, or Butteraugli's difference per pixel. */
export const MAP_KINDS = ['both', 'vif', 'adm', 'butteraugli'] as const;
export type MapKind = (typeof MAP_KINDS)[number];

export const AOM_CTC_VERSIONS = ['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'] as const;
/** A version of the AOM common test conditions. */
export type AomCtc = (typeof AOM_CTC_VERSIONS)[number];
export const NFLX_CTC_VERSIONS = ['v1.0'] as const;
/** A version of the Netflix common test conditions. */
export type NflxCtc = (typeof NFLX_CTC_VERSIONS)[number];

/** The most used encoders, by ffmpeg's names. */
export const COMMON_ENCODERS: readonly string[] = [
  'libx264',
  'libx265',
  'libsvtav1',
  'libaom-av1',
  'libvpx-vp9',
];

/** Common names of encoders, and ffmpeg's. */
const NICKNAMES: Readonly<Record<string, string>> = {
  x264: 'libx264',
  x265: 'libx265',
  'svt-av1': 'libsvtav1',
  svt_av1: 'libsvtav1',
  svtav1: 'libsvtav1',
  'aom-av1': 'libaom-av1',
  libaom: 'libaom-av1',
  'vpx-vp9': 'libvpx-vp9',
  vvenc: 'libvvenc',
};

/** ffmpeg's name of an encoder; other names are returned unchanged. */
export function encoderName(name: string): string {
  const plain = name.trim().toLowerCase();
  return Object.hasOwn(NICKNAMES, plain) ? (NICKNAMES[plain] ?? name) : name;
}
