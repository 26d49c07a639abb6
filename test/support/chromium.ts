/**
 * @module test/support/chromium
 * Debian's Chromium without windows, or the whole one where only that is installed: one for all tests of the `browser`
 * project, others for tests that need a graphics adapter.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Made for tests: it spends a fifth less time than the other, which draws windows that nobody sees. */
const SHELL = '/usr/bin/chromium-headless-shell';
const WHOLE = '/usr/bin/chromium';
const CHROMIUM = existsSync(SHELL) || !existsSync(WHOLE) ? SHELL : WHOLE;

/** Milliseconds after which a state that does not come is given up: a machine may do ten other things. */
export const PATIENCE = 60_000;

/** Limits for tests in a browser, for `vi.setConfig`. */
export const PATIENT = { testTimeout: 5 * PATIENCE, hookTimeout: 5 * PATIENCE } as const;

/** What is missing to run a browser, empty where nothing is. */
export const needsChromium = existsSync(CHROMIUM) ? '' : `needs ${CHROMIUM}`;

/** The same as the end of a title. */
export const noChromium = needsChromium && ` (${needsChromium})`;

const ARGUMENTS = [
  ...(CHROMIUM === WHOLE ? ['--headless=new'] : []),
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages of a profile find the scripts compiled that an earlier one ran.
  '--process-per-site',
];

let shared: Promise<Browser> | undefined;

/** The Chromium of all files of this process, which ends with it. Close contexts, not the browser. */
export function sharedChromium(): Promise<Browser> {
  // Not one that processes connect to: such a browser gets copies of files, and none that is moved or grows.
  shared ??= launchChromium(['--disable-gpu']);
  return shared;
}

/**
 * Starts a browser with a graphics adapter of its own; close it when done.
 * @param graphics arguments that say what draws and computes
 */
export function launchChromium(graphics: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, ...graphics],
    timeout: PATIENCE,
  });
}
