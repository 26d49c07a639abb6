/**
 * @module mcp/scoring/options
 * From the parameters of a scoring tool to the options of the public API.
 */
import { OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import type { FilterOptions, PairingOptions, Precision, ReportFormat, ScoreOptions } from '../../index.js';
import { extractorsFor, type Limit, parseLimit } from '../../report/limits.js';
import type { CheckedOptions } from '../checked-api.js';
import { modelTexts } from './models.js';
import type { PairingInput, ScoringInput } from './parameters.js';
import { refuseUnavailable } from './refusals.js';
import { tinyOptions } from './tiny.js';

/** A scoring call, checked and translated. */
export interface ScoringCall {
  readonly options: CheckedOptions<ScoreOptions>;
  readonly precision: Precision;
  readonly format: Exclude<ReportFormat, 'ndjson'>;
  readonly detail: ScoringInput['detail'];
  /** What is to be reached; absent if nothing is. */
  readonly target?: readonly Limit[];
  /** Echoed as it was asked for. */
  readonly backendRequested: string;
  /** Worker threads wanted, `null` for one per core. */
  readonly weight: number | null;
}

/**
 * Checks what was asked for and translates it. Threads and signal are added when the call has its share of the machine.
 * @throws {AnyvmafError} `usage` for parameters that contradict each other or cannot be honoured
 */
export function scoringCall(input: ScoringInput, pairing: PairingOptions): ScoringCall {
  refuseUnavailable(input);
  const { aom_ctc: aomCtc, nflx_ctc: nflxCtc } = input;
  const preset = aomCtc !== undefined || nflxCtc !== undefined;
  const tiny = tinyOptions(input);
  // Without a reference no VMAF model runs, whatever the default is.
  const models = preset || tiny.noReference ? undefined : modelTexts(input);
  const target = targetLimits(input.target);
  const { frame_cnt: frameCount, frame_skip_ref, frame_skip_dist, threads = 0 } = input;
  const asked = input.feature ?? [];
  const feature = preset ? asked : [...asked, ...featuresOf(target, asked)];
  const backend = chosenBackend(input);
  return {
    options: {
      ...pairing,
      ...(models && { models }),
      ...tiny,
      ...(aomCtc && { aomCtc }),
      ...(nflxCtc && { nflxCtc }),
      backend,
      subsample: input.subsample,
      noPrediction: input.no_prediction,
      ...nativeOptions(input, backend),
      ...(feature.length > 0 && { features: feature.map((text) => withViewing(text, input)) }),
      ...(frameCount !== undefined && { frameCount }),
      ...(frame_skip_ref !== undefined && { skipReference: frame_skip_ref }),
      ...(frame_skip_dist !== undefined && { skipDistorted: frame_skip_dist }),
    },
    precision: readPrecision(input.precision),
    format: outputFormat(input),
    detail: input.detail,
    ...(target && { target }),
    backendRequested: backend === 'native-cpu' ? backend : input.backend,
    weight: threads === 0 ? null : threads,
  };
}

/** Options of the public API for the pairing parameters. */
export function pairingOptions(input: PairingInput): PairingOptions {
  const { range, decoder, scale, scale_to: scaleTo, offset, preflight, strict } = input;
  const { frame_rate_policy: frameRatePolicy, pair_by: pairBy } = input;
  return {
    decoder,
    // Leave out what the caller left out: it decides how stored videos are paired and what preflight warns of.
    ...(scale && { scale }),
    ...(scaleTo !== undefined && { scaleTo: readSize(scaleTo) }),
    ...(frameRatePolicy && { frameRatePolicy }),
    ...(pairBy && { pairBy }),
    ...filterOptions(input),
    offset,
    preflight,
    strict,
    allowDamaged: input.allow_damaged,
    ...(range && {
      range: { unit: range.unit, start: range.start, ...(range.end !== undefined && { end: range.end }) },
    }),
  };
}

/** The bounds of a target; `undefined` without one. @throws {AnyvmafError} `usage` */
export function targetLimits(text: string | undefined): readonly Limit[] | undefined {
  return text?.split(',').map((part) => parseLimit(part));
}

/** Features to measure for the bounds of a target, beside those that were asked for. */
export function featuresOf(
  target: readonly Limit[] | undefined,
  asked: readonly string[] = [],
): readonly string[] {
  const named = (target ?? []).flatMap(({ metric }) => metric ?? []);
  return extractorsFor(named, asked);
}

/** Options of the public API for filters and tracks. */
export function filterOptions({
  filters = {},
}: Pick<PairingInput, 'filters'>): FilterOptions & Pick<PairingOptions, 'trackReference' | 'trackDistorted'> {
  const { deinterlace, crop, grain, matrix } = filters;
  const named = {
    cropReference: filters.crop_reference,
    cropDistorted: filters.crop_distorted,
    vfReference: filters.vf_reference,
    vfDistorted: filters.vf_distorted,
    colorRange: filters.color_range,
    pixelFormat: filters.pixel_format,
    trackReference: filters.track_reference,
    trackDistorted: filters.track_distorted,
  };
  const given = Object.entries({ deinterlace, crop, grain, matrix, ...named }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(given);
}

function readSize(text: string): NonNullable<PairingOptions['scaleTo']> {
  if (text === 'ref' || text === 'dis') return text;
  const [width = 0, height = 0] = text.split('x').map(Number);
  return { width, height };
}

/** The reference's spelling of a precision as the report writers have it. */
export function readPrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  return text === 'full' ? 'max' : Number(text);
}

function chosenBackend(input: ScoringInput): NonNullable<ScoreOptions['backend']> {
  if (input.native_cpu) return 'native-cpu';
  return input.backend === 'auto' && (input.gpumask ?? 0) !== 0 ? 'cpu' : input.backend;
}

/** Backends that run no installed program, or none that was named. */
const OWN: readonly string[] = ['auto', 'cpu', 'wasm', ...OWN_GPU_BACKENDS];

/** Options that only installed programs understand. */
function nativeOptions(
  input: ScoringInput,
  backend: NonNullable<ScoreOptions['backend']>,
): Pick<ScoreOptions, 'cpumask' | 'gpumask' | 'syclDevice' | 'hipDevice' | 'metalDevice'> {
  if (OWN.includes(backend)) return {};
  const { cpumask, gpumask, sycl_device, hip_device, metal_device } = input;
  return {
    ...(cpumask !== undefined && { cpumask }),
    ...(gpumask !== undefined && { gpumask }),
    ...(backend === 'sycl' && sycl_device !== undefined && { syclDevice: sycl_device }),
    ...(backend === 'hip' && hip_device !== undefined && { hipDevice: hip_device }),
    ...(backend === 'metal' && metal_device !== undefined && { metalDevice: metal_device }),
  };
}

function outputFormat({ output_fmt: named, csv, sub }: ScoringInput): ScoringCall['format'] {
  if (csv && sub)
    throw usageError('csv and sub are both true, but a report has one format; give one of them.');
  const short = csv ? 'csv' : sub ? 'sub' : undefined;
  if (short === undefined || named === short) return named;
  // json is the default too.
  if (named === 'json') return short;
  throw usageError(`${short} is true, but output_fmt is ${named}; give one of them.`);
}

/** Viewing conditions are those of every adm of a call, unless a feature has its own. */
function withViewing(text: string, input: ScoringInput): string {
  const [name] = text.split('=', 1);
  if (name !== 'adm') return text;
  const { view_distance: distance, display_height: height } = input;
  const added = [
    distance === undefined || text.includes('adm_norm_view_dist=') ? [] : [`adm_norm_view_dist=${distance}`],
    height === undefined || text.includes('adm_ref_display_height=')
      ? []
      : [`adm_ref_display_height=${height}`],
  ].flat();
  if (added.length === 0) return text;
  return `${text}${text.includes('=') ? ':' : '='}${added.join(':')}`;
}
