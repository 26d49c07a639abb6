/**
 * @module test/support/browser-setup
 * What all tests of the `browser` project share: the page, built once, and one Chromium. A test opens a context of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { launchChromiumServer, needsChromium } from './chromium.js';
import { buildPage } from './page-build.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the built page. */
    page: string;
    /** WebSocket address of the shared Chromium. */
    chromium: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (needsChromium) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-page-'));
  buildPage(folder);
  const server = await launchChromiumServer();
  provide('page', folder);
  provide('chromium', server.wsEndpoint());
  return async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
