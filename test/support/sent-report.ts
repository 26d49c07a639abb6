/**
 * @module test/support/sent-report
 * A saved HTML report as whoever gets it by mail opens it: from a disk, in a fresh profile, without a network; on screen and paper.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ServedPage } from './page.js';

/** Bytes that a mail bears. */
const MOST = 3_000_000;

/** Width of an A4 sheet between its margins of 12 mm, in CSS pixels. */
const SHEET = Math.round(((210 - 24) / 25.4) * 96);

export interface SentReport {
  readonly page: Page;
  /** How many A4 sheets it fills. */
  sheets(): Promise<number>;
  /** What of it is cut off on an A4 sheet, and words that break at every letter. */
  cut(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens it. @throws if it is too large, asks for anything or complains */
export async function openSent(served: ServedPage, name: string, html: string): Promise<SentReport> {
  expect(Buffer.byteLength(html)).toBeLessThan(MOST);
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-sent-'));
  const path = join(folder, name);
  writeFileSync(path, html);
  const context = await served.newContext({ offline: true });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  return {
    page,
    async sheets() {
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
      expect(pdf).toMatch(/\/MediaBox \[0 0 59[45][\d.]* 84[12]/);
      return [...pdf.matchAll(/\/Type\s*\/Page\b/g)].length;
    },
    async cut() {
      await page.setViewportSize({ width: SHEET, height: 1000 });
      await page.emulateMedia({ media: 'print', colorScheme: 'light' });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      return page.evaluate(() =>
        [...document.querySelectorAll('main *')].flatMap((one) => {
          const { right, width, height } = one.getBoundingClientRect();
          if (!one.checkVisibility()) return [];
          if (right > innerWidth + 1) return [`beyond the sheet: ${one.outerHTML.slice(0, 80)}`];
          const torn =
            one.matches('th, td') && (one.textContent ?? '').length > 3 && width < 24 && height > 60;
          return torn ? [`a letter a line: ${one.textContent}`] : [];
        }),
      );
    },
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
      expect(complaints).toEqual([]);
    },
  };
}
