/**
 * @module test/support/tier
 * One case of each kind (`npm test`) or all of them (`npm run test:exhaustive`); reference material in ../shared, which not every
 * checkout has; and processor time, which does not depend on the load of the machine.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether `npm run test:exhaustive` runs. */
export const exhaustive: boolean = process.env.ANYVMAF_EXHAUSTIVE === '1';

/** `all` in an exhaustive run, otherwise `few`. */
export function tier<T>(few: T, all: T): T {
  return exhaustive ? all : few;
}

const root = new URL('../../../shared/', import.meta.url);

/** Absolute path of `relative` inside ../shared, or `undefined` if it does not exist. */
export function sharedPath(relative: string): string | undefined {
  const path = fileURLToPath(new URL(relative, root));
  return existsSync(path) ? path : undefined;
}

/** For the title of what is skipped. */
export const needsShared = 'needs ../shared';

/** Runs `work`. @returns its processor time in milliseconds */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
