/**
 * @module engine/backends/native/probe
 * Probes an installed program on a backend by scoring one grey frame against itself.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { clause } from '../../../core/printable.js';
import { commandArgs } from './command.js';
import { failure, type NativeHost, type NativeOutcome, oneLine, programName } from './host.js';
import { parseLog } from './log.js';
import type {
  BackendHealth,
  DeviceOptions,
  NativeBackend,
  NativeModel,
  NativeProgram,
  NativeTask,
} from './types.js';

/** Pixels. CUDA's ADM gives no score below 36. */
const SIDE = 64;
const GREY = 128;

/** Milliseconds; a GPU compiles its programs first. */
const PROBE_TIME = 20_000;

export const PROBE_MODEL: NativeModel = {
  source: { version: 'vmaf_v0.6.1' },
  name: 'vmaf',
  disableClip: false,
  enableTransform: false,
  overloads: [],
};

export interface ProbeRequest {
  readonly models?: readonly NativeModel[];
  /** Contents of the files that {@link models} name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly devices?: DeviceOptions;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** Probes; errors become the result. @throws the signal's reason */
export async function probeNative(
  host: NativeHost,
  program: NativeProgram,
  backend: NativeBackend,
  { models = [PROBE_MODEL], files, devices = {}, timeout = PROBE_TIME, signal }: ProbeRequest = {},
): Promise<BackendHealth> {
  const raw = program.flavour === 'vmaf';
  const task = probeTask(backend, raw, models, devices);
  let latency: number | null = null;
  const health = { backend, compiled_in: true } as const;
  try {
    const outcome = await host.run({
      path: program.path,
      args: commandArgs(program, task),
      files: { ...files, [task.input.reference]: raw ? greyFrame() : greyY4m() },
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
  raw: boolean,
  models: NativeTask['models'],
  devices: DeviceOptions,
): NativeTask {
  const picture = raw ? 'grey.yuv' : 'grey.y4m';
  return {
    backend,
    input: {
      reference: picture,
      distorted: picture,
      ...(raw && { raw: { width: SIDE, height: SIDE, bitDepth: 8, chroma: '420' } }),
    },
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
  const unhealthy = (problem: string) => new AnyvmafError('backend', `${name} ${problem}.`);
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
  if (score === undefined || missing) {
    throw unhealthy(`returned no finite score "${missing?.name}" for a grey frame`);
  }
  return score;
}

/** The backend that ran, if a log reports another one than requested. */
export function mismatchedBackend(used: string | null, asked: NativeBackend): string | undefined {
  const expected = asked === 'native-cpu' ? 'cpu' : asked;
  return used === null || used === expected ? undefined : used;
}

function greyFrame(): Uint8Array {
  return new Uint8Array((SIDE * SIDE * 3) / 2).fill(GREY);
}

function greyY4m(): Uint8Array {
  const header = new TextEncoder().encode(`YUV4MPEG2 W${SIDE} H${SIDE} F25:1 Ip A1:1 C420jpeg\nFRAME\n`);
  const frame = greyFrame();
  const file = new Uint8Array(header.length + frame.length);
  file.set(header);
  file.set(frame, header.length);
  return file;
}
