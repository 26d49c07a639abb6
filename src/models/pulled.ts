/**
 * @module models/pulled
 * Reads models that were fetched before, and makes sure that they are what they should be.
 */
import { AnyvmafError } from '../core/errors.js';
import type { ModelStore } from './types.js';

/**
 * A pulled model's text.
 * @throws {AnyvmafError} `model` when it was not pulled or is damaged, saying how to pull it
 */
export async function readPulledModel(
  { name, file, sha256 }: { readonly name: string; readonly file: string; readonly sha256: string },
  { keep }: ModelStore,
): Promise<string> {
  const text = await keep?.read(file);
  const how = { hints: [{ purpose: 'pull', model: name }] } as const;
  if (text === undefined) {
    throw new AnyvmafError(
      'model',
      `The model ${name} does not ship with the package and has not been pulled yet`,
      how,
    );
  }
  if ((await sumOf(new TextEncoder().encode(text))) !== sha256) {
    throw new AnyvmafError('model', `The pulled model ${keep?.placeOf(file)} is damaged`, how);
  }
  return text;
}

/**
 * SHA-256 in hexadecimal digits.
 * @throws {AnyvmafError} `io` in pages that may not compute it
 */
export async function sumOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // Pages that came without encryption from another machine have no such thing.
  if (!globalThis.crypto?.subtle) {
    throw new AnyvmafError(
      'io',
      'This page cannot check the sum of a pulled model, because it was not loaded over https; serve it over https.',
    );
  }
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
