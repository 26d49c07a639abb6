/**
 * @module test/support/looks
 * Layout flaws as facts: text that is cut off, overlaps other text or leaves the window, and axe's violations.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { exhaustive, tier } from './tier.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const LARGE = [1440, 900] as const;
const PHONE = [390, 844] as const;

const SIZES = [LARGE, [1280, 720] as const, [820, 1180] as const, PHONE];

/** A window and a theme; `forced`: the few colours of a high-contrast system. */
interface Setting {
  readonly size: readonly [number, number];
  readonly kind: 'light' | 'dark' | 'forced';
  /** Without reduced motion. */
  readonly moves?: boolean;
}

/** Zoomed to 200 %: half of a large window. */
const ZOOMED: Setting = { size: [LARGE[0] / 2, LARGE[1] / 2], kind: 'light', moves: true };

const FEW: readonly Setting[] = [
  { size: LARGE, kind: 'light' },
  { size: PHONE, kind: 'dark' },
];

/** The other settings: each window with each theme, and each of these with and without motion. */
const OTHERS: readonly Setting[] = [
  ...SIZES.flatMap((size, i) =>
    (['light', 'dark', 'forced'] as const).map((kind, j) => ({ size, kind, moves: (i + j) % 2 === 1 })),
  ).filter(({ size, kind }) => !FEW.some((few) => few.size === size && few.kind === kind)),
  ZOOMED,
];

/** The window that a page opens in. */
export const FIRST = { width: LARGE[0], height: LARGE[1] } as const;

/**
 * Every violation that axe finds, whatever its impact, with the elements.
 * @param within the part to check if it exists: the page behind a dialog cannot be reached, and has states of its own
 */
export async function violations(page: Page, within = 'dialog[open]'): Promise<string[]> {
  // Through the protocol, which the page's content security policy does not restrict.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const found = await page.evaluate((within) => {
    const { axe } = window as unknown as {
      axe: {
        run(
          context: Node,
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const context = document.querySelector(within) ?? document;
    // In forced colours Chromium reports this property unforced, and axe takes it for the colour of the text.
    const { prototype } = CSSStyleDeclaration;
    const { getPropertyValue } = prototype;
    prototype.getPropertyValue = function (name) {
      return getPropertyValue.call(this, name === '-webkit-text-fill-color' ? 'color' : name);
    };
    // Passes need no description, and no active rule needs style sheets or media.
    return axe.run(context, { resultTypes: ['violations'], preload: false }).finally(() => {
      prototype.getPropertyValue = getPropertyValue;
    });
  }, within);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Waits until charts and layout have followed the window and the theme, and transitions have ended. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let i = 0; i < 4; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
    for (const animation of document.getAnimations())
      if (animation instanceof CSSTransition) await animation.finished.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
  });
}

/** Opens everything folded; the result folds it again. */
async function unfold(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details:not([open])')) {
      details.setAttribute('data-folded', '');
      details.setAttribute('open', '');
    }
  });
  return () =>
    page.evaluate(() => {
      for (const details of document.querySelectorAll('[data-folded]')) {
        details.removeAttribute('data-folded');
        details.removeAttribute('open');
      }
    });
}

function flaws(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface Box {
      left: number;
      top: number;
      right: number;
      bottom: number;
    }
    interface Piece {
      readonly text: string;
      readonly parent: Element;
      /** What of it can be seen. */
      readonly box: Box;
    }
    const found: string[] = [];
    const root = document.querySelector('dialog[open]') ?? document.body;
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
      found.push(`the page is ${document.documentElement.scrollWidth - width} px too wide`);
    const meet = (a: Box, b: Box): Box => ({
      left: Math.max(a.left, b.left),
      top: Math.max(a.top, b.top),
      right: Math.min(a.right, b.right),
      bottom: Math.min(a.bottom, b.bottom),
    });
    const isSeen = ({ left, top, right, bottom }: Box) => right - left > 1 && bottom - top > 1;
    const said = (text: string) => `"${text.trim().slice(0, 40)}"`;

    /** The floating element that a text is painted on and that hides what is below. */
    const ground = (at: Element | null): Element | null => {
      if (!at || at === root) return null;
      const { position, backgroundColor } = getComputedStyle(at);
      const floats = position === 'absolute' || position === 'fixed';
      return floats && !/transparent|, 0\)$/.test(backgroundColor) ? at : ground(at.parentElement);
    };

    for (const card of root.querySelectorAll('.card')) {
      const edge = card.getBoundingClientRect();
      const scrolls = (at: Element | null): boolean =>
        at !== null &&
        at !== card &&
        (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX) || scrolls(at.parentElement));
      const out = [...card.querySelectorAll('*')].find((at) => {
        const { left, right, width } = at.getBoundingClientRect();
        if (width === 0 || (right <= edge.right + 1 && left >= edge.left - 1)) return false;
        const floats = /absolute|fixed/.test(getComputedStyle(at).position);
        return !floats && !scrolls(at.parentElement) && at.checkVisibility();
      });
      if (out) found.push(`${out.tagName.toLowerCase()}.${out.className} leaves its card`);
    }

    const pieces: Piece[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      const text = node.textContent ?? '';
      if (!parent || text.trim() === '') continue;
      if (parent.closest('.unseen, .skip, .rehearsal, .tip, option, script, style, noscript')) continue;
      if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        let box: Box = rect.toJSON();
        let [reachable, cut] = [false, false];
        for (let at: Element | null = parent; at && at !== root.parentElement; at = at.parentElement) {
          const style = getComputedStyle(at);
          if (style.display === 'inline' || style.display === 'contents') continue;
          const ways = [style.overflowX, style.overflowY];
          if (ways.every((way) => way === 'visible')) continue;
          const edge = at.getBoundingClientRect();
          // For screen readers only.
          if (edge.width <= 1 && edge.height <= 1) reachable = true;
          if (ways.some((way) => way === 'auto' || way === 'scroll')) reachable = true;
          const over =
            box.right > edge.right + 1.5 ||
            box.left < edge.left - 1.5 ||
            box.bottom > edge.bottom + 4 ||
            box.top < edge.top - 4;
          // An ellipsis with the whole text in a title is intended.
          const meant =
            style.textOverflow === 'ellipsis' && (at.closest('[title]') ?? at.querySelector('[title]'));
          if (over && !reachable && !meant && !cut) {
            cut = true;
            found.push(`${said(text)} is cut off by ${at.tagName.toLowerCase()}.${at.className}`);
          }
          box = meet(box, edge.toJSON());
        }
        if (!reachable && isSeen(box) && (box.right > innerWidth + 1 || box.left < -1))
          found.push(`${said(text)} leaves the window`);
        if (isSeen(box)) pieces.push({ text, parent, box });
      }
    }
    // Boxes of text extend above and below the letters.
    const core = ({ left, top, right, bottom }: Box): Box => {
      const trim = 0.22 * (bottom - top);
      return { left: left + 1, top: top + trim, right: right - 1, bottom: bottom - trim };
    };
    pieces.sort((a, b) => a.box.top - b.box.top);
    for (const [i, a] of pieces.entries()) {
      for (const b of pieces.slice(i + 1)) {
        if (b.box.top > a.box.bottom) break;
        if (a.parent === b.parent) continue;
        if (ground(a.parent) !== ground(b.parent)) continue;
        if (isSeen(meet(core(a.box), core(b.box)))) found.push(`${said(a.text)} lies on ${said(b.text)}`);
      }
    }
    return [...new Set(found)];
  });
}

/** How many windows a page fills, where these are too many. */
async function tooTall(page: Page, screens: number): Promise<string[]> {
  const filled = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
  return filled > screens ? [`it fills ${filled.toFixed(2)} windows`] : [];
}

interface Looking {
  /** Check the page unfolded as well. */
  readonly unfolds?: boolean;
  /** Check it zoomed to 200 % as well. */
  readonly zoomed?: boolean;
  /** Index among states that share windows and themes: each gets one of the few in turn, and one other. */
  readonly turn?: number;
  /** The part that axe checks if the rest was checked before. Default: an open dialog, or all. */
  readonly within?: string | undefined;
  /** Most large light windows that the folded page may fill. */
  readonly screens?: number;
  /** Further checks. */
  readonly also?: (page: Page) => Promise<readonly string[]>;
}

/**
 * Checks a page on a large screen and on a dark phone, or in the windows of its turn; in an exhaustive run in all windows, light,
 * dark, in forced colours and zoomed.
 * @returns the flaws by window
 */
export async function lookAround(page: Page, looking: Looking = {}) {
  const { unfolds = false, zoomed = false, turn, within, screens, also = async () => [] } = looking;
  const wrong: Record<string, readonly string[]> = {};
  const own =
    turn === undefined ? FEW : [FEW[turn % 2], OTHERS[turn % OTHERS.length]].flatMap((one) => one ?? []);
  const settings = tier([...own, ...(zoomed ? [ZOOMED] : [])], [...FEW, ...OTHERS]);
  for (const { size, kind, moves = false } of settings) {
    const [width, height] = size;
    const look = async (kind: Setting['kind'] | 'unfolded', find: () => Promise<readonly string[]>) => {
      await drawn(page);
      const all = await find();
      if (all.length > 0) wrong[`${width}x${height}, ${kind}`] = all;
    };
    await page.setViewportSize({ width, height });
    await page.emulateMedia({
      colorScheme: kind === 'dark' ? 'dark' : 'light',
      forcedColors: kind === 'forced' ? 'active' : 'none',
      reducedMotion: moves ? 'no-preference' : 'reduce',
    });
    // The unfolded page contains the rest: axe need not check both.
    await look(kind, async () => [
      ...(screens !== undefined && size === LARGE && kind === 'light' ? await tooTall(page, screens) : []),
      ...(await flaws(page)),
      ...(await also(page)),
      ...(unfolds && !exhaustive ? [] : await violations(page, within)),
    ]);
    if (!unfolds) continue;
    const fold = await unfold(page);
    await look('unfolded', async () => [...(await flaws(page)), ...(await violations(page, within))]);
    await fold();
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', reducedMotion: 'reduce' });
  return wrong;
}
