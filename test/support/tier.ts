/**
 * @module test/support/tier
 * How much a run proves: `npm test` one case of each kind, `npm run test:exhaustive` all of them.
 */

/** Whether `npm run test:exhaustive` runs. */
export const exhaustive: boolean = process.env.ANYVMAF_EXHAUSTIVE === '1';

/** `all` in an exhaustive run, otherwise `few`. */
export function tier<T>(few: T, all: T): T {
  return exhaustive ? all : few;
}
