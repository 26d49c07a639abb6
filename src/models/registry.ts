/**
 * @module models/registry
 * The models that ship with the package, as `models/registry.json` lists them.
 */
import { requireText } from '../core/arguments.js';
import { AnyvmafError } from '../core/errors.js';
import { guess, nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { bindInputs } from './bind.js';
import { parseModelFile } from './parse.js';
import { readPulledModel } from './pulled.js';
import type { ModelDescription, ModelStore, ModelSummary } from './types.js';

/** A built-in model as the registry lists it. */
export interface RegistryEntry extends Omit<ModelSummary, 'availability'> {
  /** Present: the model in that file with the float extractors behind its features; the name of the file's own model. */
  readonly floatOf?: string;
  /** Present: the file is not in the model folder but in this public repository, `OWNER/NAME`, at this tag. */
  readonly pull?: { readonly repository: string; readonly tag: string; readonly folder: string };
  /** Of the file. */
  readonly sha256: string;
  readonly licence: string;
}

/** The models that can be named: the built-in ones, the default first, and those that can be pulled. */
export async function listModels(store: ModelStore): Promise<readonly ModelSummary[]> {
  const entries = await readRegistry(store);
  return Promise.all(
    entries.map(async (entry) => {
      const { name, kind, intendedUse, file, bytes, features } = entry;
      const availability = await availabilityOf(entry, store);
      return { name, kind, availability, intendedUse, file, bytes, features };
    }),
  );
}

async function availabilityOf(
  { pull, file }: RegistryEntry,
  { keep }: ModelStore,
): Promise<ModelSummary['availability']> {
  if (!pull) return 'built-in';
  return (await keep?.read(file).catch(() => undefined)) === undefined ? 'to be pulled' : 'pulled';
}

/**
 * The text of a built-in model, as its own file would have it.
 * @param entry from {@link requireBuiltIn}
 * @throws {AnyvmafError} `model` for one that has to be pulled first
 */
export async function readBuiltInModel(entry: RegistryEntry, store: ModelStore): Promise<string> {
  if (entry.pull) return readPulledModel(entry, store);
  const text = await store.readBuiltIn(entry.file);
  return entry.floatOf === undefined ? text : text.replaceAll('VMAF_integer_feature_', 'VMAF_feature_');
}

/**
 * All about one built-in model.
 * @throws {AnyvmafError} `model` when there is none of that name, or it has to be pulled first
 */
export async function describeModel(name: string, store: ModelStore): Promise<ModelDescription> {
  requireText('name', name, 'the name of a model');
  const entry = await requireBuiltIn(name, store);
  const { members } = parseModelFile(await readBuiltInModel(entry, store), name);
  const [main] = members;
  if (!main) throw new AnyvmafError('internal', `The model file ${entry.file} holds no model.`);
  const inputs = bindInputs(main, [], name);
  return {
    name,
    kind: entry.kind,
    availability: entry.pull ? 'pulled' : 'built-in',
    intendedUse: entry.intendedUse,
    file: entry.file,
    bytes: entry.bytes,
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
  const names = entries.map((known) => known.name);
  throw new AnyvmafError(
    'model',
    `There is no built-in model ${quoted(name)}; ${guess(nearest(name, names) ?? (await similarBuiltIn(name, store)))}there are ${names.join(', ')}. ` +
      'Give the path of a model file with path=FILE.',
  );
}

/**
 * The built-in model whose name begins most like `typed`, punctuation and case aside; the default where several do.
 * @returns `undefined` when not even half of `typed` is the beginning of one
 */
async function similarBuiltIn(typed: string, store: ModelStore): Promise<string | undefined> {
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

/** All entries, as the registry has them. */
export async function readRegistry(store: ModelStore): Promise<readonly RegistryEntry[]> {
  const text = await store.readBuiltIn('registry.json');
  try {
    const { models } = JSON.parse(text);
    if (Array.isArray(models) && models.every(isEntry)) return models;
  } catch {
    // Not JSON: damaged like any other.
  }
  throw new AnyvmafError('internal', 'models/registry.json is damaged; install the package again.');
}

function isEntry(value: unknown): value is RegistryEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = new Map<string, unknown>(Object.entries(value));
  const texts = ['name', 'file', 'sha256', 'licence', 'intendedUse'];
  return (
    texts.every((key) => typeof entry.get(key) === 'string') &&
    (entry.get('kind') === 'single' || entry.get('kind') === 'collection') &&
    typeof entry.get('bytes') === 'number' &&
    Array.isArray(entry.get('features'))
  );
}
