/**
 * @module media/preflight/text
 * Words and numbers of findings.
 */
import type { Fraction } from '../decoder.js';
import type { Finding, FindingCode, FindingValue, Severity, SideFacts } from './types.js';

/** Both values of a finding. */
export type Values = readonly [reference: FindingValue, distorted: FindingValue];

/** Makes a finding; its message becomes a sentence. */
export function finding(
  code: FindingCode,
  severity: Severity,
  message: string,
  [reference, distorted]: Values,
  fix?: string,
): Finding {
  // The names of models are written as they are.
  const sentence = message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  return { code, severity, message: sentence, reference, distorted, ...(fix !== undefined && { fix }) };
}

/**
 * Says that preflight itself failed: what it would have found is not known.
 * @param what was not looked at
 */
export function uncheckedFinding(what: string, error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = `preflight could not look at ${what}, so that what is wrong with them may go unsaid: ${reason}`;
  return finding('unchecked', 'warning', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, [null, null]);
}

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];

/** The order of findings: the most severe first. */
export function bySeverity(a: Finding, b: Finding): number {
  return ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity);
}

/** `1920x1080`. */
export function dimensions({ width, height }: { readonly width: number; readonly height: number }): string {
  return `${width}x${height}`;
}

/** A number with at most `digits` decimals. */
export function rounded(value: number, digits = 3): string {
  return String(Number(value.toFixed(digits)));
}

/** `25` or `30000/1001`. */
export function fractionText({ num, den }: Fraction): string {
  return num % den === 0 ? String(num / den) : `${num}/${den}`;
}

/** A fraction near `value` whose numbers stay below 1000. */
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

/** `1 frame`, `3 frames`. */
export function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}

/** Frames a side is known to have; times are a better witness than headers. */
export function framesOf(side: SideFacts): number | null {
  return side.timestamps?.length ?? side.frameCount;
}

/** Average frames per second as far as it is known. */
export function rateOf(side: SideFacts): number | undefined {
  const { timestamps: times, frameRate } = side;
  if (frameRate) return frameRate.num / frameRate.den;
  const span = times && times.length > 1 ? (times.at(-1) ?? 0) - (times[0] ?? 0) : 0;
  return times && span > 0 ? (times.length - 1) / span : undefined;
}

/** Seconds as far as they are known. */
export function durationOf(side: SideFacts): number | undefined {
  const frames = framesOf(side);
  const rate = rateOf(side);
  if (side.timestamps && side.timestamps.length > 1 && rate) {
    return (side.timestamps.at(-1) ?? 0) - (side.timestamps[0] ?? 0) + 1 / rate;
  }
  return side.duration ?? (frames !== null && rate ? frames / rate : undefined);
}
