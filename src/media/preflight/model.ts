/**
 * @module media/preflight/model
 * Findings about a model that was made for another screen or another viewer.
 */
import { dimensions, finding, rounded } from './text.js';
import type { Finding, ModelInUse, PreflightContext, SideFacts } from './types.js';

/** Long side in samples from which pictures are made for 4k screens; below {@link HD_UP_TO} they are not. */
const UHD_FROM = 3200;
const HD_UP_TO = 2560;

/** Short side in samples below which pictures are made to be scaled up by the player. */
const SMALL = 700;

/** Screen heights between viewer and screen, as the models assume whose names do not say it. */
const HD_DISTANCE = 3;
const UHD_DISTANCE = 1.5;

/** Findings about models against the size that is compared, and the distance from which it is seen. */
export function* modelFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const { models = [{ name: 'vmaf_v0.6.1' }], comparedSize = reference, viewingDistance } = context;
  const known = models.filter(({ name }) => /vmaf_/i.test(name));
  const values = [dimensions(reference), dimensions(distorted)] as const;
  const long = Math.max(comparedSize.width, comparedSize.height);
  const short = Math.min(comparedSize.width, comparedSize.height);
  const compared = dimensions(comparedSize);
  const [uhd, hd] = [known.filter(isUhd), known.filter((model) => !isUhd(model))];
  // Who asks for both sees both.
  if (hd.length > 0 && uhd.length === 0 && long >= UHD_FROM) {
    yield finding(
      'model-size',
      'warning',
      `${names(hd)} is for 1080p, but ${compared} is compared; seen from three heights of such a screen its details ` +
        'vanish, and the score is not what a 4k viewer would give.',
      values,
      '--model auto',
    );
  }
  if (uhd.length > 0 && hd.length === 0 && long < HD_UP_TO) {
    yield finding(
      'model-size',
      'warning',
      `${names(uhd)} is for 2160p seen from ${inWords(uhd)}, but only ${compared} is compared; the score is not what ` +
        'its viewers would give.',
      values,
      '--model auto',
    );
  }
  if (hd.length > 0 && short < SMALL) {
    yield finding(
      'viewing-distance',
      'info',
      `${compared} is scored by ${names(hd)} as if seen from three heights of so small a picture; scaled up to a ` +
        'whole screen, as it usually is, its faults show more than the score says.',
      values,
      `--scale-to ${screenSize(comparedSize)}`,
    );
  }
  for (const model of known) {
    const made = distanceOf(model);
    const asked = model.viewingDistance ?? viewingDistance;
    if (asked === undefined || Math.abs(asked / made - 1) < 0.1) continue;
    yield finding(
      'viewing-distance',
      'warning',
      `${model.name} was made for a viewer at ${made} screen heights, but ${rounded(asked, 2)} are asked for.`,
      values,
      asked < 2.25 ? '--model version=vmaf_4k_v0.6.1' : '--model version=vmaf_v0.6.1',
    );
  }
}

function isUhd({ name }: ModelInUse): boolean {
  return /4k|_2160/i.test(name);
}

/** Screen heights that a model was made for; names of VMAF v1 say them: `1d5h` is 1.5. */
function distanceOf(model: ModelInUse): number {
  const [, whole, tenths] = /_(\d)d(\d)h/.exec(model.name) ?? [];
  if (whole !== undefined) return Number(`${whole}.${tenths}`);
  return isUhd(model) ? UHD_DISTANCE : HD_DISTANCE;
}

function inWords(models: readonly ModelInUse[]): string {
  return models.every((model) => distanceOf(model) === HD_DISTANCE)
    ? 'three screen heights'
    : 'one and a half screen heights';
}

function names(models: readonly ModelInUse[]): string {
  return models.map(({ name }) => name).join(', ');
}

/** The size with a short side of 1080 and the same shape. */
function screenSize({ width, height }: { readonly width: number; readonly height: number }): string {
  const factor = 1080 / Math.min(width, height);
  const even = (value: number) => 2 * Math.round((value * factor) / 2);
  return dimensions({ width: even(width), height: even(height) });
}
