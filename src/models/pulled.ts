/**
 * @module models/pulled
 * Reads pulled models from the cache and checks their digests.
 */
import { AnyvmafError } from '../core/errors.js';
import type { ModelStore } from './types.js';

/**
 * Reads a pulled model.
 * @throws {AnyvmafError} `model` if it was not pulled or is damaged, with how to pull it
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
 * @throws {AnyvmafError} `io` in pages without a secure context
 */
export async function sumOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // WebCrypto is absent from pages served without encryption by another machine.
  if (!globalThis.crypto?.subtle) {
    throw new AnyvmafError(
      'io',
      'This page cannot check the sum of a pulled model, because it was not loaded over https; serve it over https.',
    );
  }
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
