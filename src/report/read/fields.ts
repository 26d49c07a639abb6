/**
 * @module report/read/fields
 * Typed access to what a file says under a key, alike for JSON values and XML attributes, which are all text.
 */
import type { Fraction } from '../../media/decoder.js';

/** The keys of an object in a file. A getter gives `undefined` where the key is missing or holds something else. */
export class Fields {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: Iterable<readonly [key: string, value: unknown]>) {
    this.#values = new Map(values);
  }

  /** `undefined` when it is not an object. */
  static of(value: unknown): Fields | undefined {
    return isObject(value) ? new Fields(Object.entries(value)) : undefined;
  }

  get entries(): Iterable<readonly [key: string, value: unknown]> {
    return this.#values;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  text(key: string): string | undefined {
    const value = this.#values.get(key);
    return typeof value === 'string' ? value : undefined;
  }

  number(key: string): number | undefined {
    const value = this.#values.get(key);
    if (typeof value === 'number') return value;
    return typeof value === 'string' && /^[-+]?\d/.test(value) && Number.isFinite(Number(value))
      ? Number(value)
      : undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.#values.get(key);
    if (typeof value === 'boolean') return value;
    return value === 'true' ? true : value === 'false' ? false : undefined;
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T | undefined {
    const text = this.text(key);
    return values.find((value) => value === text);
  }

  /** A frame rate, as `"num/den"`. */
  fraction(key: string): Fraction | undefined {
    const [, num, den] = /^(\d+)\/(\d+)$/.exec(this.text(key) ?? '') ?? [];
    return num === undefined || den === undefined ? undefined : { num: Number(num), den: Number(den) };
  }

  object(key: string): Fields | undefined {
    return Fields.of(this.#values.get(key));
  }

  /** The list's items; `undefined` where there is no list. */
  list(key: string): readonly unknown[] | undefined {
    const value = this.#values.get(key);
    return Array.isArray(value) ? value : undefined;
  }

  /** Those items of a list that are texts. */
  texts(key: string): string[] {
    return (this.list(key) ?? []).filter((item) => typeof item === 'string');
  }

  /** Those items of a list that are objects. */
  objects(key: string): Fields[] {
    return (this.list(key) ?? []).flatMap((item) => Fields.of(item) ?? []);
  }

  /** A scalar as it stands. */
  scalar(key: string): string | number | boolean | null | undefined {
    const value = this.#values.get(key);
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    return typeof value === 'number' ? value : undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object without its members that are `undefined`. */
export function known<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // What was filtered out are exactly the members excluded from the type; optional ones read as absent.
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
