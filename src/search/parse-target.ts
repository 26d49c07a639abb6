/**
 * @module search/parse-target
 * Targets as people write them. Apart from what searches do with them, which an application's start does not load.
 */
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import { parseLimit } from '../report/limits.js';
import type { QualityTarget } from './targets.js';

/**
 * Parses a target as people write it, in the grammar of gates: `95`, `p5>=90`, `vmaf.p5>=90`, `psnr_y.min>=38`,
 * `cambi.max<=5`.
 * @throws {AnyvmafError} `usage`
 */
export function parseTarget(text: string): QualityTarget {
  const { metric, statistic, relation, bound } = parseLimit(text, 'target');
  if (statistic === 'worst_second' && relation === '<=')
    throw usageError(
      `the target is ${showValue(text)}, but a search knows worst seconds only of metrics whose low values are the worse; use max.`,
    );
  return { metric, statistic, ...(relation === '>=' ? { atLeast: bound } : { atMost: bound }) };
}
