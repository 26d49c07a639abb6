/**
 * @module test/support/page
 * The page as it ships, for tests in a browser: served from a subfolder and opened in contexts of the shared Chromium.
 */
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize, sep } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { inject } from 'vitest';
import { root } from './built.js';
import { PATIENCE, sharedChromium } from './chromium.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** As strict as the page bears: nothing inline, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; " +
  "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/** A served page and a browser to look at it. */
export interface ServedPage {
  /** Address of the page. It lies in a subfolder and is served with a strict content security policy. */
  readonly url: string;
  /** The built files. */
  readonly folder: string;
  readonly browser: Browser;
  /** A fresh profile, closed with the served page. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Paths asked for so far, in order. */
  readonly asked: string[];
  /** Has the server answer nothing any more, as without a network. */
  unplug(): Promise<void>;
  /** Closes the contexts and ends the server. */
  close(): Promise<void>;
}

/**
 * Serves the page that the global setup built. Call `close` when done.
 * @param copy serves a copy, for tests that change files
 */
export async function servePage({ copy = false } = {}): Promise<ServedPage> {
  const built = inject('page');
  const folder = copy ? await mkdtemp(join(tmpdir(), 'anyvmaf-page-')) : built;
  if (copy) await cp(built, folder, { recursive: true });
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = decodeURIComponent(pathname).replace(/^\/some\/folder\//, '');
    asked.push(path);
    const file = normalize(join(folder, path === '' ? 'index.html' : path));
    try {
      if (!pathname.startsWith('/some/folder/') || !file.startsWith(folder + sep)) throw new Error('outside');
      const body = await readFile(file);
      response.writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': POLICY,
        'cache-control': 'no-store',
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await sharedChromium();
  const contexts: BrowserContext[] = [];
  let plugged = true;
  const unplug = async () => {
    if (!plugged) return;
    plugged = false;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}/some/folder/`,
    folder,
    browser,
    async newContext(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    },
    asked,
    unplug,
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await unplug();
      if (copy) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** How a page is opened. */
export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** With a screen that is touched. */
  readonly touch?: boolean;
  /** What follows `#`. */
  readonly hash?: string;
}

/** Opens the page in a fresh profile, and collects what it complains of. */
export async function openPage(
  { newContext, url }: ServedPage,
  { width = 1280, height = 860, dark = false, touch = false, hash = '' }: View = {},
): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  const context = await newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    hasTouch: touch,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(hash ? `${url}#${hash}` : url);
  await page.waitForSelector('.slot');
  return { page, complaints };
}

/** Waits until everything that is to come of a run, or of saved reports, is on show. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#results:not([aria-busy])').waitFor();
  // The last part of the results, then the one that changes last.
  await page.locator('#results .details').waitFor({ state: 'attached' });
  await page.locator('.moments:not([aria-busy]) button').first().waitFor();
}

/** Where two fingers are, in pixels of the page. */
export type Fingers = readonly [readonly [x: number, y: number], readonly [x: number, y: number]];

/** Moves two fingers over a page that was opened with `touch`, from one place to another. */
export async function pinch(page: Page, from: Fingers, to: Fingers): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const steps = 8;
  const at = (share: number) =>
    from.map(([x, y], i) => {
      const [endX, endY] = to[i] ?? [x, y];
      return { id: i, x: x + (endX - x) * share, y: y + (endY - y) * share };
    });
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', share?: number) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: share === undefined ? [] : at(share) });
  await send('touchStart', 0);
  for (let step = 1; step <= steps; step++) await send('touchMove', step / steps);
  await send('touchEnd');
  await session.detach();
}

/** Keeps a picture for a person to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = join(root, 'test-artifacts');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Presses Pause as soon as frames were scored, which no hand does as surely. */
export function pauseSoon(page: Page): Promise<void> {
  return page.evaluate(() => {
    const observer = new MutationObserver(() => {
      if (!/\d+ of \d+ frames/.test(document.querySelector('.figures')?.textContent ?? '')) return;
      observer.disconnect();
      const buttons = [...document.querySelectorAll<HTMLButtonElement>('.runner button')];
      buttons.find(({ textContent }) => textContent === 'Pause')?.click();
    });
    observer.observe(document.body, { subtree: true, childList: true });
  });
}
