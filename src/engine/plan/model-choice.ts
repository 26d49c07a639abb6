/**
 * @module engine/plan/model-choice
 * Resolves `auto` in model strings to the model for HD or for 4K screens by the scored size.
 */
import type { PictureSize } from '../../core/size.js';

/** A chosen built-in model with the reason. */
export interface ModelChoice {
  readonly version: string;
  /** A full sentence. */
  readonly reason: string;
}

/** Longest and shortest side of pictures that are nearer to 1920x1080 than to 3840x2160. */
const HD_LIMIT = { long: 2560, short: 1440 };

/** Whether a model string is `auto`, alone or with flags and overloads after it. */
export function isOpen(text: string): boolean {
  return text === 'auto' || text.startsWith('auto:');
}

/** The model string with `auto` resolved; others unchanged. */
export function settle(text: string, { version }: ModelChoice): string {
  return isOpen(text) ? `version=${version}${text.slice('auto'.length)}` : text;
}

/** The model trained for screens of about this size. */
export function chooseModel({ width, height }: PictureSize): ModelChoice {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const size = `${width}x${height}`;
  if (long > HD_LIMIT.long || short > HD_LIMIT.short) {
    return {
      version: 'vmaf_4k_v0.6.1',
      reason: `${size} is nearer to 4K than to HD: vmaf_4k_v0.6.1, for a 4K screen at 1.5 screen heights.`,
    };
  }
  return {
    version: 'vmaf_v0.6.1',
    reason: `${size} is at most ${HD_LIMIT.long}x${HD_LIMIT.short}: vmaf_v0.6.1, for an HD screen at 3 screen heights.`,
  };
}
