/**
 * @module scripts/build-wasm
 * Builds wasm/anyvmaf.wasm from wasm/src with the toolchain pinned in emsdk.lock; the same sources give the same bytes.
 *
 *   node scripts/build-wasm.mjs [--out FILE | --guards FILE] [--check | --sources]
 *
 * --out FILE     writes to FILE instead of wasm/anyvmaf.wasm
 * --guards FILE  writes a module for tests, with guard zones around its memory areas (wasm/src/memory.h)
 * --check        builds into a temporary folder and compares with the committed file
 * --sources      compares digests only: fails if sources or module changed since the last build; needs no toolchain
 *
 * Exit codes: 0 done, 1 failed or different bytes, 2 the pinned toolchain is not installed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const COMMITTED = join(ROOT, 'wasm/anyvmaf.wasm');
/** Digests of the committed module and of what it was built from. */
const DIGESTS = join(ROOT, 'wasm/anyvmaf.wasm.json');

/** Budget of the module, bytes. */
const MAX_BYTES = 300_000;
const MAX_GZIP_BYTES = 110_000;

const FLAGS = [
  '-std=c11',
  '-O3',
  '-msimd128',
  // Exactness: a fused multiply-add rounds once where libvmaf rounds twice.
  '-ffp-contract=off',
  '-fno-math-errno',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-DNDEBUG',
  '-Iwasm/include',
  '-sSTANDALONE_WASM',
  '--no-entry',
  '-sALLOW_MEMORY_GROWTH=1',
  '-sMAXIMUM_MEMORY=4294967296',
  '-sMALLOC=emmalloc',
  '-sINITIAL_MEMORY=1048576',
  '-sTOTAL_STACK=262144',
  '-Wl,--export-table',
];

class ToolchainError extends Error {}

/** Compares the installed Debian packages with emsdk.lock. */
function checkToolchain() {
  const locked = readFileSync(join(ROOT, 'emsdk.lock'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' '));
  const wrong = [];
  for (const [name, version] of locked) {
    const query = spawnSync('dpkg-query', ['-W', name], { encoding: 'utf8' });
    const installed = query.status === 0 ? query.stdout.trim().split('\t')[1] : '';
    if (installed !== version) wrong.push(`${name} ${version} (installed: ${installed || 'none'})`);
  }
  if (wrong.length > 0) {
    throw new ToolchainError(
      `The toolchain differs from emsdk.lock, which asks for ${wrong.join(', ')}; on Debian 12 run ` +
        '`apt-get install -y --no-install-recommends emscripten`.',
    );
  }
}

/** Names of the functions that the public header declares, which are the module's exports. */
function exportedFunctions() {
  const header = readFileSync(join(ROOT, 'wasm/include/anyvmaf.h'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...header.matchAll(/\b(anyvmaf_\w+)\s*\(/g)].map((match) => `_${match[1]}`);
}

/** Exports for test/wasm: the functions of the table (wasm/src/dsp.h), a stage of SpEED, and powers. */
const TABLE_EXPORTS = [
  '_anyvmaf_dsp',
  '_vif_build_tables',
  '_vif_scratch_bytes',
  '_adm_scratch_bytes',
  '_motion_scratch_bytes',
  '_cambi_build_sight',
  '_cambi_counts_bytes',
  '_hvs_build_tables',
  '_ciede_build_tables',
  '_speed_eigenvalues',
  '_power_fused',
];

/** Additional exports of a module with guard zones. */
const GUARDS = { flags: ['-DANYVMAF_GUARDS'], exports: ['_anyvmaf_guards_broken'] };

/** Compiles and links into `out`. */
function build(out, { flags, exports } = { flags: [], exports: [] }) {
  const sources = readdirSync(join(ROOT, 'wasm/src'))
    .filter((name) => name.endsWith('.c'))
    .sort()
    .map((name) => `wasm/src/${name}`);
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-wasm-'));
  try {
    const linked = join(scratch, 'anyvmaf.wasm');
    const args = [
      ...FLAGS,
      ...flags,
      `-sEXPORTED_FUNCTIONS=${[...exportedFunctions(), ...TABLE_EXPORTS, ...exports].join(',')}`,
      ...sources,
      '-o',
      linked,
    ];
    // Relative source names and a separate HOME keep this machine out of the output.
    execFileSync('emcc', args, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { PATH: process.env.PATH, HOME: scratch, TMPDIR: scratch, LC_ALL: 'C' },
    });
    writeFileSync(out, readFileSync(linked));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints the sizes; returns whether they are within the budget. */
function reportSize(file) {
  const bytes = readFileSync(file);
  const zipped = gzipSync(bytes, { level: 9 }).length;
  console.log(`${bytes.length} bytes (limit ${MAX_BYTES}), gzip ${zipped} bytes (limit ${MAX_GZIP_BYTES})`);
  if (bytes.length > MAX_BYTES || zipped > MAX_GZIP_BYTES) {
    throw new Error('The module is over its size budget; look for unrolled or duplicated functions.');
  }
}

/** The text of DIGESTS for the files as they are. */
function digests() {
  const sha256 = (...contents) => {
    const hash = createHash('sha256');
    for (const content of contents) hash.update(content);
    return hash.digest('hex');
  };
  const sources = ['wasm/src', 'wasm/include']
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
    .sort()
    .concat('emsdk.lock');
  const inputs = sources.flatMap((name) => [name, readFileSync(join(ROOT, name))]);
  return `${JSON.stringify(
    {
      sources: sha256(JSON.stringify([FLAGS, TABLE_EXPORTS]), ...inputs),
      module: sha256(readFileSync(COMMITTED)),
    },
    null,
    2,
  )}\n`;
}

function checkSources() {
  if (!existsSync(DIGESTS) || readFileSync(DIGESTS, 'utf8') !== digests()) {
    throw new Error('wasm/anyvmaf.wasm was not built from these sources; run `npm run build:wasm`.');
  }
}

function check() {
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-check-'));
  try {
    const rebuilt = join(scratch, 'anyvmaf.wasm');
    build(rebuilt);
    if (!existsSync(COMMITTED) || !readFileSync(COMMITTED).equals(readFileSync(rebuilt))) {
      throw new Error(
        'wasm/anyvmaf.wasm is not what its sources give; run `npm run build:wasm` and commit it.',
      );
    }
    console.log('wasm/anyvmaf.wasm is what its sources give.');
    reportSize(rebuilt);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    guards: { type: 'string' },
    check: { type: 'boolean' },
    sources: { type: 'boolean' },
  },
});
try {
  if (!values.sources) checkToolchain();
  if (values.sources) {
    checkSources();
  } else if (values.check) {
    check();
  } else if (values.guards !== undefined) {
    build(resolve(values.guards), GUARDS);
  } else {
    const out = values.out === undefined ? COMMITTED : resolve(values.out);
    build(out);
    reportSize(out);
    if (out === COMMITTED) writeFileSync(DIGESTS, digests());
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = error instanceof ToolchainError ? 2 : 1;
}
