/**
 * @module cli/commands/delivery
 * Writes reports to files and standard output, and summaries for people.
 */
import type { AnyvmafError } from '../../core/errors.js';
import type { PagePictures } from '../../report/picture-room.js';
import type { FailedEncode, Report } from '../../report/schema.js';
import type { ReportFormat } from '../../report/write.js';
import type { Gate } from '../gate.js';
import { commandLine } from '../options.js';
import { type OutputFile, openOutput } from '../output.js';
import { isGated, type OutputSettings } from '../output-options.js';
import type { SeveralFormat } from '../printed.js';
import type { Terminal } from '../terminal.js';

export interface DeliverySettings extends OutputSettings {
  /** One video, or several encodes to compare. */
  readonly distorted: readonly string[];
}

export interface Outcome {
  readonly reports: readonly Report[];
  /** In order; empty unless there are several videos. */
  readonly failures: readonly Failure[];
  /** Number of alarms raised in a live run. */
  readonly alarms?: number;
}

export interface Failure {
  readonly index: number;
  readonly error: AnyvmafError;
  readonly failed: FailedEncode;
}

/** Opens all output files, those of the gate too, before scoring starts; `-` is standard output. */
export async function openOutputs(
  settings: DeliverySettings,
  videos: readonly string[],
  hosts?: boolean | readonly string[],
): Promise<{ file?: OutputFile; page?: OutputFile; gate?: Gate }> {
  const { output, html, distorted, baseline } = settings;
  const inputs = baseline === undefined ? videos : [...videos, baseline];
  const gate = isGated(settings)
    ? await (await import('../gate.js')).Gate.open(settings, distorted, inputs)
    : undefined;
  const file = output === undefined || output === '-' ? undefined : await openOutput(output, inputs, hosts);
  const page = html === undefined || html === '-' ? undefined : await openOutput(html, inputs, hosts);
  return { ...(file && { file }), ...(page && { page }), ...(gate && { gate }) };
}

export function isPrinted({ output, format }: DeliverySettings): boolean {
  return output === '-' || (output === undefined && format !== undefined);
}

export async function reportText(
  { reports, failures }: Outcome,
  { distorted, format, precision }: DeliverySettings,
): Promise<Iterable<string>> {
  const [only] = reports;
  if (distorted.length > 1 || !only) {
    const { writeReports } = await import('../printed.js');
    // In command-line order.
    const results: (Report | FailedEncode)[] = [...reports];
    for (const { index, failed } of failures) results.splice(index, 0, failed);
    return writeReports(results, severalFormat(format), precision);
  }
  const { writeReport } = await import('../../report/write.js');
  return writeReport(only, format ?? 'xml', { precision });
}

/** XML, the default, and subtitles hold one report; the options refuse them if named explicitly. */
function severalFormat(format: ReportFormat | undefined): SeveralFormat {
  return format === undefined || format === 'xml' || format === 'sub' ? 'json' : format;
}

/**
 * @param args command line shown on the page
 * @param pictures worst frames, and why some are missing
 */
export async function htmlText(
  { reports, failures }: Outcome,
  args: readonly string[],
  { pictures, lacking }: Partial<PagePictures> = {},
): Promise<Iterable<string>> {
  const { writeHtml } = await import('../../report/html/document.js');
  const written = `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const failed = failures.map((failure) => failure.failed);
  return writeHtml(reports, {
    command: commandLine('anyvmaf', args),
    written,
    failed,
    pictures,
    picturesLacking: lacking,
  });
}

/**
 * Prints the report on standard output, or a summary for people, or plain lines for scripts.
 * @param done the report is printed already
 */
export async function deliver(
  outcome: Outcome,
  settings: DeliverySettings,
  terminal: Terminal,
  done: boolean,
): Promise<void> {
  const { distorted, output, html, precision, quiet, featuresTable = false } = settings;
  const { reports, failures } = outcome;
  const [first] = reports;
  const printed = isPrinted(settings);
  const isTable = distorted.length > 1;
  const free = html !== '-' && !printed;
  const summary = free && !quiet && (terminal.interactive || featuresTable);
  // The summary shows or counts the warnings; do not repeat them on the same terminal.
  if (!summary || !terminal.canDraw) {
    const { complainOf } = await import('../printed.js');
    complainOf(reports, terminal);
  }
  if (printed && !done) {
    for (const piece of await reportText(outcome, settings)) await terminal.print(piece);
  } else if (free && isTable && !quiet && (summary || output === undefined)) {
    const { encodesTable } = await import('../../report/brief.js');
    const { columns: width, colour: color } = terminal;
    const failed = failures.map((failure) => failure.failed.distorted);
    const notes = featuresTable && terminal.interactive ? 'all' : terminal.interactive ? 'causes' : 'none';
    await terminal.print(encodesTable(reports, { width, color, precision, notes, failed }));
    if (terminal.interactive && reports.length > 1)
      await terminal.print(await decisionText(reports, settings, width));
  } else if (summary && first && !featuresTable) {
    await terminal.print(await summaryOf(first, settings, terminal));
  } else if (first && free && output === undefined) {
    const text = isTable
      ? (await import('../printed.js')).plainResults(reports, precision)
      : (await import('../printed.js')).plainResult(first, precision);
    await terminal.print(text);
  }
  if (!summary) return;
  if (featuresTable)
    for (const [i, report] of reports.entries())
      await terminal.print(`${i > 0 || isTable ? '\n' : ''}${await summaryOf(report, settings, terminal)}`);
  const files = [output, html].filter((name) => name !== undefined);
  const where = files.length > 0 ? `The report is in ${files.join(' and ')}` : '';
  const last = [where, featuresTable ? '' : await restText(reports)].filter((part) => part !== '').join('; ');
  if (last !== '') await terminal.print(`${featuresTable || isTable ? '\n' : ''}${last}\n`);
}

/** Recommends an encode within the bounds of the gate; empty if no report has a score to rank by. */
async function decisionText(
  reports: readonly Report[],
  { failUnder, limits = [] }: DeliverySettings,
  width: number,
): Promise<string> {
  const [{ decideEncodes, ranking }, { pooledText }, { printable }, { wrap }] = await Promise.all([
    import('../../index.js'),
    import('../../report/limits.js'),
    import('../../core/printable.js'),
    import('../../report/sections.js'),
  ]);
  if (!reports.some((report) => ranking(report))) return '';
  const bounds = limits.map((limit) => `${pooledText(limit)}${limit.relation}${limit.bound}`);
  const targets = [...(failUnder === undefined ? [] : [String(failUnder)]), ...bounds];
  const { explanation } = await decideEncodes(reports, { targets });
  return `\n${wrap(printable(explanation), width).join('\n')}\n`;
}

/** Says how to see the remaining warnings and measurements. */
async function restText(reports: readonly Report[]): Promise<string> {
  const [{ unsaid }, { trustOf }, { counted }] = await Promise.all([
    import('../../report/brief.js'),
    import('../../report/trust.js'),
    import('../../core/printable.js'),
  ]);
  const count = unsaid(reports);
  const marked = reports.some((report) => trustOf(report).verdict !== 'fine');
  const others = count > 0 ? `${counted(count, marked ? 'further note' : 'note')} and ` : '';
  return `--features-table prints ${others}all measurements`;
}

async function summaryOf(
  report: Report,
  { precision, featuresTable }: DeliverySettings,
  { columns: width, colour: color }: Terminal,
): Promise<string> {
  const options = { width, color, precision };
  return featuresTable
    ? (await import('../../report/summary.js')).summarize(report, options)
    : (await import('../../report/brief.js')).brief(report, options);
}

/** Prints the complaints of a gate. @returns the exit code */
export function sayVerdict(
  { complaints, code }: { readonly complaints: readonly string[]; readonly code: number },
  terminal: Terminal,
): number {
  for (const line of complaints) terminal.complain(line);
  return code;
}
