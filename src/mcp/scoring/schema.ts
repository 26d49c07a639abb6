/**
 * @module mcp/scoring/schema
 * Parts of a report as tools answer them: their keys in JSON, made from the one description of reports.
 */
import * as z from 'zod/v4';
import {
  type Fields,
  type Kind,
  keyOf,
  type ObjectKind,
  type Optional,
  type ValueOf,
} from '../../report/kinds.js';

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;
/** A value in JSON, where `null` is a number that is not finite. */
type InJson<T> = T extends number
  ? number | null
  : T extends readonly (infer Item)[]
    ? InJson<Item>[]
    : T extends { readonly num: number }
      ? string
      : T;
type InZod<T> = z.ZodType<InJson<T>, InJson<T>>;
type Keys<F> = {
  -readonly [K in keyof F & string as SnakeCase<K>]: F[K] extends Optional
    ? z.ZodOptional<InZod<ValueOf<F[K]>>>
    : InZod<ValueOf<F[K]>>;
};

const TYPES: Readonly<Record<string, (kind: Kind<unknown>) => z.ZodType>> = {
  text: () => z.string(),
  fraction: () => z.string(),
  number: () => z.number(),
  integer: () => z.int(),
  measured: () => z.number().nullable(),
  flag: () => z.boolean(),
  choice: ({ values = [] }) => z.enum(values),
  list: ({ item }) => z.array(item ? typeOf(item) : z.unknown()),
};

/**
 * The keys of an object in a report, for an object of zod.
 * @param words what to say of some of them
 */
export function documentKeys<T, F extends Fields>(
  { fields }: ObjectKind<T, F>,
  words: Readonly<Record<string, string>> = {},
): Keys<F> {
  // Built key by key from the same fields.
  return keysOf(fields, words) as Keys<F>;
}

function keysOf(fields: Fields, words: Readonly<Record<string, string>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => {
      const key = keyOf(name, kind);
      const type = kind.optional ? typeOf(kind).optional() : typeOf(kind);
      return [key, words[key] === undefined ? type : type.describe(words[key])];
    }),
  );
}

function typeOf(kind: Kind<unknown>): z.ZodType {
  const type = TYPES[kind.type]?.(kind) ?? z.unknown();
  return kind.nullable ? type.nullable() : type;
}
