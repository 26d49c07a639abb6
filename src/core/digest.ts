/**
 * @module core/digest
 * SHA-256 digests in hexadecimal digits; apart from base64, which the start of a page does not need.
 */

/** @param unavailable thrown in pages without a secure context, which have no WebCrypto */
export async function hexDigest(data: string | Uint8Array, unavailable?: Error): Promise<string> {
  if (unavailable && !globalThis.crypto?.subtle) throw unavailable;
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data);
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
