/**
 * @module test/support/page-build
 * Builds the page as it ships.
 */
import { spawnSync } from 'node:child_process';
import { root } from './built.js';

/** @throws {Error} with what Vite says if the page does not build */
export function buildPage(folder: string): void {
  const args = ['node_modules/vite/bin/vite.js', 'build', '--config', 'web/vite.config.ts'];
  args.push('--outDir', folder, '--emptyOutDir', '--logLevel', 'error');
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`The page does not build: ${stderr}${stdout}`);
}
