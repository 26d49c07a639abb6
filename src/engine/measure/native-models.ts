/**
 * @module engine/measure/native-models
 * The models of a run for an installed program: its built-in ones, and files for those that it lacks.
 */

import { AnyvmafError } from '../../core/errors.js';
import { parseFeature } from '../../metrics/options.js';
import { parseModelString } from '../../models/grammar.js';
import { DEFAULT_MODEL, loadModels } from '../../models/load.js';
import { readBuiltInModel, requireBuiltIn } from '../../models/registry.js';
import type { LoadedModel, ModelRequest, ModelStore } from '../../models/types.js';
import type { ReportModel } from '../../report/types.js';
import { PROBE_MODEL } from '../backends/native/probe.js';
import type { NativeModel } from '../backends/native/types.js';
import type { ProgramOptions } from '../contract/options.js';
import { chooseModel, isOpen, type ScoredSize, settle } from '../plan/model-texts.js';
import { type Requested, reportModel, textsForEncode } from '../plan/plan.js';
import { healthOf, type NativeChoice } from './choice.js';

/** Names that libvmaf's log can hold: it escapes nothing. */
const PLAIN = /^[\w.-]+$/;

/** Models of a run as passed to the program and as described in the report. */
export interface NativeModels {
  readonly models: readonly NativeModel[];
  /** Contents of the files that {@link models} name. */
  readonly files: Readonly<Record<string, string>>;
  readonly reported: readonly ReportModel[];
  /** Score names by the names passed to the program, if different. */
  readonly names: ReadonlyMap<string, string>;
  /** What this package's own core would run, if it can: the order of the metrics, and models for preflight. */
  readonly requested: Pick<Requested, 'models'> & Partial<Requested>;
}

/**
 * Resolves the models of a run. The program gets those that it lacks as files of this package.
 * @param size returns the scored size; called only if a model depends on it
 * @throws {AnyvmafError} `usage` or `io` for model strings and files; `model` if the program cannot use one; `feature`
 * for options of features and models that this package's core would refuse
 */
export async function loadNative(
  choice: NativeChoice,
  checked: ProgramOptions,
  store: ModelStore,
  size: () => Promise<ScoredSize> | ScoredSize,
  signal: AbortSignal,
): Promise<NativeModels> {
  // Programs silently accept unknown options.
  for (const feature of checked.features) parseFeature(feature);
  const open = checked.models ?? (checked.predicts ? [DEFAULT_MODEL] : []);
  const chosen = open.some(isOpen) ? chooseModel(await size()) : undefined;
  const settled = chosen ? open.map((text) => settle(text, chosen)) : open;
  const known = await loadIfKnown(settled, store);
  const texts = known ? await textsForEncode(settled, known, checked, size) : settled;
  const loaded = texts === settled ? known : await loadIfKnown(texts, store);
  const requests = texts.map(parseModelString);
  const files: Record<string, string> = {};
  const names = new Map<string, string>();
  const models = await Promise.all(
    requests.map(async (request, i): Promise<NativeModel> => {
      const name = PLAIN.test(request.name) ? request.name : `anyvmaf_score_${i}`;
      if (name !== request.name) names.set(name, request.name);
      const nativeModel = (source: NativeModel['source']): NativeModel => {
        const { disableClip, enableTransform, overloads } = request;
        return { source, name, disableClip, enableTransform, overloads };
      };
      if (request.source.kind === 'version') return nativeModel({ version: request.source.version });
      files[`model${i}.json`] = await store.readFile(request.source.path);
      return nativeModel({ file: `model${i}.json` });
    }),
  );
  await haveAll(choice, models, files, checked, store, signal);
  const reasons = new Map(
    chosen ? requests.filter((_, i) => isOpen(open[i] ?? '')).map(({ name }) => [name, chosen.reason]) : [],
  );
  const predicting = checked.predicts ? (loaded ?? []) : [];
  return {
    models,
    files,
    names,
    reported: !checked.predicts
      ? []
      : loaded
        ? loaded.map((model) => reportModel(model, reasons))
        : requests.map(unknownModel),
    requested: { models: predicting, chosen: reasons },
  };
}

/** Loads the models as this package knows them; `undefined` if one is unknown here, as a program may support it. */
async function loadIfKnown(
  texts: readonly string[],
  store: ModelStore,
): Promise<readonly LoadedModel[] | undefined> {
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

/** Matches an item of a model string that sets an option of an extractor. */
const OVERLOAD = /^[^=.]+\.[^=]*=/;

function isKnown(text: string, store: ModelStore): Promise<boolean> {
  return loadModels([text], store).then(
    () => true,
    () => false,
  );
}

function unknownModel({ name, source, disableClip, enableTransform }: ModelRequest): ReportModel {
  return {
    name,
    source: source.kind === 'version' ? source.version : source.path,
    features: [],
    options: { disableClip, enableTransform },
  };
}

/** Checks that the program can use all models; adds built-in ones that it lacks to `models` and `files`. */
async function haveAll(
  choice: NativeChoice,
  models: NativeModel[],
  files: Record<string, string>,
  { native: { devices } }: ProgramOptions,
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
    // If unknown here too, the program's own error explains it.
    const builtIn = await requireBuiltIn(version, store).catch(() => undefined);
    if (!builtIn) continue;
    files[`model${i}.json`] = await readBuiltInModel(builtIn, store);
    models[i] = { ...model, source: { file: `model${i}.json` } };
  }
  const health = await works(models);
  if (health.runtime_healthy) return;
  throw new AnyvmafError(
    'model',
    `The models cannot be used with the backend ${backend}: ${health.error} Use the backend cpu, or other models.`,
  );
}

function isProbed(source: NativeModel['source']): boolean {
  return JSON.stringify(source) === JSON.stringify(PROBE_MODEL.source);
}

function pick(
  files: Readonly<Record<string, string>>,
  models: readonly NativeModel[],
): Readonly<Record<string, string>> {
  const named = models.flatMap(({ source }) => ('file' in source ? [source.file] : []));
  return Object.fromEntries(named.map((name) => [name, files[name] ?? '']));
}
