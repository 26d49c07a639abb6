/**
 * @module scripts/seeded-faults/run
 * `npm run seeded-faults`: inserts each fault of ./faults.mjs into a checkout, runs the tests of its rooms, reverts it
 * and prints which test caught it. A fault that these miss goes through all tests.
 *
 *   npm run seeded-faults -- [--root DIR] [--only NUMBER,...] [--rooms-only] [--json FILE]
 *
 * --root DIR    another checkout with node_modules, such as an older version
 * --only        only these faults, counted from 1
 * --rooms-only  does not go on to all tests
 * --json FILE   writes the results
 *
 * The checkout must have no uncommitted changes in the files that are changed. Exit codes: 0 all caught, 1 some missed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT, readOptions } from '../lib/project.mjs';
import { FAULTS } from './faults.mjs';

const { values } = readOptions({
  options: {
    root: { type: 'string', default: ROOT },
    only: { type: 'string' },
    'rooms-only': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const root = resolve(values.root);
const only = values.only?.split(',').map(Number);
const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-faults-'));

/** Test folders of a room, in this layout and in older ones. */
function foldersOf(room) {
  const places = [`test/${room}`, `test/unit/${room}`, `test/node/${room}`];
  return places.filter((folder) => existsSync(join(root, folder)));
}

const run = (command, ...args) => spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e9 });

/** Builds the faulty part; a failing build has caught the fault. */
function build(file) {
  if (file.startsWith('wasm/')) return run('node', 'scripts/build-wasm.mjs').status === 0;
  if (file.startsWith('src/')) return run('npm', 'run', '--silent', 'build').status === 0;
  return true;
}

/** The first failing test, if any. */
function firstFailure(...paths) {
  const file = join(scratch, 'results.json');
  rmSync(file, { force: true });
  const { status } = run(
    'npx',
    'vitest',
    'run',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${file}`,
    ...paths,
  );
  if (status === 0) return undefined;
  if (!existsSync(file)) return 'Vitest itself failed';
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
  for (const { name, message, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return `${name.slice(root.length + 1)}: ${failed.fullName}`;
    if (message && assertionResults.length === 0) return `${name.slice(root.length + 1)}: does not load`;
  }
  return 'an error outside of tests';
}

/** What caught a fault: its build, a test of its rooms or any test; `undefined` if nothing did. */
function caughtBy({ file, rooms }) {
  if (!build(file)) return 'the build';
  const found = firstFailure(...rooms.flatMap(foldersOf));
  return found ?? (values['rooms-only'] ? undefined : firstFailure());
}

// Exit by signal reverts the fault.
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));

const results = [];
for (const [i, fault] of FAULTS.entries()) {
  if (only && !only.includes(i + 1)) continue;
  const path = join(root, fault.file);
  const original = readFileSync(path, 'utf8');
  if (original.split(fault.from).length !== 2) throw new Error(`fault ${i + 1} does not fit ${fault.file}`);
  const restore = () => writeFileSync(path, original);
  process.once('exit', restore);
  writeFileSync(
    path,
    original.replace(fault.from, () => fault.to),
  );
  const caught = caughtBy(fault);
  restore();
  process.removeListener('exit', restore);
  if (fault.file.startsWith('wasm/')) run('git', 'checkout', '--', 'wasm/*.wasm', 'wasm/*.wasm.json');
  results.push({ number: i + 1, what: fault.what, file: fault.file, caught: caught ?? null });
  console.log(
    `${String(i + 1).padStart(2)}  ${caught ? 'caught' : 'MISSED'}  ${fault.what} (${caught ?? fault.file})`,
  );
}
build('src/');
rmSync(scratch, { recursive: true, force: true });
if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
const missed = results.filter(({ caught }) => !caught).length;
console.log(`${results.length - missed} caught, ${missed} missed`);
process.exitCode = missed > 0 ? 1 : 0;
