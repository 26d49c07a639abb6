/**
 * @module cli/job
 * Turns settings into the request of a pair, and completes its report.
 */
import type { BatchJob, Finding, Report } from '../index.js';
import type { BatchGate } from '../report/batch.js';
import { pooledText } from '../report/limits.js';
import { findingsInFlags } from './flags.js';
import { judgeReport } from './gate.js';
import type { ScoreSettings } from './score-options.js';

/**
 * Adds warnings about ineffective options to a report, and flags to its findings.
 * @param ofAll see {@link findingsInFlags}
 */
export function completeReport(
  report: Report,
  ignored: readonly string[],
  ofAll?: (finding: Finding) => boolean,
): Report {
  const { preflight } = report;
  return {
    ...report,
    warnings: [...report.warnings, ...ignored],
    ...(preflight && { preflight: findingsInFlags(preflight, ofAll) }),
  };
}

export function pairRequest({ reference, distorted, raw }: ScoreSettings) {
  return {
    ...(reference !== undefined && { reference }),
    distorted: distorted[0],
    ...(raw && { raw }),
  };
}

/** A pair and its options, without those that the batch sets. */
export function requestOf(settings: ScoreSettings): BatchJob {
  const {
    gate: _,
    onProgress: __,
    onStart: ___,
    onFrame: ____,
    signal: _____,
    origin: ______,
    ...own
  } = settings.options;
  return { ...pairRequest(settings), options: own };
}

/** `undefined` without limits. */
export function gateOf(report: Report, settings: ScoreSettings): BatchGate | undefined {
  const { failUnder, limits } = settings;
  if (failUnder === undefined && !limits) return undefined;
  const { passed, complaints } = judgeReport(report, settings);
  const texts = limits?.map((limit) => `${pooledText(limit)}${limit.relation}${limit.bound}`);
  return {
    ...(failUnder !== undefined && { failUnder }),
    ...(texts && { limits: texts }),
    passed,
    notes: complaints,
  };
}
