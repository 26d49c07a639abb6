/**
 * @module mcp/scoring/request
 * The two videos of a call as the API takes them, with the format of raw ones.
 */
import { usageError } from '../../core/errors.js';
import type { RawVideoFormat } from '../../index.js';
import type { CheckedRequest } from '../checked-api.js';
import type { InputFile, ReferenceFile } from '../paths.js';

/** Two stored videos and their geometry, as parameters. */
export interface RawPairInput {
  /** Absent with no_reference only. */
  readonly ref?: ReferenceFile;
  readonly dis: InputFile;
  readonly width: number;
  readonly height: number;
  readonly pixfmt: '420' | '422' | '444';
  readonly bitdepth: 8 | 10 | 12 | 16;
  readonly no_reference: boolean;
}

/**
 * The request for two stored videos.
 * @throws {AnyvmafError} `usage` where the reference is missing
 */
export function rawRequest(input: RawPairInput): CheckedRequest {
  const { ref: reference, dis: distorted, width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  return {
    ...pairRequest({ reference, distorted }, 'ref', input.no_reference),
    raw: { width, height, chroma, bitDepth },
  };
}

/**
 * The request for two videos, or for the distorted one by itself.
 * @param name the parameter of the reference
 * @throws {AnyvmafError} `usage` where the reference is missing
 */
export function pairRequest(
  { reference, distorted }: { readonly reference?: ReferenceFile; readonly distorted: InputFile },
  name = 'reference',
  single = false,
): CheckedRequest {
  if (single) return { distorted: distorted.path };
  if (reference?.path !== undefined) return { reference: reference.path, distorted: distorted.path };
  throw usageError(`${name} is missing; only with no_reference is a video scored without its reference.`);
}

/** The optional geometry of raw videos. */
export type OptionalGeometry = {
  readonly [K in 'width' | 'height' | 'pixfmt' | 'bitdepth']?: RawPairInput[K];
};

/**
 * The format of raw videos, `undefined` if it is left out.
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
  throw usageError(
    `The geometry of raw video lacks ${missing.map(([name]) => name).join(', ')}; give width, height, pixfmt and bitdepth, ` +
      'or none of them for videos that say it themselves.',
  );
}

/** Two videos of any kind, as parameters. */
export interface AnyPairInput extends OptionalGeometry {
  readonly reference: InputFile;
  readonly distorted: InputFile;
}

/**
 * The request for two videos of any kind.
 * @throws {AnyvmafError} `usage` where a part of the geometry is missing
 */
export function anyRequest(input: AnyPairInput): CheckedRequest {
  const raw = rawFormat(input);
  return { ...pairRequest(input), ...(raw && { raw }) };
}
