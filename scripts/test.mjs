/**
 * @module scripts/test
 * `npm test`: every check of the project in one run. Installs the tools of the checks if it can, lists skipped checks, and
 * ends with a line `N passed, N failed`.
 *
 *   node scripts/test.mjs [NAME...]    only the checks whose names contain one of these words
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Debian packages, each with a program that shows that it is installed. */
const DEBIAN = [
  { program: '/usr/bin/emcc', name: 'emscripten', use: 'rebuilding the WebAssembly module' },
  { program: '/usr/bin/ffmpeg', name: 'ffmpeg', use: 'comparing with a native libvmaf on encoded video' },
  { program: '/usr/bin/chromium', name: 'chromium', use: 'scoring in a browser' },
  { program: '/usr/bin/redis-server', name: 'redis-server', use: 'scoring by workers of a queue' },
];

/** Exit status of a check that cannot run here. */
const SKIPPED = 2;

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options }).status ?? 1;
}

/** A tool of node_modules. npx would ask the registry for a missing one. */
function tool(name, args, options) {
  return run(join(ROOT, 'node_modules/.bin', name), args, options);
}

function installNodeModules() {
  if (existsSync(join(ROOT, 'node_modules/.bin/vitest'))) return;
  console.log('node_modules is missing: npm ci');
  if (run('npm', ['ci', '--no-audit', '--no-fund']) !== 0) process.exit(1);
}

function installDebianPackages() {
  const missing = DEBIAN.filter(({ program }) => !existsSync(program));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const mayInstall =
    existsSync('/usr/bin/apt-get') &&
    (asRoot.length === 0 || run('sudo', ['-n', 'true'], { stdio: 'ignore' }) === 0);
  if (mayInstall) {
    console.log(`installing ${names.join(', ')} with apt-get`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args) => {
      const [command, ...rest] = [...asRoot, 'apt-get', '-qq', ...args];
      return run(command, rest, { stdio: ['ignore', 'ignore', 'inherit'], env });
    };
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...names);
  }
  for (const { program, name, use } of missing) {
    if (!existsSync(program)) console.log(`${name} is not installed and cannot be: ${use} will be skipped`);
  }
}

/** Builds the page once for all tests that open it; where that fails, each builds it and says why. */
function buildPage(folder) {
  const env = { ...process.env, NODE_ENV: 'production' };
  const args = ['build', '--config', 'web/vite.config.ts', '--outDir', folder, '--logLevel', 'error'];
  return tool('vite', args, { env }) === 0 ? folder : undefined;
}

/** Runs vitest and counts its tests. */
function unitTests() {
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
  try {
    const file = join(scratch, 'results.json');
    const page = buildPage(join(scratch, 'page'));
    const status = tool(
      'vitest',
      ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
      { env: { ...process.env, ...(page !== undefined && { ANYVMAF_TEST_PAGE: page }) } },
    );
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
    const result = JSON.parse(readFileSync(file, 'utf8'));
    // The titles say why.
    for (const { assertionResults } of result.testResults) {
      for (const { status: verdict, fullName } of assertionResults) {
        if (verdict !== 'passed' && verdict !== 'failed') console.log(`skipped: ${fullName}`);
      }
    }
    const skipped = result.numPendingTests + result.numTodoTests;
    // A file that does not load, or an error outside tests, must fail the run although no test fails.
    const failed = Math.max(result.numFailedTests, status === 0 ? 0 : 1);
    return { passed: result.numPassedTests, failed, skipped };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** One check by exit status. */
function check(status) {
  return {
    passed: status === 0 ? 1 : 0,
    failed: status === 0 || status === SKIPPED ? 0 : 1,
    skipped: status === SKIPPED ? 1 : 0,
  };
}

/** A check that is one tool of node_modules. */
const passes =
  (name, ...args) =>
  () =>
    check(tool(name, args) === 0 ? 0 : 1);

/** Every check, in order: later ones use the builds of earlier ones. */
const CHECKS = [
  ['build', () => check(run('npm', ['run', '--silent', 'build']) === 0 ? 0 : 1)],
  ['types', passes('tsc', '-p', 'tsconfig.json', '--noEmit')],
  ['types of the page', passes('tsc', '-p', 'web', '--noEmit')],
  ['lint', passes('biome', 'check', '--error-on-warnings', '.')],
  ['unused code', passes('knip', '--no-progress')],
  ['package', passes('publint', '--strict', '--pack', 'npm')],
  // The module and the worker scripts have no types.
  [
    'types of the package',
    passes(
      'attw',
      ...['--pack', '.', '--profile', 'esm-only', '--exclude-entrypoints', 'anyvmaf.wasm'],
      ...['browser-worker.js', 'browser-ffmpeg-worker.js', 'browser-parser-worker.js'],
    ),
  ],
  ['installation', () => check(run('node', ['scripts/installation.mjs']))],
  ['models', () => check(run('node', ['scripts/extract-models.mjs', '--check']))],
  ['tool reference', () => check(run('node', ['scripts/generate-mcp-docs.mjs', '--check']))],
  ['protocol conformance', () => check(run('node', ['scripts/mcp-conformance.mjs']))],
  ['metric reference', () => check(run('node', ['scripts/generate-metrics-docs.mjs', '--check']))],
  ['wasm is reproducible', () => check(run('node', ['scripts/build-wasm.mjs', '--check']))],
  ['unit tests', unitTests],
];

const wanted = process.argv.slice(2);
installNodeModules();
installDebianPackages();
const totals = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
for (const [name, action] of CHECKS) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  console.log(`\n--- ${name}`);
  const started = performance.now();
  const result = action();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const verdict = result.failed > 0 ? 'FAILED' : result.passed > 0 ? 'ok' : 'SKIPPED';
  console.log(`${name}: ${verdict}, ${seconds} s`);
  if (result.failed > 0) failures.push(name);
  for (const key of Object.keys(totals)) totals[key] += result[key];
}
console.log('');
if (failures.length > 0) console.log(`failed: ${failures.join(', ')}`);
if (totals.skipped > 0) console.log(`${totals.skipped} skipped, for the reasons above`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 ? 1 : 0;
