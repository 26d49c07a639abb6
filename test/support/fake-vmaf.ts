/**
 * @module test/support/fake-vmaf
 * Puts test/support/fake-vmaf.mjs where a program is expected, in one of its modes.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./fake-vmaf.mjs', import.meta.url));

const STOCK = ['reference', 'distorted', 'width', 'model', 'gpumask', 'cpumask', 'threads', 'subsample'];
const GPU = ['no_cuda', 'no_sycl', 'no_hip', 'no_metal', 'sycl_device', 'hip_device', 'metal_device'];

/** Modes that fail when they are asked for help. */
const WITHOUT_HELP = ['hang-help', 'crash-help', 'garbage'];

/** What it says when it is asked for help, for a shell's printf: a start of Node.js takes longer than most tests. */
function helpOf(mode: string): string {
  const gpus = ['gpu', 'gpu-broken', 'liar', 'exclusive'].includes(mode);
  const options = [...STOCK, ...(gpus ? GPU : []), ...(mode === 'exclusive' ? ['backend', 'precision'] : [])];
  return `Usage: vmaf [options]\\n${options.map((option) => ` --${option} $x: text\\n`).join('')}`;
}

/** A program in a folder of its own. */
export interface FakeVmaf {
  readonly path: string;
  /** Arguments of its runs so far, without those that only ask for help or the version. */
  runs(): readonly (readonly string[])[];
}

/**
 * Makes a fake `vmaf` below `folder`; a shell stands between, as with programs that distributions wrap, and answers what all
 * versions answer.
 */
export function fakeVmaf(folder: string, mode: string, name = 'vmaf'): FakeVmaf {
  const home = join(folder, `fake-${mode}`);
  mkdirSync(home, { recursive: true });
  const path = join(home, name);
  const record = join(home, 'runs');
  const recorded = `printf '["%s"]\\n' "$1" >> '${record}'`;
  const asked = WITHOUT_HELP.includes(mode)
    ? ''
    : `case "$1" in --help) ${recorded}; printf '${helpOf(mode)}' >&2; exit 1;; esac\n`;
  const script = `#!/bin/sh
case "$1" in --version) ${recorded}; echo 3.2.0 >&2; exit 0;; esac
${asked}FAKE_VMAF='${mode}' FAKE_VMAF_RECORD='${record}' '${process.execPath}' '${SCRIPT}' "$@"
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return {
    path,
    runs() {
      const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
      const all = lines.map((line): readonly string[] => JSON.parse(line));
      return all.filter((args) => args.includes('--reference'));
    },
  };
}

/** Private folders of native runs that are in a folder of temporary files now. */
export function nativeFolders(temporary: string): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('anyvmaf-native-'));
}

/** Processes whose command line has a text in it, by id; Linux only, elsewhere none. */
export function processesWith(text: string): readonly string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id) || id === `${process.pid}`) return false;
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}
