/**
 * @module tiny/registry
 * Reads a registry of tiny models (model/tiny/registry.schema.json), this package's or one of the same layout.
 */
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { JsonObject } from './json.js';
import type { TinyFolder, TinyKind, TinyQuantisation, TinyRegistryEntry } from './types.js';

const REGISTRY_FILE = 'registry.json';
const MAX_REGISTRY_BYTES = 4 * 1024 * 1024;

export const TINY_KINDS: readonly TinyKind[] = ['fr', 'nr', 'filter'];
export const QUANTISATIONS: readonly TinyQuantisation[] = ['fp32', 'static', 'dynamic', 'qat'];

/** Empty without a registry. @throws {AnyvmafError} `model` if any part of it is damaged */
export async function readRegistry(folder: TinyFolder): Promise<readonly TinyRegistryEntry[]> {
  const bytes = await folder.read(REGISTRY_FILE, MAX_REGISTRY_BYTES);
  if (!bytes) return [];
  return parseRegistry(new TextDecoder().decode(bytes), `the registry of tiny models in ${folder.name}`);
}

/** @throws {AnyvmafError} `model` */
function parseRegistry(text: string, what: string): readonly TinyRegistryEntry[] {
  const root = JsonObject.parse(text, what);
  // Version 1 added licences and bundles.
  const version = root.integer('schema_version', 0, 1000);
  if (version !== 0 && version !== 1) throw root.wrong('schema_version', '0 or 1');
  const models = root.raw('models');
  if (!Array.isArray(models)) throw root.wrong('models', 'a list');
  const entries = models.map((value: unknown, i) => entryOf(new JsonObject(value, `${what}, model ${i}`)));
  const ids = new Set<string>();
  for (const { id } of entries) {
    if (ids.has(id)) throw new AnyvmafError('model', `${what}: the id ${quoted(id)} is listed twice.`);
    ids.add(id);
  }
  return entries;
}

function entryOf(row: JsonObject): TinyRegistryEntry {
  const id = row.text('id', 64);
  if (id === undefined || !/^[a-z0-9][a-z0-9._-]*$/.test(id)) {
    throw row.wrong('id', 'up to 64 lower-case letters, digits, dots, dashes and underscores');
  }
  const kind = row.oneOf('kind', TINY_KINDS);
  if (kind === undefined) throw row.wrong('kind', `one of ${TINY_KINDS.join(', ')}`);
  const file = row.text('onnx', 255) ?? row.text('file', 255);
  if (file === undefined) throw row.wrong('onnx', 'the name of a file');
  const sha256 = digest(row, 'sha256');
  if (sha256 === undefined) throw row.wrong('sha256', '64 hexadecimal digits');
  const quantisation = row.oneOf('quant_mode', QUANTISATIONS) ?? 'fp32';
  return defined({
    id,
    kind,
    file,
    sha256,
    opset: row.integer('opset', 1, 99),
    description: row.text('description', 256),
    notes: row.text('notes', 512),
    card: row.text('card', 255),
    licence: row.text('license', 128) ?? row.text('licence', 128),
    licenceUrl: row.text('license_url', 512),
    smoke: row.flag('smoke') ?? false,
    experimental: row.text('experimental', 256),
    quantisation,
    manifestSha256: digest(row, 'manifest_sha256'),
    int8Sha256: digest(row, 'int8_sha256'),
    int8ManifestSha256: digest(row, 'int8_manifest_sha256'),
    sigstoreBundle: row.text('sigstore_bundle', 255),
    signer: signerOf(row),
  });
}

function signerOf(row: JsonObject): TinyRegistryEntry['signer'] {
  const [issuer, identity] = [row.text('sigstore_issuer', 512), row.text('sigstore_identity', 512)];
  if (issuer === undefined && identity === undefined) return undefined;
  if (issuer !== undefined && identity !== undefined) return { issuer, identity };
  throw issuer === undefined
    ? row.wrong('sigstore_issuer', 'given together with sigstore_identity')
    : row.wrong('sigstore_identity', 'given together with sigstore_issuer');
}

function digest(row: JsonObject, key: string): string | undefined {
  const text = row.text(key, 64);
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw row.wrong(key, '64 hexadecimal digits');
}

/** Removes undefined members. Callers assign the result to types in which they are optional. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
