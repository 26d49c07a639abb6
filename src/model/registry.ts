/**
 * @module model/registry
 * The models that ship with the package, as `model/registry.json` lists them.
 */
import { AnyvmafError } from '../errors.js';
import { bindInputs } from './bind.js';
import { parseModelFile } from './parse.js';
import type { ModelDescription, ModelStore, ModelSummary } from './types.js';

/** A built-in model as the registry lists it. */
export interface RegistryEntry extends ModelSummary {
  /** File in the model folder. */
  readonly file: string;
  /** Present: the model in that file with the float extractors behind its features; the name of the file's own model. */
  readonly floatOf?: string;
  /** Of the file. */
  readonly sha256: string;
  readonly licence: string;
}

/** The built-in models, the default first. */
export async function listModels(store: ModelStore): Promise<readonly ModelSummary[]> {
  const entries = await readRegistry(store);
  return entries.map(({ name, kind, intendedUse, features }) => ({ name, kind, intendedUse, features }));
}

/**
 * The text of a built-in model, as its own file would have it.
 * @param entry from {@link requireBuiltIn}
 */
export async function readBuiltInModel(entry: RegistryEntry, store: ModelStore): Promise<string> {
  const text = await store.readBuiltIn(entry.file);
  return entry.floatOf === undefined ? text : text.replaceAll('VMAF_integer_feature_', 'VMAF_feature_');
}

/**
 * All about one built-in model.
 * @throws {AnyvmafError} `model` when there is none of that name
 */
export async function describeModel(name: string, store: ModelStore): Promise<ModelDescription> {
  const entry = await requireBuiltIn(name, store);
  const { members } = parseModelFile(await readBuiltInModel(entry, store), name);
  const [main] = members;
  if (!main) throw new AnyvmafError('internal', `The model file ${entry.file} holds no model.`);
  const inputs = bindInputs(main, [], name);
  return {
    name,
    kind: entry.kind,
    intendedUse: entry.intendedUse,
    features: entry.features,
    type: main.type,
    inputs: main.inputs.map(({ feature, options }, i) => ({
      feature,
      logName: inputs[i]?.logName ?? feature,
      extractor: inputs[i]?.instance.spec.name ?? '',
      options,
    })),
    clip: main.clip ?? null,
    transform: main.transform ?? null,
    supportVectors: members.map(({ svm }) => svm.count),
    licence: entry.licence,
    sha256: entry.sha256,
  };
}

/**
 * The registry's entry of a built-in model.
 * @throws {AnyvmafError} `model` when there is none of that name, naming those there are
 */
export async function requireBuiltIn(name: string, store: ModelStore): Promise<RegistryEntry> {
  const entries = await readRegistry(store);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry) return entry;
  throw new AnyvmafError(
    'model',
    `There is no built-in model "${name}"; there are ${entries.map((known) => known.name).join(', ')}. ` +
      'Give the path of a model file with path=FILE.',
  );
}

/**
 * The built-in model whose name begins most like `typed`, punctuation and case aside; the default where several do.
 * @returns `undefined` when not even half of `typed` is the beginning of one
 */
export async function similarBuiltIn(typed: string, store: ModelStore): Promise<string | undefined> {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const wanted = plain(typed);
  let best: string | undefined;
  let most = wanted.length / 2;
  for (const { name } of await readRegistry(store)) {
    const known = plain(name);
    let common = 0;
    while (common < wanted.length && wanted[common] === known[common]) common++;
    if (common > most) [best, most] = [name, common];
  }
  return best;
}

async function readRegistry(store: ModelStore): Promise<readonly RegistryEntry[]> {
  const text = await store.readBuiltIn('registry.json');
  try {
    const { models } = JSON.parse(text);
    if (Array.isArray(models) && models.every(isEntry)) return models;
  } catch {
    // Not JSON: damaged like any other.
  }
  throw new AnyvmafError('internal', 'model/registry.json is damaged; install the package again.');
}

function isEntry(value: unknown): value is RegistryEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = new Map<string, unknown>(Object.entries(value));
  const texts = ['name', 'file', 'sha256', 'licence', 'intendedUse'];
  return (
    texts.every((key) => typeof entry.get(key) === 'string') &&
    (entry.get('kind') === 'single' || entry.get('kind') === 'collection') &&
    Array.isArray(entry.get('features'))
  );
}
