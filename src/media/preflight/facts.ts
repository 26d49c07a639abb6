/**
 * @module media/preflight/facts
 * Facts derived from those of one video or both, and their wording in findings.
 */
import { type Fraction, quotientOf } from '../../core/numbers.js';
import { rateOf } from '../evidence/rate.js';
import type { Both, Role, SideFacts } from './findings.js';

export const ROLES = ['reference', 'distorted'] as const satisfies readonly Role[];

export function otherRole(role: Role): Role {
  return role === 'reference' ? 'distorted' : 'reference';
}

/** A value of each video, the reference's first. */
export function ofBoth<Value>({ reference, distorted }: Both, of: (side: SideFacts) => Value) {
  return [of(reference), of(distorted)] as const;
}

/** `both videos are`, `distorted is`, or the same with `has`. */
export function subject(roles: readonly Role[], verb: 'is' | 'has'): string {
  return roles.length === 2 ? `both videos ${verb === 'is' ? 'are' : 'have'}` : `${roles[0]} ${verb}`;
}

/** At most `digits` decimals. */
export function rounded(value: number, digits = 3): string {
  return String(Number(value.toFixed(digits)));
}

/** The nearest fraction with a denominator below 1000. */
export function nearbyFraction(value: number): Fraction {
  let best: Fraction = { num: Math.round(value), den: 1 };
  const error = ({ num, den }: Fraction) => Math.abs(num / den - value);
  for (let den = 2; den < 1000; den++) {
    const next = { num: Math.round(value * den), den };
    if (error(next) < error(best) - 1e-9) best = next;
    if (error(best) < 1e-6 * value) break;
  }
  return best;
}

/** From times if possible, since headers are less reliable. */
export function framesOf(side: SideFacts): number | null {
  return side.timestamps?.length ?? side.frameCount;
}

export function framesPerSecond(side: SideFacts): number | undefined {
  return quotientOf(rateOf(side));
}

/** Seconds, if known. */
export function durationOf(side: SideFacts): number | undefined {
  const frames = framesOf(side);
  const rate = framesPerSecond(side);
  if (side.timestamps && side.timestamps.length > 1 && rate) {
    const [first = Number.NaN] = side.timestamps;
    return (side.timestamps.at(-1) ?? Number.NaN) - first + 1 / rate;
  }
  return side.duration ?? (frames !== null && rate ? frames / rate : undefined);
}

/** True if the `k`-th measured frames are at most a frame apart: by time if both have times, else by number. */
export function showSameMoment({ reference, distorted }: Both, k: number): boolean {
  const [ref, dis] = [reference.measured?.frames[k], distorted.measured?.frames[k]];
  if (ref === undefined || dis === undefined) return false;
  const [refRate, disRate] = [framesPerSecond(reference), framesPerSecond(distorted)];
  if (!reference.timestamps || !distorted.timestamps || !refRate || !disRate) return Math.abs(ref - dis) <= 1;
  return Math.abs(ref / refRate - dis / disRate) * Math.min(refRate, disRate) <= 1;
}
