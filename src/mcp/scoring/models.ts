/**
 * @module mcp/scoring/models
 * Model strings of a call: allowed files, flags and viewing conditions put in, and the warning of a model that is meant
 * for other pictures.
 */

import { quoted } from '../../core/printable.js';
import { AnyvmafError, type Report } from '../../index.js';
import type { ToolFiles } from '../context.js';
import { DEFAULT_MODEL, type ScoringInput } from './parameters.js';

type ModelInput = Pick<
  ScoringInput,
  'model' | 'models' | 'disable_clip' | 'enable_transform' | 'view_distance' | 'display_height'
>;

/**
 * The model strings to score with.
 * @throws {AnyvmafError} `usage` when both model and models say something; `io` for a file that is not allowed
 */
export async function modelStrings(input: ModelInput, files: ToolFiles): Promise<readonly string[]> {
  const { model, models } = input;
  if (models !== undefined && model !== DEFAULT_MODEL) {
    throw new AnyvmafError(
      'usage',
      `model is ${quoted(model)} and models has ${models.length} more, but they exclude each other; put all into models.`,
    );
  }
  const suffix = modelSuffix(input);
  const texts: string[] = [];
  for (const text of models ?? [model]) texts.push((await allowedModel(text, files)) + suffix);
  return texts;
}

function modelSuffix(input: ModelInput): string {
  const { view_distance: distance, display_height: height } = input;
  return [
    input.disable_clip ? ':disable_clip' : '',
    input.enable_transform ? ':enable_transform' : '',
    distance === undefined ? '' : `:adm.adm_norm_view_dist=${distance}`,
    height === undefined ? '' : `:adm.adm_ref_display_height=${height}`,
  ].join('');
}

/** Files that ship with the package, as list_models names them, need no permission. */
const BUILT_IN = /^model\/([\w.-]+)\.json$/;

/** The model string with its file, where it names one, replaced by the real path of an allowed file. */
export async function allowedModel(text: string, files: ToolFiles): Promise<string> {
  const items = text.split(':');
  // The grammar takes the last of a repeated item, and version before path; a path that does not count is checked too.
  const allowed: string[] = [];
  for (const item of items) {
    if (!item.startsWith('path=')) {
      allowed.push(item);
      continue;
    }
    const path = item.slice('path='.length);
    const builtIn = BUILT_IN.exec(path);
    allowed.push(builtIn ? `version=${builtIn[1]}` : `path=${grammatical(await files.resolveInput(path))}`);
  }
  return allowed.join(':');
}

/**
 * The path, if a model string can say it: libvmaf has no way to write a colon or an equals sign in one.
 * @throws {AnyvmafError} `usage`
 */
export function grammatical(path: string): string {
  if (!/[:=]/.test(path)) return path;
  throw new AnyvmafError(
    'usage',
    `The model file ${quoted(path)} has a colon or an equals sign in its path, which a model string cannot say; rename it.`,
  );
}

/** Which pictures a model is for, by what stands in its name; the first that fits. */
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

/** How to score small pictures as they are watched. */
function scaledUp({ reference, distorted }: Report): string {
  const raw = [reference, distorted].some(({ container }) => container === 'yuv');
  return (
    `score them at the size at which they are watched, with scale_to: "1920x1080" of vmaf_score_encoded` +
    (raw ? ', once ffmpeg has written them as Y4M: it takes no raw video' : '')
  );
}

/**
 * What to tell of models that are meant for pictures of another class than those scored; `undefined` where all fit, and
 * for models of which nothing is known.
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
