/**
 * @module test/support/golden
 * libvmaf 3.2.0's values for real clips in ../shared/golden: which runs this project covers, and how a report compares.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChromaFormat } from '../../src/core/frame.js';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import type { Report } from '../../src/report/types.js';
import { type Comparison, scoreTolerance, Tally } from './agreement.js';

type GoldenValue = number | string | null;

interface GoldenRun {
  readonly frames?: number;
  readonly features?: Readonly<Record<string, readonly GoldenValue[]>>;
  readonly aggregate?: Readonly<Record<string, GoldenValue>>;
  readonly pooled_min_max_mean_hmean?: readonly GoldenValue[];
  readonly error?: string;
  readonly reference_undefined?: unknown;
}

interface GoldenPair {
  readonly ref: string;
  readonly dis: string;
  readonly width: number;
  readonly height: number;
  readonly pixel_format: ChromaFormat;
  readonly bitdepth: number;
  readonly results: Readonly<Record<string, GoldenRun>>;
}

/** A run to repeat and compare. */
export interface GoldenCase {
  /** Name of the clip pair. */
  readonly clip: string;
  /** `m:` and a model, or a feature string. */
  readonly config: string;
  readonly request: ScoreRequest;
  readonly options: ScoreOptions;
  readonly expected: GoldenRun;
  /** Allowed relative difference of predictions. */
  readonly scoreTolerance: number;
}

/** How a model is asked for: the v1 files are not in this repository. */
function modelString(version: string, root: URL): string {
  if (!version.startsWith('vmaf_v1.')) return `version=${version}`;
  const folder = version.includes('_hfr_') ? 'vmaf_v1.0.16_hfr' : 'vmaf_v1.0.16';
  return `path=${fileURLToPath(new URL(`models/${folder}/${version}.json`, root))}:name=vmaf`;
}

/** All runs of ../shared/golden in which libvmaf gave defined values. `root` is that folder's parent. */
export function goldenCases(root: URL): GoldenCase[] {
  const text = readFileSync(new URL('golden/features.json', root), 'utf8');
  const { pairs } = JSON.parse(text) as { pairs: Readonly<Record<string, GoldenPair>> };
  return Object.entries(pairs).flatMap(([clip, pair]) =>
    Object.entries(pair.results)
      .filter(([, run]) => run.features && !run.reference_undefined)
      .map(([config, expected]) => ({
        clip,
        config,
        request: {
          reference: fileURLToPath(new URL(pair.ref, root)),
          distorted: fileURLToPath(new URL(pair.dis, root)),
          raw: { width: pair.width, height: pair.height, bitDepth: pair.bitdepth, chroma: pair.pixel_format },
        },
        options: config.startsWith('m:')
          ? { models: [modelString(config.slice(2), root)] }
          : { features: [config], noPrediction: true },
        expected,
        scoreTolerance: scoreTolerance(config.startsWith('m:') ? [config] : []),
      })),
  );
}

function toNumber(value: GoldenValue): number | null {
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  if (value === '-inf') return Number.NEGATIVE_INFINITY;
  return typeof value === 'number' ? value : null;
}

/** Compares every value that libvmaf wrote for this run: frames, pooled score, aggregates. */
export function compareWithGolden(report: Report, { expected, scoreTolerance }: GoldenCase): Comparison {
  const tally = new Tally(scoreTolerance);
  for (const [metric, values] of Object.entries(expected.features ?? {})) {
    values.forEach((value, i) => {
      tally.check(metric, `frame ${i}`, report.frames[i]?.metrics[metric], toNumber(value));
    });
  }
  const pooled = expected.pooled_min_max_mean_hmean;
  if (pooled) tally.checkPooled('vmaf', report.pooled_metrics.vmaf, pooled.map(toNumber));
  for (const [metric, value] of Object.entries(expected.aggregate ?? {})) {
    tally.check(metric, 'of all frames', report.aggregate_metrics[metric], toNumber(value));
  }
  return tally;
}
