/**
 * @module report/kinds
 * Kinds of report values: how each is written as JSON and as XML attributes, and read back.
 */
import { isObject } from '../core/arguments.js';
import { decimalNumber, type Fraction } from '../core/numbers.js';

/** A formatted scalar, a list or an ordered map: numbers keep their digits, keys their order. */
export type Json = string | { readonly list: readonly Json[] } | { readonly map: JsonEntries };

/** In output order. */
export type JsonEntries = readonly (readonly [key: string, value: Json])[];

/** In output order, not escaped. */
export type Attributes = readonly (readonly [name: string, text: string])[];

/** A JSON object, or the attributes of an XML element, which are all text. */
export type Source = Readonly<Record<string, unknown>>;

export type NumberText = (value: number) => string;

/** Declares methods, so that a `Kind<string>` is a `Kind<unknown>`. */
export interface Kind<T> {
  /** Name of the kind, from which other descriptions of reports are generated. */
  readonly type: string;
  /** Key in files if it is not the property's name in snake case. */
  readonly key?: string;
  readonly optional?: true;
  readonly values?: readonly string[];
  readonly item?: Kind<unknown>;
  /** `null` means unknown. */
  readonly nullable?: true;
  json(value: T, number: NumberText): Json;
  /** @returns `undefined` for a value of another kind */
  read(value: unknown): T | undefined;
  /** Entries for the value; most kinds make one. */
  entries(key: string, value: T, number: NumberText): JsonEntries;
  /** Attributes of the enclosing element; none by default. */
  attributes(key: string, value: T, number: NumberText): Attributes;
  /** Reads the value from what a file has under `key`. */
  take(source: Source, key: string): T | undefined;
}

export interface Optional {
  readonly optional: true;
}

/** By property name, in output order. */
export type Fields = Readonly<Record<string, Kind<unknown>>>;

export interface ObjectKind<T, F extends Fields = Fields> extends Kind<T> {
  readonly fields: F;
}

type OptionalKeys<F> = { [K in keyof F]: F[K] extends Optional ? K : never }[keyof F];
type Required<F, Names extends keyof F> = { readonly [K in Names]: ValueOf<F[K]> };
type Absent<F, Names extends keyof F> = { readonly [K in Names]?: ValueOf<F[K]> };

export type FieldValues<F> = Required<F, Exclude<keyof F, OptionalKeys<F>>> & Absent<F, OptionalKeys<F>>;

export type ValueOf<K> =
  K extends Pick<Kind<unknown>, 'read'> ? Exclude<ReturnType<K['read']>, undefined> : never;

type FieldsOf<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K>
    ? Kind<Exclude<T[K], undefined>> & Optional
    : Kind<T[K]>;
};

export function kindOf<T>(type: string, parts: Pick<Kind<T>, 'json' | 'read'> & Partial<Kind<T>>): Kind<T> {
  return {
    type,
    entries: (key, value, number) => [[key, parts.json(value, number)]],
    attributes: () => [],
    take: (source, key) => parts.read(source[key]),
    ...parts,
  };
}

type Scalar = string | number | boolean | null;

function scalar<T extends Scalar>(type: string, read: Kind<T>['read'], more: Partial<Kind<T>> = {}): Kind<T> {
  return kindOf(type, {
    ...more,
    read,
    // Like JSON.stringify, which writes numbers that are not finite as null.
    json: (value) => JSON.stringify(value),
    attributes: (key, value) => (value === null ? [] : [[key, String(value)]]),
  });
}

/** Attributes are text, so numeric text counts as a number. */
function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const isNumeric = typeof value === 'string' && /^[-+]?\d/.test(value) && Number.isFinite(Number(value));
  return isNumeric ? Number(value) : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export const text = scalar('text', readText);
export const number = scalar('number', readNumber);
export const integer = scalar('integer', readNumber);
/** A width, height or depth: never 0. */
export const size = scalar('integer', (value) => readNumber(value) || undefined);
export const flag = scalar('flag', (value) =>
  typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
);
/** True or absent. */
export const set = scalar<true>('set', (value) => flag.read(value) || undefined);
/** Any scalar, as is. */
export const plain = scalar('scalar', (value) =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined,
);

/** A measured value at the requested precision; `null` in JSON if it is not finite. */
export const measured = kindOf<number>('measured', {
  json: (value, write) => write(value),
  attributes: (key, value, write) => [[key, write(value)]],
  read: (value) => {
    if (value === null) return Number.NaN;
    return typeof value === 'string' ? measuredText(value) : readNumber(value);
  },
});

/** Parses a value as text formats and printf write it; `undefined` for other text. */
export function measuredText(text: string): number | undefined {
  const special = /^([-+]?)(nan|inf)(?:inity)?$/i.exec(text);
  if (special) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return decimalNumber(text);
}

/** JSON data as is; the reader checks it. */
export const verbatim = kindOf<unknown>('any', {
  json: (value) => JSON.stringify(value),
  read: (value) => value,
});

export const fraction = kindOf<Fraction>('fraction', {
  json: ({ num, den }) => quote(`${num}/${den}`),
  attributes: (key, { num, den }) => [[key, `${num}/${den}`]],
  read: (value) => {
    const [, num, den] = /^(\d+)\/(\d+)$/.exec(readText(value) ?? '') ?? [];
    return num === undefined || den === undefined ? undefined : { num: Number(num), den: Number(den) };
  },
});

export function choice<const T extends string>(...values: readonly T[]): Kind<T> {
  return scalar('choice', (value) => values.find((known) => known === value), { values });
}

/** A word; words added by other versions are kept. */
export function openChoice<T extends string>(): Kind<T> {
  return scalar('text', (value) => readText(value) as T | undefined);
}

export function either<A extends Scalar, B extends Scalar>(first: Kind<A>, second: Kind<B>): Kind<A | B> {
  return scalar<A | B>('scalar', (value) => first.read(value) ?? second.read(value));
}

export function nullable<T extends Scalar>(kind: Kind<T>): Kind<T | null> {
  return scalar(kind.type, (value) => (value === null ? null : kind.read(value)), { nullable: true });
}

/** A list, without unreadable items. `separator` joins the items in an attribute; without it, there is none. */
export function list<T>(item: Kind<T>, separator?: string): Kind<readonly T[]> {
  return kindOf<readonly T[]>('list', {
    item,
    json: (values, write) => ({ list: values.map((value) => item.json(value, write)) }),
    attributes: (key, values) => (separator === undefined ? [] : [[key, values.join(separator)]]),
    read: (value) => {
      if (value === undefined) return undefined;
      const words = separator === undefined ? [] : (readText(value)?.split(separator) ?? []);
      const items: readonly unknown[] = Array.isArray(value) ? value : words.filter((word) => word !== '');
      return items.map((entry) => item.read(entry)).filter((entry) => entry !== undefined);
    },
  });
}

/** An object, written as its own XML element. */
export function object<F extends Fields>(fields: F): ObjectKind<FieldValues<F>, F> {
  return { ...objectKind<FieldValues<F>>(fields), fields };
}

/** An object whose type is declared elsewhere. */
export function objectOf<T extends object>(fields: FieldsOf<T>): ObjectKind<T> {
  // Every member of FieldsOf is a kind, which TypeScript does not infer from a generic mapped type.
  return objectKind<T>(fields as Fields);
}

function objectKind<T>(fields: Fields): ObjectKind<T> {
  const kind = kindOf<T>('object', {
    json: (value, write) => ({ map: entriesOf(fields, value as object, write) }),
    read: (value) => (isObject(value) ? wholeOf<T>(fields, value) : undefined),
  });
  return { ...kind, fields };
}

/** An object whose members become attributes of the enclosing element, with a prefix. */
export function inline<T extends object>(kind: ObjectKind<T>, prefix = ''): ObjectKind<T> {
  return {
    ...kind,
    attributes: (_, value, write) => attributesOf(kind.fields, value, write, prefix),
    take: (source, key) =>
      isObject(source[key]) ? kind.read(source[key]) : wholeOf<T>(kind.fields, source, prefix),
  };
}

/** A pair of numbers under two keys. */
export function bounds(least: string, greatest: string): Kind<readonly [least: number, greatest: number]> {
  const both = (_: string, [low, high]: readonly [number, number]) =>
    [
      [least, String(low)],
      [greatest, String(high)],
    ] as const;
  return kindOf<readonly [least: number, greatest: number]>('bounds', {
    json: ([low, high]) => ({ list: [String(low), String(high)] }),
    entries: both,
    attributes: both,
    read: () => undefined,
    take: (source) => {
      const [low, high] = [readNumber(source[least]), readNumber(source[greatest])];
      return low === undefined || high === undefined ? undefined : [low, high];
    },
  });
}

export function optional<K extends Kind<unknown>>(kind: K): K & Optional {
  return { ...kind, optional: true };
}

export function named<K extends Kind<unknown>>(key: string, kind: K): K {
  return { ...kind, key };
}

/** Adds a fallback for a key that files of other versions may lack. */
export function or<T>(kind: Kind<T>, fallback: (source: Source, key: string) => T): Kind<T> {
  return { ...kind, take: (source, key) => kind.take(source, key) ?? fallback(source, key) };
}

/** The defined members of a value, in the order of the kind. */
export function membersBy<F extends Fields>(
  { fields }: ObjectKind<unknown, F>,
  value: FieldValues<F>,
): FieldValues<F> {
  const members = new Map<string, unknown>(Object.entries(value));
  const stated = Object.keys(fields).filter((name) => members.get(name) !== undefined);
  // Only optional members can be undefined.
  return Object.fromEntries(stated.map((name) => [name, members.get(name)])) as FieldValues<F>;
}

export function entriesOf(fields: Fields, value: object, number: NumberText): JsonEntries {
  return membersOf(fields, value).flatMap(([key, kind, member]) => kind.entries(key, member, number));
}

export function attributesOf(fields: Fields, value: object, number: NumberText, prefix = ''): Attributes {
  return membersOf(fields, value).flatMap(([key, kind, member]) =>
    kind.attributes(prefix + key, member, number),
  );
}

function membersOf(fields: Fields, value: object): [key: string, kind: Kind<unknown>, member: unknown][] {
  const members = new Map<string, unknown>(Object.entries(value));
  return Object.entries(fields).flatMap(([name, kind]): [string, Kind<unknown>, unknown][] => {
    const member = members.get(name);
    return member === undefined ? [] : [[keyOf(name, kind), kind, member]];
  });
}

/** Reads fields from a file; fields that it lacks are absent. */
export function readFields<F extends Fields>(fields: F, data: Source, prefix = ''): Partial<FieldValues<F>> {
  const found = Object.entries(fields).flatMap(([name, kind]) => {
    const value = kind.take(data, prefix + keyOf(name, kind));
    return value === undefined ? [] : [[name, value]];
  });
  // Each kind reads its own type, under the name of its field.
  return Object.fromEntries(found) as Partial<FieldValues<F>>;
}

function wholeOf<T>(fields: Fields, source: Source, prefix = ''): T | undefined {
  const found = readFields(fields, source, prefix);
  const whole = Object.entries(fields).every(([name, kind]) => kind.optional || Object.hasOwn(found, name));
  return whole ? (found as T) : undefined;
}

/** `bitDepth` as `bit_depth`. */
export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** Key in files: `bit_depth` for `bitDepth`. */
export function keyOf(name: string, { key }: Kind<unknown>): string {
  return key ?? snakeCase(name);
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function quote(value: string): string {
  return JSON.stringify(value);
}

/** Omits an empty list in XML. */
export function unlessEmpty<T>(kind: Kind<readonly T[]>): Kind<readonly T[]> {
  return {
    ...kind,
    attributes: (key, values, write) => (values.length > 0 ? kind.attributes(key, values, write) : []),
  };
}

/** Reads a list only if all its items can be read. */
export function allOf<T>(item: Kind<T>): Kind<readonly T[]> {
  const kind = list(item);
  return {
    ...kind,
    take: (source, key) => {
      const items = source[key];
      const whole = Array.isArray(items) && items.every((entry) => item.read(entry) !== undefined);
      return whole ? kind.read(items) : undefined;
    },
  };
}

/** Distinguishes an empty list from an absent one: in XML, it is an attribute without text. */
export function orEmpty<T>(item: Kind<T>): Kind<readonly T[]> {
  const kind = list(item);
  return { ...kind, attributes: (key, values) => (values.length === 0 ? [[key, '']] : []) };
}

/** Omits the default in files. */
export function unless<T>(byDefault: T, kind: Kind<T>): Kind<T> {
  return {
    ...or(kind, () => byDefault),
    entries: (key, value, write) => (value === byDefault ? [] : kind.entries(key, value, write)),
    attributes: (key, value, write) => (value === byDefault ? [] : kind.attributes(key, value, write)),
  };
}
