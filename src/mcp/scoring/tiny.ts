/**
 * @module mcp/scoring/tiny
 * The parameters of tiny ONNX models, as options of the public API.
 */

import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import type { ScoreOptions } from '../../index.js';
import type { CheckedOptions } from '../checked-api.js';
import type { ScoringInput } from './parameters.js';

/** Parameters that are about a tiny model, with what says the same as leaving them out. */
const NEUTRAL = {
  tiny_device: 'auto',
  dnn_ep: 'auto',
  tiny_threads: 0,
  tiny_fp16: false,
  tiny_precision: 'auto',
  tiny_model_verify: false,
  tiny_codec: undefined,
  tiny_preset: undefined,
  tiny_crf: undefined,
  tiny_resize: 'disabled',
} as const satisfies Partial<Record<keyof ScoringInput, unknown>>;

/**
 * The tiny model of a call.
 * @throws {AnyvmafError} `usage` for parameters that contradict each other, or that need a tiny model
 */
export function tinyModels(input: ScoringInput): Pick<CheckedOptions<ScoreOptions>, 'tiny'> {
  const { tiny_model: model, tiny_device: device, dnn_ep: alias } = input;
  if (input.no_reference && model === undefined) {
    throw usageError('no_reference requires tiny_model; no classic NR scorer exists');
  }
  if (alias !== undefined && device !== 'auto' && alias !== device) {
    throw usageError(
      `tiny_device is ${device} and dnn_ep is ${alias}, but they are two names of one parameter; give one.`,
    );
  }
  if (model === undefined) {
    refuseWithout(input);
    return {};
  }
  const { tiny_threads: threads, tiny_codec: codec, tiny_preset: preset, tiny_crf: crf } = input;
  const tiny = {
    model: model.text,
    device: device === 'auto' ? (alias ?? 'auto') : device,
    ...(threads !== undefined && { threads }),
    fp16: input.tiny_fp16,
    precision: input.tiny_precision,
    verify: input.tiny_model_verify,
    ...(codec !== undefined && { codec }),
    ...(preset !== undefined && { preset }),
    ...(crf !== undefined && { crf }),
    resize: input.tiny_resize,
  };
  return { tiny: [tiny] };
}

function refuseWithout(input: ScoringInput): void {
  for (const [name, neutral] of entries(NEUTRAL)) {
    const value = input[name];
    if (value === undefined || value === neutral) continue;
    throw usageError(
      `${name} is ${showValue(value)}, but it is about a tiny model and none is given; add tiny_model.`,
    );
  }
}

function entries<T extends object>(table: T): [keyof T, T[keyof T]][] {
  const keys: (keyof T)[] = [];
  for (const key in table) keys.push(key);
  return keys.map((key) => [key, table[key]]);
}
