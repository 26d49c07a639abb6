/**
 * @module test/support/browser-setup
 * Builds the page once for all tests of the `browser` project.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { needsChromium } from './chromium.js';
import { buildPage } from './page-build.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the built page. */
    page: string;
  }
}

export default function setup({ provide }: TestProject): (() => void) | undefined {
  if (needsChromium) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-page-'));
  buildPage(folder);
  provide('page', folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
