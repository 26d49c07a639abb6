/**
 * @module media/preflight/model
 * Findings about models made for another screen or viewing distance.
 */
import { displayAspect, formatSize, screenSize } from '../../core/size.js';
import { finding, rounded } from './text.js';
import type { Finding, Hint, ModelInUse, PreflightContext, SideFacts } from './types.js';

/** Long sides in samples: from this on pictures are for 4k screens, below {@link HD_UP_TO} for others. */
const UHD_FROM = 3200;
const HD_UP_TO = 2560;

/** Players enlarge pictures with a shorter short side (in samples). */
const SMALL = 700;

/** Viewing distance in screen heights of models whose names do not state it. */
const HD_DISTANCE = 3;
const UHD_DISTANCE = 1.5;

/** Relative difference of distances to ignore. */
const SAME_DISTANCE = 0.1;

const AUTO: Hint = { purpose: 'fix', option: 'model', value: 'auto' };

export function* modelFindings(
  reference: SideFacts,
  distorted: SideFacts,
  context: PreflightContext,
): Generator<Finding> {
  const { models = [{ name: 'vmaf_v0.6.1' }], comparedSize = reference, viewingDistance } = context;
  const known = models.filter(({ name }) => /vmaf_/i.test(name));
  const values = [formatSize(reference), formatSize(distorted)] as const;
  const long = Math.max(comparedSize.width, comparedSize.height);
  const short = Math.min(comparedSize.width, comparedSize.height);
  const compared = formatSize(comparedSize);
  const [uhd, hd] = [known.filter(isUhd), known.filter((model) => !isUhd(model))];
  // Models for both sizes may run.
  if (hd.length > 0 && uhd.length === 0 && long >= UHD_FROM) {
    yield finding(
      'model-size',
      'warning',
      `${names(hd)} is for 1080p, but ${compared} is compared; from three screen heights, its viewing distance, 4K details ` +
        'vanish, so the score is not that of a 4K viewer.',
      values,
      AUTO,
    );
  }
  if (uhd.length > 0 && hd.length === 0 && long < HD_UP_TO) {
    yield finding(
      'model-size',
      'warning',
      `${names(uhd)} is for 2160p seen from ${inWords(uhd)}, but only ${compared} is compared; the score is not that ` +
        'of its viewers.',
      values,
      AUTO,
    );
  }
  if (hd.length > 0 && short < SMALL) {
    yield finding(
      'viewing-distance',
      'info',
      `${names(hd)} scores ${compared} as seen from three times the height of so small a picture; players usually scale it ` +
        'up to the whole screen, where artifacts are more visible than the score says.',
      values,
      { purpose: 'fix', option: 'scaleTo', value: screenSize(displayAspect(reference)) },
    );
  }
  for (const model of known) {
    const made = distanceOf(model);
    const asked = model.viewingDistance ?? viewingDistance;
    if (asked === undefined || Math.abs(asked / made - 1) < SAME_DISTANCE) continue;
    yield finding(
      'viewing-distance',
      'warning',
      `${model.name} is for a viewing distance of ${made} screen heights, but ${rounded(asked, 2)} was requested.`,
      values,
      modelFor(asked),
    );
  }
}

function isUhd({ name }: ModelInUse): boolean {
  return /4k|_2160/i.test(name);
}

/** Viewing distance in screen heights; VMAF v1 states it in the name: `1d5h` is 1.5. */
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

function modelFor(asked: number): Hint | undefined {
  const name = ['vmaf_4k_v0.6.1', 'vmaf_v0.6.1'].find(
    (version) => Math.abs(asked / distanceOf({ name: version }) - 1) < SAME_DISTANCE,
  );
  return name === undefined ? undefined : { purpose: 'fix', option: 'model', value: `version=${name}` };
}
