/**
 * @module cli/plain-result
 * The result for scripts: one `name: value` line per model, as the `vmaf` tool ends its output (spec A.6).
 */
import { clause, printable } from '../core/printable.js';
import { type Precision, textNumber } from '../report/format.js';
import { causeText, flawOf } from '../report/trust.js';
import type { Report, ReportModel } from '../report/types.js';

/**
 * Lines `vmaf_v0.6.1: 82.564227`: the model's source and its mean score. A bootstrap collection adds a line
 * `NAME: BAGGING, ci.p95: [LOW, HIGH], stddev: STDDEV` of means; a tiny model adds `NAME: MEAN`. A run without models
 * gives the mean of every metric, and all aggregate metrics.
 */
export function plainResult(report: Report, precision: Precision): string {
  const number = textNumber(precision);
  const mean = (metric: string) => number(meanOf(report, metric));
  if (report.models.length === 0) {
    const whole = Object.entries(report.aggregate_metrics);
    return [
      ...report.metrics.map((metric) => `${metric}: ${mean(metric)}\n`),
      ...whole.map(([name, value]) => `${name}: ${number(value)}\n`),
    ].join('');
  }
  const tiny = (report.tiny ?? []).flatMap(({ metrics }) => metrics);
  return report.models
    .map(({ name, source, collection }) => {
      const line = `${source}: ${mean(name)}\n`;
      if (!collection) return line;
      const interval = `[${mean(collection.ciLow)}, ${mean(collection.ciHigh)}]`;
      return `${line}${source}: ${mean(collection.bagging)}, ci.p95: ${interval}, stddev: ${mean(collection.stddev)}\n`;
    })
    .concat(tiny.map((metric) => `${metric}: ${mean(metric)}\n`))
    .join('');
}

/** Models whose mean is below `limit` or missing; tiny models only if there are no others. */
export function modelsBelow(
  report: Report,
  limit: number,
): readonly { model: Pick<ReportModel, 'source'>; mean: number }[] {
  const tiny = (report.tiny ?? []).flatMap(({ metrics }) => metrics.map((name) => ({ name, source: name })));
  return (report.models.length > 0 ? report.models : tiny)
    .map((model) => ({ model, mean: meanOf(report, model.name) }))
    .filter(({ mean }) => !(mean >= limit));
}

/**
 * The message of a gate about a flawed score; `undefined` if it has no flaw.
 * @param of suffix that names the encode; empty for a single one
 * @param accept judges untrusted scores like any other
 * @param option that judges
 */
export function objection(
  report: Pick<Report, 'preflight' | 'warnings'>,
  of: string,
  accept: boolean,
  option = '--fail-under',
): { readonly message: string; readonly fails: boolean } | undefined {
  const flaw = flawOf(report);
  const { trust } = flaw;
  if (trust.verdict === 'fine') return undefined;
  const fails = trust.verdict === 'untrusted' && !accept;
  const message = fails
    ? `${option} fails because the score${of} cannot be trusted: ${clause(causeText(flaw))}; add ` +
      '--accept-untrusted to judge it anyway'
    : `${option} judges a score${of} that is ${trust.verdict}: ${causeText(flaw)}`;
  return { message: printable(message), fails };
}

/** NaN if a metric could not be pooled. */
function meanOf(report: Report, metric: string): number {
  const pooled = report.pooled_metrics[metric];
  return pooled && 'mean' in pooled ? (pooled.mean ?? Number.NaN) : Number.NaN;
}
