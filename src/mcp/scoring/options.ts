/**
 * @module mcp/scoring/options
 * From the parameters of a scoring tool to the options of the public API.
 */
import { OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { namesAmong, wordsOf } from '../../core/option-words.js';
import { OPTIONS } from '../../core/options.js';
import { parseSize } from '../../core/size.js';
import type { PairingOptions, Precision, ReportFormat, ScoreOptions } from '../../index.js';
import { extractorsFor, type Limit, parseLimit } from '../../report/limits.js';
import type { CheckedOptions } from '../checked-api.js';
import { modelTexts } from './models.js';
import type { ScoringInput } from './parameters.js';
import { refuseUnavailable } from './refusals.js';
import { tinyModels } from './tiny.js';

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
export function scoringCall(input: ScoringInput, pairing: PairingOptions = {}): ScoringCall {
  refuseUnavailable(input);
  const preset = input.aom_ctc !== undefined || input.nflx_ctc !== undefined;
  const tiny = tinyModels(input);
  // Without a reference no VMAF model runs, whatever the default is.
  const models = preset || input.no_reference ? undefined : modelTexts(input);
  const target = targetLimits(input.target);
  const { threads = 0, ...named } = tableOptions(input);
  const asked = input.feature ?? [];
  const feature = preset ? asked : [...asked, ...featuresOf(target, asked)];
  const backend = chosenBackend(input);
  return {
    options: {
      ...ofBackend(named, backend),
      ...pairing,
      ...(models && { models }),
      ...tiny,
      backend,
      ...(feature.length > 0 && { features: feature.map((text) => withViewing(text, input)) }),
    },
    precision: readPrecision(input.precision),
    format: outputFormat(input),
    detail: input.detail,
    ...(target && { target }),
    backendRequested: backend === 'native-cpu' ? backend : input.backend,
    weight: threads === 0 ? null : threads,
  };
}

/** Options whose parameters neither name files nor have a form of their own. */
type TableOptions = Omit<ScoreOptions, 'models' | 'tiny' | 'backend' | 'features'>;

/** Options of the API for the parameters of the table. */
export function tableOptions(input: object): TableOptions {
  const all: Readonly<Record<string, unknown>> = { ...input };
  const options: Record<string, unknown> = {};
  for (const among of ['scoring', 'pairing', 'filters'] as const) {
    const given = among === 'filters' ? Object(all.filters) : all;
    for (const name of namesAmong(among)) {
      const value = given[wordsOf(name).parameter];
      // Leave out what the caller left out: it decides how stored videos are paired and what preflight warns of.
      if (value !== undefined)
        options[name] = OPTIONS[name].kind === 'size' ? (parseSize(value) ?? value) : value;
    }
  }
  return options;
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

/** Without what only installed programs understand, where none runs, and without devices of other backends. */
function ofBackend(
  { cpumask, gpumask, syclDevice, hipDevice, metalDevice, ...options }: TableOptions,
  backend: NonNullable<ScoreOptions['backend']>,
): TableOptions {
  if (OWN.includes(backend)) return options;
  return {
    ...options,
    cpumask,
    gpumask,
    syclDevice: backend === 'sycl' ? syclDevice : undefined,
    hipDevice: backend === 'hip' ? hipDevice : undefined,
    metalDevice: backend === 'metal' ? metalDevice : undefined,
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
