/**
 * @module core/arguments
 * Checks at the door of the API what JavaScript callers can get wrong: each says which argument, what it is, and what
 * it must be.
 */
import { type AnyvmafError, usageError } from './errors.js';
import { grouped, quoted, showValue } from './printable.js';

/** The error for an argument of a wrong type. */
export function wrongType(name: string, value: unknown, expected: string): AnyvmafError {
  return usageError(`${name} is ${showValue(value)}, but it must be ${expected}.`);
}

/** Whether a value is an object with members: neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** The value that a text is as JSON; `undefined` if it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws {AnyvmafError} `usage` if it is not an object, or its members cannot be read */
export function requireObject(name: string, value: unknown, expected = 'an object'): void {
  if (!isObject(value) || ArrayBuffer.isView(value)) throw wrongType(name, value, expected);
  try {
    for (const key of Object.keys(value)) void value[key];
  } catch (cause) {
    throw usageError(`${name} is an object that cannot be read; pass a plain one.`, { cause });
  }
}

/** @throws {AnyvmafError} `usage` */
export function requireText(name: string, value: unknown, expected = 'a string'): void {
  if (typeof value !== 'string') throw wrongType(name, value, expected);
}

/** @throws {AnyvmafError} `usage` */
export function requireArray(name: string, value: unknown, of = 'an array'): asserts value is unknown[] {
  if (!isArray(value)) throw wrongType(name, value, of);
}

/** @throws {AnyvmafError} `usage` */
export function requireTexts(name: string, value: unknown): void {
  requireArray(name, value, 'an array of strings');
  if (!value.every((text) => typeof text === 'string')) throw wrongType(name, value, 'an array of strings');
}

/** @throws {AnyvmafError} `usage` for anything but a number, of which NaN is one */
export function requireNumber(name: string, value: unknown, expected = 'a number'): void {
  if (typeof value !== 'number') throw wrongType(name, value, expected);
}

/** @throws {AnyvmafError} `usage` for bytes that were transferred away, of which nothing is left */
export function requireAttached(name: string, value: unknown): void {
  if (!ArrayBuffer.isView(value) || value.byteLength > 0) return;
  try {
    new Uint8Array(value.buffer);
  } catch {
    throw usageError(
      `${name} is bytes of a detached buffer, which was transferred to somebody else; pass a copy of them.`,
    );
  }
}

/** As `Array.isArray`, which throws for a revoked proxy. */
export function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * A value that must be one of those allowed.
 * @throws {AnyvmafError} `usage`
 */
export function oneOf<T extends string>(name: string, value: T, allowed: readonly NoInfer<T>[]): T {
  if (allowed.includes(value)) return value;
  throw usageError(`${name} is ${showValue(value)}, but it must be ${choice(allowed)}.`);
}

function choice(allowed: readonly string[]): string {
  return `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
}

/** Characters of the name of a feature, an extractor, an option, a model or a metric. */
const MAX_NAME = 256;

/** Characters of a feature string or a model string: names, values, and a path. */
export const MAX_STRING = 8192;

/**
 * Refuses a text that is longer than allowed.
 * @param what begins the message: `A feature name`
 * @throws {AnyvmafError} `usage`
 */
export function requireLength(what: string, text: string, most = MAX_NAME): void {
  if (text.length <= most) return;
  throw usageError(
    `${what} of ${grouped(text.length)} characters is too long; at most ${grouped(most)} are ` +
      `allowed: ${quoted(text, 60)}.`,
  );
}
