/**
 * @module engine/measure/choice
 * Chooses the backend of a run: this package's core, or an installed program that supports the request and works. Passes
 * models to the program: its built-in ones by name, others as files.
 */
import { type BackendName, GPU_BACKENDS } from '../../core/choices.js';
import type { Remedy } from '../../core/errors.js';
import { AnyvmafError, backendError, capital, modelError, usageError } from '../../core/errors.js';
import { parseFeature } from '../../metrics/options.js';
import { parseModelString } from '../../models/grammar.js';
import { DEFAULT_MODEL, loadModels } from '../../models/load.js';
import { readBuiltInModel, requireBuiltIn } from '../../models/registry.js';
import type { ModelRequest, ModelStore } from '../../models/types.js';
import type { ReportModel } from '../../report/schema.js';
import type { ProbeRequest, Rejected, Survey } from '../backends/native/survey.js';
import { PROBE_MODEL, probeNative, survey } from '../backends/native/survey.js';
import type {
  BackendHealth,
  NativeBackend,
  NativeHost,
  NativeModel,
  NativeProgram,
} from '../backends/native/types.js';
import { isOwnBackend, oneLine, programName } from '../backends/native/types.js';
import type { CheckedOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import { loadSettled, type Requested, reportModel, type ScoredSize } from '../plan/plan.js';

export interface NativeChoice {
  readonly host: NativeHost;
  readonly program: NativeProgram;
  readonly backend: NativeBackend;
}

export interface BackendChosen {
  /** Absent: this package's core. */
  readonly native?: NativeChoice;
  /** Full sentences. */
  readonly notes: readonly string[];
}

const ADVICE: Readonly<Record<NativeBackend, string>> = {
  'native-cpu': "install libvmaf's vmaf tool, or an ffmpeg with the libvmaf filter",
  cuda: 'install a vmaf built with CUDA and a driver for an NVIDIA GPU',
  sycl: 'install a vmaf built with SYCL and the oneAPI run time',
  hip: 'install a vmaf built with HIP and the ROCm run time',
  metal: 'install a vmaf built with Metal, on a Mac',
};

const NAME_PROGRAM: Remedy = { purpose: 'name', option: 'vmafBin', aim: 'where it is not on PATH' };

export function howToGet(backend: NativeBackend): string {
  return `${capital(ADVICE[backend])}, and put it on PATH.`;
}

export function programFor({ programs }: Survey, backend: NativeBackend): NativeProgram | undefined {
  return programs.find((program) => backend === 'native-cpu' || program.build_flags[backend]);
}

/**
 * Chooses by the option `backend`. A backend requested by name runs, or the run fails.
 * @throws {AnyvmafError} `backend` if the requested backend is missing or does not work, with alternatives and advice;
 * `usage` for an option that only this package's core supports; the signal's reason
 */
export async function chooseBackend(
  platform: Platform,
  checked: CheckedOptions,
  signal: AbortSignal,
): Promise<BackendChosen> {
  const { backend, native } = checked;
  if (isOwnBackend(backend)) return { notes: [] };
  const host = await platform.native?.();
  if (backend === 'auto') return host ? chooseGpu(host, checked, signal) : { notes: [] };
  const [refused] = native.coreOnly;
  if (refused !== undefined) {
    throw usageError(
      `the backend ${backend} does not support ${refused}, which only the core has; leave it out, or use the backend cpu.`,
    );
  }
  if (!host) {
    throw backendError(
      `The backend ${backend} needs an installed program, which cannot run here; use the backend cpu.`,
    );
  }
  const { vmafBin } = native;
  const found = await survey(host, { vmafBin, signal }, backend === 'native-cpu' ? 'all' : 'vmaf');
  const program = programFor(found, backend);
  if (!program) {
    const why =
      found.programs.map((tool) => `${programName(tool)} was built without it`)[0] ??
      reasons(found.rejected) ??
      'no vmaf was found on PATH';
    const message = `The backend ${backend} is not available: ${why}. ${await available(host, checked, signal)}`;
    throw backendError(message, { hints: [ADVICE[backend], NAME_PROGRAM] });
  }
  const health = await healthOf(host, program, backend, { devices: native.devices, signal });
  if (!health.runtime_healthy) {
    throw backendError(
      `The backend ${backend} does not work here: ${health.error} ${await available(host, checked, signal, backend)}`,
    );
  }
  const passed = found.rejected.filter(
    ({ from }) => from !== 'PATH' || found.programs[0]?.flavour !== 'vmaf',
  );
  const notes = passed.length > 0 ? [`Not used as a native backend: ${reasons(passed)}.`] : [];
  return { native: { host, program, backend }, notes };
}

async function chooseGpu(host: NativeHost, { native }: CheckedOptions, signal: AbortSignal) {
  const { vmafBin, devices, coreOnly } = native;
  const { programs, rejected } = await survey(host, { vmafBin, signal }, 'vmaf');
  const named = rejected.filter(({ from }) => from !== 'PATH');
  if (vmafBin !== undefined && named.length > 0)
    throw backendError(`${reasons(named)}; correct it, or leave it out to use the core.`);
  const notes = named.length > 0 ? [`Not used as a native backend: ${reasons(named)}.`] : [];
  for (const program of programs) {
    for (const backend of GPU_BACKENDS) {
      if (!program.build_flags[backend]) continue;
      if (coreOnly.length > 0) {
        notes.push(`The backend ${backend} was not used: it does not support ${coreOnly.join(' and ')}.`);
        return { notes };
      }
      const health = await healthOf(host, program, backend, { devices, signal });
      if (health.runtime_healthy) return { native: { host, program, backend }, notes };
      notes.push(`The backend ${backend} was not used: ${health.error}`);
    }
  }
  return { notes };
}

const healths = new WeakMap<NativeHost, Map<string, BackendHealth>>();

/** Probes each program, backend and request once, until {@link forget}. @throws the signal's reason */
async function healthOf(
  host: NativeHost,
  program: NativeProgram,
  backend: NativeBackend,
  request: ProbeRequest,
): Promise<BackendHealth> {
  const known = healths.get(host) ?? new Map<string, BackendHealth>();
  healths.set(host, known);
  const { models, files, devices } = request;
  const key = JSON.stringify([program.key, backend, models, devices, files]);
  const health = known.get(key) ?? (await probeNative(host, program, backend, request));
  known.set(key, health);
  return health;
}

export function forget(host: NativeHost): void {
  healths.delete(host);
}

function reasons(rejected: readonly Rejected[]): string | undefined {
  return rejected.length > 0 ? rejected.map(({ problem }) => oneLine(problem)).join('; ') : undefined;
}

async function available(
  host: NativeHost,
  { native: { vmafBin } }: CheckedOptions,
  signal: AbortSignal,
  except?: BackendName,
): Promise<string> {
  const { programs } = await survey(host, { vmafBin, signal });
  const native = programs.flatMap((program, i) => {
    const gpus = GPU_BACKENDS.filter((backend) => program.build_flags[backend]);
    const names = i === 0 ? (['native-cpu', ...gpus] as const) : gpus;
    return names.filter((name) => name !== except).map((name) => `${name} (${programName(program)})`);
  });
  return `Available: ${["cpu (this package's own core)", ...native].join(', ')}.`;
}

/** Names that need no escapes, which libvmaf's log does not write. */
const PLAIN = /^[\w.-]+$/;

/** Models of a run, as passed to the program and as described in the report. */
export interface NativeModels {
  readonly models: readonly NativeModel[];
  /** Contents of the files that {@link models} name. */
  readonly files: Readonly<Record<string, string>>;
  readonly reported: readonly ReportModel[];
  /** Score names by the names passed to the program, where they differ. */
  readonly names: ReadonlyMap<string, string>;
  /** The same request for this package's core, if it supports it: for the order of metrics, and for preflight. */
  readonly requested: Pick<Requested, 'models'> & Partial<Requested>;
}

/**
 * Resolves the models of a run. Models that the program lacks become files.
 * @param size returns the scored size; called only if a model depends on it
 * @throws {AnyvmafError} `usage` or `io` for model strings and files; `model` if the program cannot use a model; `feature`
 * for options of features and models that this package's core refuses
 */
export async function loadNative(
  choice: NativeChoice,
  checked: CheckedOptions,
  store: ModelStore,
  size: () => Promise<ScoredSize> | ScoredSize,
  signal: AbortSignal,
): Promise<NativeModels> {
  // Programs silently accept unknown options.
  for (const feature of checked.features) parseFeature(feature);
  const open = checked.models ?? (checked.predicts ? [DEFAULT_MODEL] : []);
  const load = (texts: readonly string[]) => loadIfKnown(texts, store);
  const { texts, models: loaded, chosen } = await loadSettled(open, checked, size, load);
  const requests = texts.map(parseModelString);
  const files: Record<string, string> = {};
  const names = new Map<string, string>();
  const models = await Promise.all(
    requests.map(async ({ text: _, name: requestedName, source, ...flags }, i): Promise<NativeModel> => {
      const name = PLAIN.test(requestedName) ? requestedName : `anyvmaf_score_${i}`;
      if (name !== requestedName) names.set(name, requestedName);
      if (source.kind === 'version') return { ...flags, name, source: { version: source.version } };
      files[`model${i}.json`] = await store.readFile(source.path);
      return { ...flags, name, source: { file: `model${i}.json` } };
    }),
  );
  await provideModels(choice, models, files, checked, store, signal);
  const predicting = checked.predicts ? (loaded ?? []) : [];
  return {
    models,
    files,
    names,
    reported: checked.predicts
      ? (loaded?.map((model) => reportModel(model, chosen)) ?? requests.map(unknownModel))
      : [],
    requested: { models: predicting, chosen },
  };
}

/** Loads the models; `undefined` if one is unknown here, since the program may support it. */
async function loadIfKnown(texts: readonly string[], store: ModelStore) {
  try {
    return await loadModels(texts, store);
  } catch (error) {
    if (!(error instanceof AnyvmafError && (error.code === 'model' || error.code === 'feature'))) throw error;
    for (const text of texts) {
      const bare = text
        .split(':')
        .filter((item) => !OVERLOAD.test(item))
        .join(':');
      if (bare !== text && (await isKnown(bare, store)) && !(await isKnown(text, store))) throw error;
    }
    return undefined;
  }
}

/** Matches an item of a model string that sets an extractor's option. */
const OVERLOAD = /^[^=.]+\.[^=]*=/;

function isKnown(text: string, store: ModelStore): Promise<boolean> {
  return loadModels([text], store).then(
    () => true,
    () => false,
  );
}

function unknownModel({ name, source, disableClip, enableTransform }: ModelRequest): ReportModel {
  const named = source.kind === 'version' ? source.version : source.path;
  return { name, source: named, features: [], options: { disableClip, enableTransform } };
}

/** Checks that the program can use all models; turns built-in ones that it lacks into files. */
async function provideModels(
  choice: NativeChoice,
  models: NativeModel[],
  files: Record<string, string>,
  { native: { devices } }: CheckedOptions,
  store: ModelStore,
  signal: AbortSignal,
): Promise<void> {
  const { host, program, backend } = choice;
  const others = models.filter(({ source, overloads }) => !(isProbed(source) && overloads.length === 0));
  if (others.length === 0) return;
  const works = (some: readonly NativeModel[]) =>
    healthOf(host, program, backend, { models: some, files: pick(files, some), devices, signal });
  if ((await works(models)).runtime_healthy) return;
  for (const [i, model] of models.entries()) {
    if (!('version' in model.source) || (await works([model])).runtime_healthy) continue;
    const { version } = model.source;
    // If it is unknown here too, the program's own error explains it.
    const builtIn = await requireBuiltIn(version, store).catch(() => undefined);
    if (!builtIn) continue;
    files[`model${i}.json`] = await readBuiltInModel(builtIn, store);
    models[i] = { ...model, source: { file: `model${i}.json` } };
  }
  const health = await works(models);
  if (health.runtime_healthy) return;
  throw modelError(
    `The models cannot be used with the backend ${backend}: ${health.error} Use the backend cpu, or other models.`,
  );
}

function isProbed(source: NativeModel['source']): boolean {
  return JSON.stringify(source) === JSON.stringify(PROBE_MODEL.source);
}

function pick(files: Readonly<Record<string, string>>, models: readonly NativeModel[]) {
  const named = models.flatMap(({ source }) => ('file' in source ? [source.file] : []));
  return Object.fromEntries(named.map((name) => [name, files[name] ?? '']));
}
