/**
 * @module web/setup/fixes
 * Turns fixes of findings into changes of settings, for buttons.
 */
import type { Finding, FrameRange, RawVideoFormat } from 'anyvmaf';
import { formatRange } from 'anyvmaf/core/frame';
import { formatSize } from 'anyvmaf/core/size';
import type { ChosenFile, Session, Settings } from '../session.js';
import { text } from '../text.js';
import { swapSides } from './files.js';

export type Fix =
  | { readonly kind: 'settings'; readonly change: Partial<Settings> }
  | { readonly kind: 'feature'; readonly feature: string }
  | { readonly kind: 'raw'; readonly format: RawVideoFormat }
  | { readonly kind: 'swap' };

/** `undefined` if files must be prepared or the user must choose. */
export function fixOf({ hint }: Finding): Fix | undefined {
  switch (hint?.option) {
    case 'swap':
      return { kind: 'swap' };
    case 'features':
      return typeof hint.value === 'string' ? { kind: 'feature', feature: hint.value } : undefined;
    case 'raw':
      return { kind: 'raw', format: hint.value };
    case 'model':
      return { kind: 'settings', change: { models: [hint.value] } };
    default: {
      const name = hint?.option;
      return name !== undefined && name in text.findings.fixes
        ? { kind: 'settings', change: { [name]: hint?.value } }
        : undefined;
    }
  }
}

export function valueText(value: Settings[keyof Settings]): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('width' in value) return formatSize(value).replace('x', ' × ');
  return 'unit' in value ? formatRange(value) : String(value);
}

/** Applies a fix to the affected encodes. @param files the distorted videos with the finding */
export function applyFix(session: Session, fix: Fix, files: readonly File[]): void {
  const { distorted, settings } = session;
  if (fix.kind === 'swap') swapSides(session, files[0]);
  else if (fix.kind === 'feature')
    setForAll(session, { features: [...new Set([...settings.value.features, fix.feature])] });
  else if (fix.kind === 'raw') session.raw.value = fix.format;
  else if (distorted.value.every(({ file }) => files.includes(file))) setForAll(session, fix.change);
  else setOwn(session, ({ file }) => files.includes(file), fix.change);
}

/** Applies equal fixes together, so that what all encodes need becomes a common setting. */
export function applyFixes(
  session: Session,
  all: readonly { readonly finding: Finding; readonly files: readonly File[] }[],
): void {
  const fixes = new Map<string, { readonly fix: Fix; readonly files: File[] }>();
  for (const { finding, files } of all) {
    const fix = fixOf(finding);
    if (!fix) continue;
    const key = JSON.stringify(fix);
    const known = fixes.get(key) ?? { fix, files: [] };
    known.files.push(...files);
    fixes.set(key, known);
  }
  for (const { fix, files } of fixes.values()) applyFix(session, fix, files);
}

/** Changes settings of some encodes; values equal to the common ones are dropped. */
export function setOwn(
  { distorted, settings }: Session,
  isOne: (chosen: ChosenFile) => boolean,
  change: Partial<Settings>,
): void {
  const isOwn = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(settings.value[name as keyof Settings]);
  distorted.value = distorted.value.map((chosen): ChosenFile => {
    if (!isOne(chosen)) return chosen;
    const { own, ...rest } = chosen;
    const left = Object.entries({ ...own, ...change }).filter(isOwn);
    return left.length > 0 ? { ...rest, own: Object.fromEntries(left) } : rest;
  });
}

/** Changes common settings, and drops own settings for the same options. */
export function setForAll({ settings, distorted }: Session, change: Partial<Settings>): void {
  settings.value = { ...settings.value, ...change };
  if (!distorted.value.some(({ own }) => own && Object.keys(own).some((key) => key in change))) return;
  distorted.value = distorted.value.map(({ own, ...chosen }): ChosenFile => {
    const left = Object.entries(own ?? {}).filter(([key]) => !(key in change));
    return left.length > 0 ? { ...chosen, own: Object.fromEntries(left) } : chosen;
  });
}

export function dropOwn({ distorted }: Session, id: number): void {
  distorted.value = distorted.value.map(({ own, ...chosen }) =>
    chosen.id === id ? chosen : { ...chosen, ...(own && { own }) },
  );
}

/** A number of frames or `auto`; `undefined` for other text. */
export function parseOffset(text: string): number | 'auto' | undefined {
  if (text === 'auto') return text;
  return /^[+-]?\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** `WIDTH:HEIGHT` or `WIDTH:HEIGHT:X:Y`, sides of at least one sample; `undefined` for other text. */
export function parseArea(text: string): string | undefined {
  return /^0*[1-9]\d{0,4}:0*[1-9]\d{0,4}(:\d{1,5}:\d{1,5})?$/.test(text) ? text : undefined;
}

/** `100-200` in frames or `1.5s-10s` in seconds, the end optional; `undefined` for other text. */
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
