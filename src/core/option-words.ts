/**
 * @module core/option-words
 * Words of the options in core/options for the command line and the tools; web pages do not load them.
 */
import type { OptionName } from './options.js';

export interface OptionWords {
  /** Heading of the help above the flag; rows of a heading follow the table's order. */
  readonly heading?: string;
  /** Without dashes. Default: the option's name in kebab case. */
  readonly flag?: string;
  /** One-letter flag. */
  readonly short?: string;
  /** Placeholder of the value in the help. */
  readonly argument?: string;
  readonly help?: string;
  /** Also an option of the `vmaf` tool. */
  readonly vmaf?: true;
  /** A likely value, for messages about invalid ones. */
  readonly example?: number;
  /** What a count counts, for messages. */
  readonly unit?: string;
  /** The flag sets false. */
  readonly negative?: true;
  /** Group of its parameter. */
  readonly among?: 'scoring' | 'pairing' | 'filters';
  /** In place of the flag in messages of the command line, and of the parameter in messages of tools. */
  readonly written?: string;
  readonly given?: string;
  /** Also a parameter of `vmaf_score`, which has no others for pairing. */
  readonly stored?: true;
  /** Default: the option's name in snake case. */
  readonly parameter?: string;
  /** The parameter's description, if its name and values are not enough. */
  readonly about?: string;
  /** Least value of the parameter, if omitting it means the same as less. */
  readonly least?: number;
  /** A choice that the parameter lacks. */
  readonly without?: string;
  /** The parameter may be omitted, which differs from passing its default. */
  readonly optional?: true;
}

const FRAMES = { heading: 'Input', among: 'scoring', vmaf: true } as const;
const PAIRING = { heading: 'Pairing', among: 'pairing' } as const;
const FILTERS = { ...PAIRING, among: 'filters' } as const;
const WHAT = { heading: 'Models and features', among: 'scoring', vmaf: true } as const;
const RUNNING = { heading: 'Running', among: 'scoring', vmaf: true } as const;

/** Rows by the names of the API, in the order of the help. */
export const OPTION_WORDS = {
  frameCount: {
    ...FRAMES,
    flag: 'frame_cnt',
    argument: 'N',
    help: 'score at most N frames (0: all)',
    example: 100,
    parameter: 'frame_cnt',
    about: 'Pairs of frames at most.',
    least: 1,
    optional: true,
  },
  skipReference: {
    ...FRAMES,
    flag: 'frame_skip_ref',
    argument: 'N',
    help: 'skip the first N frames of the reference',
    example: 10,
    parameter: 'frame_skip_ref',
    about: 'Frames of the reference to skip.',
    optional: true,
  },
  skipDistorted: {
    ...FRAMES,
    flag: 'frame_skip_dist',
    argument: 'N',
    help: 'skip the first N frames of the distorted video',
    example: 10,
    parameter: 'frame_skip_dist',
    about: 'Frames of the distorted video to skip.',
    optional: true,
  },
  subsample: {
    ...FRAMES,
    argument: 'N',
    help: 'score only every Nth frame',
    example: 5,
    about: 'Score every Nth frame.',
    least: 1,
  },
  samples: {
    heading: FRAMES.heading,
    argument: 'NxSs',
    help: 'score N runs of S seconds spread over the video, such as 8x4s, or auto; values are estimates with an interval',
  },
  decoder: {
    ...PAIRING,
    argument: 'NAME',
    help: 'decoder of encoded video: auto (default: the first that is installed), ffmpeg, mediabunny, wasm, none',
    about: 'auto takes the first that works.',
    without: 'none',
  },
  scale: {
    ...PAIRING,
    argument: 'FILTER',
    help: 'resizing filter if sizes differ: bicubic (default), bilinear, lanczos, or none to refuse them',
    about: 'Resizing filter; none refuses. Default bicubic (Y4M, raw: none).',
  },
  scaleTo: {
    ...PAIRING,
    argument: 'SIZE',
    help: 'the size to score at: ref (default), dis, or WIDTHxHEIGHT for both',
    about: 'Size to score at: ref (default), dis or WxH.',
  },
  frameRatePolicy: {
    ...PAIRING,
    argument: 'HOW',
    help: 'nearest (default) pairs frames by nearest time; strict refuses other rates and missing or repeated frames',
    about: 'Default nearest: by time; strict refuses other rates, lost frames.',
  },
  pairBy: {
    ...PAIRING,
    argument: 'VIDEO',
    help: 'whose frames are scored: reference (default), or distorted for an encode with a lower frame rate',
    about: 'Whose frames are scored. Default: reference.',
    optional: true,
  },
  offset: {
    ...PAIRING,
    argument: 'N',
    help: 'the distorted video begins with reference frame N (negative: it has frames before the first); auto finds N',
    about: 'Distorted frame n is reference n + offset; auto searches.',
  },
  window: {
    heading: PAIRING.heading,
    argument: 'N',
    help: 'offset auto tries offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
    example: 100,
    unit: 'frames',
  },
  range: {
    ...PAIRING,
    argument: 'A-B',
    help: 'only this part of the reference: frames 240-480, or times 1:30-2:00, 10s-12.5s; either end may be left out',
    about: 'Part of the reference to score.',
  },
  crop: {
    ...FILTERS,
    argument: 'auto',
    help: 'auto crops black borders, and nothing that is picture in either video',
  },
  cropReference: {
    ...FILTERS,
    flag: 'crop-ref',
    argument: 'W:H:X:Y',
    help: 'crop the reference to this part, in samples, as ffmpeg does; without X:Y to its centre',
  },
  cropDistorted: {
    ...FILTERS,
    flag: 'crop-dis',
    argument: 'W:H:X:Y',
    help: 'crop the distorted video to this part, in samples; without X:Y to its centre',
  },
  deinterlace: {
    ...FILTERS,
    help: 'deinterlace (bwdif) videos whose pictures or label are interlaced',
  },
  grain: {
    ...FILTERS,
    argument: 'WHICH',
    help: 'off decodes AV1 without its synthetic film grain, which metrics count as a loss; both scores with and without it (default: on)',
    optional: true,
  },
  colourAs: {
    heading: FILTERS.heading,
    argument: 'TOOL',
    help: 'convert colours for colour metrics as this tool does: libjxl (PNG files by ffmpeg), vship or vszip',
  },
  colorRange: {
    ...FILTERS,
    argument: 'RANGE',
    help: 'convert to this range: limited or full; untagged counts as limited',
  },
  matrix: {
    ...FILTERS,
    argument: 'NAME',
    help: 'convert to this matrix: bt601, bt709 or bt2020 (ffmpeg)',
  },
  pixelFormat: {
    ...FILTERS,
    flag: 'pix-fmt',
    argument: 'NAME',
    help: 'compare in this planar format, such as yuv420p10le',
  },
  vfReference: {
    ...FILTERS,
    flag: 'vf-ref',
    argument: 'CHAIN',
    help: 'chain of ffmpeg filters for the reference, as after -vf; only filters that change pictures',
  },
  vfDistorted: {
    ...FILTERS,
    flag: 'vf-dis',
    argument: 'CHAIN',
    help: 'chain of ffmpeg filters for the distorted video, as after -vf',
  },
  trackReference: {
    ...FILTERS,
    flag: 'track-ref',
    argument: 'N',
    help: 'the video track of the reference to read, from 0 (default: the default track, else the largest)',
    example: 1,
  },
  trackDistorted: {
    ...FILTERS,
    flag: 'track-dis',
    argument: 'N',
    help: 'the video track of the distorted video to read, from 0 (default: the default track, else the largest)',
    example: 1,
  },
  strict: {
    ...PAIRING,
    help: 'refuse a pair with preflight warnings',
    about: 'Refuse a pair with preflight warnings.',
  },
  preflight: {
    ...PAIRING,
    flag: 'no-preflight',
    negative: true,
    help: 'do not check the pair before scoring',
    about: 'Check the pair before scoring it.',
  },
  allowDamaged: {
    ...PAIRING,
    help: 'score a damaged video up to its first damage',
    stored: true,
    about: 'Score a damaged file up to the damage.',
  },
  rate: {
    heading: PAIRING.heading,
    argument: 'R',
    help: 'pictures per second of frame_%04d.png, "shots/*.jpg" or a folder: 24, 24000/1001 (default: 25)',
  },
  allowUrl: {
    heading: PAIRING.heading,
    argument: 'HOST',
    help: 'read videos on HOST by URL, in parts and checked. May be repeated. Without HOST: ffmpeg fetches them, unchecked',
  },
  models: {
    heading: WHAT.heading,
    vmaf: true,
    flag: 'model',
    short: 'm',
    argument: 'SPEC',
    help:
      'NAME or version=NAME for a built-in model, or its short name hd, 4k, neg, 4k-neg or phone; path=FILE for a model file; or ' +
      'auto for HD or 4K by size; then, after ' +
      'colons: name=NAME, disable_clip, enable_transform, EXTRACTOR.OPTION=VALUE. May be repeated. Default: ' +
      "version=vmaf_v0.6.1. 'anyvmaf models' lists the built-in ones",
  },
  features: {
    heading: WHAT.heading,
    vmaf: true,
    flag: 'feature',
    argument: 'SPEC',
    help: "also report this feature, such as ssimulacra2, butteraugli, cvvdp, xpsnr or psnr: NAME or NAME=OPTION=VALUE:OPTION=VALUE. May be repeated. 'anyvmaf features' lists them",
    parameter: 'feature',
    stored: true,
  },
  noPrediction: {
    ...WHAT,
    flag: 'no_prediction',
    short: 'n',
    help: 'features only, no scores',
    about: 'Features only, no scores.',
  },
  compat: {
    heading: WHAT.heading,
    argument: 'VERSION',
    help: 'the libvmaf to reproduce: libvmaf-3.2 (default), or libvmaf-3.0 for motion as in libvmaf 2.x to 3.0',
  },
  v1Settings: {
    heading: WHAT.heading,
    argument: 'WHICH',
    help: 'settings of VMAF v1 for a scaled encode: encode (default) passes its size and depth, plain nothing, as a bare vmaf does',
  },
  aomCtc: {
    ...WHAT,
    flag: 'aom_ctc',
    argument: 'VERSION',
    help: 'models and features of the AOM common test conditions, v1.0 to v7.0',
    about: 'AOM common test conditions. Excludes feature, model and what changes models.',
  },
  nflxCtc: {
    ...WHAT,
    flag: 'nflx_ctc',
    argument: 'VERSION',
    help: 'models and features of the Netflix common test conditions, v1.0',
    about: 'Netflix common test conditions, with the 4K models. Excludes what aom_ctc does.',
  },
  noReference: {
    heading: 'Tiny models',
    among: 'scoring',
    help: 'score one video alone, with tiny models that need no reference',
    about: 'Score the distorted video alone, by a tiny_model of kind nr.',
  },
  threads: {
    ...RUNNING,
    argument: 'N',
    help: 'worker threads (default: one per core; 0: none)',
    example: 4,
    about: 'Worker threads at most; 0: the server chooses.',
  },
  maxSeconds: {
    heading: RUNNING.heading,
    argument: 'N',
    help: 'fail a pair after N seconds',
  },
  backend: {
    heading: RUNNING.heading,
    argument: 'NAME',
    help:
      'wasm or cpu: the built-in core (default); webgpu: a GPU; hybrid: a GPU beside the core; all with the same numbers. ' +
      'native-cpu, cuda, sycl, hip or metal: an installed libvmaf. auto: a GPU that works and is faster, else the core. ' +
      "'anyvmaf backends' lists those available",
  },
  vmafBin: {
    heading: RUNNING.heading,
    argument: 'FILE',
    written: '--vmaf-bin or VMAF_BIN',
    given: 'VMAF_BIN',
    help: 'the installed vmaf, or an ffmpeg or ffprobe with the libvmaf filter (default: VMAF_BIN, then PATH)',
  },
  cpumask: {
    ...RUNNING,
    argument: 'MASK',
    help: 'native backends: SIMD levels to disable',
    about: 'Instruction sets that libvmaf must not use.',
  },
  gpumask: {
    ...RUNNING,
    argument: 'MASK',
    help: 'native backends: GPU operations to disable',
    about: 'For an installed libvmaf; 0 allows a GPU.',
  },
  syclDevice: {
    ...RUNNING,
    flag: 'sycl_device',
    argument: 'N',
    help: 'backend sycl: number of the device',
    example: 0,
    about: 'Backend sycl: device number.',
  },
  hipDevice: {
    ...RUNNING,
    flag: 'hip_device',
    argument: 'N',
    help: 'backend hip: number of the device',
    example: 0,
    about: 'Backend hip: device number.',
  },
  metalDevice: {
    ...RUNNING,
    flag: 'metal_device',
    argument: 'N',
    help: 'backend metal: number of the device',
    example: 0,
    about: 'Backend metal: device number.',
  },
} as const satisfies Partial<Record<OptionName, OptionWords>>;

const WORDS: Readonly<Record<string, OptionWords>> = OPTION_WORDS;

/** The words of an option; an unlisted name gets its flag and parameter by case. */
export function wordsOf(name: string): OptionWords & Required<Pick<OptionWords, 'flag' | 'parameter'>> {
  const lower = (joint: string) => name.replace(/[A-Z]/g, (letter) => joint + letter.toLowerCase());
  return { flag: lower('-'), parameter: lower('_'), ...WORDS[name] };
}

export function namesAmong(among: OptionWords['among']): readonly (keyof typeof OPTION_WORDS)[] {
  const names = Object.keys(OPTION_WORDS) as (keyof typeof OPTION_WORDS)[];
  return names.filter((name) => wordsOf(name).among === among);
}
