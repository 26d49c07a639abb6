/**
 * @module cli/commands/environment
 * `anyvmaf backends` lists backends; `anyvmaf doctor` reports what is installed, what works, and how to get the rest;
 * `anyvmaf setup` fetches, lists or removes optional components.
 */
import { arch, cpus, platform, release } from 'node:os';
import { OWN_GPU_BACKENDS, PART_NAMES, type PartName } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import type { BackendHealth, BackendList, Diagnosis } from '../../index.js';
import { megabytes } from '../../parts/consent.js';
import {
  hasPackage,
  isHere,
  isOffered,
  PARTS,
  type Part,
  packedSize,
  placeOf,
  removePart,
  specOf,
} from '../../parts/table.js';
import { wrap } from '../../report/sections.js';
import {
  asJson,
  type Command,
  command,
  type HelpText,
  helpWidth,
  twoColumns,
  type View,
} from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import { HELP_OPTION, JSON_OPTION, optionTable, orList } from '../options.js';
import { tableReader } from '../table-options.js';
import { partsDoor, type Terminal } from '../terminal.js';
import { deviceText } from './tiny.js';

const OPTIONS = optionTable({
  Options: {
    '--vmaf-bin FILE': ['the program to check (default: VMAF_BIN, then PATH)', tableReader('vmafBin')],
    ...JSON_OPTION,
    ...HELP_OPTION,
  },
});

/** @param report the data for `--json`, and its text for a width in columns */
function environmentCommand(
  name: string,
  about: string,
  report: (request: {
    readonly vmafBin: string | undefined;
    readonly signal: AbortSignal;
  }) => Promise<View & { readonly code: number }>,
): Command {
  const page = { usage: [`${name} [--json] [--vmaf-bin FILE]`], about };
  return command(name, OPTIONS, page, async ({ settings, positionals: [surplus], terminal }) => {
    if (surplus !== undefined)
      throw usageError(`${quoted(surplus)} is one argument too many; ${name} takes options only`);
    return interruptible(async ({ signal }) => {
      const { data, text, code } = await report({ vmafBin: settings.options?.vmafBin, signal });
      await terminal.print(settings.json ? asJson(data) : text(helpWidth(terminal.columns)));
      return code;
    });
  });
}

export const backends = environmentCommand(
  'anyvmaf backends',
  'Lists the backends for --backend, and what is installed for each. An installed backend may still lack its ' +
    "driver: 'anyvmaf doctor' tries each of them.",
  async (request) => {
    const { listBackends } = await import('../../index.js');
    const data = await listBackends(request);
    return { data, text: (width) => listing(data, width), code: EXIT.ok };
  },
);

function listing({ details, native }: BackendList, width: number): string {
  const rows = details.map(({ backend, runs, advice }): [string, string] => [
    backend,
    runs ?? `not available. ${advice ?? ''}`,
  ]);
  const problem = native.error === null ? '' : `\n${wrap(native.error, width).join('\n')}\n`;
  return `Backends, for --backend NAME:\n\n${twoColumns(rows, width)}\n${problem}`;
}

const OPTIONAL: readonly (readonly [name: string, use: string])[] = [
  ['@mediabunny/server', 'decodes video without ffmpeg'],
  ['@ffmpeg/core', 'decodes video if nothing else can'],
  ['@huggingface/transformers', 'describes frames in words, for agents'],
  ['bullmq', 'a queue of jobs for many machines, with ioredis'],
  ['ioredis', 'connects to the Redis server of a queue'],
  ['onnxruntime-node', 'runs tiny models, on GPUs too'],
  ['onnxruntime-web', 'runs tiny models without onnxruntime-node'],
  ['openvino-node', 'runs tiny models on Intel GPUs and NPUs'],
  ['sigstore', 'checks signatures of tiny models'],
  ['webgpu', 'measures on a GPU'],
];

export const doctor = environmentCommand(
  'anyvmaf doctor',
  'Lists what is installed here and tests it: the built-in core, the video decoders, and every backend of an installed ' +
    'libvmaf, by scoring one small frame. Exits with 2 if not even the built-in core works.',
  async (request) => {
    const { diagnose } = await import('../../index.js');
    const found = await diagnose(request);
    const machine = machineFacts();
    return {
      data: { ...machine, ...found },
      text: (width) => diagnosisText(found, machine, width),
      code: found.health[0]?.runtime_healthy ? EXIT.ok : EXIT.failed,
    };
  },
);

/** Facts that the library does not report. */
function machineFacts() {
  return {
    node: process.versions.node,
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() || 'unknown',
    packages: OPTIONAL.map(([name, use]) => ({ name, installed: isInstalled(name), use })),
  };
}

/** The part in which `anyvmaf setup` fetches a package. */
function partOf(name: string): Part | undefined {
  return Object.values(PARTS).find(({ packages: [main] }) => main.name === name);
}

function isInstalled(name: string): boolean {
  const part = partOf(name);
  return hasPackage(name) || (part !== undefined && isHere(part));
}

function installCommand(name: string): string {
  const part = partOf(name);
  return part ? `anyvmaf setup ${part.name}` : `npm install ${name}`;
}

/** Bun and Deno report the version of Node.js they are compatible with. */
function runtimeRow(node: string): [string, string] {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return ['Bun', `${bun}, as Node.js ${node}`];
  return deno === undefined ? ['Node.js', node] : ['Deno', `${deno}, as Node.js ${node}`];
}

function diagnosisText(found: Diagnosis, facts: ReturnType<typeof machineFacts>, width: number): string {
  const { version, cores, decoders, backends, health } = found;
  const core = health.find(({ backend }) => backend === 'cpu');
  const machine: [string, string][] = [
    ['anyvmaf', version],
    runtimeRow(facts.node),
    ['system', facts.system],
    ['processor', `${facts.processor}, ${cores} thread${cores === 1 ? '' : 's'}`],
    ['built-in core', `${core?.runtime_healthy ? 'WebAssembly with SIMD: ' : ''}${healthText(core)}`],
  ];
  const decoding = decoders.map(({ id, usable, version: of, reason }): [string, string] => [
    id,
    usable ? `works${of === undefined ? '' : `, ${of}`}` : `no: ${reason ?? 'unknown'}`,
  ]);
  const rowsOf = (names: readonly string[], own: boolean) =>
    backends.details
      .filter(({ backend }) => backend !== 'cpu' && names.includes(backend) === own)
      .map(({ backend, runs, advice }): [string, string] => {
        const state = health.find((other) => other.backend === backend);
        const by = state?.adapter ? adapterText(state.adapter) : (runs ?? '');
        return [backend, runs === null ? `not available. ${advice ?? ''}` : `${healthText(state)} (${by})`];
      });
  const devices = found.tiny.map((status): [string, string] => [status.device, deviceText(status)]);
  const { flavour, version: release, error } = backends.native;
  const program = flavour === null ? (error ?? '') : `${flavour} ${release ?? 'of an unknown version'}`;
  const packages = facts.packages.map(({ name, installed, use }): [string, string] => [
    name,
    `${installed ? 'installed' : `not installed; ${installCommand(name)}`}: ${use}`,
  ]);
  const section = (title: string, rows: readonly [string, string][]) =>
    `${title}:\n${twoColumns(rows, width)}\n`;
  return [
    section('This machine', machine),
    section('Decoders of video, in order of preference', decoding),
    section('GPU, for the backends webgpu and hybrid', rowsOf(['webgpu'], true)),
    `${section('Native backends', rowsOf(OWN_GPU_BACKENDS, false))}${wrap(`Installed libvmaf: ${program}`, width).join('\n')}\n`,
    section('Devices of tiny models, for --tiny-device', devices),
    section('Optional packages', packages),
  ].join('\n');
}

function adapterText(adapter: NonNullable<BackendHealth['adapter']>): string {
  const { vendor, architecture, device, description, software } = adapter;
  const parts = [description, vendor, architecture, device].filter((part) => part !== '');
  return `${parts.join(', ') || 'unnamed GPU'}${software ? '; software, not selected automatically' : ''}`;
}

function healthText(health: BackendHealth | undefined): string {
  if (!health) return 'not tested';
  const { runtime_healthy, latency_ms, score, error } = health;
  if (!runtime_healthy) return `does not work: ${error}`;
  return `works, scored a grey frame ${score?.toFixed(6)} in ${Math.round(latency_ms ?? 0)} ms`;
}

const SETUP = 'anyvmaf setup';

const SETUP_OPTIONS = optionTable({
  Options: {
    '--remove': ['remove the named parts, or all', () => ({ remove: true })],
    ...JSON_OPTION,
    ...HELP_OPTION,
  },
});

const setupPage: HelpText = {
  usage: [`${SETUP} [--json]`, `${SETUP} [--json] ${PART_NAMES.join('|')}...`, `${SETUP} --remove [PART...]`],
  about:
    'Fetches parts that are too large to ship with anyvmaf, so that no command has to ask for them later: npm ' +
    'packages of a pinned version and content, into the cache (ANYVMAF_CACHE). Only the files in use are ' +
    'kept. Without a name it lists the parts. A package that is installed beside anyvmaf takes precedence ' +
    'over a part.',
  sections: {
    Parts: Object.values(PARTS).map(({ name, use }): [string, string] => [name, use]),
    Environment: [
      ['ANYVMAF_INSTALL=auto', 'fetch what is missing without asking'],
      ['ANYVMAF_INSTALL=never', 'fetch only here and with --yes'],
    ],
  },
};

type PartState = ReturnType<typeof stateOf>;

export const setup = command(SETUP, SETUP_OPTIONS, setupPage, async ({ settings, positionals, terminal }) => {
  const { json = false } = settings;
  const names = [...new Set(positionals.map(partName))];
  if (settings.remove) return remove(names, json, terminal);
  return interruptible(async (stop) => {
    const fetched = new Map<PartName, boolean>();
    const onPackage = partsDoor(terminal, false).say;
    for (const name of names) {
      const { installPart } = await import('../../parts/install.js');
      fetched.set(name, (await installPart(name, { signal: stop.signal, onPackage })).fetched);
    }
    const listed = names.length > 0 ? names : PART_NAMES;
    const states = listed.map((name) => stateOf(PARTS[name], fetched.get(name)));
    const text = names.length > 0 ? states.map(fetchedText).join('') : listText(states, terminal.columns);
    await terminal.print(json ? asJson(states) : text);
    return EXIT.ok;
  });
});

function partName(text: string): PartName {
  const name = PART_NAMES.find((known) => known === text);
  if (name) return name;
  const near = nearest(text, PART_NAMES);
  const hint = near === undefined ? `the parts are ${orList(PART_NAMES)}` : `did you mean ${near}?`;
  throw usageError(`there is no part ${quoted(text)}; ${hint}`);
}

async function remove(names: readonly PartName[], json: boolean, terminal: Terminal): Promise<number> {
  const removed: string[] = [];
  for (const name of names.length > 0 ? names : PART_NAMES) removed.push(...(await removePart(name)));
  const text = removed.map((place) => `removed ${place}\n`).join('') || 'nothing to remove\n';
  await terminal.print(json ? asJson({ removed }) : text);
  return EXIT.ok;
}

/** @param fetched undefined if the part was not requested */
function stateOf(part: Part, fetched: boolean | undefined) {
  const { name, use, packages, size } = part;
  return {
    part: name,
    use,
    packages: packages.map(specOf),
    licences: packages.map(({ licence }) => licence),
    /** Bytes to download, and bytes on disk. */
    download: packedSize(part),
    size,
    installed: isHere(part),
    /** The package is installed beside anyvmaf, and is used instead of the part. */
    own: hasPackage(packages[0].name),
    ...(fetched !== undefined && { fetched }),
    place: placeOf(part),
  };
}

function fetchedText({ part, fetched, size, place }: PartState): string {
  return `${part}: ${fetched ? 'fetched' : 'already there'}, ${megabytes(size)}, ${place}\n`;
}

function listText(states: readonly PartState[], columns: number): string {
  const rows = states.map(
    ({ part, use, packages, download, size, installed, own, place }): [string, string] => {
      const sizes = `${megabytes(size)} on disk`;
      const state = installed
        ? `installed, ${sizes}: ${place}`
        : isOffered(PARTS[part])
          ? `not installed; ${megabytes(download)} to fetch, ${sizes}`
          : 'not available for this system';
      const before = own ? ' (not needed: the package is installed beside anyvmaf)' : '';
      return [part, `${use} (${packages.join(', ')}): ${state}${before}`];
    },
  );
  return `Parts; '${SETUP} PART' fetches one:\n\n${twoColumns(rows, helpWidth(columns))}\n`;
}
