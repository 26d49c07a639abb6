/**
 * @module core/shapes
 * Shapes of foreign data and of options: each returns the value, typed, or throws an error that names its path and the
 * expected value. Unless `refuse` is given, that is the `usage` error of core/arguments.
 */
import { isArray, isObject, requireObject, wrongType } from './arguments.js';
import type { AnyvmafError } from './errors.js';

/** Makes the error; `expected` completes "it must be". */
export type Refuse = (path: string, value: unknown, expected: string) => AnyvmafError;
export type Shape<T> = (path: string, value: unknown, refuse?: Refuse) => T;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Shapes = Readonly<Record<string, Shape<unknown>>>;
type OptionalKeys<S> = { [K in keyof S]: undefined extends Shaped<S[K]> ? K : never }[keyof S];
type ShapedObject<S> = { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: Shaped<S[K]> } & {
  readonly [K in OptionalKeys<S>]?: Shaped<S[K]>;
};

export function fitting<T>(expected: string, fits: (value: unknown) => boolean): Shape<T> {
  return (path, value, refuse = wrongType) => {
    if (fits(value)) return value as T;
    throw refuse(path, value, expected);
  };
}

export const flag = fitting<boolean>('true or false', (value) => typeof value === 'boolean');
export const string = fitting<string>('a string', (value) => typeof value === 'string');
export const number = fitting<number>('a number', Number.isFinite);
export const isAbove0 = (value: unknown): value is number => Number.isFinite(value) && Number(value) > 0;
export const positive = fitting<number>('a number above 0', isAbove0);

const scalar = fitting<string | number | boolean>('a text, a number, true or false', (value) =>
  ['string', 'number', 'boolean'].includes(typeof value),
);

/** @param form by default at least one character */
export function text(
  most: number,
  form = /./s,
  expected = `a text of 1 to ${most} characters`,
): Shape<string> {
  return fitting(expected, (value) => typeof value === 'string' && value.length <= most && form.test(value));
}

/** Like {@link text}, but may be empty. */
export function upTo(most: number, form = /^/): Shape<string> {
  return text(most, form, `a text of up to ${most} characters`);
}

export function whole(least: number, most: number): Shape<number> {
  return fitting(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );
}

export function among<const T>(allowed: readonly T[]): Shape<T> {
  return fitting(`one of ${allowed.join(', ')}`, (value) => allowed.some((one) => one === value));
}

/** @param expected about the whole list */
export function list<T>(
  item: Shape<T>,
  expected: string,
  least = 0,
  most = Number.POSITIVE_INFINITY,
): Shape<readonly T[]> {
  return (path, value, refuse = wrongType) => {
    if (!isArray(value) || value.length < least || value.length > most) throw refuse(path, value, expected);
    return Array.from(value, (one, i) => item(`${path}[${i}]`, one, refuse));
  };
}

/** An object with arbitrary keys. */
export function record<T>(item: Shape<T>, expected = 'an object'): Shape<Readonly<Record<string, T>>> {
  return (path, value, refuse = wrongType) => {
    requireMembers(path, value, expected, refuse);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, item(within(path, key), member, refuse)]),
    );
  };
}

/** @returns the known members */
export function object<S extends Shapes>(members: S, expected = 'an object'): Shape<ShapedObject<S>> {
  return (path, value, refuse = wrongType) => {
    requireMembers(path, value, expected, refuse);
    const found = Object.entries(members)
      .map(([key, shape]) => [key, shape(within(path, key), value[key], refuse)])
      .filter(([, member]) => member !== undefined);
    // Each shape returns its own type, under its own key.
    return Object.fromEntries(found) as ShapedObject<S>;
  };
}

/** Like {@link object}, but refuses other members, first of all. */
export function exact<S extends Shapes>(members: S): Shape<ShapedObject<S>> {
  return (path, value, refuse = wrongType) => {
    const other = Object.keys(isObject(value) ? value : {}).find((key) => !Object.hasOwn(members, key));
    if (other !== undefined) throw refuse(within(path, other), undefined, 'a known member');
    return object(members)(path, value, refuse);
  };
}

/** Objects told apart by a member. */
export function variants<S extends Shapes>(key: string, shapes: S): Shape<Shaped<S[keyof S]>> {
  const kind = among(Object.keys(shapes));
  return (path, value, refuse = wrongType) => {
    requireMembers(path, value, 'an object', refuse);
    const found = kind(within(path, key), value[key], refuse);
    return shapes[found]?.(path, value, refuse) as Shaped<S[keyof S]>;
  };
}

/** Scalars by name, as texts: options of extractors. */
export function optionTexts(path: string, value: unknown, refuse?: Refuse): Readonly<Record<string, string>> {
  const options = record(scalar)(path, value, refuse);
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, String(option)]));
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (path, value, refuse) => (value === undefined ? undefined : shape(path, value, refuse));
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (path, value, refuse) => (value === null ? null : shape(path, value, refuse));
}

/** Like {@link optional}; `null` counts as absent. */
export function maybe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (path, value, refuse) => optional(shape)(path, value ?? undefined, refuse);
}

function within(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function requireMembers(
  path: string,
  value: unknown,
  expected: string,
  refuse: Refuse,
): asserts value is Record<string, unknown> {
  // Only arguments can be objects whose members cannot be read; JSON cannot.
  if (refuse === wrongType) requireObject(path, value, expected);
  else if (!isObject(value)) throw refuse(path, value, expected);
}
