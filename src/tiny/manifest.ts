/**
 * @module tiny/manifest
 * All files that a model is made of, and one digest over them: weights and a sidecar change a score as much as a graph
 * does.
 */
import type { TinyPart, TinyProgram, TinyRegistryEntry, TinySidecar } from './types.js';

/** Of the text of a manifest; another layout gets another number. */
const VERSION = 1;

/** What a model is made of, and how much of that a registry vouches for. */
export interface Manifest {
  readonly parts: readonly TinyPart[];
  /** What is signed: JSON on one line, names in the order of their characters. */
  readonly text: string;
  /** Of the text. */
  readonly sha256: string;
}

/** SHA-256 in hexadecimal digits. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The manifest of a model.
 * @param file the graph, and its sidecar where there is one, by names relative to the folder of the graph
 */
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
    files.map(
      async ({ role, name, bytes: content }): Promise<TinyPart> => ({
        name,
        role,
        bytes: content.length,
        sha256: await sha256Of(content),
      }),
    ),
  );
  parts.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const text = `${JSON.stringify({ version: VERSION, parts })}\n`;
  return { parts, text, sha256: await sha256Of(new TextEncoder().encode(text)) };
}

/** What a row states of the manifest of its model, or of the 8-bit sibling. */
export function statedManifest(entry: TinyRegistryEntry | undefined, isSibling: boolean): string | undefined {
  return isSibling ? entry?.int8ManifestSha256 : entry?.manifestSha256;
}

/** Files that a row with the digest of the graph alone says nothing of, though scores depend on them. */
export function uncovered({ parts }: Manifest, sidecar: TinySidecar): readonly string[] {
  return parts
    .filter(({ role }) => role === 'weights' || (role === 'sidecar' && !onlyInforms(sidecar)))
    .map(({ name }) => name);
}

/** What no score depends on, or what the row says itself. */
const INFORMING: ReadonlySet<string> = new Set(['kind', 'name', 'opset', 'quantisation', 'better']);

function onlyInforms(sidecar: TinySidecar): boolean {
  return Object.keys(sidecar).every(
    (key) =>
      INFORMING.has(key) ||
      (key === 'graphHasScaler' && !sidecar.statedScaler) ||
      (sidecar.graphHasScaler &&
        (key === 'graphHasScaler' || key === 'statedScaler') &&
        !sidecar.scalerUnplaced),
  );
}
