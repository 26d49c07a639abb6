/**
 * @module models/registry
 * Reads the registry of models, `model/registry.json`, and its files; verifies digests of pulled ones.
 */
import { requireText } from '../core/arguments.js';
import { SHORT_MODEL_NAMES } from '../core/choices.js';
import { internalError, ioError, modelError } from '../core/errors.js';
import { guess, nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import type { ModelDescription, ModelStore, ModelSummary } from './types.js';

export interface RegistryEntry extends Omit<ModelSummary, 'availability'> {
  /** Set for a float variant, which uses the file of the model named here with float extractors. */
  readonly floatOf?: string;
  /** Set if the file must be pulled from this public repository, `OWNER/NAME`, at this tag. */
  readonly pull?: { readonly repository: string; readonly tag: string; readonly folder: string };
  readonly sha256: string;
  readonly licence: string;
}

/** Lists the built-in models, the default first, and those that can be pulled. */
export async function listModels(store: ModelStore): Promise<readonly ModelSummary[]> {
  const entries = await readRegistry(store);
  return Promise.all(entries.map(async (entry) => summaryOf(entry, await availabilityOf(entry, store))));
}

function summaryOf(
  { name, kind, intendedUse, file, bytes, features }: RegistryEntry,
  availability: ModelSummary['availability'],
): ModelSummary {
  return { name, kind, availability, intendedUse, file, bytes, features };
}

async function availabilityOf({ pull, file }: RegistryEntry, { keep }: ModelStore) {
  if (!pull) return 'built-in';
  return (await keep?.read(file).catch(() => undefined)) === undefined ? 'to be pulled' : 'pulled';
}

/** @throws {AnyvmafError} `model` if it must be pulled first */
export async function readBuiltInModel(entry: RegistryEntry, store: ModelStore): Promise<string> {
  if (entry.pull) return readPulledModel(entry, store);
  const text = await store.readBuiltIn(entry.file);
  return entry.floatOf === undefined ? text : text.replaceAll('VMAF_integer_feature_', 'VMAF_feature_');
}

/** @throws {AnyvmafError} `model` if the name is unknown or the model must be pulled first */
export async function describeModel(name: string, store: ModelStore): Promise<ModelDescription> {
  requireText('name', name, 'the name of a model');
  const entry = await requireBuiltIn(name, store);
  // Loaded with the first model: lists of models need none of it.
  const { bindInputs, describeDefinition, parseModelFile } = await import('./parse.js');
  const { members } = parseModelFile(await readBuiltInModel(entry, store), name);
  const [main] = members;
  if (!main) throw internalError(`The model file ${entry.file} holds no model.`);
  return {
    ...summaryOf(entry, entry.pull ? 'pulled' : 'built-in'),
    ...describeDefinition(main, bindInputs(main, [], name)),
    supportVectors: members.map(({ svm }) => svm.count),
    licence: entry.licence,
    sha256: entry.sha256,
  };
}

/**
 * @param advice the end of the message, after a space
 * @throws {AnyvmafError} `model` if the name is unknown; lists known names
 */
export async function requireBuiltIn(name: string, store: ModelStore, advice = ''): Promise<RegistryEntry> {
  const entries = await readRegistry(store);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry) return entry;
  const names = entries.map((known) => known.name);
  const meant = nearest(name, [...names, ...SHORT_MODEL_NAMES.keys()]) ?? similar(name, names);
  throw modelError(
    `There is no built-in model ${quoted(name)}; ${guess(meant)}there are ${names.join(', ')}.${advice}`,
  );
}

/** The name with the longest common prefix, more than half of `typed`, ignoring punctuation and case. */
function similar(typed: string, names: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const wanted = plain(typed);
  let best: string | undefined;
  let most = wanted.length / 2;
  for (const name of names) {
    const known = plain(name);
    let common = 0;
    while (common < wanted.length && wanted[common] === known[common]) common++;
    if (common > most) [best, most] = [name, common];
  }
  return best;
}

export async function readRegistry(store: ModelStore): Promise<readonly RegistryEntry[]> {
  const text = await store.readBuiltIn('registry.json');
  try {
    const { models } = JSON.parse(text);
    if (Array.isArray(models) && models.every(isEntry)) return models;
  } catch {
    // Invalid JSON is reported below.
  }
  throw internalError('model/registry.json is damaged; install the package again.');
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

/** @throws {AnyvmafError} `model` if it was not pulled or is damaged, with how to pull it */
async function readPulledModel(
  { name, file, sha256 }: { readonly name: string; readonly file: string; readonly sha256: string },
  { keep }: ModelStore,
): Promise<string> {
  const text = await keep?.read(file);
  const how = { hints: [{ purpose: 'pull', model: name }] } as const;
  if (text === undefined)
    throw modelError(`The model ${name} does not ship with the package and has not been pulled yet`, how);
  if ((await sumOf(text)) !== sha256)
    throw modelError(`The pulled model ${keep?.placeOf(file)} is damaged`, how);
  return text;
}

/** SHA-256 in hexadecimal digits. Throws `io` in pages without a secure context. */
export async function sumOf(data: string | Uint8Array): Promise<string> {
  const { hexDigest } = await import('../core/bytes.js');
  const unavailable = ioError(
    'This page cannot verify the checksum of a pulled model, because it was not loaded over https; serve it over https.',
  );
  return hexDigest(data, unavailable);
}
