/**
 * @module mcp/scoring/run
 * Runs the engine inside a call, with its share of the machine, its signal and its progress.
 */
import type * as z from 'zod/v4';
import { usageError } from '../../core/errors.js';
import type { AnyvmafError, RawVideoFormat, Report, ScoreManyOptions } from '../../index.js';
import type { CheckedOptions, CheckedRequest } from '../checked-api.js';
import type { ToolContext } from '../context.js';
import type { CheckedArguments, CheckedPath, InputFile, ReferenceFile } from '../paths.js';
import { findingInParameters, worded } from '../wording.js';
import { refuseWriting, type ScoringCall } from './options.js';
import type { anyPair, optionalGeometry, rawPair } from './parameters.js';

type RawPairInput = CheckedArguments<z.output<z.ZodObject<typeof rawPair>>> & {
  readonly no_reference: boolean;
};

/** @throws {AnyvmafError} `usage` if the reference is missing */
export function rawRequest(input: RawPairInput): CheckedRequest {
  const { ref: reference, dis: distorted, width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  return {
    ...pairRequest({ reference, distorted }, 'ref', input.no_reference),
    raw: { width, height, chroma, bitDepth },
  };
}

/** @throws {AnyvmafError} `usage` if the reference is missing */
export function pairRequest(
  { reference, distorted }: { readonly reference?: ReferenceFile; readonly distorted: InputFile },
  name = 'reference',
  single = false,
): CheckedRequest {
  if (single) return { distorted: distorted.path };
  if (reference?.path !== undefined) return { reference: reference.path, distorted: distorted.path };
  throw usageError(`${name} is missing; it may be omitted only with no_reference.`);
}

export type OptionalGeometry = z.output<z.ZodObject<typeof optionalGeometry>>;

/** `undefined` without a geometry. @throws {AnyvmafError} `usage` for an incomplete geometry */
export function rawFormat(input: OptionalGeometry): RawVideoFormat | undefined {
  const { width, height, pixfmt: chroma, bitdepth: bitDepth } = input;
  if (width !== undefined && height !== undefined && chroma !== undefined && bitDepth !== undefined) {
    return { width, height, chroma, bitDepth };
  }
  const parts = { width, height, pixfmt: chroma, bitdepth: bitDepth };
  const missing = Object.entries(parts).filter(([, value]) => value === undefined);
  if (missing.length === 4) return undefined;
  throw usageError(
    `The geometry of raw video lacks ${missing.map(([name]) => name).join(', ')}; pass width, height, pixfmt and bitdepth, ` +
      'or none of them for videos that declare their own.',
  );
}

export type AnyPairInput = CheckedArguments<z.output<z.ZodObject<typeof anyPair>>> & OptionalGeometry;

/** @throws {AnyvmafError} `usage` for an incomplete geometry */
export function anyRequest(input: AnyPairInput): CheckedRequest {
  const raw = rawFormat(input);
  return { ...pairRequest(input), raw };
}

/** @throws {AnyvmafError} those of `score`; `usage` if files would be written; the signal's reason */
export async function runScore(
  request: CheckedRequest,
  { options, weight }: Pick<ScoringCall, 'options' | 'weight'>,
  context: ToolContext,
): Promise<Report> {
  refuseWriting(options);
  const { signal, files } = context;
  // Only vmaf_score sets decoder none: it compares frames as stored, and has no pairing parameters.
  const isStored = options.decoder === 'none';
  return context.pool.run(weight, async ({ threads, api }) => {
    const scoring = api.score(request, {
      ...options,
      origin: files.origin,
      // A limit, not a number of threads: a short clip needs no worker.
      maxThreads: threads,
      signal,
      onProgress: ({ framesDone, framesTotal, fps }) =>
        context.progress({ done: framesDone, total: framesTotal, fps }),
    });
    const place = isStored ? (request.raw ? 'raw' : 'stored') : 'encoded';
    return reworded(await worded(scoring, place), isStored);
  });
}

/** Least number of videos that share one decoding of the reference. */
const TOGETHER = 8;

export type ManyOutcome = readonly (Report | AnyvmafError)[];

/** One failed video does not stop the others. @throws {AnyvmafError} those of `scoreMany`; the signal's reason */
export async function runScoreMany(
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: CheckedOptions<ScoreManyOptions>,
  context: ToolContext,
): Promise<ManyOutcome> {
  refuseWriting(options);
  const { signal, files } = context;
  const states = distorted.map(() => ({ done: 0, total: null as number | null, fps: 0 }));
  const report = () => {
    const totals = states.map(({ total }) => total);
    const known = totals.filter((total) => total !== null);
    context.progress({
      done: states.reduce((sum, { done }) => sum + done, 0),
      total: known.length === totals.length ? known.reduce((sum, total) => sum + total, 0) : null,
      fps: states.reduce((sum, { fps }) => sum + fps, 0),
    });
  };
  return context.pool.run(null, async ({ threads, api }) => {
    const outcome = new Array<Report | AnyvmafError>(distorted.length);
    const over = (index: number, frames: number) => {
      // A finished video no longer counts towards the speed.
      states[index] = { done: frames, total: frames, fps: 0 };
    };
    // All videos of a batch are decoded at once, and each has a worker.
    const size = Math.max(threads, TOGETHER);
    for (let first = 0; first < distorted.length; first += size) {
      const batch = distorted.slice(first, first + size);
      await api.scoreMany(reference, batch, {
        ...options,
        origin: files.origin,
        maxThreads: threads,
        signal,
        onProgress: ({ framesDone, framesTotal, fps }, index) => {
          states[first + index] = { done: framesDone, total: framesTotal, fps };
          report();
        },
        onReport(report, index) {
          over(first + index, report.frameCount);
          outcome[first + index] = reworded(report);
        },
        onFailure(error, index) {
          over(first + index, 0);
          outcome[first + index] = error;
        },
      });
    }
    return outcome;
  });
}

/** Puts parameter names into a report's findings. @param isStored use those of vmaf_score */
export function reworded(report: Report, isStored = false): Report {
  const { preflight, reference, distorted } = report;
  const isRaw = reference.container === 'yuv' || distorted.container === 'yuv';
  const place = isStored ? (isRaw ? 'raw' : 'stored') : 'encoded';
  return { ...report, preflight: preflight?.map((finding) => findingInParameters(finding, place)) };
}
