/**
 * @module web/identity
 * Tells objects apart whose names may be equal, such as files, in keys of text.
 */

const numbers = new WeakMap<object, number>();
let last = 0;

/** The same number for the same object, while it lives. */
export function identityOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
