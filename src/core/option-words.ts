/**
 * @module core/option-words
 * What doors say of the options of core/options: the command line's flags with their help, and the tools' parameters. Pages load
 * none of it.
 */
import type { OptionName } from './options.js';

/** What doors say of an option. */
export interface OptionWords {
  /** Heading of the help under which its flag stands. Rows of a heading stand in its order. */
  readonly heading?: string;
  /** The flag, without dashes. Default: the option's name in kebab case. */
  readonly flag?: string;
  /** One letter that says the same. */
  readonly short?: string;
  /** What the help writes for the value. */
  readonly argument?: string;
  readonly help?: string;
  /** It is an option of the `vmaf` tool too. */
  readonly vmaf?: true;
  /** A likely value, for messages about other ones. */
  readonly example?: number;
  /** What a count counts, for such messages. */
  readonly unit?: string;
  /** The flag says false, not true. */
  readonly negative?: true;
  /** The parameters among which it stands. */
  readonly among?: 'scoring' | 'pairing' | 'filters';
  /** The parameter. Default: the option's name in snake case. */
  readonly parameter?: string;
  /** The parameter's description, where its name and values are not enough. */
  readonly about?: string;
  /** Least value of the parameter, where leaving it out says the same as less. */
  readonly least?: number;
  /** The parameter may be left out, which says something else than its default. */
  readonly optional?: true;
}

const INPUT = 'Input';
const PAIRING = 'Bringing the videos together';
const WHAT = 'Models and features';
const RUNNING = 'Running';

/** The rows, by the names of the API. */
export const OPTION_WORDS = {
  frameCount: {
    heading: INPUT,
    flag: 'frame_cnt',
    argument: 'N',
    help: 'score at most N frames (0: all)',
    vmaf: true,
    example: 100,
    among: 'scoring',
    parameter: 'frame_cnt',
    about: 'Pairs of frames at most.',
    least: 1,
    optional: true,
  },
  skipReference: {
    heading: INPUT,
    flag: 'frame_skip_ref',
    argument: 'N',
    help: 'leave out the first N frames of the reference',
    vmaf: true,
    example: 10,
    among: 'scoring',
    parameter: 'frame_skip_ref',
    about: 'Frames of the reference to skip.',
    optional: true,
  },
  skipDistorted: {
    heading: INPUT,
    flag: 'frame_skip_dist',
    argument: 'N',
    help: 'leave out the first N frames of the distorted video',
    vmaf: true,
    example: 10,
    among: 'scoring',
    parameter: 'frame_skip_dist',
    about: 'Frames of the distorted video to skip.',
    optional: true,
  },
  subsample: {
    heading: INPUT,
    argument: 'N',
    help: 'score only every Nth frame',
    vmaf: true,
    example: 5,
    among: 'scoring',
    about: 'Score every Nth frame.',
    least: 1,
  },
  samples: {
    heading: INPUT,
    argument: 'NxSs',
    help: 'score N runs of S seconds spread over the video, such as 8x4s, or auto; values are estimates with an interval',
  },
  decoder: {
    heading: PAIRING,
    argument: 'NAME',
    help: 'what decodes encoded video: auto (default: the first that is installed), ffmpeg, mediabunny, wasm, none',
    among: 'pairing',
    about: 'auto takes the first that can.',
  },
  scale: {
    heading: PAIRING,
    argument: 'FILTER',
    help: 'how different sizes are made equal: bicubic (default), bilinear, lanczos, or none to refuse them',
    among: 'pairing',
    about: 'Resizing filter; none refuses. Default bicubic (Y4M, raw: none).',
  },
  scaleTo: {
    heading: PAIRING,
    argument: 'SIZE',
    help: 'the size to score at: ref (default), dis, or WIDTHxHEIGHT for both',
    among: 'pairing',
    about: 'Size to score at: ref (default), dis or WIDTHxHEIGHT.',
  },
  frameRatePolicy: {
    heading: PAIRING,
    argument: 'HOW',
    help: 'nearest (default) pairs frames by nearest time; strict refuses other rates and missing or repeated frames',
    among: 'pairing',
    about: 'Default nearest: by time; strict refuses other rates, lost frames.',
  },
  pairBy: {
    heading: PAIRING,
    argument: 'VIDEO',
    help: 'score at the frames of the reference (default) or, for an encode with fewer a second, of the distorted',
    among: 'pairing',
    about: 'Whose frames are scored. Default: reference.',
    optional: true,
  },
  offset: {
    heading: PAIRING,
    argument: 'N',
    help: 'the distorted video begins with reference frame N (negative: it has frames before the first); auto finds N',
    among: 'pairing',
    about: 'Distorted frame n is reference n + offset; auto searches.',
  },
  window: {
    heading: PAIRING,
    argument: 'N',
    help: 'offset auto tries offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
    example: 100,
    unit: 'frames',
  },
  range: {
    heading: PAIRING,
    argument: 'A-B',
    help: 'only this part of the reference: frames 240-480, or times 1:30-2:00, 10s-12.5s; either end may be left out',
    among: 'pairing',
    about: 'Part of the reference to score.',
  },
  crop: {
    heading: PAIRING,
    argument: 'auto',
    help: 'auto cuts off black borders: what lies outside the pictures of both',
    among: 'filters',
  },
  cropReference: {
    heading: PAIRING,
    flag: 'crop-ref',
    argument: 'W:H:X:Y',
    help: 'the part of the reference to compare, in samples, as of ffmpeg; without X:Y its middle',
    among: 'filters',
  },
  cropDistorted: {
    heading: PAIRING,
    flag: 'crop-dis',
    argument: 'W:H:X:Y',
    help: 'the part of the distorted video',
    among: 'filters',
  },
  deinterlace: {
    heading: PAIRING,
    help: 'make whole pictures of the fields of what is interlaced, by its pictures or its label (bwdif)',
    among: 'filters',
  },
  grain: {
    heading: PAIRING,
    argument: 'WHICH',
    help: 'off leaves out the film grain that decoders add to AV1, which metrics count as a loss (default: on)',
    among: 'filters',
    optional: true,
  },
  colorRange: {
    heading: PAIRING,
    argument: 'RANGE',
    help: 'convert samples of the other range: limited or full; untagged counts as limited',
    among: 'filters',
  },
  matrix: {
    heading: PAIRING,
    argument: 'NAME',
    help: 'convert samples of another matrix: bt601, bt709 or bt2020 (ffmpeg)',
    among: 'filters',
  },
  pixelFormat: {
    heading: PAIRING,
    flag: 'pix-fmt',
    argument: 'NAME',
    help: 'compare in this planar format, such as yuv420p10le',
    among: 'filters',
  },
  vfReference: {
    heading: PAIRING,
    flag: 'vf-ref',
    argument: 'CHAIN',
    help: "ffmpeg's filters for the reference, as after -vf; only such as change pictures",
    among: 'filters',
  },
  vfDistorted: {
    heading: PAIRING,
    flag: 'vf-dis',
    argument: 'CHAIN',
    help: 'the same for the distorted video',
    among: 'filters',
  },
  trackReference: {
    heading: PAIRING,
    flag: 'track-ref',
    argument: 'N',
    help: 'the video track of the reference to read, from 0 (default: the default track, else the largest)',
    example: 1,
    among: 'filters',
  },
  trackDistorted: {
    heading: PAIRING,
    flag: 'track-dis',
    argument: 'N',
    help: 'the same for the distorted video',
    example: 1,
    among: 'filters',
  },
  strict: {
    heading: PAIRING,
    help: 'refuse a pair that preflight warns of',
    among: 'pairing',
    about: 'Refuse a pair that preflight warns of.',
  },
  preflight: {
    heading: PAIRING,
    flag: 'no-preflight',
    negative: true,
    help: 'do not look for mismatches before scoring',
    among: 'pairing',
    about: 'Check for what makes the score wrong.',
  },
  allowDamaged: {
    heading: PAIRING,
    help: 'score a damaged video up to its first damage',
    among: 'pairing',
    about: 'Score a damaged file up to the damage.',
  },
  rate: {
    heading: PAIRING,
    argument: 'R',
    help: 'pictures per second of frame_%04d.png, "shots/*.jpg" or a folder: 24, 24000/1001 (default: 25)',
  },
  allowUrl: {
    heading: PAIRING,
    argument: 'HOST',
    help: 'read videos on HOST by URL, in parts and checked. May be repeated. Without HOST: ffmpeg fetches them, unchecked',
  },
  models: {
    heading: WHAT,
    flag: 'model',
    short: 'm',
    argument: 'SPEC',
    help:
      'NAME or version=NAME for a built-in model, in short hd, 4k, neg, 4k-neg or phone; path=FILE for a model file; or ' +
      'auto for HD or 4K by size; then, after ' +
      'colons: name=NAME, disable_clip, enable_transform, EXTRACTOR.OPTION=VALUE. May be repeated. Default: ' +
      "version=vmaf_v0.6.1. 'anyvmaf models' lists the built-in ones",
    vmaf: true,
  },
  features: {
    heading: WHAT,
    flag: 'feature',
    argument: 'SPEC',
    help: "also report this feature, such as ssimulacra2, butteraugli, cvvdp, xpsnr or psnr: NAME or NAME=OPTION=VALUE:OPTION=VALUE. May be repeated. 'anyvmaf features' lists them",
    vmaf: true,
    parameter: 'feature',
  },
  noPrediction: {
    heading: WHAT,
    flag: 'no_prediction',
    short: 'n',
    help: 'features only, no scores',
    vmaf: true,
    among: 'scoring',
    about: 'Features only, no scores.',
  },
  compat: {
    heading: WHAT,
    argument: 'VERSION',
    help: 'whose numbers to reproduce: libvmaf-3.2 (default) or libvmaf-3.0 for motion as in libvmaf 2.x to 3.0',
  },
  v1Settings: {
    heading: WHAT,
    argument: 'WHICH',
    help: 'what VMAF v1 knows of a scaled encode: encode (default), its size and depth, or plain, nothing, as a bare vmaf',
  },
  aomCtc: {
    heading: WHAT,
    flag: 'aom_ctc',
    argument: 'VERSION',
    help: 'models and features of the AOM common test conditions, v1.0 to v7.0',
    vmaf: true,
    among: 'scoring',
    about:
      'Models and features of the AOM common test conditions. Excludes feature, model and what changes models.',
  },
  nflxCtc: {
    heading: WHAT,
    flag: 'nflx_ctc',
    argument: 'VERSION',
    help: 'models and features of the Netflix common test conditions, v1.0',
    vmaf: true,
    among: 'scoring',
    about: 'Those of Netflix, with the 4K models; as aom_ctc.',
  },
  noReference: {
    heading: 'Tiny models',
    help: 'score one video by itself, with tiny models that need no reference',
    among: 'scoring',
    about: 'Score the distorted video by itself, with a tiny_model of kind nr.',
  },
  threads: {
    heading: RUNNING,
    argument: 'N',
    help: 'workers (default: one per core; 0: no worker)',
    vmaf: true,
    example: 4,
    among: 'scoring',
    about: 'Worker threads at most; 0: the server chooses.',
  },
  maxSeconds: {
    heading: RUNNING,
    argument: 'N',
    help: 'stop a pair that takes longer, as one that failed',
  },
  backend: {
    heading: RUNNING,
    argument: 'NAME',
    help:
      'what measures: wasm or cpu for the own core (default); webgpu for a GPU, hybrid for a GPU beside the own core, with ' +
      'the same numbers; native-cpu, cuda, sycl, hip or metal for an installed libvmaf; auto for a GPU that works and is ' +
      "faster, else the own core. 'anyvmaf backends' lists what is here",
  },
  vmafBin: {
    heading: RUNNING,
    argument: 'FILE',
    help: 'the installed vmaf, or an ffmpeg or ffprobe with the libvmaf filter (default: VMAF_BIN, then PATH)',
  },
  cpumask: {
    heading: RUNNING,
    argument: 'MASK',
    help: 'native backends: SIMD levels not to use',
    vmaf: true,
    among: 'scoring',
    about: 'Instruction sets that an installed libvmaf must not use.',
  },
  gpumask: {
    heading: RUNNING,
    argument: 'MASK',
    help: 'native backends: GPU operations to disable',
    vmaf: true,
    among: 'scoring',
    about: 'For an installed libvmaf; 0 allows a GPU.',
  },
  syclDevice: {
    heading: RUNNING,
    flag: 'sycl_device',
    argument: 'N',
    help: 'backend sycl: number of the device',
    vmaf: true,
    example: 0,
    among: 'scoring',
    about: 'Device number with backend sycl.',
  },
  hipDevice: {
    heading: RUNNING,
    flag: 'hip_device',
    argument: 'N',
    help: 'backend hip: number of the device',
    vmaf: true,
    example: 0,
    among: 'scoring',
    about: 'Device number with backend hip.',
  },
  metalDevice: {
    heading: RUNNING,
    flag: 'metal_device',
    argument: 'N',
    help: 'backend metal: number of the device',
    vmaf: true,
    example: 0,
    among: 'scoring',
    about: 'Device number with backend metal.',
  },
} as const satisfies Partial<Record<OptionName, OptionWords>>;
