/**
 * @module web/engine/alone
 * Scores videos against a reference, or each by itself where there is none.
 */
import { AnyvmafError, type ScoreManyOptions, score, scoreMany } from 'anyvmaf';

/**
 * As the library's `scoreMany`; without a reference one video after the other.
 * @throws {AnyvmafError} as the library's `score`
 */
export async function scoreAll(
  reference: File | null,
  distorted: readonly File[],
  options: ScoreManyOptions,
): Promise<void> {
  if (reference) {
    await scoreMany(reference, distorted, options);
    return;
  }
  const { raw, onProgress, onFrame, onStart, onReport, onFailure, ...shared } = options;
  for (const [index, file] of distorted.entries()) {
    try {
      const report = await score(
        { distorted: file, ...(raw && { raw }) },
        {
          ...shared,
          onProgress: (progress) => onProgress?.(progress, index),
          onFrame: (frame) => onFrame?.(frame, index),
          onStart: (head) => onStart?.(head, index),
        },
      );
      onReport?.(report, index);
    } catch (error) {
      if (!onFailure || !(error instanceof AnyvmafError)) throw error;
      onFailure(error, index);
    }
  }
}
