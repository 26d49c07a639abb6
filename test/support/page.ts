/**
 * @module test/support/page
 * The page as it ships, for tests in a browser: served from a subfolder and opened in contexts of the shared Chromium.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, extname, join, normalize, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, vi } from 'vitest';
import { extractFrames, type FramePair } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/schema.js';
import { y4mFile } from '../../src/sample/files.js';
import type { SampleClip } from '../../src/sample/generator.js';
import { root } from './built.js';
import { PATIENCE, PATIENT, sharedChromium } from './chromium.js';
import { encodeFolder } from './encode.js';
import { exhaustive } from './tier.js';

declare global {
  interface Window {
    /** Reports as the engine's worker sent them. */
    reports: Report[];
    workers: Worker[];
    /** Layout shifts, where a test watches them. */
    shifts: { readonly value: number; readonly what: readonly string[] }[];
  }
}

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
 * @param elsewhere lets the page ask other servers of this machine
 * @param kept lets the browser keep scripts, and what it compiled of them: not where a service worker has to
 */
async function servePage({ copy = false, elsewhere = false, kept = true } = {}): Promise<ServedPage> {
  const policy = elsewhere ? POLICY.replace("connect-src 'self'", '$& http://localhost:*') : POLICY;
  const built = inject('page');
  const folder = copy ? await mkdtemp(join(tmpdir(), 'anyvmaf-page-')) : built;
  if (copy) await cp(built, folder, { recursive: true });
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = decodeURIComponent(pathname).replace(/^\/some\/folder\//, '');
    // Chromium looks for it beside what is no page.
    if (pathname !== '/favicon.ico') asked.push(path);
    const file = normalize(join(folder, path === '' ? 'index.html' : path));
    try {
      if (!pathname.startsWith('/some/folder/') || !file.startsWith(folder + sep)) throw new Error('outside');
      const body = await readFile(file);
      const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN);
      const range = { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` };
      response.writeHead(from >= 0 ? 206 : 200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': policy,
        'cache-control': kept && /^assets\/.*\.js$/.test(path) ? 'max-age=3600' : 'no-store',
        ...(from >= 0 && range),
      });
      response.end(from >= 0 ? body.subarray(from) : body);
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
  /** Runs the service worker, which keeps all of the page for use without a network. */
  readonly keeps?: boolean;
  /** Stays open for the tests after this one. */
  readonly stays?: boolean;
  /** Errors in the console that the test provokes. */
  readonly provokes?: RegExp;
  /** Called before the page is loaded. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** Remembers workers and what they report: frames in batches, then what is left of the report. */
function listen(): void {
  window.reports = [];
  window.workers = [];
  // No test can work the browser's own window.
  Reflect.deleteProperty(window, 'showOpenFilePicker');
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      window.workers.push(this);
      const frames = new Map<string, FrameMetrics[]>();
      this.addEventListener('message', ({ data }) => {
        const { kind, index: of, report, encodes = [] } = data?.event ?? {};
        // A run that was given up has no part in the next one.
        const key = (index: number) => `${data?.call} ${index}`;
        for (const [index, { frames: batch }] of encodes.entries())
          frames.set(key(index), [...(frames.get(key(index)) ?? []), ...batch]);
        if (kind === 'report') window.reports.push({ ...report, frames: frames.get(key(of)) ?? [] });
      });
    }
  };
}

/** The reports that the engine sent to a page. */
export const reportsOf = (page: Page): Promise<Report[]> => page.evaluate(() => window.reports);

/** The page, for the tests of a file. */
export interface Pages {
  readonly served: ServedPage;
  /** Opens the page as in a fresh profile; it is closed after the test. */
  open(view?: View): Promise<Page>;
}

/**
 * Serves the page to the tests of a `describe`. A test fails if a page of it threw or wrote an error into the console, and the
 * last one if a profile is left open. Pages share a profile and with it a process, which has compiled the page's script once;
 * nothing that one stored is left for the next, unless the profile remembers.
 */
export function pages({
  remembers = false,
  ...options
}: {
  readonly copy?: boolean;
  readonly elsewhere?: boolean;
  readonly kept?: boolean;
  readonly remembers?: boolean;
} = {}): Pages {
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
    const complaints = opened.flatMap((one) => one.complaints.splice(0));
    await Promise.all(opened.filter(({ stays }) => !stays).map(({ end }) => end()));
    opened = opened.filter(({ stays }) => stays);
    const keeper = remembers ? undefined : (await profile)?.keeper;
    await keeper?.evaluate(async () => {
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
        const context = await of().newContext({
          hasTouch: touch,
          serviceWorkers: keeps ? 'allow' : 'block',
        });
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
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' && !provokes?.test(message.text())) complaints.push(message.text());
      });
      await before?.(page);
      await page.goto(hash ? `${of().url}#${hash}` : of().url);
      await page.waitForSelector('.slot');
      return page;
    },
  };
}

/** Writes a file that tests hand in. @returns its path */
export function write(name: string, content: string | Uint8Array): string {
  const path = join(encodeFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** Both files of a sample. @param prefix of their names, `reference.y4m` and `distorted.y4m` */
export function writePair(prefix: string, clip: SampleClip, frames: number) {
  const file = (side: 'reference' | 'distorted') =>
    write(`${prefix}${side}.y4m`, y4mFile(clip, side, frames));
  return { reference: file('reference'), distorted: file('distorted') };
}

/** A file of that name that is no video. */
export const junk = (name: string): string => write(name, 'This is no video. '.repeat(40));

/** Waits until what can be said of the chosen files before a run is said. */
export const checked = (page: Page): Promise<void> =>
  page.locator('#findings:not(:has(.waiting)) .findings-body > *').first().waitFor();

/** Chooses files and waits until they are checked. */
export async function choose(page: Page, reference: string, ...distorted: string[]): Promise<void> {
  await page.setInputFiles('#pick-reference', reference);
  await page.setInputFiles('#pick-distorted', distorted);
  await checked(page);
}

/** Takes all files away, so that the next test finds the setup as on a fresh page. */
export async function clear(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change', exact: true });
  if (await change.isVisible()) await change.click();
  const remove = page.locator('.file button[aria-label^="Remove "]');
  while ((await remove.count()) > 0) await remove.first().click();
}

/** Settings under which a run lasts long enough to be held up. */
export const SLOW = 'feature=ciede&threads=1';

/** Begins a run. */
export const start = (page: Page): Promise<void> => page.locator('button.primary').click();

/** Waits for the end of a run. @throws Error with what the page says, if the run failed */
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
  // A run of which some encodes failed ends too, a little later.
  await end.waitFor({ timeout: PATIENCE / 6 }).catch(async (error: unknown) => {
    if (!(await failed.isVisible())) throw error;
    throw new Error(`The run failed: ${await failed.textContent()}`);
  });
}

/** Notes layout shifts that do not answer the user. @param buffered since the page was loaded, not from now on */
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

/** Expects what was on show to have kept its place; the web calls a sum of shifts of up to 0.1 good, and this is half of it. */
export async function shiftsLittle(page: Page): Promise<void> {
  const shifts = await page.evaluate(() => window.shifts);
  const sum = shifts.reduce((moved, { value }) => moved + value, 0);
  expect(sum, JSON.stringify(shifts, null, 1)).toBeLessThan(0.05);
}

/** Begins a run that is held up before its end. */
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

/** Leaves a dialog, by Escape unless told otherwise. */
export async function leave(
  page: Page,
  by: () => Promise<unknown> = () => page.keyboard.press('Escape'),
): Promise<void> {
  await by();
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
}

/** Scores the chosen files, until all is on show. */
export async function score(page: Page): Promise<void> {
  await start(page);
  await done(page);
  await settled(page);
}

/** What an element says, polled for: results are drawn a little later than they come. */
export function says(locator: Locator): ReturnType<typeof expect.poll> {
  return expect.poll(() => locator.textContent());
}

/** Red, green and blue of every pixel of a canvas; as text, since lists of numbers cost a tenth of a second each. */
export async function samplesOf(canvas: Locator): Promise<Buffer> {
  const text = await canvas.evaluate((element: HTMLCanvasElement) => {
    const { data } = element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? {};
    return Array.from(data ?? [], (value, i) => (i % 4 < 3 ? String.fromCharCode(value) : '')).join('');
  });
  return Buffer.from(text, 'latin1');
}

const decoded = new Map<string, Promise<FramePair>>();

/** A pair of frames as the library gives it in Node, which is decoded once. */
export function pairInNode(
  { reference, distorted }: { readonly reference: string; readonly distorted: string },
  index: number,
): Promise<FramePair> {
  const key = [reference, distorted, index].join('\n');
  const extract = async () => {
    for await (const pair of extractFrames({ reference, distorted }, [index])) return pair;
    throw new Error(`frame ${index} did not come`);
  };
  const found = decoded.get(key) ?? extract();
  decoded.set(key, found);
  return found;
}

/** What a page offers as a download once `press` was done. */
export async function download(
  page: Page,
  press: () => Promise<void>,
): Promise<{ name: string; bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), bytes: await buffer(await file.createReadStream()) };
}

/** The file that a button saves. */
export async function saved(page: Page, button: string): Promise<{ name: string; text: string }> {
  const press = () => page.getByRole('button', { name: button, exact: true }).click();
  const { name, bytes } = await download(page, press);
  return { name, text: bytes.toString() };
}

/** Presses Tab until something is focused whose text, label or title is like `name`. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let n = 0; n < 80; n++) {
    if ((await focused(page)).some((one) => name.test(one))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}.`);
}

/** Drops files as a hand does: in, over, let go. */
export async function drop(page: Page, onto: string, paths: readonly string[]): Promise<void> {
  const given = paths.map((path) => ({
    name: basename(path),
    base64: readFileSync(path).toString('base64'),
  }));
  const transfer = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of given) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    return transfer;
  }, given);
  for (const type of ['dragenter', 'dragover', 'drop'])
    await page.dispatchEvent(onto, type, { dataTransfer: transfer });
}

/** Text and title of what is focused. */
export const focused = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const at = document.activeElement;
    return [at?.textContent?.trim(), at?.getAttribute('title')].map((name) => name ?? '');
  });

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

/** Keeps a picture for a person to look at, in the exhaustive run. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!exhaustive) return;
  const folder = join(root, 'test-artifacts');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/**
 * Presses Pause at the first news of the run, which no hand does as surely: frames in hand still come. The page has called the
 * engine before.
 */
export function pauseSoon(page: Page): Promise<void> {
  return page.evaluate(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const pause = ({ data }: MessageEvent) => {
      if (data.event?.kind !== 'news') return;
      stop.abort();
      const buttons = [...document.querySelectorAll<HTMLButtonElement>('.runner button')];
      buttons.find(({ textContent }) => textContent === 'Pause')?.click();
    };
    window.workers[0]?.addEventListener('message', pause, { signal });
  });
}

/**
 * Presses Pause just before the engine is told to score: whatever the machine is busy with, the run waits at its first frame.
 * The page has called the engine before.
 */
export function pauseFirst(page: Page): Promise<void> {
  return page.evaluate(() => {
    const [worker] = window.workers;
    if (!worker) throw new Error('The page has no engine yet.');
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: { readonly name?: string }) => {
      if (message.name === 'score') {
        worker.postMessage = post;
        const buttons = [...document.querySelectorAll<HTMLButtonElement>('.runner button')];
        buttons.find(({ textContent }) => textContent === 'Pause')?.click();
      }
      post(message);
    };
  });
}
