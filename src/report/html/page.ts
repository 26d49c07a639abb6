/**
 * @module report/html/page
 * What a page is about: reports of one reference.
 */
import { isArray, requireObject } from '../../core/arguments.js';
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
import { axisOrigin } from '../facts.js';
import type { FailedEncode, Report } from '../types.js';
import type { CurveChoice } from '../view/bd.js';
import { distinctNames, type Encode, EncodeList, type Pooled, statedPooled } from '../view/encodes.js';
import { checkLacking, checkPictures, type HtmlPictures } from './pictures.js';

/** What a page says beside what its reports do. */
export interface HtmlOptions {
  /** The command line or call that made the reports, shown as it is. */
  readonly command?: string;
  /** When it was made, as the page shows it. */
  readonly written?: string;
  /** Pictures of worst frames, which the page shows where it lists these frames. */
  readonly pictures?: readonly HtmlPictures[];
  /** Why pictures are not there, in sentences, which the page shows below its worst frames. */
  readonly picturesLacking?: readonly string[];
  /** How each report is shown beside the others, in their order. */
  readonly looks?: readonly {
    /** The number of its colour, from 0; default: its place. */
    readonly colour?: number;
    /** The curve that it belongs to; default: by codec, size and settings of the encoder. */
    readonly series?: string;
  }[];
  /** How its curves of quality over bit rate are compared. */
  readonly curves?: CurveChoice;
  /** Encodes of the same reference that could not be scored, which the page names with the reason. */
  readonly failed?: readonly Pick<FailedEncode, 'distorted' | 'message'>[];
}

/** The report of an encode. */
export interface ReportEncode extends Encode {
  readonly facts: Omit<Report, 'frames'>;
  readonly report: Report;
  readonly frames: Report['frames'];
  /** Where its first pair stands on the frame axis: what to add to its frame numbers. */
  readonly shift: number;
}

/** What a page is about: reports of one reference, and what is common to them. */
export class Page extends EncodeList<ReportEncode> {
  readonly list: readonly [ReportEncode, ...ReportEncode[]];
  readonly options: HtmlOptions;
  /** Why pictures are not there. */
  readonly picturesLacking: readonly string[];
  readonly #pictures: ReadonlyMap<string, HtmlPictures>;

  constructor([first, ...others]: readonly [Report, ...Report[]], options: HtmlOptions) {
    super();
    const names = distinctNames([first, ...others].map(({ distorted }) => distorted.name));
    const origin = axisOrigin([first, ...others]);
    const encode = (report: Report, index: number): ReportEncode => ({
      index,
      name: names[index] ?? '',
      facts: report,
      report,
      frames: report.frames,
      count: report.frames.length,
      metrics: report.metrics,
      skipped: report.reference.skipped,
      fileSize: undefined,
      series: options.looks?.[index]?.series,
      shift: report.reference.skipped - origin,
    });
    this.list = [encode(first, 0), ...others.map((report, i) => encode(report, i + 1))];
    this.options = options;
    checkLooks(options);
    this.picturesLacking = checkLacking(options.picturesLacking);
    this.#pictures = new Map(
      checkPictures(options.pictures).map((one) => [`${one.report} ${one.frame}`, one] as const),
    );
  }

  /** Pictures of a frame of the report. */
  picturesOf({ index }: ReportEncode, frameNum: number): HtmlPictures | undefined {
    return this.#pictures.get(`${index} ${frameNum}`);
  }

  pooled({ facts }: ReportEncode, metric: string | undefined): Pooled | undefined {
    return metric === undefined ? undefined : statedPooled(facts, metric);
  }
}

/** One value per frame, NaN where there is none. */
export function seriesOf({ frames }: ReportEncode, metric: string): Float64Array {
  return Float64Array.from(frames, ({ metrics }) => metrics[metric] ?? Number.NaN);
}

/** @throws {AnyvmafError} `usage` for looks and choices of curves that are none */
function checkLooks({ looks = [], curves = {} }: HtmlOptions): void {
  if (!isArray(looks)) throw usageError('options.looks must be a list with an object for each report.');
  for (const [i, one] of looks.entries()) {
    requireObject(`options.looks[${i}]`, one, 'an object such as { colour: 2, series: "slow" }');
    const { colour = 0, series = '' } = one;
    if (!Number.isInteger(colour) || colour < 0 || typeof series !== 'string')
      throw usageError(
        `options.looks[${i}] is ${showValue(one)}, but its colour must be a whole number from 0 and its series a text.`,
      );
  }
  requireObject('options.curves', curves, 'an object such as { anchor: "h264" }');
  const { metric = '', anchor = '' } = curves;
  if (typeof metric !== 'string' || typeof anchor !== 'string')
    throw usageError(
      `options.curves is ${showValue(curves)}, but its metric and its anchor must be texts: names of a metric and of a curve.`,
    );
}
