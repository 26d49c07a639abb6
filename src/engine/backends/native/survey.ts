/**
 * @module engine/backends/native/survey
 * Finds installed programs that contain libvmaf: queries versions and options, caches answers by file, and probes backends
 * by scoring a grey frame against itself.
 */
import { type SharedWorks, shareWork } from '../../../core/abort.js';
import { joinBytes } from '../../../core/bytes.js';
import { GPU_BACKENDS, type NativeFlavour } from '../../../core/choices.js';
import { AnyvmafError, backendError } from '../../../core/errors.js';
import { y4mHeader } from '../../../core/frame.js';
import { clause } from '../../../core/printable.js';
import { commandArgs, parseLog } from './command.js';
import type {
  BackendHealth,
  BuildFlags,
  Candidate,
  DeviceOptions,
  NativeBackend,
  NativeHost,
  NativeJob,
  NativeModel,
  NativeOptions,
  NativeOutcome,
  NativeProgram,
  NativeTask,
} from './types.js';
import { failure, oneLine, programName } from './types.js';

/** Time limit of a query in milliseconds. */
const ANSWER_TIME = 5000;

export interface Rejected extends Pick<Candidate, 'path' | 'from'> {
  /** A sentence without its full stop. */
  readonly problem: string;
}

export interface Survey {
  /** Usable programs in order of preference. */
  readonly programs: readonly NativeProgram[];
  readonly rejected: readonly Rejected[];
}

type Identity = { readonly program: NativeProgram } | { readonly problem: string };

/** Answers of programs by their files. */
const known = new WeakMap<NativeHost, SharedWorks<Identity>>();

/** @param kinds `vmaf` searches for libvmaf's own tool only @throws the signal's reason */
export async function survey(
  host: NativeHost,
  { vmafBin, signal }: NativeOptions,
  kinds: 'vmaf' | 'all' = 'all',
): Promise<Survey> {
  const candidates = [
    ...host.candidates('vmaf', vmafBin),
    // If the caller names a program, do not search for others.
    ...(kinds === 'all' && vmafBin === undefined ? host.candidates('ffmpeg') : []),
  ];
  const found = await Promise.all(candidates.map((candidate) => identify(host, candidate, signal)));
  const programs: NativeProgram[] = [];
  const rejected: Rejected[] = [];
  for (const [i, identity] of found.entries()) {
    const { path = '', from = '' } = candidates[i] ?? {};
    if ('program' in identity) programs.push(identity.program);
    else rejected.push({ path, from, problem: identity.problem });
  }
  return { programs, rejected };
}

async function identify(host: NativeHost, candidate: Candidate, signal?: AbortSignal): Promise<Identity> {
  const { key, path, problem } = candidate;
  if (key === undefined) return { problem: `${oneLine(path)} ${problem ?? 'cannot run'}` };
  signal?.throwIfAborted();
  const answers = known.get(host) ?? new Map();
  known.set(host, answers);
  return shareWork(answers, key, signal, (stop) => ask(host, path, key, stop));
}

async function ask(host: NativeHost, path: string, key: string, signal: AbortSignal): Promise<Identity> {
  const run = (...args: string[]) => host.run({ path, args, timeout: ANSWER_TIME, signal });
  const help = await run('--help');
  const text = outputText(help);
  const flavour = flavourOf(text);
  if (flavour === 'vmaf') {
    const options = vmafOptions(text);
    const answer = await run('--version');
    const version = failure(answer) === undefined ? vmafVersion(outputText(answer)) : null;
    return { program: { flavour, path, key, options, version, build_flags: buildFlags(options) } };
  }
  if (flavour) {
    const filter = await run('-hide_banner', '-h', 'filter=libvmaf');
    const options = filterOptions(outputText(filter));
    const name = programName({ flavour, path });
    if (!options) return { problem: `${name} was built without the libvmaf filter` };
    if (!options.has('model')) {
      return {
        problem: `the libvmaf filter of ${name} belongs to ffmpeg older than 5.0, which cannot load models by name`,
      };
    }
    const version = ffmpegVersion(text);
    return { program: { flavour, path, key, options, version, build_flags: buildFlags(new Set()) } };
  }
  // The tool prints its help and exits with an error.
  if (help.kind !== 'ended' || help.signal !== null) return { problem: `${oneLine(path)} ${failure(help)}` };
  const found = text.trim() === '' ? 'empty' : `"${oneLine(text, 80)}"`;
  return {
    problem: `${oneLine(path)} is neither vmaf nor an ffmpeg with the libvmaf filter: its help text is ${found}`,
  };
}

const outputText = ({ stdout, stderr }: NativeOutcome): string => `${stdout}\n${stderr}`;

export const NO_BACKENDS: BuildFlags = { cpu: false, cuda: false, sycl: false, hip: false, metal: false };

export function flavourOf(help: string): NativeFlavour | undefined {
  if (/^[ \t]*--reference\b/m.test(help) && /^[ \t]*--distorted\b/m.test(help)) return 'vmaf';
  const banner = /^(ffmpeg|ffprobe) version /m.exec(help);
  return banner?.[1] === 'ffmpeg' || banner?.[1] === 'ffprobe' ? banner[1] : undefined;
}

/** Long options in the help of `vmaf`, without leading dashes; dashes become underscores. */
export function vmafOptions(help: string): ReadonlySet<string> {
  const named = [...help.matchAll(/(?:^|[\s,/|[(])--([a-z][a-z0-9_-]*)/gim)];
  return new Set(named.map(([, name = '']) => name.replaceAll('-', '_')));
}

/** A backend is compiled in if there is an option to disable it. */
export function buildFlags(options: ReadonlySet<string>): BuildFlags {
  const gpus = GPU_BACKENDS.map((backend) => [backend, options.has(`no_${backend}`)] as const);
  return { ...NO_BACKENDS, cpu: true, ...Object.fromEntries(gpus) };
}

/** The version in the output of `--version`: a number or a commit hash; `null` if none. */
export function vmafVersion(text: string): string | null {
  for (const line of text.split('\n')) {
    const match = /^(?:vmaf\s+)?(?:version\s+)?v?(\d+\.\d+[\w.+-]*|[0-9a-f]{7,40})$/i.exec(line.trim());
    if (match?.[1]) return match[1];
  }
  return null;
}

export function ffmpegVersion(text: string): string | null {
  return /^(?:ffmpeg|ffprobe) version (\S+)/m.exec(text)?.[1] ?? null;
}

/** Options of the libvmaf filter in the output of `-h filter=libvmaf`; `undefined` without the filter. */
export function filterOptions(text: string): ReadonlySet<string> | undefined {
  if (!/^Filter libvmaf\s*$/m.test(text)) return undefined;
  const named = [...text.matchAll(/^[ \t]+([a-z_]+)[ \t]+<(?:string|int|boolean|float|double)>/gm)];
  return new Set(named.map(([, name = '']) => name));
}

/** The two leading numbers of a version; `undefined` for a commit. */
export function release(version: string | null | undefined): readonly [number, number] | undefined {
  const match = /^[nv]?(\d+)\.(\d+)/.exec(version ?? '');
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

/** Pixels. CUDA's ADM returns no score below 36. */
const SIDE = 64;
/** Pixels for other models: CAMBI needs 216, and SpEED 80 in chroma, which a VMAF v1 model halves once more. */
const MODEL_SIDE = 320;
const GREY = 128;
export const GREY_FORMAT = greyOf(SIDE);

function greyOf(side: number) {
  return { width: side, height: side, bitDepth: 8, chroma: '420' } as const;
}

type Grey = ReturnType<typeof greyOf>;

/** Milliseconds, enough for a GPU to compile its programs. */
const PROBE_TIME = 20_000;

export const PROBE_MODEL: NativeModel = {
  source: { version: 'vmaf_v0.6.1' },
  name: 'vmaf',
  disableClip: false,
  enableTransform: false,
  overloads: [],
};

export interface ProbeRequest extends Pick<NativeJob, 'timeout' | 'signal'> {
  readonly models?: readonly NativeModel[];
  /** Contents of the files that {@link models} name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly devices?: DeviceOptions;
}

/** Probes a backend; returns errors as results. @throws the signal's reason */
export async function probeNative(
  host: NativeHost,
  program: NativeProgram,
  backend: NativeBackend,
  { models: named, files, devices = {}, timeout = PROBE_TIME, signal }: ProbeRequest = {},
): Promise<BackendHealth> {
  const raw = program.flavour === 'vmaf';
  const models = named ?? [PROBE_MODEL];
  const format = named ? greyOf(MODEL_SIDE) : GREY_FORMAT;
  const task = probeTask(backend, raw && format, models, devices);
  let latency: number | null = null;
  const health = { backend, compiled_in: true } as const;
  try {
    const outcome = await host.run({
      path: program.path,
      args: commandArgs(program, task),
      files: { ...files, [task.input.reference]: raw ? greyFrame(format) : greyY4m(format) },
      output: task.log,
      timeout,
      signal,
    });
    latency = outcome.kind === 'unstartable' ? null : outcome.time;
    const score = probeScore(outcome, program, backend, models);
    return { ...health, runtime_healthy: true, latency_ms: latency, score, error: null };
  } catch (error) {
    if (signal?.aborted || !(error instanceof AnyvmafError)) throw error;
    const problem = `${clause(error.message)}.`;
    return { ...health, runtime_healthy: false, latency_ms: latency, score: null, error: problem };
  }
}

function probeTask(
  backend: NativeBackend,
  raw: Grey | false,
  models: NativeTask['models'],
  devices: DeviceOptions,
): NativeTask {
  const picture = raw ? 'grey.yuv' : 'grey.y4m';
  return {
    backend,
    input: { reference: picture, distorted: picture, ...(raw && { raw }) },
    models,
    features: [],
    predicts: true,
    subsample: 1,
    threads: 0,
    devices,
    log: 'log.json',
  };
}

/** Returns the first model's score. @throws {AnyvmafError} `backend` with the problem */
function probeScore(
  outcome: NativeOutcome,
  program: NativeProgram,
  backend: NativeBackend,
  models: NativeTask['models'],
): number {
  const name = programName(program);
  const unhealthy = (problem: string) => backendError(`${name} ${problem}.`);
  const failed = failure(outcome);
  if (failed !== undefined) throw unhealthy(failed);
  if (outcome.output === undefined) {
    const words = oneLine(outcome.stderr || outcome.stdout, 120);
    throw unhealthy(`succeeded but wrote no log${words === '' ? '' : `; it printed "${words}"`}`);
  }
  const found = parseLog(outcome.output, name);
  const ran = mismatchedBackend(found.backendUsed, backend);
  if (ran !== undefined) throw unhealthy(`ran on ${ran} instead of ${backend}`);
  const scores = models.map((model) => found.series.find(({ name }) => name === model.name)?.values[0]);
  const [score] = scores;
  const missing = models.find((_, i) => !Number.isFinite(scores[i]));
  if (score === undefined || missing)
    throw unhealthy(`returned no finite score "${missing?.name}" for a grey frame`);
  return score;
}

/** The backend that ran, if the log reports another one than requested. */
export function mismatchedBackend(used: string | null, requested: NativeBackend): string | undefined {
  const expected = requested === 'native-cpu' ? 'cpu' : requested;
  return used === null || used === expected ? undefined : used;
}

export function greyFrame({ width, height }: Grey = GREY_FORMAT): Uint8Array {
  return new Uint8Array((width * height * 3) / 2).fill(GREY);
}

function greyY4m(format: Grey): Uint8Array {
  return joinBytes([new TextEncoder().encode(`${y4mHeader(format)}FRAME\n`), greyFrame(format)]);
}
