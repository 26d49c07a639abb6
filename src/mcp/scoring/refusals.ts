/**
 * @module mcp/scoring/refusals
 * Says no, in a sentence, to parameters that the reference has and this build cannot honour.
 */
import { OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { listExtractors, type ScoreOptions } from '../../index.js';
import { DEFAULT_MODEL, type ScoringInput } from './parameters.js';

/**
 * Refuses parameters that cannot be honoured, so that no score is mistaken for another.
 * @throws {AnyvmafError} `usage`, naming the parameter, its value and what to do
 */
export function refuseUnavailable(input: ScoringInput): void {
  refuseWithPresets(input);
  refuseTarget(input);
  refuseDevices(input);
}

/**
 * Refuses feature and model strings that write files: these tools answer with results, not files.
 * @throws {AnyvmafError} `usage`
 */
export function refuseWriting({
  features = [],
  models = [],
}: Pick<ScoreOptions, 'features' | 'models'>): void {
  const texts = [...features, ...models];
  for (const { options } of listExtractors()) {
    for (const { name, type } of options) {
      if (type !== 'folder' || !texts.some((text) => new RegExp(`[=:.]${name}=`).test(text))) continue;
      throw usageError(
        `${name} asks for files to be written on the machine of this server, which its tools never do; leave it out, ` +
          'or run anyvmaf on the command line with it.',
      );
    }
  }
}

/** A preset is a fixed set: parameters that add to it or change its models would break what its name promises. */
function refuseWithPresets(input: ScoringInput): void {
  const [name, second] = (['aom_ctc', 'nflx_ctc'] as const).filter((preset) => input[preset] !== undefined);
  if (name === undefined) return;
  const extras: readonly [string, boolean][] = [
    ['nflx_ctc', second !== undefined],
    ['feature', input.feature !== undefined],
    ['model', input.model.named !== DEFAULT_MODEL],
    ['models', input.models !== undefined],
    ['disable_clip', input.disable_clip],
    ['enable_transform', input.enable_transform],
    ['view_distance', input.view_distance !== undefined],
    ['display_height', input.display_height !== undefined],
  ];
  const other = extras.find(([, there]) => there)?.[0];
  if (other === undefined) return;
  throw usageError(
    `${name} and ${other} exclude each other: a preset is a fixed set of models and features; give one of them.`,
  );
}

function refuseTarget(input: ScoringInput): void {
  const { target_width: width, target_height: height, target_scaling: scaling } = input;
  if (width === 0 && height === 0 && scaling === 'none') return;
  throw usageError(
    `A target of ${width}x${height}, ${scaling}, was asked for, but target_width, target_height and target_scaling are ` +
      'reserved; leave them out. vmaf_score_encoded scales with scale and scale_to.',
  );
}

function refuseDevices(input: ScoringInput): void {
  const { cpumask = 0, backend, native_cpu: native } = input;
  if (native && backend !== 'cpu') {
    throw usageError(`native_cpu goes with backend cpu only, but backend is ${backend}; set backend to cpu.`);
  }
  if (cpumask !== 0 && !native && ['auto', 'cpu', ...OWN_GPU_BACKENDS].includes(backend)) {
    throw usageError(
      `cpumask is ${cpumask}, but the built-in core has one instruction set, WebAssembly SIMD, and the same result on ` +
        'every machine; leave out cpumask, or ask for an installed libvmaf with native_cpu and backend cpu.',
    );
  }
  for (const of of ['sycl', 'hip', 'metal'] as const) {
    const name = `${of}_device` as const;
    const value = input[name] ?? 0;
    if (value === 0 || backend === of) continue;
    throw usageError(
      `${name} is ${value}, but backend is ${backend}; set backend to ${of}, or leave out ${name}.`,
    );
  }
}
