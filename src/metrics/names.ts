/**
 * @module metrics/names
 * libvmaf's names of features, and the numbers in them.
 */
import { formatGeneral } from '../core/printf.js';
import type { ExtractorSpec, FeatureSpec, OptionValue } from './spec.js';

const MAX_NAME = 255;

/** C's `%.{digits}g` with 1..99 significant digits: 1e6 as `1e+06`; as in libvmaf's names, `nan` has no sign. */
export function formatG(value: number, digits = 6): string {
  return Number.isNaN(value) ? 'nan' : formatGeneral(value, digits);
}

/** Options that differ from their defaults: `_egl_1`, `_mffw_mmxv_18_mma`; empty if none does (spec 6.1). */
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

/** Name in reports (spec 6.1, 6.2). */
export function logName(feature: FeatureSpec, suffix: string): string {
  return (feature.plainName ? feature.alias : feature.alias + suffix).slice(0, MAX_NAME);
}
