/**
 * @module cli/job
 * A job of a batch from its settings to its report, wherever it is scored.
 */
import type { BatchJob, Report } from '../index.js';
import type { BatchGate } from '../report/batch.js';
import { pooledText } from '../report/limits.js';
import { findingsInFlags } from './flags.js';
import { judgeReport } from './gate.js';
import type { ScoreSettings } from './score-options.js';

/** A report as a batch writes it: with the options that its line ignored, and findings as flags. */
export function completeReport(report: Report, { ignored }: ScoreSettings): Report {
  const { preflight } = report;
  return {
    ...report,
    warnings: [...report.warnings, ...ignored],
    ...(preflight && { preflight: findingsInFlags(preflight) }),
  };
}

/** A pair and its options, without what a batch decides. */
export function requestOf({ reference, distorted, raw, options }: ScoreSettings): BatchJob {
  const {
    gate: _,
    onProgress: __,
    onStart: ___,
    onFrame: ____,
    signal: _____,
    origin: ______,
    ...own
  } = options;
  return {
    ...(reference !== undefined && { reference }),
    distorted: distorted[0],
    ...(raw && { raw }),
    options: own,
  };
}

/** How limits judge a report; `undefined` without them. */
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
