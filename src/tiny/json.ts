/**
 * @module tiny/json
 * Typed access to untrusted JSON; errors name the document and the member.
 */
import { AnyvmafError } from '../core/errors.js';
import { showJson, shown } from '../core/printable.js';

/** A JSON object with typed getters. Absent and `null` members are `undefined`. */
export class JsonObject {
  readonly #members: ReadonlyMap<string, unknown>;

  /** @throws {AnyvmafError} `model` if the value is not an object */
  constructor(
    value: unknown,
    readonly what: string,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new AnyvmafError('model', `${what} is not a JSON object.`);
    this.#members = new Map(Object.entries(value));
  }

  /** @throws {AnyvmafError} `model` if the text is not a JSON object */
  static parse(text: string, what: string): JsonObject {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AnyvmafError('model', `${what} is not JSON (${reason}).`, { cause });
    }
    return new JsonObject(value, what);
  }

  keys(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** The unchecked value. */
  raw(key: string): unknown {
    return this.#members.get(key) ?? undefined;
  }

  text(key: string, limit = 1024): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.length > 0 && value.length <= limit) return value;
    throw this.wrong(key, `a text of 1 to ${limit} characters`);
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false');
  }

  number(key: string): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.wrong(key, 'a number');
  }

  integer(key: string, min: number, max: number): number | undefined {
    const value = this.number(key);
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return value;
    throw this.wrong(key, `a whole number from ${min} to ${max}`);
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const found = allowed.find((one) => one === value);
    if (found !== undefined) return found;
    throw this.wrong(key, `one of ${allowed.join(', ')}`);
  }

  list(key: string, limit: number): readonly unknown[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length > 0 && value.length <= limit) return value;
    throw this.wrong(key, `a list of 1 to ${limit}`);
  }

  texts(key: string, limit: number): readonly string[] | undefined {
    const list = this.list(key, limit);
    if (!list) return undefined;
    return list.map((value) => {
      if (typeof value === 'string' && value.length > 0 && value.length <= 128) return value;
      throw this.wrong(key, `a list of 1 to ${limit} texts of up to 128 characters`);
    });
  }

  numbers(key: string, limit: number): readonly number[] | undefined {
    const list = this.list(key, limit);
    if (!list) return undefined;
    return list.map((value) => {
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      throw this.wrong(key, `a list of 1 to ${limit} numbers`);
    });
  }

  wrong(key: string, expected: string): AnyvmafError {
    const value = this.raw(key);
    const found = value === undefined ? 'absent' : showJson(value);
    return new AnyvmafError('model', `${this.what}: ${shown(key)} is ${found}, but it must be ${expected}.`);
  }
}
