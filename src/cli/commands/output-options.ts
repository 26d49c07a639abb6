/**
 * @module cli/commands/output-options
 * The options that say where a report goes, in which format, and which score is too low. Pure.
 */
import { REPORT_FORMATS, type ReportFormat } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { type Precision, parsePrecision } from '../../report/format.js';
import { grouped, type OptionUse } from '../options.js';
import { numberValue, refusedValue } from '../values.js';
import { fileName } from './video-options.js';

/** The options in the order in which help lists them. */
export const OUTPUT_OPTIONS = grouped('Output', [
  {
    name: 'output',
    short: 'o',
    argument: 'FILE',
    help: 'write the report to FILE, in the format that its ending names; - is standard output',
  },
  { name: 'xml', help: 'report as XML (default with -o and another ending)' },
  { name: 'json', help: 'report as JSON' },
  { name: 'csv', help: 'report as CSV, one row per frame' },
  { name: 'sub', help: 'report as subtitles, one per frame' },
  { name: 'ndjson', ours: true, help: 'report as JSON lines, one per frame' },
  {
    name: 'html',
    argument: 'FILE',
    ours: true,
    help: 'also write a page with charts to FILE, in itself complete',
  },
  {
    name: 'precision',
    argument: 'P',
    ours: true,
    help: 'digits of all numbers: legacy (six decimals, default), 1 to 17 significant ones, max or full (17)',
  },
  {
    name: 'fail-under',
    argument: 'SCORE',
    ours: true,
    help: 'exit with status 3 when the mean of a model is below SCORE, or a score cannot be trusted',
  },
  {
    name: 'accept-untrusted',
    ours: true,
    help: 'let --fail-under judge scores of pairs that preflight found wrong like any other',
  },
]);

/** Where a report goes, and how it is judged. */
export interface OutputSettings {
  /** File for the report, `-` for standard output. */
  readonly output?: string;
  /** File for the page. */
  readonly html?: string;
  /** Format that was asked for by name. */
  readonly format?: ReportFormat;
  readonly precision: Precision;
  readonly failUnder?: number;
  /** Whether `failUnder` judges scores of wrong pairs too, which otherwise fail. */
  readonly acceptUntrusted?: boolean;
  readonly quiet: boolean;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** Settings in the making. */
export class OutputArguments {
  readonly #settings: Draft<Partial<OutputSettings>> = {};

  /**
   * Takes one option, `quiet` too.
   * @returns false if it is about something else
   */
  take(use: OptionUse): boolean {
    const { name } = use;
    switch (name) {
      case 'output':
      case 'html':
        this.#settings[name] = fileName(use);
        return true;
      case 'precision':
        this.#settings.precision = precisionValue(use);
        return true;
      case 'fail-under':
        this.#settings.failUnder = numberValue(use);
        return true;
      case 'accept-untrusted':
        this.#settings.acceptUntrusted = true;
        return true;
      case 'quiet':
        this.#settings.quiet = true;
        return true;
    }
    const format = REPORT_FORMATS.find((known) => known === name);
    if (format) this.#settings.format = format;
    return format !== undefined;
  }

  /**
   * @param option which writes something else than a report
   * @throws {AnyvmafError} `usage` for options of reports
   */
  refuseBeside(option: string): void {
    const { format, html, failUnder } = this.#settings;
    const other =
      format !== undefined
        ? `--${format}`
        : html !== undefined
          ? '--html'
          : failUnder !== undefined
            ? '--fail-under'
            : '';
    if (other === '') return;
    throw usageError(
      `${other} is about a report, but ${option} writes the record of a part; give it to 'anyvmaf merge', which makes the report`,
    );
  }

  /** @throws {AnyvmafError} `usage` where options exclude each other */
  finish(): OutputSettings {
    const { output, html, failUnder, acceptUntrusted } = this.#settings;
    const format = this.#settings.format ?? formatOf(output);
    if (acceptUntrusted && failUnder === undefined) {
      throw usageError(
        '--accept-untrusted says what --fail-under lets pass, but --fail-under is not given; add it, or leave both out',
      );
    }
    if (html === '-' && (output === '-' || (output === undefined && format))) {
      throw usageError('standard output cannot take both the page and the report; name a file for one');
    }
    return { precision: 'legacy', quiet: false, ...this.#settings, ...(format && { format }) };
  }
}

/** The format of a file's extension, if no format option is given. The `vmaf` tool ignores the extension. */
function formatOf(output: string | undefined): ReportFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(output ?? '')?.[1]?.toLowerCase();
  return REPORT_FORMATS.find((format) => format === ending);
}

function precisionValue(use: OptionUse): Precision {
  try {
    return parsePrecision(use.value);
  } catch {
    throw refusedValue(use, 'legacy, max, full or a whole number from 1 to 17');
  }
}
