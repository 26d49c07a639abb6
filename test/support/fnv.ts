/**
 * @module test/support/fnv
 * FNV-1a, the fingerprint in which long sequences of expected values are written down.
 */

/** FNV-1a 64 over the little-endian bytes of doubles, sixteen hexadecimal digits. */
export function fnv1aOfDoubles(values: Float64Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
