/**
 * The page of a running measurement in Chromium: it draws what the stream tells, and screen readers can read it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createScorer } from '../../src/index.js';
import { needsChromium, noChromium, PATIENT, sharedChromium } from '../support/chromium.js';
import { callTool, pairOf, served, TINY } from '../support/mcp-live.js';

vi.setConfig(PATIENT);

const axe = join(createRequire(import.meta.url).resolve('axe-core'), '..', 'axe.min.js');

describe.skipIf(needsChromium !== '')(`the dashboard${noChromium}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedChromium();
  });
  afterAll(() => browser.close());

  it('shows the measurement as it goes on, in words that a screen reader finds', async () => {
    const { scorer, server, push } = await served({ alarms: ['max<97 for 25f'] });
    const { address } = await server.listen({ transport: 'sse', port: 0, dashboard: true });
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await push(30);
    await page.goto(new URL('/', address).href);
    const shown = (id: string) => page.locator(`#${id}`).textContent();
    await expect.poll(() => shown('line')).toBe('connected');
    await expect.poll(() => shown('frames')).toBe('29');
    expect(await shown('state')).toBe('running');
    expect(await shown('metric')).toBe('Mean of VMAF so far');
    await callTool(address, 'vmaf.request_model_swap', { model: 'vmaf_v0.6.1:disable_clip:name=other' });
    await push(80);
    await expect.poll(() => shown('metric')).toBe('Mean of other so far');
    await expect.poll(() => page.locator('#worst tr').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('#events').textContent()).toMatch(/other scores instead of VMAF/);
    expect(await page.locator('#events').textContent()).toMatch(/alarm: max<97 for 25f/);
    expect(await shown('notice')).toMatch(/^Alarm since 0:\d\d\.\d: max<97 for 25f$/);
    const label = await page.getByRole('img').getAttribute('aria-label');
    expect(label).toMatch(/^Score of each second: \d+ seconds, the last with mean \d/);
    await page.evaluate(readFileSync(axe, 'utf8'));
    const violations = await page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } }
      ).axe.run();
      return violations.map(({ id }) => id);
    });
    expect(violations).toEqual([]);
    if (process.env.ANYVMAF_PICTURES)
      await page.screenshot({ path: join(process.env.ANYVMAF_PICTURES, 'dashboard.png') });
    await page.locator('#chart').focus();
    await page.keyboard.press('Home');
    expect(await shown('second')).toMatch(/^0:00 to 0:01: mean \d+\.\d\d, lowest \d/);
    await scorer.finish();
    await expect.poll(() => shown('notice')).toBe('The measurement has ended.');
    expect(await shown('line')).toBe('ended');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows an alarm that began before it was opened, and each of several measurements to its end', async () => {
    const { scorer, server, push } = await served({ name: 'one', alarms: ['max<101 for 25f'] });
    const other = await createScorer(TINY, { threads: 0 });
    server.add(other, 'two');
    const { address } = await server.listen({ transport: 'sse', port: 0, dashboard: true });
    await push(30);
    const page = await browser.newPage();
    await page.goto(new URL('/', address).href);
    const shown = (id: string) => page.locator(`#${id}`).textContent();
    await expect.poll(() => shown('notice')).toBe('Alarm since 0:01.0: max<101 for 25f');
    await scorer.finish();
    await expect.poll(() => shown('notice')).toBe('The measurement has ended.');
    expect(await shown('line')).toBe('connected');
    await page.getByLabel('Measurement').selectOption('two');
    expect(await shown('state')).toBe('running');
    for (let i = 0; i < 10; i++) await other.push(...(await pairOf(i)));
    await expect.poll(() => shown('frames')).toBe('9');
    await other.close();
    await expect
      .poll(() => shown('notice'))
      .toBe('The measurement has failed: The scorer was closed before its end.');
    expect(await shown('line')).toBe('ended');
    await page.close();
  });

  it('is there on request only', async () => {
    const { server } = await served();
    const { address } = await server.listen({ transport: 'sse', port: 0 });
    const answer = await fetch(new URL('/', address), { headers: { accept: 'text/html' } });
    expect(await answer.json()).toMatchObject({ dashboard: false });
    expect((await fetch(new URL('/history', address))).status).toBe(404);
  });
});
