/**
 * @module test/support/browser-setup
 * Builds the page once for all tests of the `browser` project.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root } from './built.js';
import { needsChromium } from './chromium.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the built page. */
    page: string;
  }
}

export default function setup({ provide }: TestProject): void {
  if (needsChromium) return;
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-page-'));
  buildPage(folder);
  provide('page', folder);
}

/** Builds the page as it ships. @throws {Error} with what Vite says if it does not build */
function buildPage(folder: string): void {
  const args = ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/vite.config.ts'];
  args.push('--outDir', folder, '--emptyOutDir', '--logLevel', 'error');
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`The page does not build: ${stderr}${stdout}`);
}
