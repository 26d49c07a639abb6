/**
 * @module tiny/manifest
 * Lists all files of a model with one digest over them, because weights and sidecar change scores as much as the graph.
 */
import type { TinyPart, TinyProgram, TinyRegistryEntry, TinySidecar } from './types.js';

/** Version of the manifest's layout. */
const VERSION = 1;

export interface Manifest {
  readonly parts: readonly TinyPart[];
  /** The signed text: JSON on one line, files sorted by name. */
  readonly text: string;
  readonly sha256: string;
}

/** In hexadecimal digits. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
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

export function statedManifest(entry: TinyRegistryEntry | undefined, isSibling: boolean): string | undefined {
  return isSibling ? entry?.int8ManifestSha256 : entry?.manifestSha256;
}

/** Files that scores depend on but a digest of the graph does not cover. */
export function uncovered({ parts }: Manifest, sidecar: TinySidecar): readonly string[] {
  return parts
    .filter(({ role }) => role === 'weights' || (role === 'sidecar' && !onlyInforms(sidecar)))
    .map(({ name }) => name);
}

/** Sidecar members that do not affect scores or that the registry entry states itself. */
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
