/**
 * @module web/setup/fixes
 * What a finding advises, as a change of settings that a button makes.
 */
import type { Finding, FrameRange } from 'anyvmaf';
import type { Settings } from '../session.js';

/** What a button does. */
export type Fix =
  | { readonly kind: 'settings'; readonly change: Partial<Settings> }
  | { readonly kind: 'swap' };

const FILTERS = ['bicubic', 'bilinear', 'lanczos', 'none'] as const;

/** The fix that the page can make itself; `undefined` where the files must be prepared, or the user must choose. */
export function fixOf({ code, fix }: Finding): Fix | undefined {
  if (code === 'swapped') return { kind: 'swap' };
  const [option, value = ''] = fix?.split(' ', 2) ?? [];
  const change = changeOf(option, value, fix ?? '');
  return change && { kind: 'settings', change };
}

function changeOf(option: string | undefined, value: string, fix: string): Partial<Settings> | undefined {
  switch (option) {
    case '--offset':
      if (value === 'auto') return { offset: 'auto' };
      return /^-?\d+$/.test(value) ? { offset: Number(value) } : undefined;
    case '--scale': {
      const scale = FILTERS.find((filter) => filter === value);
      return scale && { scale };
    }
    case '--scale-to': {
      const size = /^(\d+)x(\d+)$/.exec(value);
      if (size) return { scaleTo: { width: Number(size[1]), height: Number(size[2]) } };
      return value === 'ref' || value === 'dis' ? { scaleTo: value } : undefined;
    }
    case '--frame-rate-policy':
      return value === 'nearest' || value === 'strict' ? { frameRatePolicy: value } : undefined;
    case '--model':
      return { models: [fix.slice('--model '.length)] };
    case '--range': {
      const range = parseRange(value);
      return range && { range };
    }
    default:
      return undefined;
  }
}

/** `100-200` in frames or `1.5s-10s` in seconds, the end left out for the rest; `undefined` for anything else. */
export function parseRange(text: string): FrameRange | undefined {
  const match = /^(\d+(?:\.\d+)?)(s?)\s*(?:-|–|to)\s*(?:(\d+(?:\.\d+)?)(s?))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, from = '', fromUnit, to, toUnit] = match;
  const unit = fromUnit || toUnit ? ('seconds' as const) : ('frames' as const);
  const start = Number(from);
  const end = to === undefined ? undefined : Number(to);
  if (end !== undefined && end <= start) return undefined;
  if (unit === 'frames' && ![start, end ?? 0].every(Number.isInteger)) return undefined;
  return { unit, start, ...(end !== undefined && { end }) };
}

/** As {@link parseRange} reads it. */
export function formatRange(range: FrameRange | null): string {
  if (!range) return '';
  const unit = range.unit === 'seconds' ? 's' : '';
  return `${range.start}${unit}-${range.end === undefined ? '' : `${range.end}${unit}`}`;
}
