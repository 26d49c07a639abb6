/**
 * @module mcp/scoring/request
 * The two videos of a call: paths under the allowed roots, and the format of raw ones.
 */
import { AnyvmafError, type RawVideoFormat, type ScoreRequest } from '../../index.js';
import type { ToolFiles } from '../context.js';

/** Two stored videos and their geometry, as parameters. */
export interface RawPairInput {
  /** Absent with no_reference only. */
  readonly ref?: string | undefined;
  readonly dis: string;
  readonly width: number;
  readonly height: number;
  readonly pixfmt: '420' | '422' | '444';
  readonly bitdepth: 8 | 10 | 12 | 16;
}

/**
 * The request for two stored videos.
 * @param noReference the distorted video is scored by itself
 * @throws {AnyvmafError} `io` for a path that is not allowed, `usage` where the reference is missing
 */
export async function rawRequest(
  input: RawPairInput,
  files: ToolFiles,
  noReference = false,
): Promise<ScoreRequest> {
  const { width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  return {
    ...(noReference
      ? await aloneRequest(input.dis, files)
      : await pairRequest(given(input.ref, 'ref'), input.dis, files)),
    raw: { width, height, chroma, bitDepth },
  };
}

/**
 * The request for two files that say themselves what they are.
 * @throws {AnyvmafError} `io` for a path that is not allowed
 */
export async function pairRequest(
  reference: string,
  distorted: string,
  files: ToolFiles,
): Promise<ScoreRequest> {
  // One after the other, so that of two bad paths it is always the same that is named.
  return {
    reference: await files.resolveInput(reference),
    distorted: await files.resolveInput(distorted),
  };
}

/**
 * The request for a video that is scored by itself. A reference that was named is not opened.
 * @throws {AnyvmafError} `io` for a path that is not allowed
 */
export async function aloneRequest(distorted: string, files: ToolFiles): Promise<ScoreRequest> {
  return { distorted: await files.resolveInput(distorted) };
}

/**
 * A reference that must be there.
 * @throws {AnyvmafError} `usage`
 */
export function given(reference: string | undefined, name: string): string {
  if (reference !== undefined) return reference;
  throw new AnyvmafError(
    'usage',
    `${name} is missing; only with no_reference is a video scored without its reference.`,
  );
}

/** The geometry of raw videos where it may be left out. */
export type OptionalGeometry = {
  readonly [K in 'width' | 'height' | 'pixfmt' | 'bitdepth']?: RawPairInput[K] | undefined;
};

/**
 * The format of raw videos, `undefined` where none is given.
 * @throws {AnyvmafError} `usage` where a part of it is missing
 */
export function rawFormat(input: OptionalGeometry): RawVideoFormat | undefined {
  const { width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  if (width !== undefined && height !== undefined && chroma !== undefined && bitDepth !== undefined) {
    return { width, height, chroma, bitDepth };
  }
  const parts = { width, height, pixfmt: chroma, bitdepth: bitDepth };
  const missing = Object.entries(parts).filter(([, value]) => value === undefined);
  if (missing.length === 4) return undefined;
  throw new AnyvmafError(
    'usage',
    `The geometry of raw video lacks ${missing.map(([name]) => name).join(', ')}; give width, height, pixfmt and bitdepth, ` +
      'or none of them for videos that say it themselves.',
  );
}
