/**
 * @module core/bytes
 * Bytes joined, and as text: base64, and SHA-256 digests in hexadecimal digits.
 */

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Bytes to encode at a time: a multiple of 3, so that no padding is needed, and few enough for one call's arguments. */
const PIECE = 0x6000;

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  return pieces.join('');
}

/** @returns `undefined` for text that is not standard base64 with padding */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const codes = atob(text);
  const bytes = new Uint8Array(codes.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = codes.charCodeAt(i);
  return bytes;
}

/** @param unavailable thrown in pages without a secure context, which have no WebCrypto */
export async function hexDigest(data: string | Uint8Array, unavailable?: Error): Promise<string> {
  if (unavailable && !globalThis.crypto?.subtle) throw unavailable;
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data);
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
