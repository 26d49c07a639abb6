/**
 * @module report/quality-metrics
 * Which metrics of a report say something of quality by themselves. Apart from the facts, which an application's start loads.
 */
import type { Report } from './types.js';

/** Inner features of VMAF's models: what a score is made of, not a measure of quality by itself. */
const INNER =
  /^(?:VMAF_)?(?:integer_|float_)?(?:feature_)?(?:vif|adm|aim|motion|speed|moment|ansnr|anpsnr)(?:[_\d]|$)/;

/** Of metrics those that say something of quality by themselves; not the spread of a bootstrap collection. */
export function askedOf(
  metrics: readonly string[],
  facts: readonly Pick<Partial<Report>, 'models'>[],
): string[] {
  const spreads = facts.flatMap(
    ({ models }) => models?.filter(({ collection }) => collection).map(({ name }) => `${name}_`) ?? [],
  );
  return metrics.filter((name) => !INNER.test(name) && !spreads.some((start) => name.startsWith(start)));
}
