/**
 * @module scripts/test
 * `npm test`: every check that guards a user's trust. `npm run test:exhaustive`: also all cases of each, and slow
 * checks. Announces installations, lists skipped checks and how to enable them, and ends with a line
 * `N passed, N failed, N skipped`. docs/testing.md describes both.
 *
 *   node scripts/test.mjs [--exhaustive] [NAME... | FILE...]
 *
 * NAME  runs only the checks whose names contain one of these words; "tests" runs all test files
 * FILE  runs only these test files or folders
 *
 * With ANYVMAF_BUILT=yes it does not build first, because `npm ci` has just built.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, readOptions } from './lib/project.mjs';

/** Debian packages, each with a file that shows that it is installed. */
const DEBIAN = [
  { program: '/usr/bin/ffmpeg', name: 'ffmpeg', use: 'tests of encoded video' },
  {
    program: '/usr/bin/chromium-headless-shell',
    name: 'chromium-headless-shell',
    use: 'tests in a browser and of shaders',
    instead: '/usr/bin/chromium',
  },
  { program: '/usr/bin/redis-server', name: 'redis-server', use: 'tests of the queue' },
  { program: '/usr/bin/emcc', name: 'emscripten', use: 'tests of memory bounds in C' },
  { program: '/usr/bin/gcc', name: 'gcc', use: 'quick starts of programs' },
  { program: '/usr/include/stdio.h', name: 'libc6-dev', use: 'quick starts of programs' },
];

/** Exit status of a check that cannot run here. */
const SKIPPED = 2;

const {
  values: { exhaustive },
  positionals: wanted,
} = readOptions({ options: { exhaustive: { type: 'boolean' } }, allowPositionals: true });
const files = wanted.filter((word) => existsSync(join(ROOT, word)));
const names = wanted.filter((word) => !files.includes(word));

const environment = { ...process.env, ...(exhaustive && { ANYVMAF_EXHAUSTIVE: '1' }) };

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env: environment, ...options }).status ?? 1;
}

/** Checks that pack the package into this folder: without scripts, which would build it again, and before the tests. */
const PACKING = ['package', 'types of the package'];

/** Runs a check in the background; resolves with its exit status and output. */
function start(name, command, args) {
  const env = { ...environment, ...(PACKING.includes(name) && { npm_config_ignore_scripts: 'true' }) };
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ status: 1, output: `${error.message}\n` }));
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** A program of node_modules; npx would ask the registry for a missing one. */
const tool = (name) => join(ROOT, 'node_modules/.bin', name);

/** Installs missing packages, which builds too. @returns whether it did */
function installNodeModules() {
  if (existsSync(tool('vitest'))) return false;
  console.log('node_modules is missing; running npm ci');
  if (run('npm', ['ci', '--no-audit', '--no-fund']) !== 0) process.exit(1);
  return true;
}

/** Installs missing Debian packages as root or with passwordless sudo; otherwise says how to. */
function installDebianPackages() {
  const missing = DEBIAN.filter(({ program }) => !existsSync(program));
  if (missing.length === 0) return;
  const packages = missing.map(({ name }) => name);
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const may =
    process.env.ANYVMAF_TEST_INSTALL !== 'no' &&
    existsSync('/usr/bin/apt-get') &&
    (sudo.length === 0 || run('sudo', ['-n', 'true'], { stdio: 'ignore' }) === 0);
  if (may) {
    console.log(`installing ${packages.join(', ')} with apt-get; ANYVMAF_TEST_INSTALL=no prevents that`);
    const apt = (...args) => {
      const [command, ...rest] = [...sudo, 'apt-get', '-qq', ...args];
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      return run(command, rest, { stdio: ['ignore', 'ignore', 'inherit'], env });
    };
    apt('update');
    // One by one, because an unknown name would prevent the others from being installed.
    for (const name of packages) apt('install', '-y', '--no-install-recommends', name);
  }
  const absent = missing.filter(
    ({ program, instead = program }) => !existsSync(program) && !existsSync(instead),
  );
  for (const { name, use } of absent) console.log(`${name} is not installed: skipping ${use}`);
  if (absent.length > 0) {
    const list = absent.map(({ name }) => name).join(' ');
    console.log(`to enable them: sudo apt-get install -y --no-install-recommends ${list}`);
  }
}

/** Runs a program in this terminal without blocking this process; resolves with its exit status. */
function watch(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env: environment, stdio: 'inherit' });
    child.on('error', () => resolve(1));
    child.on('close', (status) => resolve(status ?? 1));
  });
}

/** Runs Vitest and counts its tests. */
async function tests(...args) {
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-test-'));
  try {
    const file = join(scratch, 'results.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const status = await watch(tool('vitest'), ['run', ...reporters, ...args]);
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
    const result = JSON.parse(readFileSync(file, 'utf8'));
    // Titles give the reasons.
    for (const { assertionResults } of result.testResults) {
      for (const { status: verdict, fullName } of assertionResults) {
        if (verdict !== 'passed' && verdict !== 'failed') console.log(`skipped: ${fullName}`);
      }
    }
    reportLongest(result.testResults);
    const skipped = result.numPendingTests + result.numTodoTests;
    // A file that does not load, or an error outside tests, must fail the run even if no test fails.
    const failed = Math.max(result.numFailedTests, status === 0 ? 0 : 1);
    return { passed: result.numPassedTests, failed, skipped };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints the files that took longest. */
function reportLongest(results) {
  if (results.length < 20) return;
  const times = results.map(({ name, startTime, endTime }) => ({
    name,
    seconds: (endTime - startTime) / 1000,
  }));
  times.sort((a, b) => b.seconds - a.seconds);
  console.log('longest files:');
  for (const { name, seconds } of times.slice(0, 10)) {
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name.slice(ROOT.length + 1)}`);
  }
}

/** Counts a check by its exit status. */
function verdict(status) {
  return {
    passed: status === 0 ? 1 : 0,
    failed: status === 0 || status === SKIPPED ? 0 : 1,
    skipped: status === SKIPPED ? 1 : 0,
  };
}

const node = (...args) => [process.execPath, ...args];

/** Checks by command, which run concurrently; those that wait for a network come first. The package's module and worker scripts have no types. */
const CHECKS = {
  installation: node('scripts/installation.mjs'),
  types: [tool('tsc')],
  'types of the page': [tool('tsc'), '-p', 'web'],
  lint: [tool('biome'), 'check', '--error-on-warnings', '.'],
  'unused code': [tool('knip'), '--no-progress'],
  package: [tool('publint'), '--strict', '--pack', 'npm'],
  'types of the package': [
    ...[
      tool('attw'),
      '--pack',
      '.',
      '--profile',
      'esm-only',
      '--exclude-entrypoints',
      'anyvmaf.wasm',
      'perceptual.wasm',
    ],
    ...['browser-worker.js', 'browser-ffmpeg-worker.js', 'browser-parser-worker.js'],
  ],
  'generated files': node('scripts/generate.mjs', '--check'),
  'protocol conformance': node('scripts/mcp-conformance.mjs'),
};

const EXHAUSTIVE_CHECKS = {
  'wasm is reproducible': node('scripts/build-wasm.mjs', '--check'),
};

const allChecks = exhaustive ? { ...CHECKS, ...EXHAUSTIVE_CHECKS } : CHECKS;
const known = [...Object.keys(allChecks), 'tests'];
const unknown = names.find((word) => !known.some((name) => name.includes(word)));
if (unknown !== undefined) {
  console.error(`"${unknown}" is neither a file nor part of the name of a check: ${known.join(', ')}.`);
  process.exit(2);
}

const totals = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

const secondsSince = (started) => ((performance.now() - started) / 1000).toFixed(1);

function count(name, result, seconds) {
  const word = result.failed > 0 ? 'FAILED' : result.passed > 0 ? 'ok' : 'SKIPPED';
  console.log(`--- ${name}: ${word}, ${seconds} s`);
  if (result.failed > 0) failures.push(name);
  for (const key of Object.keys(totals)) totals[key] += result[key];
}

const isWanted = (name) => names.length === 0 || names.some((word) => name.includes(word));

/** Runs checks, `atOnce` at a time, and calls `report` after each. */
async function runChecks(checks, atOnce, report) {
  const left = [...checks];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [name, [command, ...args]] = next;
      const started = performance.now();
      const { status, output } = await start(name, command, args);
      const seconds = secondsSince(started);
      report(() => {
        if (status !== 0) console.log(output);
        count(name, verdict(status), seconds);
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Runs the tests, and beside them the checks one by one, while tests wait. */
async function runTests(checks) {
  const started = performance.now();
  // In a terminal, Vitest overwrites other output.
  const held = [];
  const report = process.stdout.isTTY ? (say) => held.push(say) : (say) => say();
  const [[result, seconds]] = await Promise.all([
    tests(...files).then((result) => [result, secondsSince(started)]),
    runChecks(checks, 1, report),
  ]);
  for (const say of held) say();
  count('tests', result, seconds);
}

const isBuilt = installNodeModules() || process.env.ANYVMAF_BUILT === 'yes';
installDebianPackages();
const hasTests = files.length > 0 || isWanted('tests');
const checks = files.length > 0 ? [] : Object.entries(allChecks).filter(([name]) => isWanted(name));
if (files.length === 0 && !isBuilt) {
  const started = performance.now();
  const status = run('npm', ['run', '--silent', 'build']);
  count('build', verdict(status), secondsSince(started));
}
const first = hasTests ? checks.filter(([name]) => PACKING.includes(name)) : checks;
await runChecks(first, 2, (say) => say());
if (hasTests) await runTests(checks.filter((check) => !first.includes(check)));
console.log('');
if (failures.length > 0) console.log(`failed: ${failures.join(', ')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed > 0 ? 1 : 0;
