/**
 * @module search/encoders
 * Encoders: their searchable parameters, and the options that may be set.
 */
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted, showValue } from '../core/printable.js';
import { type Grid, indexNear } from './strategy.js';

/** Rate control parameters that can be searched. */
export type ParameterName = 'crf' | 'cq' | 'qp' | 'global_quality' | 'bitrate';

export interface Parameter {
  readonly name: ParameterName;
  /** Bit rates are in bits per second. */
  readonly grid: Grid;
  args(value: number): readonly string[];
}

/** Range of values to search, ends included. */
export interface ValueRange {
  readonly min: number;
  readonly max: number;
  /** Distance between values. Default: the encoder's own. */
  readonly step?: number;
}

interface Scale {
  readonly name: Exclude<ParameterName, 'bitrate'>;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly start: number;
  /** Approximate VMAF points lost per unit. */
  readonly slope: number;
  readonly extra?: readonly string[];
}

/** Scales of known encoders, with the steps of the parameter's type if ffmpeg takes fractions. */
const SCALES: Readonly<Record<string, Scale>> = {
  libx264: { name: 'crf', min: 0, max: 51, step: 0.5, start: 24, slope: 1.6 },
  libx265: { name: 'crf', min: 0, max: 51, step: 0.5, start: 25, slope: 1.6 },
  libsvtav1: { name: 'crf', min: 1, max: 63, step: 0.25, start: 36, slope: 0.8 },
  // Without a bit rate, VP8 takes at most 256 kb/s, and its lowest quantizer is 4.
  libvpx: { name: 'crf', min: 4, max: 63, step: 1, start: 20, slope: 0.8, extra: ['-b:v', '100M'] },
  'libvpx-vp9': { name: 'crf', min: 0, max: 63, step: 1, start: 34, slope: 0.8, extra: ['-b:v', '0'] },
  'libaom-av1': { name: 'crf', min: 0, max: 63, step: 1, start: 34, slope: 0.8, extra: ['-b:v', '0'] },
  librav1e: { name: 'qp', min: 0, max: 255, step: 1, start: 100, slope: 0.2 },
};

/** Scales to try in this order for other encoders; whole numbers, which hardware encoders need. */
const GENERAL: readonly Scale[] = [
  { name: 'crf', min: 0, max: 63, step: 1, start: 30, slope: 1 },
  { name: 'cq', min: 1, max: 51, step: 1, start: 26, slope: 1.5, extra: ['-b:v', '0'] },
  { name: 'global_quality', min: 1, max: 51, step: 1, start: 26, slope: 1.5 },
  { name: 'qp', min: 0, max: 51, step: 1, start: 26, slope: 1.5 },
];

const MOST_VALUES = 10_000;

/** Successive bit rates per octave, about as far apart as two CRF values. */
const PER_OCTAVE = 12;
/** Approximate VMAF points lost per such step. */
const RATE_SLOPE = 0.6;
const LOWEST_RATE = 50_000;
const HIGHEST_RATE = 200_000_000;

/**
 * @param wanted default: the encoder's constant-quality scale
 * @throws {AnyvmafError} `usage` for a parameter that the encoder does not have, and for a range without values
 */
export function parameterOf(
  facts: EncoderFacts,
  wanted: ParameterName | undefined,
  range: ValueRange | undefined,
): Parameter {
  if (wanted === 'bitrate') return bitrate(range);
  const listed = SCALES[facts.name];
  const found = [...(listed ? [listed] : []), ...GENERAL].find(
    ({ name }) => (wanted === undefined || name === wanted) && facts.options.has(name),
  );
  if (!found) {
    if (wanted === undefined) return bitrate(range);
    throw usageError(`${facts.name} has no parameter ${wanted}; leave it out, or use bitrate.`);
  }
  const isWhole = facts.options.get(found.name) === 'int';
  const scale = { ...found, step: isWhole ? Math.max(1, found.step) : found.step };
  const values = valuesOf(scale, range);
  const fraction = isWhole ? values.find((value) => !Number.isInteger(value)) : undefined;
  if (fraction !== undefined)
    throw usageError(
      `the range includes ${fraction}, but ${facts.name} takes only whole numbers for ${scale.name}; use a whole start and step.`,
    );
  const start = indexNear(values, scale.start);
  const step = Math.abs((values[1] ?? 0) - (values[0] ?? 0)) || scale.step;
  return {
    name: scale.name,
    grid: { values, start, slope: scale.slope * step },
    args: (value) => [`-${scale.name}`, String(value), ...(scale.extra ?? [])],
  };
}

function valuesOf(
  scale: Pick<Parameter, 'name'> & Pick<Scale, 'min' | 'max' | 'step'>,
  range: ValueRange | undefined,
): readonly number[] {
  const { min, max } = range ?? scale;
  const step = range?.step ?? scale.step;
  const ok =
    Number.isFinite(min) && Number.isFinite(max) && min <= max && min >= scale.min && max <= scale.max;
  if (!ok || !(step > 0))
    throw usageError(
      `the range is ${rangeText(min, max)}, but ${scale.name} goes from ${scale.min} to ${scale.max} in steps of ${scale.step}.`,
    );
  const count = Math.floor((max - min) / step + 1e-9) + 1;
  if (count > MOST_VALUES)
    throw usageError(
      `the range is ${showValue(range)}, which has more than ${MOST_VALUES} values; use a larger step.`,
    );
  // Rounded to remove the binary noise of the steps.
  return Array.from({ length: count }, (_, i) => Number((min + i * step).toFixed(6)));
}

function rangeText(min: unknown, max: unknown): string {
  return `${showValue(min)} to ${showValue(max)}`;
}

function bitrate(range: ValueRange | undefined): Parameter {
  const { min, max, step }: ValueRange = range ?? { min: LOWEST_RATE, max: HIGHEST_RATE };
  if (!(min >= 1000 && max <= 1e10 && min <= max))
    throw usageError(
      `the range is ${rangeText(min, max)}, but bit rates go from 1000 to 10000000000 bits per second.`,
    );
  const octaves = Math.log2(max / min);
  const steps = Math.ceil(octaves * PER_OCTAVE);
  const rates =
    step !== undefined
      ? valuesOf({ name: 'bitrate', min, max, step }, range).toReversed()
      : Array.from({ length: steps + 1 }, (_, i) => Math.max(min, max / 2 ** (i / PER_OCTAVE)));
  const values = [...new Set(rates.map(Math.round))];
  const slope = (RATE_SLOPE * PER_OCTAVE * octaves) / (values.length - 1) || RATE_SLOPE;
  return {
    name: 'bitrate',
    grid: { values, start: indexNear(values, 3_000_000), slope },
    args: (value) => ['-b:v', String(value)],
  };
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Encoders allowed for requests not made by the user: all encode video, and none loads files that options name. */
const FOREIGN_ENCODERS = words(`
  libx264 libx264rgb libx265 libsvtav1 libaom-av1 librav1e libvpx libvpx-vp9 libvvenc libkvazaar libxeve libopenh264 libxvid
  libtheora mpeg2video mpeg4 mjpeg ffv1 prores prores_ks dnxhd
  h264_nvenc hevc_nvenc av1_nvenc h264_qsv hevc_qsv av1_qsv vp9_qsv h264_amf hevc_amf av1_amf
  h264_vaapi hevc_vaapi av1_vaapi vp8_vaapi vp9_vaapi h264_videotoolbox hevc_videotoolbox prores_videotoolbox`);

export function isForeignEncoder(name: string): boolean {
  return FOREIGN_ENCODERS.has(name);
}

/** ffmpeg's options of all encoders that affect only the picture. */
const COMMON = words(
  'bf bufsize flags g keyint_min level maxrate minrate profile:v profile qmax qmin refs sc_threshold slices tag:v threads tune',
);

const SEARCHED = words(
  'b b:v bitrate cq crf crf-max crf-min global_quality lossless pass qp quality rc stats',
);

/** Options of encoders with text values that name no file. */
const TEXTS = words(`
  a53cc aq-mode coder deadline level motion-est partitions preset profile quality rc rc_mode tier tune usage wpredp x264opts
  x264-params x265-params svtav1-params aom-params rav1e-params`);

/** Matches names of options that take files, libraries or devices. */
const NAMES_FILE = /file|path|dir|lib|device|dump|log|stats|url|config|table|log2|vstats/i;

/** Options that hold a list of the encoder's own options, with the allowed names. */
const LISTS: Readonly<Record<string, ReadonlySet<string>>> = {
  'x264-params': words(`
    8x8dct alternative-transfer analyse aq-mode aq-strength aud b-adapt b-bias b-pyramid bframes bluray-compat cabac chroma-me
    chroma-qp-offset chromaloc cll colormatrix colorprim constrained-intra cplxblur cpu-independent dct-decimate deadzone-inter
    deadzone-intra deblock direct fade-compensate fake-interlaced fast-pskip filler force-cfr frame-packing fullrange interlaced
    intra-refresh ipratio keyint level log lookahead-threads mastering-display mbtree me merange min-keyint mixed-refs mvrange
    mvrange-thread nal-hrd non-deterministic nr open-gop overscan partitions pbratio pic-struct psy psy-rd qblur qcomp qpmax qpmin
    qpstep range ratetol rc-lookahead ref sar scenecut slice-max-mbs slice-max-size slice-min-mbs slices slices-max sliced-threads
    stitchable subme sync-lookahead tff bff threads transfer trellis vbv-bufsize vbv-init vbv-maxrate videoformat weightb weightp`),
  'x265-params': words(`
    allow-non-conformance amp analyze-src-pics annexb aq-mode aq-motion aq-strength asm atc-sei aud b-adapt b-intra b-pyramid
    bframe-bias bframes cbqpoffs chromaloc colormatrix colorprim constrained-intra copy-pic cplxblur crqpoffs ctu cu-lossless cutree
    deblock display-window dup-threshold dynamic-rd early-skip fades fast-intra field force-flush frame-dup frame-threads
    gop-lookahead hash hdr hdr10 hdr10-opt hevc-aq high-tier hist-scenecut hme hme-range hme-search hrd hrd-concat idr-recovery-sei
    info interlace intra-refresh ipratio keyint level-idc limit-modes limit-refs limit-sao limit-tu log-level lookahead-slices
    lookahead-threads master-display max-cll max-luma max-merge max-tu-size mcstf me merange min-cu-size min-keyint min-luma
    multi-pass-opt-rps nr-inter nr-intra open-gop opt-cu-delta-qp opt-qp-pps opt-ref-list-length-pps overscan pbratio pic-struct pme
    pmode pools psy-rd psy-rdoq qblur qcomp qg-size qpmax qpmin qpstep radl range rc-grain rc-lookahead rd rd-refine rdoq-level rect
    ref repeat-headers rskip rskip-edge-threshold sao sao-non-deblock sar sbrc scenecut scenecut-bias selective-sao signhide
    single-sei slices splitrd-skip ssim-rd strong-intra-smoothing subme temporal-layers temporal-mvp transfer tskip tskip-fast
    tu-inter-depth tu-intra-depth uhd-bd vbv-bufsize vbv-end vbv-end-fr-adj vbv-init vbv-maxrate videoformat vui-hrd-info
    vui-timing-info weightb weightp wpp`),
  'svtav1-params': words(`
    ac-bias aq-mode chroma-sample-position chroma-u-ac-qindex-offset chroma-u-dc-qindex-offset chroma-v-ac-qindex-offset
    chroma-v-dc-qindex-offset color-primaries color-range content-light enable-cdef enable-dg enable-dlf enable-hdr enable-mfmv
    enable-overlays enable-qm enable-restoration enable-tf enable-variance-boost fast-decode film-grain film-grain-denoise
    frame-luma-bias hierarchical-levels input-depth irefresh-type keyint level lookahead lp luminance-qp-bias mastering-display
    matrix-coefficients max-qp min-qp noise-norm-strength pin pred-struct psy-rd qm-max qm-min qp-scale-compress-strength
    resize-mode scd scm sharpness superres-mode tf-strength tile-columns tile-rows transfer-characteristics tune
    variance-boost-curve variance-boost-strength variance-octile`),
  'aom-params': words(`
    aq-mode arnr-maxframes arnr-strength cpu-used deltaq-mode denoise-block-size denoise-noise-level enable-1to4-partitions
    enable-ab-partitions enable-angle-delta enable-cdef enable-cfl-intra enable-chroma-deltaq enable-diff-wtd-comp
    enable-directional-intra enable-dist-wtd-comp enable-dnl-denoising enable-dual-filter enable-filter-intra
    enable-flip-idtx enable-fwd-kf enable-global-motion enable-interinter-wedge enable-interintra-comp enable-intra-edge-filter
    enable-intrabc enable-keyframe-filtering enable-masked-comp enable-obmc enable-onesided-comp enable-order-hint
    enable-overlay enable-paeth-intra enable-palette enable-qm enable-rect-partitions enable-rect-tx enable-ref-frame-mvs
    enable-restoration enable-smooth-interintra enable-smooth-intra enable-tpl-model enable-tx64 enable-warped-motion
    error-resilient film-grain-test frame-parallel gf-max-pyr-height gf-min-pyr-height loopfilter-sharpness
    max-gf-interval max-partition-size max-reference-frames min-gf-interval min-partition-size mode-cost-upd-freq mv-cost-upd-freq
    noise-sensitivity num-tile-groups qm-max qm-min quant-b-adapt reduced-reference-set reduced-tx-type-set row-mt
    sb-size sframe-dist sframe-mode sharpness superres-mode tile-columns tile-rows tune tune-content`),
  'rav1e-params': words(`
    content_light error_resilient key_frame_interval low_latency mastering_display min_key_frame_interval rdo_lookahead_frames
    reservoir_frame_delay speed threads tile_cols tile_rows tiles tune`),
};

/** Other names of these lists. */
const LIST_OF: Readonly<Record<string, string>> = { x264opts: 'x264-params' };
/** Flags that affect only the picture; others select two passes or a quality. */
const FLAGS = /^(?:[+-]?(?:4mv|aic|bitexact|cgop|closed_gop|gray|ildct|ilme|loop|low_delay|mv4|psnr|qpel))+$/;
/** Types of ffmpeg options whose values are numbers, switches or named constants. */
const PLAIN_TYPES = words('int int64 uint uint64 float double boolean bool flags rational');

/** @throws {AnyvmafError} `usage` for unknown options, those set by the search, and those that may name a file */
export function encoderArguments(facts: EncoderFacts, options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (SEARCHED.has(name))
      throw usageError(`the encoder option ${quoted(name)} is set by the search; leave it out.`);
    const type = facts.options.get(name);
    if (type === undefined && !COMMON.has(name)) {
      const near = nearest(name, [...facts.options.keys(), ...COMMON]);
      throw usageError(
        `${facts.name} has no option ${quoted(name)}${near === undefined ? '.' : `; did you mean ${near}?`}`,
      );
    }
    const known = COMMON.has(name) || TEXTS.has(name) || PLAIN_TYPES.has(type ?? '');
    if (!known || (NAMES_FILE.test(name) && !PLAIN_TYPES.has(type ?? '')))
      throw usageError(
        `the encoder option ${quoted(name)} may name a file, a library or a device; leave it out.`,
      );
    if (name === 'flags' && !FLAGS.test(value))
      throw usageError(
        `the encoder option "flags" is ${quoted(value)}, but only flags that affect the picture are allowed, such as +cgop.`,
      );
    if (LISTS[LIST_OF[name] ?? name]) checkList(name, value);
    else if (!/^[\w.:+,|-]+$/.test(value))
      throw usageError(
        `the encoder option ${quoted(name)} is ${quoted(value)}, but only letters, digits and _.:+,|- are allowed.`,
      );
    return [`-${name}`, value];
  });
}

/** Rejects quotes and backslashes, which ffmpeg and encoders split differently. @throws {AnyvmafError} `usage` */
function checkList(option: string, text: string): void {
  const allowed = LISTS[LIST_OF[option] ?? option] ?? new Set();
  const about = `the encoder option ${quoted(option)} is ${quoted(text)}`;
  if (!/^[\w.:=+,()|/-]*$/.test(text) || /(?:^|[=:,(])\//.test(text))
    throw usageError(`${about}; names and values in it must be without quotes, spaces and paths.`);
  for (const item of text.split(':')) {
    const [written = '', , second] = item.split('=');
    if (second !== undefined)
      throw usageError(
        `${about}, in which ${quoted(item)} has two equals signs; separate options with colons.`,
      );
    // Values such as deblock=-1:-1 contain a colon.
    if (/^-?\d*(?:\.\d+)?$/.test(written) && !item.includes('=')) continue;
    const name = nameIn(written, allowed);
    if (SEARCHED.has(name))
      throw usageError(`${about}, in which ${quoted(written)} is set by the search; leave it out.`);
    if (allowed.has(name)) continue;
    const near = nearest(name, [...allowed]);
    throw usageError(
      `${about}, in which ${quoted(written)} is not a known option of the encoder, or may name a file` +
        `${near === undefined ? '.' : `; did you mean ${near}?`}`,
    );
  }
}

/** An option's name as listed: `_` may replace `-`, and a leading `no-` switches it off. */
function nameIn(written: string, allowed: ReadonlySet<string>): string {
  const plain = written.toLowerCase();
  const spellings = [plain, plain.replaceAll('_', '-'), plain.replaceAll('-', '_')];
  for (const name of spellings) {
    const bare = name.replace(/^no[-_]?/, '');
    const found = [name, bare].find((spelling) => allowed.has(spelling) || SEARCHED.has(spelling));
    if (found !== undefined) return found;
  }
  return plain;
}

export interface EncoderFacts {
  /** ffmpeg's name: `libx264`. */
  readonly name: string;
  /** Versions of ffmpeg and, as far as ffmpeg tells, the encoder's library; for caches and reports. */
  readonly version: string;
  /** The encoder's own options by name, with ffmpeg's types: `int`, `float`, `string`. */
  readonly options: ReadonlyMap<string, string>;
  /** Empty if ffmpeg does not list them. */
  readonly pixelFormats: readonly string[];
}
