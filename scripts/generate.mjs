/**
 * @module scripts/generate
 * `npm run generate`: writes all generated files of the repository, from a fresh build.
 *
 *   node scripts/generate.mjs [--check]
 *
 * --check  writes nothing; fails and names stale files. Uses the existing build.
 *
 * The WebAssembly modules are built only if their sources changed, because that needs the toolchain of emsdk.lock.
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from './lib/project.mjs';

const check = process.argv.includes('--check');

const run = (script, ...args) =>
  spawnSync(process.execPath, [`scripts/${script}.mjs`, ...args], { cwd: ROOT, stdio: 'inherit' }).status ===
  0;

const option = check ? ['--check'] : [];
const steps = {
  'wasm/*.wasm': () => run('build-wasm', '--sources') || (!check && run('build-wasm')),
  'model/': () => run('extract-models', ...option),
  'docs/metrics.md': () => run('generate-metrics-docs', ...option),
  'docs/mcp-tools.md, test/fixtures/mcp-tools.json': () => run('generate-mcp-docs', ...option),
};

if (!check && spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0) {
  process.exit(1);
}
const failed = Object.keys(steps).filter((name) => !steps[name]());
if (failed.length > 0) {
  console.error(`${check ? 'stale; run `npm run generate`' : 'not written'}: ${failed.join('; ')}`);
  process.exitCode = 1;
}
