/**
 * @module core/base64
 * Bytes as base64 text and back, the same in Node and browsers.
 */

/** Bytes turned into characters at a time; a call takes a limited number of arguments. */
const PORTION = 0x6000;

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // A multiple of three, so that the pieces join without padding between them.
  for (let at = 0; at < bytes.length; at += PORTION) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PORTION))));
  }
  return pieces.join('');
}

/** @returns `undefined` for text that is not standard base64 with padding */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const step = (PORTION / 3) * 4;
  for (let at = 0, to = 0; at < text.length; at += step) {
    const portion = atob(text.slice(at, at + step));
    for (let i = 0; i < portion.length; i++) bytes[to++] = portion.charCodeAt(i);
  }
  return bytes;
}
