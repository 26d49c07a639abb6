/**
 * @module test/support/chromium
 * Debian's Chromium without windows, or the whole one where only that is installed: one for all tests of the `browser`
 * project, others for tests that need a graphics adapter.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A fifth faster than the full browser, which draws windows that nobody sees. */
const SHELL = '/usr/bin/chromium-headless-shell';
const WHOLE = '/usr/bin/chromium';
const CHROMIUM = existsSync(SHELL) || !existsSync(WHOLE) ? SHELL : WHOLE;

/** Milliseconds to wait for a state: the machine may be busy. */
export const PATIENCE = 60_000;

/** Limits for tests in a browser, for `vi.setConfig`. */
export const PATIENT = { testTimeout: 5 * PATIENCE, hookTimeout: 5 * PATIENCE } as const;

/** What a browser test lacks, or ''. */
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
  // Pages of one profile share compiled scripts.
  '--process-per-site',
];

let shared: Promise<Browser> | undefined;

/** The Chromium of all files of this process; close contexts, not the browser. */
export function sharedChromium(): Promise<Browser> {
  // Not a browser server: that one gets copies of files, so none could be moved or grow.
  shared ??= launchChromium(['--disable-gpu']);
  return shared;
}

/** Starts a browser with a graphics adapter of its own; close it when done. @param graphics arguments of the adapter */
export function launchChromium(graphics: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...graphics], timeout: PATIENCE });
}

/** Adds what a page throws or logs as an error to `complaints`. @param provoked errors that the test provokes */
export function notesErrors(page: Page, complaints: string[], provoked?: RegExp): Page {
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !provoked?.test(message.text())) complaints.push(message.text());
  });
  return page;
}
