/**
 * @module test/support/page
 * Serves the built page from a subfolder for browser tests, and opens it in contexts of the shared Chromium.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, vi } from 'vitest';
import { extractFrames, type FramePair } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/schema.js';
import { y4mFile } from '../../src/sample/files.js';
import type { SampleClip } from '../../src/sample/generator.js';
import { notesErrors, PATIENCE, PATIENT, sharedChromium } from './chromium.js';
import { encodeFolder } from './encode.js';
import { serve } from './file-server.js';

declare global {
  interface Window {
    /** Reports from the engine's worker. */
    reports: Report[];
    workers: Worker[];
    /** Presses a button of the run bar. */
    press: (button: string) => void;
    /** Set by {@link watchShifts}. */
    shifts: { readonly value: number; readonly what: readonly string[] }[];
  }
}

/** As strict as the page allows: nothing inline, nothing from other hosts. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; " +
  "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

export interface ServedPage {
  /** In a subfolder, with a strict content security policy. */
  readonly url: string;
  /** Folder of the built files. */
  readonly folder: string;
  readonly browser: Browser;
  /** A fresh profile, closed with the served page. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Requested paths, in order. */
  readonly asked: string[];
  /** Stops the server, as without a network. */
  unplug(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves the page that the global setup built. Call `close` when done.
 * @param copy serves a copy, for tests that change files
 * @param elsewhere allows requests to other servers on this machine
 * @param kept lets the browser cache scripts and their compiled code; not if a service worker must
 */
async function servePage({ copy = false, elsewhere = false, kept = true } = {}): Promise<ServedPage> {
  const policy = elsewhere ? POLICY.replace("connect-src 'self'", '$& http://localhost:*') : POLICY;
  const built = inject('page');
  const folder = copy ? await mkdtemp(join(tmpdir(), 'anyvmaf-page-')) : built;
  if (copy) await cp(built, folder, { recursive: true });
  const asked: string[] = [];
  const server = await serve(
    folder,
    {},
    {
      under: '/some/folder/',
      headers: (path) => ({
        'content-security-policy': policy,
        'cache-control': kept && /^assets\/.*\.js$/.test(path) ? 'max-age=3600' : 'no-store',
      }),
      onRequest: (path) => {
        // Chromium requests it for documents that are not HTML.
        if (path !== '/favicon.ico') asked.push(path);
      },
    },
  );
  const browser = await sharedChromium();
  const contexts: BrowserContext[] = [];
  return {
    url: `${server.origin}/some/folder/`,
    folder,
    browser,
    async newContext(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    },
    asked,
    unplug: server.stop,
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await server.stop();
      if (copy) await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly touch?: boolean;
  /** Without `#`. */
  readonly hash?: string;
  /** Allows the service worker, which caches the page for offline use. */
  readonly keeps?: boolean;
  /** Stays open for later tests. */
  readonly stays?: boolean;
  /** Console errors that the test provokes. */
  readonly provokes?: RegExp;
  /** Called before the page loads. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** Records workers and their reports: frames arrive in batches, then the report without frames. */
function listen(): void {
  window.reports = [];
  window.workers = [];
  window.press = (button) => {
    const buttons = [...document.querySelectorAll<HTMLButtonElement>('.runner button')];
    buttons.find(({ textContent }) => textContent === button)?.click();
  };
  // Tests cannot operate the browser's own picker.
  Reflect.deleteProperty(window, 'showOpenFilePicker');
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      window.workers.push(this);
      const frames = new Map<string, FrameMetrics[]>();
      this.addEventListener('message', ({ data }) => {
        const { kind, index: of, report, encodes = [] } = data?.event ?? {};
        // Frames of an aborted run do not belong to the next one.
        const key = (index: number) => `${data?.call} ${index}`;
        for (const [index, { frames: batch }] of encodes.entries())
          frames.set(key(index), [...(frames.get(key(index)) ?? []), ...batch]);
        if (kind === 'report') window.reports.push({ ...report, frames: frames.get(key(of)) ?? [] });
      });
    }
  };
}

export const reportsOf = (page: Page): Promise<Report[]> => page.evaluate(() => window.reports);

export interface Pages {
  readonly served: ServedPage;
  /** Opens the page without stored data; it is closed after the test. */
  open(view?: View): Promise<Page>;
}

/**
 * Serves the page to the tests of a `describe`. A test fails if one of its pages throws or logs an error, and the last one if
 * a context is left open. Pages share a context, and with it a process that compiles the scripts once; stored data is cleared
 * after each test.
 */
export function pages(options: Parameters<typeof servePage>[0] = {}): Pages {
  vi.setConfig(PATIENT);
  let served: ServedPage | undefined;
  let opened: {
    readonly end: () => Promise<void>;
    readonly stays: boolean;
    readonly complaints: string[];
  }[] = [];
  let profile: Promise<{ readonly context: BrowserContext; readonly keeper: Page }> | undefined;
  const of = (): ServedPage => {
    if (!served) throw new Error('The page is served once tests run.');
    return served;
  };
  beforeAll(async () => {
    served = await servePage(options);
  });
  afterEach(async () => {
    const complaints = opened.flatMap((page) => page.complaints.splice(0));
    await Promise.all(opened.filter(({ stays }) => !stays).map(({ end }) => end()));
    opened = opened.filter(({ stays }) => stays);
    await (await profile)?.keeper.evaluate(async () => {
      localStorage.clear();
      indexedDB.deleteDatabase('anyvmaf');
      for (const name of await caches.keys()) await caches.delete(name);
    });
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await served?.close();
    expect(served?.browser.contexts()).toEqual([]);
  });
  return {
    get served() {
      return of();
    },
    async open(view = {}) {
      const { width = 1280, height = 860, dark = false, touch = false, hash = '' } = view;
      const { keeps = false, stays = false, provokes, before } = view;
      const start = async () => {
        const context = await of().newContext({ hasTouch: touch, serviceWorkers: keeps ? 'allow' : 'block' });
        context.setDefaultTimeout(PATIENCE);
        await context.addInitScript(listen);
        return context;
      };
      const share = async () => {
        const context = await start();
        // A process ends with its last page.
        const keeper = await context.newPage();
        await keeper.goto(new URL('icon.svg', of().url).href);
        return { context, keeper };
      };
      const own = touch || keeps;
      profile ??= own ? undefined : share();
      const context = own || !profile ? await start() : (await profile).context;
      const page = await context.newPage();
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
      const complaints: string[] = [];
      opened.push({ end: () => (own ? context : page).close(), stays, complaints });
      notesErrors(page, complaints, provokes);
      await before?.(page);
      await page.goto(hash ? `${of().url}#${hash}` : of().url);
      await page.waitForSelector('.slot');
      return page;
    },
  };
}

/** Writes a file to choose. @returns its path */
export function write(name: string, content: string | Uint8Array): string {
  const path = join(encodeFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** Writes both files of a sample. @param prefix of the names `reference.y4m` and `distorted.y4m` */
export function writePair(prefix: string, clip: SampleClip, frames: number) {
  const file = (side: 'reference' | 'distorted') =>
    write(`${prefix}${side}.y4m`, y4mFile(clip, side, frames));
  return { reference: file('reference'), distorted: file('distorted') };
}

/** Writes a file that is no video. */
export const junk = (name: string): string => write(name, 'This is no video. '.repeat(40));

/** Waits until the chosen files are inspected. */
export const checked = (page: Page): Promise<void> =>
  page.locator('#findings:not(:has(.waiting)) .findings-body > *').first().waitFor();

/** Chooses files and waits until they are inspected. */
export async function choose(page: Page, reference: string, ...distorted: string[]): Promise<void> {
  await page.setInputFiles('#pick-reference', reference);
  await page.setInputFiles('#pick-distorted', distorted);
  await checked(page);
}

/** Removes all files, for the next test on the same page. */
export async function clear(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change', exact: true });
  if (await change.isVisible()) await change.click();
  const remove = page.locator('.file button[aria-label^="Remove "]');
  while ((await remove.count()) > 0) await remove.first().click();
}

/** Settings with which a run is slow enough to pause it. */
export const SLOW = 'feature=ciede&threads=1';

export const start = (page: Page): Promise<void> => page.locator('button.primary').click();

/** Waits for the end of a run. @throws {Error} with the page's message if the run failed */
export async function done(page: Page): Promise<void> {
  const end = page.getByText(/^Done in/);
  const failed = page
    .locator('.runner', { has: page.getByRole('button', { name: /^Score/ }) })
    .locator('.failure:not([data-kind="absent"])')
    .first();
  await end
    .or(failed)
    .first()
    .waitFor({ timeout: 3 * PATIENCE });
  // A run with some failed encodes also ends, a little later.
  await end.waitFor({ timeout: PATIENCE / 6 }).catch(async (error: unknown) => {
    if (!(await failed.isVisible())) throw error;
    throw new Error(`The run failed: ${await failed.textContent()}`);
  });
}

export async function finish(page: Page): Promise<void> {
  await start(page);
  await done(page);
}

/** Waits until all results of a run are on show. */
export async function allShown(page: Page): Promise<void> {
  await done(page);
  await settled(page);
}

/** Records layout shifts that the user did not cause. @param buffered since the page loaded, not from now on */
export function watchShifts(page: Page, buffered = true): Promise<void> {
  return page.evaluate((buffered) => {
    type Shift = PerformanceEntry & {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly {
        readonly node: Node | null;
        readonly previousRect: DOMRect;
        readonly currentRect: DOMRect;
      }[];
    };
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        const what = sources.map(({ node, previousRect, currentRect }) => {
          const name = node instanceof Element ? `${node.nodeName}.${node.className}` : node?.textContent;
          const [from, to] = [previousRect, currentRect].map(({ x, y }) => `${x}, ${y}`);
          return `${name} from ${from} to ${to}`;
        });
        if (!hadRecentInput) window.shifts.push({ value, what });
      }
    }).observe({ type: 'layout-shift', buffered });
  }, buffered);
}

/** Allows layout shifts up to half of what web.dev rates as good (0.1). */
export async function shiftsLittle(page: Page): Promise<void> {
  const shifts = await page.evaluate(() => window.shifts);
  const sum = shifts.reduce((moved, { value }) => moved + value, 0);
  expect(sum, JSON.stringify(shifts, null, 1)).toBeLessThan(0.05);
}

/** Starts a run and pauses it before its end. */
export async function startPaused(page: Page, pause = pauseSoon): Promise<void> {
  await pause(page);
  await start(page);
  await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
}

/** Opens the first of the worst moments in the viewer. */
export async function openWorst(page: Page): Promise<void> {
  await page.locator('.moments button').first().click();
  await page.locator('dialog[open][data-frame]').waitFor();
}

/** Closes a dialog, by default with Escape. */
export async function leave(
  page: Page,
  by: () => Promise<unknown> = () => page.keyboard.press('Escape'),
): Promise<void> {
  await by();
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
}

/** Scores the chosen files and waits until all results are on show. */
export async function score(page: Page): Promise<void> {
  await start(page);
  await allShown(page);
}

/** Polls an element's text, as results are drawn a little later than they arrive. */
export function says(locator: Locator): ReturnType<typeof expect.poll> {
  return expect.poll(() => locator.textContent());
}

/** Red, green and blue of every pixel of a canvas; sent as text, as lists of numbers take a tenth of a second each. */
export async function samplesOf(canvas: Locator): Promise<Buffer> {
  const text = await canvas.evaluate((element: HTMLCanvasElement) => {
    const { data } = element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? {};
    return Array.from(data ?? [], (value, i) => (i % 4 < 3 ? String.fromCharCode(value) : '')).join('');
  });
  return Buffer.from(text, 'latin1');
}

const decoded = new Map<string, Promise<FramePair>>();

/** A pair of frames by the library in Node, decoded once. */
export function pairInNode(
  { reference, distorted }: { readonly reference: string; readonly distorted: string },
  index: number,
): Promise<FramePair> {
  const key = [reference, distorted, index].join('\n');
  const extract = async () => {
    for await (const pair of extractFrames({ reference, distorted }, [index])) return pair;
    throw new Error(`there is no frame ${index}`);
  };
  const found = decoded.get(key) ?? extract();
  decoded.set(key, found);
  return found;
}

/** The download that `press` starts. */
export async function download(
  page: Page,
  press: () => Promise<void>,
): Promise<{ name: string; bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), bytes: await buffer(await file.createReadStream()) };
}

/** The text file that a button saves. */
export async function saved(page: Page, button: string): Promise<{ name: string; text: string }> {
  const press = () => page.getByRole('button', { name: button, exact: true }).click();
  const { name, bytes } = await download(page, press);
  return { name, text: bytes.toString() };
}

/** Presses Tab until the text or title of the focused element matches `name`. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let n = 0; n < 80; n++) {
    if ((await focused(page)).some((line) => name.test(line))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}.`);
}

export async function drop(page: Page, onto: string, paths: readonly string[]): Promise<void> {
  const given = paths.map((path) => ({
    name: basename(path),
    base64: readFileSync(path).toString('base64'),
    lastModified: Math.trunc(statSync(path).mtimeMs),
  }));
  const transfer = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, base64, lastModified } of given) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { lastModified }));
    }
    return transfer;
  }, given);
  for (const type of ['dragenter', 'dragover', 'drop'])
    await page.dispatchEvent(onto, type, { dataTransfer: transfer });
}

/** Text and title of the focused element. */
export const focused = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const at = document.activeElement;
    return [at?.textContent?.trim(), at?.getAttribute('title')].map((name) => name ?? '');
  });

/** Waits until all results of a run or of saved reports are on show. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#results:not([aria-busy])').waitFor();
  // The last section, then the one that changes last.
  await page.locator('#results .details').waitFor({ state: 'attached' });
  await page.locator('.moments:not([aria-busy]) button').first().waitFor();
}

type Position = readonly [x: number, y: number];

export async function drag(page: Page, from: Position, to: Position, steps: number): Promise<void> {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps });
  await page.mouse.up();
}

/** Opens a link in the page, which stays. */
export const follow = (page: Page, hash: string): Promise<void> =>
  page.evaluate((hash) => {
    location.hash = hash;
  }, hash);

/** Positions of two fingers, in pixels of the page. */
export type Fingers = readonly [Position, Position];

/** Moves two fingers over a page that was opened with `touch`. */
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

/** Presses Pause at the first news of the run; frames in progress still arrive. The engine's worker must be running. */
export function pauseSoon(page: Page): Promise<void> {
  return page.evaluate(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const pause = ({ data }: MessageEvent) => {
      if (data.event?.kind !== 'news') return;
      stop.abort();
      window.press('Pause');
    };
    window.workers[0]?.addEventListener('message', pause, { signal });
  });
}

/** Presses Pause just before the engine gets the run, which waits before its first frame. The engine's worker must be running. */
export function pauseFirst(page: Page): Promise<void> {
  return page.evaluate(() => {
    const [worker] = window.workers;
    if (!worker) throw new Error('The page has no engine yet.');
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: { readonly name?: string }) => {
      if (message.name === 'score') {
        worker.postMessage = post;
        window.press('Pause');
      }
      post(message);
    };
  });
}
