/**
 * @module metrics/names
 * How libvmaf names features and prints the numbers in those names.
 */
import type { ExtractorSpec, FeatureSpec, OptionValue } from './spec.js';

/** Longest name that libvmaf stores, in characters. */
const MAX_NAME = 255;

/**
 * C's `%.{digits}g` of a number, for example 0.5 as `0.5`, 1e6 as `1e+06`. Exact: decimal ties are rounded to even,
 * as C does and JavaScript's own formatting does not.
 * @param digits significant digits, 1..100
 */
export function formatG(value: number, digits = 6): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const { digits: text, exponent } = roundToEven(Math.abs(value), digits);
  if (exponent < -4 || exponent >= digits) {
    const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
    return `${sign}${text[0]}${fraction(text.slice(1))}e${power}`;
  }
  const padded = '0'.repeat(Math.max(-exponent, 0)) + text;
  const point = Math.max(exponent, 0) + 1;
  return sign + padded.slice(0, point) + fraction(padded.slice(point));
}

function fraction(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0 ? '' : `.${digits.slice(0, end)}`;
}

interface Digits {
  readonly digits: string;
  /** Power of ten of the first digit. */
  readonly exponent: number;
}

function roundToEven(magnitude: number, digits: number): Digits {
  const exact = toDigits(magnitude, 101);
  // No double comes so close to halfway between two short decimals without being there.
  const tie = /^50*$/.test(exact.digits.slice(digits));
  const even = Number(exact.digits[digits - 1]) % 2 === 0;
  return tie && even ? { ...exact, digits: exact.digits.slice(0, digits) } : toDigits(magnitude, digits);
}

function toDigits(magnitude: number, digits: number): Digits {
  const [mantissa = '', exponent = ''] = magnitude.toExponential(digits - 1).split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) };
}

/**
 * What a feature's name ends in when options that count for it differ from their defaults: `_egl_1`,
 * `_mffw_mmxv_18_mma`; empty when none does (spec 6.1).
 * @param values the value of every option of the extractor
 */
export function nameSuffix(extractor: ExtractorSpec, values: Readonly<Record<string, OptionValue>>): string {
  return extractor.options
    .filter((option) => option.inName && values[option.name] !== option.default)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((option) => {
      const label = option.alias ?? option.name;
      const value = values[option.name];
      if (typeof value === 'boolean') return `_${label}`;
      return `_${label}_${typeof value === 'number' ? formatG(value) : value}`;
    })
    .join('');
}

/** The name of a feature in reports (spec 6.1, 6.2). */
export function logName(feature: FeatureSpec, suffix: string): string {
  return (feature.plainName ? feature.alias : feature.alias + suffix).slice(0, MAX_NAME);
}
