/**
 * @module core/option-words
 * Words of the options in core/options for the command line and the tools, which web pages do not load.
 */
import type { OptionName } from './options.js';

export interface OptionWords {
  /** Heading of the help above the flag; rows of a heading keep the table's order. */
  readonly heading?: string;
  /** Without dashes. Default: the option's name in kebab case, for `vmaf` in snake case. */
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
  /** Replaces the flag in messages of the command line, and the parameter in messages of tools. */
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

/** Words of an option by its heading, and by the group of its parameter if it has one. */
const under = (heading: string, argument?: string) => ({ heading, argument });
const frames = (argument: string) => ({ ...under('Input', argument), among: 'scoring', vmaf: true }) as const;
const pairing = (argument?: string) => ({ ...under('Pairing', argument), among: 'pairing' }) as const;
const filters = (argument?: string) => ({ ...under('Pairing', argument), among: 'filters' }) as const;
const measures = (argument?: string) =>
  ({ ...under('Models and features', argument), among: 'scoring', vmaf: true }) as const;
const running = (argument: string) =>
  ({ ...under('Running', argument), among: 'scoring', vmaf: true }) as const;

const deviceOf = (backend: string) => ({
  ...running('N'),
  help: `backend ${backend}: number of the device`,
  example: 0,
  about: `Backend ${backend}: device number.`,
});

/** Rows by the names of the API, in the order of the help. */
export const OPTION_WORDS = {
  frameCount: {
    ...frames('N'),
    flag: 'frame_cnt',
    help: 'score at most N frames (0: all)',
    example: 100,
    parameter: 'frame_cnt',
    about: 'Pairs of frames at most.',
    least: 1,
    optional: true,
  },
  skipReference: {
    ...frames('N'),
    flag: 'frame_skip_ref',
    help: 'skip the first N frames of the reference',
    example: 10,
    parameter: 'frame_skip_ref',
    about: 'Frames of the reference to skip.',
    optional: true,
  },
  skipDistorted: {
    ...frames('N'),
    flag: 'frame_skip_dist',
    help: 'skip the first N frames of the distorted video',
    example: 10,
    parameter: 'frame_skip_dist',
    about: 'Frames of the distorted video to skip.',
    optional: true,
  },
  subsample: {
    ...frames('N'),
    help: 'score only every Nth frame',
    example: 5,
    about: 'Score every Nth frame.',
    least: 1,
  },
  samples: {
    ...under('Input', 'NxSs'),
    help: 'score N runs of S seconds spread over the video, such as 8x4s, or auto; values are estimates with an interval',
  },
  decoder: {
    ...pairing('NAME'),
    help: 'decoder of encoded video: auto (default: the first that is installed), ffmpeg, mediabunny, wasm, none',
    about: 'auto takes the first that works.',
    without: 'none',
  },
  scale: {
    ...pairing('FILTER'),
    help: 'resizing filter if sizes differ: bicubic (default), bilinear, lanczos, or none to refuse them',
    about: 'Resizing filter; none refuses. Default bicubic (Y4M, raw: none).',
  },
  scaleTo: {
    ...pairing('SIZE'),
    help: 'the size to score at: ref (default), dis, or WIDTHxHEIGHT for both',
    about: 'Size to score at: ref (default), dis or WxH.',
  },
  frameRatePolicy: {
    ...pairing('HOW'),
    help: 'nearest (default) pairs frames by nearest time; strict refuses other rates and missing or repeated frames',
    about: 'Default nearest: by time; strict refuses other rates, lost frames.',
  },
  pairBy: {
    ...pairing('VIDEO'),
    help: 'whose frames are scored: reference (default), or distorted for an encode with a lower frame rate',
    about: 'Whose frames are scored. Default: reference.',
    optional: true,
  },
  offset: {
    ...pairing('N'),
    help: 'the distorted video begins with reference frame N (negative: it has frames before the first); auto finds N',
    about: 'Distorted frame n is reference n + offset; auto searches.',
  },
  window: {
    ...under('Pairing', 'N'),
    help: 'offset auto tries offsets from -N to N frames, 1 to 1000 (default: 50, widened if ambiguous)',
    example: 100,
    unit: 'frames',
  },
  range: {
    ...pairing('A-B'),
    help: 'only this part of the reference: frames 240-480, or times 1:30-2:00, 10s-12.5s; either end may be left out',
    about: 'Part of the reference to score.',
  },
  crop: { ...filters('auto'), help: 'auto crops black borders, and nothing that is picture in either video' },
  cropReference: {
    ...filters('W:H:X:Y'),
    flag: 'crop-ref',
    help: 'crop the reference to this part, in samples, as ffmpeg does; without X:Y to its centre',
  },
  cropDistorted: {
    ...filters('W:H:X:Y'),
    flag: 'crop-dis',
    help: 'crop the distorted video to this part, in samples; without X:Y to its centre',
  },
  deinterlace: { ...filters(), help: 'deinterlace (bwdif) videos whose pictures or label are interlaced' },
  grain: {
    ...filters('WHICH'),
    help: 'off decodes AV1 without its synthetic film grain, which metrics count as a loss; both scores with and without it (default: on)',
    optional: true,
  },
  colourAs: {
    ...under('Pairing', 'TOOL'),
    help: 'convert colours for colour metrics as this tool does: libjxl (PNG files by ffmpeg), vship or vszip',
  },
  colorRange: {
    ...filters('RANGE'),
    help: 'convert to this range: limited or full; untagged counts as limited',
  },
  matrix: { ...filters('NAME'), help: 'convert to this matrix: bt601, bt709 or bt2020 (ffmpeg)' },
  pixelFormat: {
    ...filters('NAME'),
    flag: 'pix-fmt',
    help: 'compare in this planar format, such as yuv420p10le',
  },
  vfReference: {
    ...filters('CHAIN'),
    flag: 'vf-ref',
    help: 'chain of ffmpeg filters for the reference, as after -vf; only filters that change pictures',
  },
  vfDistorted: {
    ...filters('CHAIN'),
    flag: 'vf-dis',
    help: 'chain of ffmpeg filters for the distorted video, as after -vf',
  },
  trackReference: {
    ...filters('N'),
    flag: 'track-ref',
    help: 'the video track of the reference to read, from 0 (default: the default track, else the largest)',
    example: 1,
  },
  trackDistorted: {
    ...filters('N'),
    flag: 'track-dis',
    help: 'the video track of the distorted video to read, from 0 (default: the default track, else the largest)',
    example: 1,
  },
  strict: {
    ...pairing(),
    help: 'refuse a pair with preflight warnings',
    about: 'Refuse a pair with preflight warnings.',
  },
  preflight: {
    ...pairing(),
    flag: 'no-preflight',
    negative: true,
    help: 'do not check the pair before scoring',
    about: 'Check the pair before scoring it.',
  },
  allowDamaged: {
    ...pairing(),
    help: 'score a damaged video up to its first damage',
    stored: true,
    about: 'Score a damaged file up to the damage.',
  },
  rate: {
    ...under('Pairing', 'R'),
    help: 'pictures per second of frame_%04d.png, "shots/*.jpg" or a folder: 24, 24000/1001 (default: 25)',
  },
  allowUrl: {
    ...under('Pairing', 'HOST'),
    help: 'read videos on HOST by URL, in parts and checked. May be repeated. Without HOST: ffmpeg fetches them, unchecked',
  },
  models: {
    ...under('Models and features', 'SPEC'),
    vmaf: true,
    flag: 'model',
    short: 'm',
    help:
      'NAME or version=NAME for a built-in model, or its short name hd, 4k, neg, 4k-neg or phone; path=FILE for a model file; or ' +
      'auto for HD or 4K by size; then, after ' +
      'colons: name=NAME, disable_clip, enable_transform, EXTRACTOR.OPTION=VALUE. May be repeated. Default: ' +
      "version=vmaf_v0.6.1. 'anyvmaf models' lists the built-in ones",
  },
  features: {
    ...under('Models and features', 'SPEC'),
    vmaf: true,
    flag: 'feature',
    help: "also report this feature, such as ssimulacra2, butteraugli, cvvdp, xpsnr or psnr: NAME or NAME=OPTION=VALUE:OPTION=VALUE. May be repeated. 'anyvmaf features' lists them",
    parameter: 'feature',
    stored: true,
  },
  noPrediction: {
    ...measures(),
    short: 'n',
    help: 'features only, no scores',
    about: 'Features only, no scores.',
  },
  compat: {
    ...under('Models and features', 'VERSION'),
    help: 'the libvmaf to reproduce: libvmaf-3.2 (default), or libvmaf-3.0 for motion as in libvmaf 2.x to 3.0',
  },
  v1Settings: {
    ...under('Models and features', 'WHICH'),
    help: 'settings of VMAF v1 for a scaled encode: encode (default) passes its size and depth, plain nothing, as a bare vmaf does',
  },
  aomCtc: {
    ...measures('VERSION'),
    help: 'models and features of the AOM common test conditions, v1.0 to v7.0',
    about: 'AOM common test conditions. Excludes feature, model and what changes models.',
  },
  nflxCtc: {
    ...measures('VERSION'),
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
    ...running('N'),
    help: 'worker threads (default: one per core; 0: none)',
    example: 4,
    about: 'Worker threads at most; 0: the server chooses.',
  },
  maxSeconds: { ...under('Running', 'N'), help: 'fail a pair after N seconds' },
  backend: {
    ...under('Running', 'NAME'),
    help:
      'wasm or cpu: the built-in core (default); webgpu: a GPU; hybrid: a GPU beside the core; all with the same numbers. ' +
      'native-cpu, cuda, sycl, hip or metal: an installed libvmaf. auto: a GPU that works and is faster, else the core. ' +
      "'anyvmaf backends' lists those available",
  },
  vmafBin: {
    ...under('Running', 'FILE'),
    written: '--vmaf-bin or VMAF_BIN',
    given: 'VMAF_BIN',
    help: 'the installed vmaf, or an ffmpeg or ffprobe with the libvmaf filter (default: VMAF_BIN, then PATH)',
  },
  cpumask: {
    ...running('MASK'),
    help: 'native backends: SIMD levels to disable',
    about: 'Instruction sets that libvmaf must not use.',
  },
  gpumask: {
    ...running('MASK'),
    help: 'native backends: GPU operations to disable',
    about: 'For an installed libvmaf; 0 allows a GPU.',
  },
  syclDevice: deviceOf('sycl'),
  hipDevice: deviceOf('hip'),
  metalDevice: deviceOf('metal'),
} as const satisfies Partial<Record<OptionName, OptionWords>>;

const WORDS: Readonly<Record<string, OptionWords>> = OPTION_WORDS;

/** The words of an option; those without a row get flag and parameter from their name. */
export function wordsOf(name: string): OptionWords & Required<Pick<OptionWords, 'flag' | 'parameter'>> {
  const lower = (joint: string) => name.replace(/[A-Z]/g, (letter) => joint + letter.toLowerCase());
  const words = WORDS[name];
  return { flag: lower(words?.vmaf ? '_' : '-'), parameter: lower('_'), ...words };
}

export function namesAmong(among: OptionWords['among']): readonly (keyof typeof OPTION_WORDS)[] {
  const names = Object.keys(OPTION_WORDS) as (keyof typeof OPTION_WORDS)[];
  return names.filter((name) => wordsOf(name).among === among);
}
