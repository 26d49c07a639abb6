/**
 * @module report/whole
 * Checks that what a caller passes as a report is one, with all the parts that are asked of it.
 */
import { isObject, requireObject } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import type { Report } from './types.js';

/** Which parts are lists, and which objects; the rest is text and numbers. */
const LISTS: readonly string[] = ['frames', 'metrics', 'models', 'warnings'];
const OBJECTS: readonly string[] = [
  'pooled_metrics',
  'aggregate_metrics',
  'distribution',
  'reference',
  'distorted',
];

/** What a summary, a page, JSON, NDJSON and XML say. */
export const WHOLE = [...LISTS, ...OBJECTS] as readonly (keyof Report)[];

/**
 * @param parts keys of a report that are read
 * @throws {AnyvmafError} `usage` for anything but a report with these parts, as those read from CSV, SUB and other
 * programs' logs are not
 */
export function requireParts(name: string, report: unknown, parts: readonly (keyof Report)[]): void {
  requireObject(name, report, 'a report');
  const members = new Map(Object.entries(report as object));
  const lacking = parts.filter((part) => !fits(part, members.get(part)));
  if (lacking.length === 0) return;
  throw usageError(
    `${name} has no ${lacking.join(', ')}, so it is not all of a report; pass what score gives, or of what readReport ` +
      'gives that for which isReport is true.',
  );
}

function fits(part: string, value: unknown): boolean {
  if (part === 'frames')
    return Array.isArray(value) && value.every((frame) => isObject(frame) && isObject(frame.metrics));
  if (part === 'metrics') return Array.isArray(value) && value.every((metric) => typeof metric === 'string');
  if (LISTS.includes(part)) return Array.isArray(value) && !value.includes(null);
  return isObject(value);
}
