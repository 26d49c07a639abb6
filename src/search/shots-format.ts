/**
 * @module search/shots-format
 * Forms of a tuned video; what writes them is loaded when it is asked for.
 */
import type { ShotFormat, TuneShotsResult } from './shots-types.js';

/**
 * A result of `tuneShots` as text.
 * @throws {AnyvmafError} `usage` for what is no result, and for a format that there is not
 */
export async function formatShots(result: TuneShotsResult, format: ShotFormat): Promise<string> {
  const { shotsText } = await import('./shots-text.js');
  return shotsText(result, format);
}
