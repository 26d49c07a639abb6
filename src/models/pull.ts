/**
 * @module models/pull
 * Fetches models that may not ship with the package, verifies their digests, and caches them.
 */
import { requireObject, requireText } from '../core/arguments.js';
import { joinBytes } from '../core/bytes.js';
import { codeOf, ioError, modelError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { type RegistryEntry, readRegistry, requireBuiltIn, sumOf } from './registry.js';
import type { ModelCache, ModelStore, PulledModel, PullOptions } from './types.js';

/** Serves raw files of GitHub repositories by owner, repository, tag and path. */
const ORIGIN = 'https://raw.githubusercontent.com';
/** Time limit of a download in milliseconds. */
const TIMEOUT = 30_000;
/** Largest accepted download; a model has 15 kB. */
const MOST_BYTES = 1 << 20;

type PulledEntry = RegistryEntry & { readonly pull: NonNullable<RegistryEntry['pull']> };

/** Pulls one model or `all`, except those in the cache and undamaged. Throws as the public `pullModel`. */
export async function pullModels(
  name: string,
  store: ModelStore,
  options: PullOptions = {},
): Promise<readonly PulledModel[]> {
  requireText('name', name, 'the name of a model, or all');
  requireObject('options', options);
  if (options.from !== undefined) requireText('from', options.from, 'the URL of a server');
  const entries = await entriesOf(name, store);
  if (entries.length === 0) return [];
  const { keep } = store;
  if (!keep)
    throw ioError('Pulled models cannot be stored here; pass the model file with path=FILE instead.');
  const pulled: PulledModel[] = [];
  for (const entry of entries) {
    options.signal?.throwIfAborted();
    pulled.push(await pullOne(entry, keep, options));
  }
  return pulled;
}

async function entriesOf(name: string, store: ModelStore): Promise<readonly PulledEntry[]> {
  if (name === 'all') return (await readRegistry(store)).filter(isPulled);
  const entry = await requireBuiltIn(name, store);
  return isPulled(entry) ? [entry] : [];
}

function isPulled(entry: RegistryEntry): entry is PulledEntry {
  return entry.pull !== undefined;
}

async function pullOne(entry: PulledEntry, keep: ModelCache, options: PullOptions): Promise<PulledModel> {
  const { name, file, sha256 } = entry;
  const cached = await keep.read(file).catch(() => undefined);
  if (cached !== undefined && (await sumOf(cached)) === sha256)
    return { name, fetched: false, place: keep.placeOf(file) };
  const url = addressOf(entry, options.from ?? keep.mirror?.() ?? ORIGIN);
  const bytes = await download(url, name, options.signal);
  const found = await sumOf(bytes);
  if (found !== sha256)
    throw modelError(
      `The file from ${url} for ${name} has the SHA-256 ${found}, not ${sha256}, so it was discarded; check the mirror or ` +
        'proxy and pull again.',
    );
  await keep.write(file, bytes);
  return { name, fetched: true, place: keep.placeOf(file) };
}

/** URL of the file: `FROM/OWNER/REPOSITORY/TAG/FOLDER/FILE`. */
function addressOf({ pull: { repository, tag, folder }, file }: PulledEntry, from: string): string {
  let end = from.length;
  while (from[end - 1] === '/') end--;
  const base = from.slice(0, end);
  if (!/^https?:\/\/./.test(base))
    throw usageError(
      `The URL to pull models from is ${quoted(from)}, but it must begin with https:// or http://.`,
    );
  return `${base}/${repository}/${tag}/${folder}/${file}`;
}

async function download(url: string, name: string, signal: AbortSignal | undefined) {
  const limit = AbortSignal.timeout(TIMEOUT);
  const elsewhere = 'get the file elsewhere and pass path=FILE';
  const from = { purpose: 'choose', option: 'from' } as const;
  let response: Response;
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    response = await fetch(url, { signal: signal ? AbortSignal.any([signal, limit]) : limit });
    bytes = response.ok ? await upTo(MOST_BYTES, response) : new Uint8Array();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const why = limit.aborted ? `it took longer than ${TIMEOUT / 1000} s` : reasonOf(cause);
    throw ioError(`The model ${name} cannot be fetched from ${url}: ${why}.`, {
      hints: ['check the network and pull again', elsewhere, from],
      cause,
    });
  }
  if (!response.ok)
    throw ioError(`The model ${name} cannot be fetched from ${url}: the server answered ${response.status}`, {
      hints: [elsewhere, from],
    });
  if (bytes) return bytes;
  throw modelError(
    `The file from ${url} for ${name} has more than ${MOST_BYTES} bytes, so it is not a model; check the mirror or proxy.`,
  );
}

/** Reads the body of a response; cancels it and returns `undefined` if it is longer than `most`. */
async function upTo(most: number, { body }: Response): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const taken: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (!value) break;
    taken.push(value);
    length += value.length;
    if (length <= most) continue;
    await reader?.cancel();
    return undefined;
  }
  return joinBytes(taken);
}

/** The reason of a network error, which `fetch` puts into `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || codeOf(cause) || 'the network failed';
}
