/**
 * @module test/support/chromium
 * Debian's Chromium, started the same way by every test that needs a browser.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Milliseconds after which a state that does not come is given up: a machine may do ten other things. */
export const PATIENCE = 60_000;

/** Limits for tests in a browser, for `vi.setConfig`. */
export const PATIENT = { testTimeout: 5 * PATIENCE, hookTimeout: 5 * PATIENCE } as const;

/** What is missing to run a browser, empty where nothing is. */
export const needsChromium = existsSync(CHROMIUM) ? '' : `needs ${CHROMIUM}`;

/** The same as the end of a title. */
export const noChromium = needsChromium && ` (${needsChromium})`;

const ARGUMENTS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts a browser; close it when done.
 * @param graphics arguments that say what draws and computes
 */
export function launchChromium(graphics: readonly string[] = ['--disable-gpu']): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, ...graphics],
    timeout: PATIENCE,
  });
}
