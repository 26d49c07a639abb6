/**
 * @module core/base64
 * Bytes as base64.
 */

/** Bytes encoded at a time: a multiple of three, so that no padding comes between, few enough for the arguments of a call. */
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
