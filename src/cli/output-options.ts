/**
 * @module cli/output-options
 * The options for the files and formats of a report, and for its gate. Pure.
 */
import { REPORT_FORMATS, type ReportFormat } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { isUrl } from '../core/names.js';
import { quoted } from '../core/printable.js';
import { decimalBound, type Limit, parseLimit, parsePooledName } from '../report/limits.js';
import { PAGE_MEGABYTES_RANGE } from '../report/picture-room.js';
import type { Drop } from '../report/verdict.js';
import { type Precision, parsePrecision } from '../report/write.js';
import {
  fileName,
  numberValue,
  type OptionUse,
  optionRows,
  optionTable,
  refusedValue,
  type SettingsOf,
} from './options.js';

export const PRECISION_OPTION = optionRows({
  '--precision P': [
    'digits of numbers: legacy (six decimals, default), 1 to 17 significant digits, max or full (17)',
    (use) => ({ precision: precisionValue(use) }),
  ],
});
export const GITHUB_SUMMARY_OPTION = optionRows({
  '--github-summary': [
    'append that Markdown to the summary of a GitHub step (GITHUB_STEP_SUMMARY)',
    () => ({ githubSummary: true }),
    { ours: true },
  ],
});

const OF_VMAF = { ours: false };

const formatted = (format: ReportFormat) => () => ({ format });

export const OUTPUT_OPTIONS = optionTable(
  {
    Output: {
      '-o, --output FILE': [
        'write the report to FILE, in the format of its extension; - is standard output',
        (use) => ({ output: fileName(use) }),
        OF_VMAF,
      ],
      '--xml': ['report as XML (default with -o and any other extension)', formatted('xml'), OF_VMAF],
      '--json': ['report as JSON', formatted('json'), OF_VMAF],
      '--csv': ['report as CSV, one row per frame', formatted('csv'), OF_VMAF],
      '--sub': ['report as subtitles, one per frame', formatted('sub'), OF_VMAF],
      '--ndjson': ['report as JSON lines, one per frame', formatted('ndjson')],
      '--html FILE': [
        'also write a self-contained page with charts to FILE',
        (use) => ({ html: fileName(use) }),
      ],
      '--no-pictures': [
        'leave the pictures of the worst frames out of the page of --html',
        () => ({ noPictures: true }),
      ],
      '--html-size MB': [
        'size limit of the page of --html with its pictures of the worst frames, in million bytes (default: 3)',
        (use) => ({ htmlSize: sizeLimit(use) }),
      ],
      '--features-table': [
        'print all features, percentiles, worst frames and warnings instead of a short summary',
        () => ({ featuresTable: true }),
      ],
      ...PRECISION_OPTION,
      '--fail-under LIMIT': [
        'exit with status 3 when the mean of a model is below LIMIT, or a score cannot be trusted; also for any pooled value: ' +
          'vmaf.p5>=80, psnr_y.mean>=38, cambi.max<=5. May be repeated',
        limitsValue,
      ],
      '--baseline REPORT': [
        'compare with this earlier report of anyvmaf; requires --max-drop',
        (use) => ({ baseline: fileName(use) }),
      ],
      '--max-drop DROP': [
        'exit with status 3 when a mean, or another pooled value as in vmaf.p5=1, is worse than the baseline by ' +
          'more than DROP. May be repeated',
        (use: OptionUse, { drops = [] }: { readonly drops?: readonly Drop[] }) => ({
          drops: [...drops, ...use.value.split(',').map((text) => dropOf(text, use))],
        }),
      ],
      '--accept-untrusted': [
        'let --fail-under and --baseline judge untrusted scores like any other',
        () => ({ acceptUntrusted: true }),
      ],
      '--junit FILE': ['also write the checks as JUnit XML', (use) => ({ junit: fileName(use) })],
      '--summary FILE': [
        'also write scores, checks and worst frames as Markdown',
        (use) => ({ summary: fileName(use) }),
      ],
      ...GITHUB_SUMMARY_OPTION,
    },
  },
  { ours: true },
);

export interface OutputSettings extends Partial<SettingsOf<typeof OUTPUT_OPTIONS>> {
  /** From an option, else from the extension of {@link output}. */
  readonly format?: ReportFormat;
  readonly precision: Precision;
  readonly quiet: boolean;
}

/** True if the report goes to standard output. */
export function isPrinted({ output, format }: Pick<OutputSettings, 'output' | 'format'>): boolean {
  return output === '-' || (output === undefined && format !== undefined);
}

export function isGated(settings: OutputSettings): boolean {
  return (['failUnder', 'limits', 'drops', 'junit', 'summary', 'githubSummary'] as const).some(
    (name) => settings[name] !== undefined,
  );
}

interface Bounds {
  readonly failUnder?: number;
  readonly limits?: readonly Limit[];
}

/** A bare number limits the means of models; several bounds are separated by commas. */
function limitsValue(use: OptionUse, before: Bounds): Bounds {
  let { failUnder, limits } = before;
  for (const part of use.value.split(',')) {
    const alone = decimalBound(part.trim());
    if (alone !== undefined) failUnder = alone;
    else limits = [...(limits ?? []), limitOf(part, use)];
  }
  return { ...(failUnder !== undefined && { failUnder }), ...(limits && { limits }) };
}

/**
 * @param option that writes something other than a report
 * @throws {AnyvmafError} `usage` for options of reports
 */
export function refuseOutputs(settings: Partial<OutputSettings>, option: string): void {
  const flags: readonly (readonly [keyof OutputSettings, string])[] = [
    ['format', `--${settings.format}`],
    ['html', '--html'],
    ['failUnder', '--fail-under'],
    ['limits', '--fail-under'],
    ['baseline', '--baseline'],
    ['drops', '--max-drop'],
    ['junit', '--junit'],
    ['summary', '--summary'],
    ['githubSummary', '--github-summary'],
  ];
  const other = flags.find(([name]) => settings[name] !== undefined)?.[1];
  if (other === undefined) return;
  throw usageError(
    `${other} needs a report, but ${option} writes the record of a part; give it to 'anyvmaf merge', which writes ` +
      'the report',
  );
}

/** Takes `-o page.html` as `--html page.html`. */
function withPage(settings: Partial<OutputSettings>): Partial<OutputSettings> {
  const { output, format, html } = settings;
  if (output === undefined || format !== undefined || isUrl(output) || !/\.html?$/i.test(output))
    return settings;
  if (html === undefined) return { ...settings, output: undefined, html: output };
  if (html === output) return settings;
  throw usageError(`-o ${output} and --html ${html} name two files for one page; leave one out`);
}

/** Refuses two outputs in one file, or an output in place of the baseline. */
function refuseSharedFiles({ output, html, junit, summary, baseline }: Partial<OutputSettings>): void {
  for (const [name, value] of Object.entries({ junit, summary, baseline }))
    if (value === '-') throw usageError(`--${name} needs the name of a file, not - for a standard stream`);
  const seen = new Map<string, string>();
  for (const [name, value] of Object.entries({ baseline, output, html, junit, summary })) {
    if (value === undefined || value === '-') continue;
    const other = seen.get(value);
    if (other !== undefined)
      throw usageError(`--${other} and --${name} are both ${quoted(value)}; give each a file of its own`);
    seen.set(value, name);
  }
}

/** @throws {AnyvmafError} `usage` for conflicting options */
export function outputsOf(given: Partial<OutputSettings>): OutputSettings {
  const settings = withPage(given);
  const { output, html, htmlSize, noPictures, failUnder, limits, baseline, drops } = settings;
  const { acceptUntrusted, featuresTable, quiet = false, format = formatOf(output) } = settings;
  const printed = isPrinted({ output, format });
  if (acceptUntrusted && failUnder === undefined && !limits && !drops)
    throw usageError(
      '--accept-untrusted requires --fail-under or --baseline; add one, or leave out --accept-untrusted',
    );
  refuseSharedFiles(settings);
  if (baseline !== undefined && !drops)
    throw usageError('--baseline requires a limit; add --max-drop, such as --max-drop 0.5');
  if (drops && baseline === undefined)
    throw usageError('--max-drop requires an earlier report; add --baseline report.json');
  if (noPictures && html === undefined)
    throw usageError('--no-pictures requires --html; add it, or leave out --no-pictures');
  if (htmlSize !== undefined && (html === undefined || noPictures))
    throw usageError(
      '--html-size requires --html with pictures; add --html without --no-pictures, or leave out --html-size',
    );
  if (html === '-' && printed)
    throw usageError('standard output cannot take both the page and the report; name a file for one');
  if (featuresTable && (quiet || html === '-' || printed))
    throw usageError(
      '--features-table needs standard output for itself; write other output to a file, and leave out -q',
    );
  return { precision: 'legacy', ...settings, quiet, ...(format && { format }) };
}

/** The format of a file's extension, which the `vmaf` tool ignores. */
function formatOf(output: string | undefined): ReportFormat | undefined {
  const path = output !== undefined && isUrl(output) ? output.replace(/[?#].*$/, '') : (output ?? '');
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return REPORT_FORMATS.find((format) => format === ending);
}

function limitOf(text: string, use: OptionUse): Limit {
  try {
    return parseLimit(text);
  } catch {
    throw refusedValue(
      use,
      'a number such as 93.5, or a pooled value and its bound such as vmaf.p5>=80, psnr_y.mean>=38 or cambi.max<=5',
    );
  }
}

/** `0.5`, `vmaf.p5=1`, `p5=1`. */
function dropOf(text: string, use: OptionUse): Drop {
  const at = text.lastIndexOf('=');
  const most = decimalBound(text.slice(at + 1).trim());
  const name = at < 0 ? {} : parsePooledName(text.slice(0, at).trim());
  if (name && most !== undefined && most >= 0) return { ...name, most };
  throw refusedValue(
    use,
    'a number from 0 such as 0.5, or a pooled value and how far it may fall: vmaf.p5=1',
  );
}

function sizeLimit(use: OptionUse): number {
  const size = numberValue(use);
  const [least, most] = PAGE_MEGABYTES_RANGE;
  if (size >= least && size <= most) return size;
  throw refusedValue(use, `million bytes from ${least} to ${most}, such as 3`);
}

/** @throws {AnyvmafError} `usage` */
function precisionValue(use: OptionUse): Precision {
  try {
    return parsePrecision(use.value);
  } catch {
    throw refusedValue(use, 'legacy, max, full or a whole number from 1 to 17');
  }
}
