/**
 * @module files/digest
 * SHA-256 digests of texts, at once; `core/bytes` has those of pages, which are promised.
 */
import { createHash } from 'node:crypto';

/** @param digits how many of the 64 hexadecimal digits, from the first on */
export function textDigest(text: string, digits = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
