/**
 * @module mcp/scoring/models
 * Model strings of a call with its flags and viewing conditions, and the warning of a model that is meant for other
 * pictures.
 */

import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { isSize, screenSize } from '../../core/size.js';
import type { Report } from '../../index.js';
import type { CheckedModel } from '../paths.js';
import { DEFAULT_MODEL, type ScoringInput } from './parameters.js';

type ModelInput = Pick<
  ScoringInput,
  'model' | 'models' | 'disable_clip' | 'enable_transform' | 'view_distance' | 'display_height'
>;

/**
 * The model strings to score with.
 * @throws {AnyvmafError} `usage` when both model and models are given
 */
export function modelTexts(input: ModelInput): readonly CheckedModel[] {
  const { model, models } = input;
  if (models !== undefined && model.named !== DEFAULT_MODEL) {
    throw usageError(
      `model is ${quoted(model.named)} and models has ${models.length} more, but they exclude each other; put all into models.`,
    );
  }
  const suffix = modelSuffix(input);
  // The suffix names no file.
  return (models ?? [model]).map(({ text }) => `${text}${suffix}` as CheckedModel);
}

function modelSuffix(input: ModelInput): string {
  return [
    input.disable_clip ? ':disable_clip' : '',
    input.enable_transform ? ':enable_transform' : '',
    ...viewingOptions(input).map((option) => `:adm.${option}`),
  ].join('');
}

/** The viewing conditions of a call as options of adm. */
export function viewingOptions({
  view_distance: distance,
  display_height: height,
}: Pick<ScoringInput, 'view_distance' | 'display_height'>): readonly string[] {
  return [
    ...(distance === undefined ? [] : [`adm_norm_view_dist=${distance}`]),
    ...(height === undefined ? [] : [`adm_ref_display_height=${height}`]),
  ];
}

/** The pictures that a model is for, by its name; the first pattern that matches. */
const PRESETS = [
  ['vmaf_float_4k', '4k'],
  ['vmaf_float_', 'hd'],
  ['vmaf_v1.0.16_1d5h_2160', '4k'],
  ['vmaf_v1.0.16_3d0h_2160', '4k'],
  ['vmaf_v1.0.16_hfr_1d5h_2160', '4k'],
  ['vmaf_v1.0.16_hfr_3d0h_2160', '4k'],
  ['vmaf_v1.0.16', 'hd'],
  ['vmaf_4k', '4k'],
  ['vmaf_v0.6.1neg', 'hd'],
  ['vmaf_v0.6.1', 'hd'],
  ['vmaf_b_v0.6.3', 'hd'],
] as const;

/** How to score small pictures at the size of a screen, preferably as preflight advises, which knows the samples' shape. */
function scaledUp({ reference, distorted, preflight = [] }: Report): string {
  const raw = [reference, distorted].some(({ container }) => container === 'yuv');
  const advised = preflight.flatMap(({ hint }) =>
    hint?.option === 'scaleTo' && isSize(hint.value) ? hint.value : [],
  )[0];
  const { width, height } = advised ?? screenSize(reference.width / reference.height);
  return (
    `score them at the size at which they are watched, with scale_to: "${width}x${height}" of vmaf_score_encoded` +
    (raw ? ', once ffmpeg has written them as Y4M: it takes no raw video' : '')
  );
}

/**
 * A warning about models that are meant for pictures of another class than those scored; `undefined` if all fit or are
 * unknown.
 * @param models versions or paths; default: those of the report
 */
export function mismatchedModelWarning(
  report: Report,
  models: readonly string[] = report.models.map(({ source }) => source),
): string | undefined {
  const { width, height } = report.pairing ?? report.reference;
  const edge = Math.max(width, height);
  const source = edge >= 3840 ? '4k' : edge >= 1280 ? 'hd' : 'sd';
  const sentences = models.flatMap((name) => {
    const [, preset] = PRESETS.find(([part]) => name.includes(part)) ?? [];
    if (preset === undefined || preset === source) return [];
    const advice =
      source === '4k'
        ? 'use version=vmaf_4k_v0.6.1'
        : source === 'hd'
          ? 'use version=vmaf_v0.6.1'
          : scaledUp(report);
    return [
      `Model ${name} is meant for ${preset} pictures, but these are ${width}x${height}, which is ${source}: ` +
        `scores do not mean what the model's name promises; ${advice}.`,
    ];
  });
  return sentences.length === 0 ? undefined : sentences.join(' ');
}
