/**
 * @module mcp/scoring/refusals
 * Says no, in a sentence, to parameters that the reference has and this build cannot honour.
 */
import { AnyvmafError } from '../../index.js';
import type { ScoringInput } from './parameters.js';

/** Parameters whose default is not simply absence. */
const TINY_DEFAULTS = {
  tiny_model: undefined,
  tiny_device: 'auto',
  dnn_ep: undefined,
  tiny_threads: undefined,
  tiny_fp16: false,
  tiny_model_verify: false,
  tiny_codec: undefined,
  tiny_preset: undefined,
  tiny_crf: undefined,
  tiny_resize: 'disabled',
  no_reference: false,
} as const satisfies Partial<Record<keyof ScoringInput, unknown>>;

/** Values of those without a default that say the same as none. */
const MEANS_DEFAULT: Partial<Record<keyof typeof TINY_DEFAULTS, unknown>> = {
  tiny_threads: 0,
  dnn_ep: 'auto',
};

/**
 * Refuses what cannot be done, so that nobody takes a score for what it is not.
 * @throws {AnyvmafError} `usage`, naming the parameter, its value and what to do
 */
export function refuseUnavailable(input: ScoringInput): void {
  refuseTiny(input);
  refusePresets(input);
  refuseTarget(input);
  refuseDevices(input);
}

function refuseTiny(input: ScoringInput): void {
  if (input.no_reference && input.tiny_model === undefined) {
    throw usage('no_reference requires tiny_model; no classic NR scorer exists');
  }
  const { tiny_device: device, dnn_ep: alias } = input;
  if (alias !== undefined && device !== 'auto' && alias !== device) {
    throw usage(
      `tiny_device is ${device} and dnn_ep is ${alias}, but they are two names of one parameter; give one.`,
    );
  }
  for (const [name, byDefault] of entries(TINY_DEFAULTS)) {
    const value = input[name];
    if (value === byDefault || MEANS_DEFAULT[name] === value) continue;
    throw usage(
      `${name} is ${JSON.stringify(value)}, but this build has no tiny ONNX models; leave out ${name} and score with model.`,
    );
  }
}

function refusePresets(input: ScoringInput): void {
  for (const name of ['aom_ctc', 'nflx_ctc'] as const) {
    const value = input[name];
    if (value === undefined) continue;
    const other = (['feature', 'aom_ctc', 'nflx_ctc'] as const).find(
      (candidate) => candidate !== name && input[candidate] !== undefined,
    );
    if (other) {
      throw usage(
        `${name} and ${other} exclude each other: a preset is a fixed set of models and features; give one.`,
      );
    }
    throw usage(
      `${name} is ${value}, but this build lacks some of the features of that preset, so it cannot be run; ` +
        'name models and features one by one.',
    );
  }
}

function refuseTarget(input: ScoringInput): void {
  const { target_width: width, target_height: height, target_scaling: scaling } = input;
  if (width === 0 && height === 0 && scaling === 'none') return;
  throw usage(
    `A target of ${width}x${height}, ${scaling}, was asked for, but target_width, target_height and target_scaling are ` +
      'reserved; leave them out. vmaf_score_encoded scales with scale and scale_to.',
  );
}

function refuseDevices(input: ScoringInput): void {
  const { cpumask = 0, backend, native_cpu: native } = input;
  if (native && backend !== 'cpu') {
    throw usage(`native_cpu goes with backend cpu only, but backend is ${backend}; set backend to cpu.`);
  }
  if (cpumask !== 0 && !native && (backend === 'auto' || backend === 'cpu')) {
    throw usage(
      `cpumask is ${cpumask}, but the built-in core has one instruction set, WebAssembly SIMD, and the same result on ` +
        'every machine; leave out cpumask, or ask for an installed libvmaf with native_cpu and backend cpu.',
    );
  }
  for (const of of ['sycl', 'hip', 'metal'] as const) {
    const name = `${of}_device` as const;
    const value = input[name] ?? 0;
    if (value === 0 || backend === of) continue;
    throw usage(
      `${name} is ${value}, but backend is ${backend}; set backend to ${of}, or leave out ${name}.`,
    );
  }
}

function usage(message: string): AnyvmafError {
  return new AnyvmafError('usage', message);
}

function entries<T extends object>(object: T): [keyof T, T[keyof T]][] {
  const keys: (keyof T)[] = [];
  for (const key in object) keys.push(key);
  return keys.map((key) => [key, object[key]]);
}
