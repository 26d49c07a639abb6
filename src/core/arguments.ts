/**
 * @module core/arguments
 * Checks arguments from JavaScript callers; `usage` errors name the argument, its value and what it must be.
 */
import { type AnyvmafError, usageError } from './errors.js';
import { type Fraction, quotientOf } from './numbers.js';
import { grouped, quoted, showValue } from './printable.js';

export function wrongType(name: string, value: unknown, expected: string): AnyvmafError {
  return usageError(`${name} is ${showValue(value)}, but it must be ${expected}.`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** Also false for typed arrays, and for objects whose members throw, such as revoked proxies. */
export function isReadable(value: unknown): value is Record<string, unknown> {
  return (
    isObject(value) &&
    !ArrayBuffer.isView(value) &&
    holds(() => Object.keys(value).every((key) => [value[key]]))
  );
}

/** Removes undefined members. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** Parses JSON; `undefined` if invalid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws {AnyvmafError} `usage` if it is not an object or its members cannot be read */
export function requireObject(name: string, value: unknown, expected = 'an object'): void {
  if (!isObject(value) || ArrayBuffer.isView(value)) throw wrongType(name, value, expected);
  try {
    for (const key of Object.keys(value)) void value[key];
  } catch (cause) {
    throw usageError(`${name} is an object that cannot be read; pass a plain one.`, { cause });
  }
}

export function requireText(name: string, value: unknown, expected = 'a string'): void {
  if (typeof value !== 'string') throw wrongType(name, value, expected);
}

export function requireArray(name: string, value: unknown, of = 'an array'): asserts value is unknown[] {
  if (!isArray(value)) throw wrongType(name, value, of);
}

export function requireTexts(name: string, value: unknown): void {
  requireArray(name, value, 'an array of strings');
  if (!value.every((text) => typeof text === 'string')) throw wrongType(name, value, 'an array of strings');
}

/** Accepts NaN. */
export function requireNumber(name: string, value: unknown, expected = 'a number'): void {
  if (typeof value !== 'number') throw wrongType(name, value, expected);
}

export function requireRate(name: string, rate: Fraction | undefined): void {
  if (rate === undefined || (isReadable(rate) && quotientOf(rate) !== undefined)) return;
  const value = isReadable(rate) ? `${showValue(rate.num)}/${showValue(rate.den)}` : showValue(rate);
  throw usageError(
    `${name} is ${value}, but it must be a fraction above 0, such as { num: 30000, den: 1001 }; leave it out if it is not known.`,
  );
}

/** Refuses bytes whose buffer was detached by a transfer. */
export function requireAttached(name: string, value: unknown): void {
  if (!ArrayBuffer.isView(value) || value.byteLength > 0) return;
  try {
    new Uint8Array(value.buffer);
  } catch {
    throw usageError(`${name} is detached: its buffer was transferred; pass a copy of the bytes.`);
  }
}

/** True if a test holds; false for values that throw on any access, such as revoked proxies. */
export function holds(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

export function isArray(value: unknown): value is readonly unknown[] {
  return holds(() => Array.isArray(value));
}

export function oneOf<T extends string>(name: string, value: T, allowed: readonly NoInfer<T>[]): T {
  if (allowed.includes(value)) return value;
  throw wrongType(name, value, `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`);
}

/** Most characters of a feature, extractor, option, model or metric name. */
const MAX_NAME = 256;
/** Most characters of a feature or model string, which may hold a path. */
export const MAX_STRING = 8192;

/** @param what the beginning of the message: `A feature name` */
export function requireLength(what: string, text: string, most = MAX_NAME): void {
  if (text.length <= most) return;
  throw usageError(
    `${what} of ${grouped(text.length)} characters is too long; at most ${grouped(most)} are ` +
      `allowed: ${quoted(text, 60)}.`,
  );
}
