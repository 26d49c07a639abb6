/**
 * @module files/digest
 * Synchronous SHA-256 digests of texts; `core/bytes` has asynchronous ones for all platforms.
 */
import { createHash } from 'node:crypto';

/** @param digits number of leading hexadecimal digits, at most 64 */
export function textDigest(text: string, digits = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
