/**
 * @module scripts/build-wasm
 * Builds wasm/anyvmaf.wasm from wasm/src, and wasm/perceptual.wasm from wasm/perceptual, with the toolchain pinned in
 * emsdk.lock; the same sources give the same bytes.
 *
 *   node scripts/build-wasm.mjs [--module NAME] [--out FILE | --guards FILE | --check | --sources]
 *
 * --module NAME  anyvmaf or perceptual; both without it
 * --out FILE     writes one module to FILE instead
 * --guards FILE  writes one module for tests, with guard zones around its memory areas (wasm/src/memory.h)
 * --check        builds into a temporary folder and compares with the committed files
 * --sources      compares digests only: fails if sources or modules changed since the last build; needs no toolchain
 *
 * Exit codes: 0 done, 1 failed or different bytes, 2 the pinned toolchain is not installed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readOptions } from './lib/project.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const CONTEXT_EXPORTS = ['abi_version', 'alloc', 'free', 'plane_bytes', 'open', 'close'].map(
  (name) => `_anyvmaf_${name}`,
);

/** Exports of the core for tests: the functions of the table (wasm/src/dsp.h), a stage of SpEED, and powers. */
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

/** Exports of perceptual.wasm for tests. */
const PERCEPTUAL_TEST_EXPORTS = ['_cvvdp_power_c', '_cvvdp_power_simd'];

/** Modules: their sources, their exports beyond the functions of their header, and their budgets in bytes. */
const MODULES = [
  {
    name: 'anyvmaf',
    headers: ['wasm/include/anyvmaf.h'],
    folders: ['wasm/src'],
    files: [],
    exports: TABLE_EXPORTS,
    budget: { bytes: 300_000, gzip: 110_000 },
  },
  {
    name: 'perceptual',
    headers: ['wasm/include/anyvmaf.h', 'wasm/include/perceptual.h'],
    folders: ['wasm/perceptual'],
    files: ['wasm/src/memory.c', 'wasm/src/memory.h', 'wasm/src/opaque.h'],
    exports: [...CONTEXT_EXPORTS, ...PERCEPTUAL_TEST_EXPORTS],
    budget: { bytes: 250_000, gzip: 100_000 },
  },
];

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

/** Functions declared in the module's public header, which it exports. */
function exportedFunctions({ name }) {
  const header = readFileSync(join(ROOT, `wasm/include/${name}.h`), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...header.matchAll(/\b(anyvmaf_\w+)\s*\(/g)].map((match) => `_${match[1]}`);
}

/** C files and own headers of a module, sorted. */
function sourcesOf({ folders, files }) {
  const found = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  return [...found, ...files].sort();
}

const committed = ({ name }) => join(ROOT, `wasm/${name}.wasm`);
/** File with the digests of a committed module and its sources. */
const digestsFile = (module) => `${committed(module)}.json`;

/** Additional exports of a module with guard zones. */
const GUARDS = { flags: ['-DANYVMAF_GUARDS'], exports: ['_anyvmaf_guards_broken'] };

function build(module, out, { flags, exports } = { flags: [], exports: [] }) {
  const sources = sourcesOf(module).filter((name) => name.endsWith('.c'));
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-wasm-'));
  try {
    const linked = join(scratch, `${module.name}.wasm`);
    const args = [
      ...FLAGS,
      ...flags,
      `-sEXPORTED_FUNCTIONS=${[...exportedFunctions(module), ...module.exports, ...exports].join(',')}`,
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

/**
 * Prints the sizes.
 * @throws if they are over the budget
 */
function reportSize({ name, budget }, file) {
  const bytes = readFileSync(file);
  const zipped = gzipSync(bytes, { level: 9 }).length;
  console.log(
    `${name}: ${bytes.length} bytes (limit ${budget.bytes}), gzip ${zipped} bytes (limit ${budget.gzip})`,
  );
  if (bytes.length > budget.bytes || zipped > budget.gzip) {
    throw new Error(`The module ${name} is over its size budget; look for unrolled or duplicated functions.`);
  }
}

/** Text of a module's digests file for the current files. */
function digests(module) {
  const sha256 = (...contents) => {
    const hash = createHash('sha256');
    for (const content of contents) hash.update(content);
    return hash.digest('hex');
  };
  const sources = [...module.headers, ...sourcesOf(module), 'emsdk.lock'];
  const inputs = sources.flatMap((name) => [name, readFileSync(join(ROOT, name))]);
  return `${JSON.stringify(
    {
      sources: sha256(JSON.stringify([FLAGS, module.exports]), ...inputs),
      module: sha256(readFileSync(committed(module))),
    },
    null,
    2,
  )}\n`;
}

function checkSources(module) {
  const file = digestsFile(module);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== digests(module)) {
    throw new Error(`wasm/${module.name}.wasm was not built from these sources; run \`npm run build:wasm\`.`);
  }
}

function check(module) {
  const scratch = mkdtempSync(join(tmpdir(), 'anyvmaf-check-'));
  try {
    const rebuilt = join(scratch, 'rebuilt.wasm');
    build(module, rebuilt);
    if (!existsSync(committed(module)) || !readFileSync(committed(module)).equals(readFileSync(rebuilt))) {
      throw new Error(
        `wasm/${module.name}.wasm is not what its sources give; run \`npm run build:wasm\` and commit it.`,
      );
    }
    console.log(`wasm/${module.name}.wasm is what its sources give.`);
    reportSize(module, rebuilt);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const { values } = readOptions({
  options: {
    module: { type: 'string' },
    out: { type: 'string' },
    guards: { type: 'string' },
    check: { type: 'boolean' },
    sources: { type: 'boolean' },
  },
});
try {
  if (!values.sources) checkToolchain();
  const modules = MODULES.filter(({ name }) => name === (values.module ?? name));
  const elsewhere = values.out ?? values.guards;
  if (modules.length !== 1 && (elsewhere !== undefined || modules.length === 0)) {
    throw new Error(
      `--module is one of ${MODULES.map(({ name }) => name).join(', ')}; a file takes one module.`,
    );
  }
  for (const module of modules) {
    if (values.sources) {
      checkSources(module);
    } else if (values.check) {
      check(module);
    } else if (elsewhere !== undefined) {
      build(module, resolve(elsewhere), values.guards === undefined ? undefined : GUARDS);
      if (values.guards === undefined) reportSize(module, resolve(elsewhere));
    } else {
      build(module, committed(module));
      reportSize(module, committed(module));
      writeFileSync(digestsFile(module), digests(module));
    }
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = error instanceof ToolchainError ? 2 : 1;
}
