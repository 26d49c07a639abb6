/**
 * @module mcp/scoring/options
 * Turns tool parameters into options of the API; refuses those of the reference MCP server that it cannot honour.
 */
import { OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { namesAmong, wordsOf } from '../../core/option-words.js';
import { OPTIONS } from '../../core/options.js';
import { quoted, showValue } from '../../core/printable.js';
import { parseSize } from '../../core/size.js';
import {
  listExtractors,
  type PairingOptions,
  type Precision,
  type ReportFormat,
  type ScoreOptions,
} from '../../index.js';
import { extractorsFor, type Limit, parseLimit } from '../../report/limits.js';
import type { CheckedOptions } from '../checked-api.js';
import type { CheckedModel, InputModel } from '../paths.js';
import { DEFAULT_MODEL, type ScoringInput } from './parameters.js';

export interface ScoringCall {
  readonly options: CheckedOptions<ScoreOptions>;
  readonly precision: Precision;
  readonly format: Exclude<ReportFormat, 'ndjson'>;
  readonly detail: ScoringInput['detail'];
  readonly target?: readonly Limit[];
  /** As the caller asked for it. */
  readonly backendRequested: string;
  /** Worker threads wanted, `null` for one per core. */
  readonly weight: number | null;
}

/** Threads and signal are added later. @throws {AnyvmafError} `usage` if parameters conflict or cannot be honoured */
export function scoringCall(input: ScoringInput, pairing: PairingOptions = {}): ScoringCall {
  // Refuse what cannot be honoured, so that no score is mistaken for another.
  refuseWithPresets(input);
  refuseTarget(input);
  refuseDevices(input);
  const preset = input.aom_ctc !== undefined || input.nflx_ctc !== undefined;
  // A no-reference call runs no VMAF model, not even the default.
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
      models,
      tiny: tinyModels(input),
      backend,
      features: feature.map((text) => withViewing(text, input)),
    },
    precision: readPrecision(input.precision),
    format: outputFormat(input),
    detail: input.detail,
    target,
    backendRequested: backend === 'native-cpu' ? backend : input.backend,
    weight: threads === 0 ? null : threads,
  };
}

/** Options from the table: their parameters name no files and need no conversion. */
type TableOptions = Omit<ScoreOptions, 'models' | 'tiny' | 'backend' | 'features'>;

export function tableOptions(input: object): TableOptions {
  const all: Readonly<Record<string, unknown>> = { ...input };
  const options: Record<string, unknown> = {};
  for (const among of ['scoring', 'pairing', 'filters'] as const) {
    const given = among === 'filters' ? Object(all.filters) : all;
    for (const name of namesAmong(among)) {
      const value = given[wordsOf(name).parameter];
      // Parameters left out stay unset: defaults depend on the videos.
      if (value !== undefined)
        options[name] = OPTIONS[name].kind === 'size' ? (parseSize(value) ?? value) : value;
    }
  }
  return options;
}

type ModelInput = Pick<
  ScoringInput,
  'model' | 'models' | 'disable_clip' | 'enable_transform' | 'view_distance' | 'display_height'
>;

/** @throws {AnyvmafError} `usage` if both model and models are given */
function modelTexts(input: ModelInput): readonly CheckedModel[] {
  const { model, models } = input;
  if (models !== undefined && model.named !== DEFAULT_MODEL) {
    throw usageError(
      `model is ${quoted(model.named)} and models has ${models.length} more, but only one of the two may be given; put all into models.`,
    );
  }
  const suffix = modelSuffix(input);
  // The suffix names no file.
  return (models ?? [model]).map(({ text }) => `${text}${suffix}` as CheckedModel);
}

function modelSuffix(input: ModelInput): string {
  return [
    input.disable_clip ? ':disable_clip' : '',
    input.enable_transform ? ':enable_transform' : '',
    ...viewingOptions(input).map((option) => `:adm.${option}`),
  ].join('');
}

function viewingOptions({
  view_distance: distance,
  display_height: height,
}: Pick<ScoringInput, 'view_distance' | 'display_height'>): readonly string[] {
  return [
    ...(distance === undefined ? [] : [`adm_norm_view_dist=${distance}`]),
    ...(height === undefined ? [] : [`adm_ref_display_height=${height}`]),
  ];
}

/** Parses the bounds of a target. @throws {AnyvmafError} `usage` */
export function targetLimits(text: string | undefined): readonly Limit[] | undefined {
  return text?.split(',').map((part) => parseLimit(part));
}

/** Extractors for the bounds of a target, beside the requested ones. */
function featuresOf(target: readonly Limit[] | undefined, asked: readonly string[] = []): readonly string[] {
  const named = (target ?? []).flatMap(({ metric }) => metric ?? []);
  return extractorsFor(named, asked);
}

export function pairOptions(input: { readonly model: InputModel; readonly target?: string }) {
  const features = featuresOf(targetLimits(input.target));
  return { ...tableOptions(input), models: [input.model.text], features };
}

/** Parses a precision as the reference MCP server spells it. */
export function readPrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  return text === 'full' ? 'max' : Number(text);
}

function chosenBackend(input: ScoringInput): NonNullable<ScoreOptions['backend']> {
  if (input.native_cpu) return 'native-cpu';
  return input.backend === 'auto' && (input.gpumask ?? 0) !== 0 ? 'cpu' : input.backend;
}

/** Backends that name no installed program. */
const OWN: readonly string[] = ['auto', 'cpu', 'wasm', ...OWN_GPU_BACKENDS];

/** Drops options of installed programs if none runs, and devices of other backends. */
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
  // json may be the default.
  if (named === 'json') return short;
  throw usageError(`${short} is true, but output_fmt is ${named}; give one of them.`);
}

/** Adds viewing conditions to an adm feature, unless it has its own. */
function withViewing(text: string, input: ScoringInput): string {
  if (!/^adm(=|$)/.test(text)) return text;
  const added = viewingOptions(input).filter((option) => !text.includes(option.replace(/=.*/, '=')));
  if (added.length === 0) return text;
  return `${text}${text.includes('=') ? ':' : '='}${added.join(':')}`;
}

/** Refuses feature and model strings that write files on the server's machine. @throws {AnyvmafError} `usage` */
export function refuseWriting({
  features = [],
  models = [],
}: Pick<ScoreOptions, 'features' | 'models'>): void {
  const texts = [...features, ...models];
  for (const { options } of listExtractors()) {
    for (const { name, type } of options) {
      if (type !== 'folder' || !texts.some((text) => new RegExp(`[=:.]${name}=`).test(text))) continue;
      throw usageError(
        `${name} would write files on the machine of this server, which its tools never do; leave it out, or use it with ` +
          'anyvmaf on the command line.',
      );
    }
  }
}

/** A preset is a fixed set: other features or models would break what its name promises. */
function refuseWithPresets(input: ScoringInput): void {
  const [name, second] = (['aom_ctc', 'nflx_ctc'] as const).filter((preset) => input[preset] !== undefined);
  if (name === undefined) return;
  const extras: readonly [string, boolean][] = [
    ['nflx_ctc', second !== undefined],
    ['feature', input.feature !== undefined],
    ['model', input.model.named !== DEFAULT_MODEL],
    ['models', input.models !== undefined],
    ['disable_clip', input.disable_clip],
    ['enable_transform', input.enable_transform],
    ['view_distance', input.view_distance !== undefined],
    ['display_height', input.display_height !== undefined],
  ];
  const other = extras.find(([, there]) => there)?.[0];
  if (other === undefined) return;
  throw usageError(
    `${name} and ${other} exclude each other: a preset is a fixed set of models and features; give one of them.`,
  );
}

function refuseTarget(input: ScoringInput): void {
  const { target_width: width, target_height: height, target_scaling: scaling } = input;
  if (width === 0 && height === 0 && scaling === 'none') return;
  throw usageError(
    `target_width is ${width}, target_height ${height} and target_scaling ${scaling}, but these parameters are reserved; ` +
      'leave them out. vmaf_score_encoded scales with scale and scale_to.',
  );
}

function refuseDevices(input: ScoringInput): void {
  const { cpumask = 0, backend, native_cpu: native } = input;
  if (native && backend !== 'cpu') {
    throw usageError(`native_cpu requires backend cpu, but backend is ${backend}; set backend to cpu.`);
  }
  if (cpumask !== 0 && !native && ['auto', 'cpu', ...OWN_GPU_BACKENDS].includes(backend)) {
    throw usageError(
      `cpumask is ${cpumask}, but the built-in core has one instruction set, WebAssembly SIMD, and the same result on ` +
        'every machine; leave out cpumask, or use an installed libvmaf with native_cpu and backend cpu.',
    );
  }
  for (const of of ['sycl', 'hip', 'metal'] as const) {
    const name = `${of}_device` as const;
    const value = input[name] ?? 0;
    if (value === 0 || backend === of) continue;
    throw usageError(
      `${name} is ${value}, but backend is ${backend}; set backend to ${of}, or leave out ${name}.`,
    );
  }
}

/** Parameters that need a tiny model, with the values that change nothing. */
const NEUTRAL = {
  tiny_device: 'auto',
  dnn_ep: 'auto',
  tiny_threads: 0,
  tiny_fp16: false,
  tiny_precision: 'auto',
  tiny_model_verify: false,
  tiny_codec: undefined,
  tiny_preset: undefined,
  tiny_crf: undefined,
  tiny_resize: 'disabled',
} as const satisfies Partial<Record<keyof ScoringInput, unknown>>;

/** @throws {AnyvmafError} `usage` for parameters that contradict each other, or that need a tiny model */
function tinyModels(input: ScoringInput): CheckedOptions<ScoreOptions>['tiny'] {
  const { tiny_model: model, tiny_device: device, dnn_ep: alias } = input;
  if (input.no_reference && model === undefined) {
    throw usageError('no_reference requires tiny_model; no classic NR scorer exists');
  }
  if (alias !== undefined && device !== 'auto' && alias !== device) {
    throw usageError(
      `tiny_device is ${device} and dnn_ep is ${alias}, but they are names of the same parameter; pass one.`,
    );
  }
  if (model === undefined) {
    refuseWithout(input);
    return undefined;
  }
  return [
    {
      model: model.text,
      device: device === 'auto' ? (alias ?? 'auto') : device,
      threads: input.tiny_threads,
      fp16: input.tiny_fp16,
      precision: input.tiny_precision,
      verify: input.tiny_model_verify,
      codec: input.tiny_codec,
      preset: input.tiny_preset,
      crf: input.tiny_crf,
      resize: input.tiny_resize,
    },
  ];
}

function refuseWithout(input: ScoringInput): void {
  for (const [name, neutral] of Object.entries(NEUTRAL)) {
    const value = input[name as keyof typeof NEUTRAL];
    if (value === undefined || value === neutral) continue;
    throw usageError(`${name} is ${showValue(value)}, but it applies to a tiny model only; add tiny_model.`);
  }
}
