/**
 * @module tiny/load
 * Loads a model by id or path: finds its files, checks digests and graph, reads weights and sidecar. A manifest lists
 * all files, with one digest over them, because weights and sidecar change scores as much as the graph does.
 */
import { hexDigest } from '../core/bytes.js';
import { AnyvmafError, ioError, modelError, usageError } from '../core/errors.js';
import { isOnnxPath } from '../core/names.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { MAX_SIDECAR_BYTES, parseSidecar, readRegistry } from './documents.js';
import { CANONICAL_FEATURES } from './features.js';
import { checkOnnx, MAX_MODEL_BYTES, tooLarge } from './onnx/check.js';
import type {
  TinyFiles,
  TinyFolder,
  TinyGraph,
  TinyModel,
  TinyPart,
  TinyPlace,
  TinyPlatform,
  TinyPrecision,
  TinyProgram,
  TinyQuantisation,
  TinyRegistryEntry,
  TinySidecar,
} from './types.js';

const MAX_BUNDLE_BYTES = 1024 * 1024;

export interface LoadOptions {
  /** Refuse models that the registry's Sigstore bundle does not sign. */
  readonly verify?: boolean;
  readonly precision?: TinyPrecision;
  /** The model's files by name, instead of the platform's; `source` is one of the names. */
  readonly files?: Readonly<Record<string, Blob>>;
}

interface Found extends TinyPlace {
  readonly entry?: TinyRegistryEntry;
}

/** @throws {AnyvmafError} `model` if it does not exist or is refused; `io` if it cannot be read */
export async function loadTinyModel(
  source: string,
  { files: platformFiles, signatures }: Pick<TinyPlatform, 'files' | 'signatures'>,
  { verify = false, files, precision = 'auto' }: LoadOptions = {},
): Promise<TinyModel> {
  const named = await (files ? locate(source, callerFiles(files)) : find(source, platformFiles));
  const known = await registeredTwin(named, platformFiles);
  const { folder, file, entry } = known ?? named;
  const { stated, part } = await readSidecar(folder, file);
  const quantisation = entry?.quantisation ?? stated.quantisation ?? 'fp32';
  const found = { folder, file, entry };
  const read = await readBest(found, quantisation, source, precision);
  const graph = checkOnnx(read.bytes, source);
  const sidecar = placeScaler(stated, graph);
  const program = await withWeights(read.bytes, graph, folder, file, source);
  const manifest = await manifestOf(program, baseName(read.file), part);
  const unlisted = unlistedParts(found, read.file, manifest, stated);
  const registered = entry !== undefined && unlisted.length === 0;
  if (verify) await verifySignature(found, read, manifest, unlisted, signatures);
  return {
    source,
    file: read.file,
    sha256: read.sha256,
    parts: manifest.parts,
    manifest: manifest.text,
    manifestSha256: manifest.sha256,
    entry,
    registered,
    sidecar,
    graph,
    program,
    kind: entry?.kind ?? sidecar.kind ?? kindOf(graph),
    quantisation: read.quantisation,
    warnings: [
      ...read.warnings,
      ...(entry ? unlistedWarnings(entry, manifest, unlisted) : []),
      // A registered model without a sidecar reads the canonical six.
      ...(registered ? [] : assumedWarnings(graph, sidecar, source)),
    ],
  };
}

function callerFiles(files: Readonly<Record<string, Blob>>): TinyFiles {
  const folder = {
    name: 'the given files',
    async read(file: string, limit: number): Promise<Uint8Array | null> {
      const found = Object.hasOwn(files, file) ? files[file] : undefined;
      if (!found) return null;
      if (found.size > limit)
        throw modelError(
          `${file} has ${found.size} bytes, but a file of its kind may have at most ${limit}.`,
        );
      try {
        return new Uint8Array(await found.arrayBuffer());
      } catch (cause) {
        throw ioError(`cannot read ${file}: it was moved or changed; choose it again.`, { cause });
      }
    },
  };
  return { builtIn: folder, locate: async (file) => ({ folder, file }) };
}

/** A built-in model by id, else a file by path. */
async function find(source: string, files: TinyPlatform['files']): Promise<Found> {
  const known = await readRegistry(files.builtIn);
  const entry = known.find(({ id }) => id === source);
  if (entry) return { folder: files.builtIn, file: entry.file, entry };
  if (!isOnnxPath(source)) {
    const ids = known.map(({ id }) => id);
    const close = nearest(source, ids);
    throw modelError(
      `There is no tiny model ${quoted(source)}; there are ${ids.join(', ') || 'none'}` +
        `${close === undefined ? '' : ` (did you mean ${close}?)`}. Give one of them or the path of an ONNX file.`,
    );
  }
  return locate(source, files);
}

/** Finds a file by path, with its entry in the folder's registry. A link to a listed file counts as that file. */
async function locate(source: string, files: TinyPlatform['files']): Promise<Found> {
  const { target, ...named } = await files.locate(source);
  for (const { folder, file } of target ? [named, target] : [named]) {
    const rows = await readRegistry(folder);
    // An entry also covers the model's 8-bit sibling.
    const entry = rows.find((row) => row.file === file) ?? rows.find((row) => int8Name(row.file) === file);
    if (entry) return { folder, file, entry };
  }
  return named;
}

/** The built-in model that a graph copies; without the sidecar, the graph would read other features, or unscaled ones. */
async function registeredTwin({ folder, file, entry }: Found, { builtIn }: TinyFiles) {
  if (entry || (await readSidecar(folder, file)).part) return undefined;
  const [rows, bytes] = await Promise.all([
    // There may be no built-in models.
    readRegistry(builtIn).catch(() => []),
    folder.read(file, MAX_MODEL_BYTES),
  ]);
  if (rows.length === 0 || !bytes) return undefined;
  const digest = await hexDigest(bytes);
  const twin = rows.find(({ sha256 }) => sha256 === digest);
  return twin && { folder: builtIn, file: twin.file, entry: twin };
}

/** Warns if nothing states which features the model reads. */
function assumedWarnings({ inputs }: TinyGraph, { features }: TinySidecar, source: string) {
  const six = inputs.some(({ dims }) => dims?.length === 2 && dims[1] === CANONICAL_FEATURES.length);
  if (features || !six) return [];
  return [
    `The tiny model ${quoted(source)} has no sidecar that names its features, so it is assumed to read ` +
      `${CANONICAL_FEATURES.join(', ')} unscaled; if it reads others, its scores are wrong. List them as ` +
      'feature_order in a JSON file beside it.',
  ];
}

interface SidecarRead {
  readonly stated: TinySidecar;
  /** Its file name, relative to the folder of the graph. */
  readonly part: { readonly name: string; readonly bytes: Uint8Array } | null;
}

async function readSidecar(folder: TinyFolder, file: string): Promise<SidecarRead> {
  const stem = file.replace(/\.onnx$/i, '');
  // An 8-bit sibling shares the sidecar of its model.
  for (const name of [`${stem}.json`, `${stem.replace(/\.int8$/, '')}.json`]) {
    const bytes = await folder.read(name, MAX_SIDECAR_BYTES);
    if (!bytes) continue;
    const stated = parseSidecar(new TextDecoder().decode(bytes), `the sidecar ${name} in ${folder.name}`);
    return { stated, part: { name: baseName(name), bytes } };
  }
  return { stated: {}, part: null };
}

function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Tolerance for rounding to single precision. */
const SAME = 1e-6;

/** If nothing states where the scaler is, checks whether the graph subtracts its mean: scaling twice is wrong. */
function placeScaler(sidecar: TinySidecar, { inputs, centres }: TinyGraph): TinySidecar {
  const { scaler } = sidecar;
  if (scaler?.inGraph !== undefined) return sidecar;
  const centre = centres?.[sidecar.inputName ?? inputs[0]?.name ?? ''];
  const inGraph =
    scaler?.mean.length === centre?.length &&
    scaler?.mean.every(
      (mean, i) => Math.abs(mean - (centre?.[i] ?? Number.NaN)) <= SAME * Math.max(1, Math.abs(mean)),
    );
  return scaler && inGraph ? { ...sidecar, scaler: { ...scaler, inGraph } } : sidecar;
}

interface Read {
  readonly bytes: Uint8Array;
  readonly file: string;
  readonly sha256: string;
  readonly quantisation: TinyQuantisation;
  readonly warnings: readonly string[];
}

/** Reads the requested precision; for `auto`, the 8-bit sibling of a quantised model, if it exists. */
async function readBest(
  { folder, file, entry }: Found,
  stated: TinyQuantisation,
  source: string,
  precision: TinyPrecision,
): Promise<Read> {
  const sibling = int8Name(file);
  const isSibling = entry !== undefined && file !== entry.file;
  const eight = isSibling || /\.int8\.onnx$/i.test(file);
  if (eight && precision === 'fp32')
    throw usageError(
      `tiny_precision is fp32, but ${file} is the 8-bit sibling of a model; name the model itself, or ask for int8.`,
    );
  // The sibling is requested, but nothing states how it was quantised.
  const mode = precision === 'int8' && stated === 'fp32' ? 'static' : stated;
  if (precision !== 'fp32' && mode !== 'fp32' && !eight) {
    const bytes = await folder.read(sibling, MAX_MODEL_BYTES);
    if (bytes) {
      const sha256 = await checkedDigest(bytes, entry, entry?.int8Sha256, 'int8_sha256', sibling);
      return { bytes, file: sibling, sha256, quantisation: mode, warnings: [] };
    }
    if (precision === 'int8')
      throw modelError(
        `tiny_precision is int8, but the tiny model ${quoted(source)} has no ${sibling} in ${folder.name}; ask for ` +
          'fp32, or leave it out.',
      );
  }
  const bytes = await folder.read(file, MAX_MODEL_BYTES);
  if (!bytes)
    throw new AnyvmafError(
      entry ? 'model' : 'io',
      `The tiny model ${quoted(source)} has no file ${file} in ${folder.name}.`,
    );
  const expected = isSibling ? entry?.int8Sha256 : entry?.sha256;
  const sha256 = await checkedDigest(bytes, entry, expected, isSibling ? 'int8_sha256' : 'sha256', file);
  const missing = mode !== 'fp32' && !eight && precision !== 'fp32';
  return {
    bytes,
    file,
    sha256,
    quantisation: eight ? (mode === 'fp32' ? 'static' : mode) : 'fp32',
    warnings: missing
      ? [
          `The tiny model ${quoted(source)} is marked as quantised, but ${sibling} does not exist; ${file} is used instead.`,
        ]
      : [],
  };
}

function int8Name(file: string): string {
  return `${file.replace(/\.onnx$/i, '')}.int8.onnx`;
}

/** @throws {AnyvmafError} `model` if the model is registered with another digest, or without one */
async function checkedDigest(
  bytes: Uint8Array,
  entry: TinyRegistryEntry | undefined,
  expected: string | undefined,
  key: string,
  file: string,
): Promise<string> {
  const found = await hexDigest(bytes);
  if (!entry || found === expected) return found;
  throw modelError(
    expected === undefined
      ? `The registry lists the tiny model ${quoted(entry.id)} without ${key}, so ${file} cannot be trusted; add its digest, ` +
          `${found}, if it is the right file.`
      : `The file ${file} of the tiny model ${quoted(entry.id)} has the SHA-256 ${found}, but the registry says ${expected}: ` +
          'it was changed or damaged; download it again.',
  );
}

/**
 * @returns parts that the registry entry does not cover; none if it states the digest of the manifest
 * @throws {AnyvmafError} `model` if that digest differs
 */
function unlistedParts({ file, entry }: Found, read: string, manifest: Manifest, sidecar: TinySidecar) {
  if (!entry) return [];
  const isSibling = read !== file || file !== entry.file;
  const stated = isSibling ? entry.int8ManifestSha256 : entry.manifestSha256;
  if (stated === undefined) return uncovered(manifest, sidecar);
  if (stated === manifest.sha256) return [];
  const parts = manifest.parts.map(({ name }) => name).join(', ');
  throw modelError(
    `The files ${parts} of the tiny model "${entry.id}" have the manifest digest ${manifest.sha256}, but ` +
      `${isSibling ? 'int8_manifest_sha256' : 'manifest_sha256'} of the registry says ${stated}: its sidecar or its ` +
      'weights were changed, added or damaged; download them again.',
  );
}

function unlistedWarnings({ id }: TinyRegistryEntry, { sha256 }: Manifest, unlisted: readonly string[]) {
  if (unlisted.length === 0) return [];
  return [
    `The registry covers only the graph of the tiny model "${id}", not ${unlisted.join(', ')}, on which its scores also ` +
      `depend, so it does not count as registered; add manifest_sha256 ${sha256} to its row if these are the right files.`,
  ];
}

/** Verifies the bundle's signature of the manifest, or of the graph if the entry states no manifest. */
async function verifySignature(
  { folder, entry }: Found,
  { bytes, file }: Pick<Read, 'bytes' | 'file'>,
  manifest: Manifest,
  unlisted: readonly string[],
  signatures: TinyPlatform['signatures'],
): Promise<void> {
  const bundle = entry?.sigstoreBundle;
  if (!entry || bundle === undefined || file !== entry.file)
    throw modelError(
      `A signature of ${file} is required, but ` +
        `${entry ? `the registry's row ${quoted(entry.id)} names no Sigstore bundle for it` : 'no registry lists it'}; require ` +
        'none, or register the model with sigstore_bundle.',
    );
  if (!entry.signer)
    throw modelError(
      `The registry's row "${entry.id}" does not name the signer of ${file}, and a signature by just anyone proves ` +
        'nothing; add sigstore_issuer and sigstore_identity, or require no signature.',
    );
  if (unlisted.length > 0)
    throw modelError(
      `The signature of ${file} does not cover ${unlisted.join(', ')}, on which the scores of "${entry.id}" also depend; ` +
        `sign its manifest, and add manifest_sha256 ${manifest.sha256} to its row.`,
    );
  const text = await folder.read(bundle, MAX_BUNDLE_BYTES);
  if (!text) throw modelError(`The Sigstore bundle ${bundle} of ${file} is not in ${folder.name}.`);
  const [signed, what] =
    entry.manifestSha256 === undefined
      ? [bytes, file]
      : [new TextEncoder().encode(manifest.text), `the manifest of ${file}`];
  await signatures.verify(signed, new TextDecoder().decode(text), what, entry.signer);
}

async function withWeights(
  bytes: Uint8Array,
  graph: TinyGraph,
  folder: TinyFolder,
  file: string,
  source: string,
): Promise<TinyProgram> {
  const base = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '';
  let left = MAX_MODEL_BYTES - bytes.length;
  const external: { path: string; bytes: Uint8Array }[] = [];
  for (const path of graph.external) {
    const weights = await folder.read(base + path, MAX_MODEL_BYTES);
    if (!weights)
      throw modelError(
        `The tiny model ${quoted(source)} keeps weights in ${quoted(path)}, which is not beside it in ` +
          `${folder.name}.`,
      );
    left -= weights.length;
    if (left < 0) throw tooLarge(source, MAX_MODEL_BYTES - left);
    external.push({ path, bytes: weights });
  }
  return { bytes, external };
}

function kindOf({ inputs }: TinyGraph): TinyModel['kind'] {
  const [first] = inputs;
  return first?.dims?.length === 4 && inputs.length === 1 ? 'nr' : 'fr';
}

/** Version of the manifest's layout. */
const VERSION = 1;

interface Manifest {
  readonly parts: readonly TinyPart[];
  /** The signed text: JSON on one line, with files sorted by name. */
  readonly text: string;
  readonly sha256: string;
}

/** @param file name of the graph's file; all names are relative to its folder */
export async function manifestOf(
  { bytes, external }: TinyProgram,
  file: string,
  sidecar: { readonly name: string; readonly bytes: Uint8Array } | null,
): Promise<Manifest> {
  const files = [
    { role: 'graph' as const, name: file, bytes },
    ...external.map(({ path, bytes: weights }) => ({ role: 'weights' as const, name: path, bytes: weights })),
    ...(sidecar ? [{ role: 'sidecar' as const, ...sidecar }] : []),
  ];
  const parts = await Promise.all(
    files.map(async ({ role, name, bytes: content }): Promise<TinyPart> => {
      return { name, role, bytes: content.length, sha256: await hexDigest(content) };
    }),
  );
  parts.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const text = `${JSON.stringify({ version: VERSION, parts })}\n`;
  return { parts, text, sha256: await hexDigest(text) };
}

/** Files that affect scores but are not covered by a digest of the graph. */
function uncovered({ parts }: Manifest, sidecar: TinySidecar): readonly string[] {
  return parts
    .filter(({ role }) => role === 'weights' || (role === 'sidecar' && !onlyInforms(sidecar)))
    .map(({ name }) => name);
}

/** Sidecar members that do not affect scores, or that the registry entry states too. */
const INFORMING: ReadonlySet<string> = new Set(['kind', 'name', 'opset', 'quantisation', 'better']);

function onlyInforms(sidecar: TinySidecar): boolean {
  const { scaler } = sidecar;
  return Object.keys(sidecar).every((key) => INFORMING.has(key) || (key === 'scaler' && scaler?.inGraph));
}
