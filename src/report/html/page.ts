/**
 * @module report/html/page
 * Data of a page: reports of one reference, pictures of their worst frames, and packed frames for its script.
 */
import { toBase64 } from '../../core/bytes.js';
import { usageError } from '../../core/errors.js';
import { fitting, list, object, optional, positive, string } from '../../core/shapes.js';
import { axisOrigin, baseName, skippedPairs } from '../facts.js';
import { LARGEST_PICTURE, type PictureFiles } from '../picture-room.js';
import type { FailedEncode, FrameMetrics, Report } from '../schema.js';
import type { CurveChoice } from '../view/bd.js';
import { distinctNames, type Encode, EncodeList, type Pooled, statedPooled } from '../view/encodes.js';
import { extentOf } from '../view/scales.js';

/** What a page shows besides its reports. */
export interface HtmlOptions {
  /** Command line or call that made the reports, shown as is. */
  readonly command?: string;
  /** When it was made, shown as is. */
  readonly written?: string;
  /** Pictures of worst frames, shown where the page lists these frames. */
  readonly pictures?: readonly HtmlPictures[];
  /** Sentences on why pictures are missing, shown below the worst frames. */
  readonly picturesLacking?: readonly string[];
  /** How each report is shown, in their order. */
  readonly looks?: readonly {
    /** Number of its colour, from 0; default: its position. */
    readonly colour?: number;
    /** Curve that it belongs to; default: by codec, size and settings of the encoder. */
    readonly series?: string;
  }[];
  /** How curves of quality over bit rate are compared. */
  readonly curves?: CurveChoice;
  /** Encodes of the same reference that could not be scored, listed with the reason. */
  readonly failed?: readonly Pick<FailedEncode, 'distorted' | 'message'>[];
}

export interface ReportEncode extends Encode {
  readonly facts: Omit<Report, 'frames'>;
  readonly report: Report;
  readonly frames: Report['frames'];
  /** Added to its frame numbers to place them on the frame axis. */
  readonly shift: number;
}

export class Page extends EncodeList<ReportEncode> {
  readonly list: readonly [ReportEncode, ...ReportEncode[]];
  readonly options: HtmlOptions;
  readonly picturesLacking: readonly string[];
  readonly #pictures: ReadonlyMap<string, HtmlPictures>;

  constructor([first, ...others]: readonly [Report, ...Report[]], options: HtmlOptions) {
    super();
    const names = distinctNames([first, ...others].map(({ distorted }) => distorted.name));
    const skipped = [first, ...others].map((report) => Math.round(skippedPairs(report)));
    const origin = axisOrigin(skipped);
    const encode = (report: Report, index: number): ReportEncode => ({
      index,
      name: names[index] ?? '',
      facts: report,
      report,
      frames: report.frames,
      count: report.frames.length,
      metrics: report.metrics,
      skipped: skipped[index],
      fileSize: undefined,
      series: options.looks?.[index]?.series,
      shift: (skipped[index] ?? 0) - origin,
    });
    this.list = [encode(first, 0), ...others.map((report, i) => encode(report, i + 1))];
    this.options = options;
    checked('options', options);
    const { pictures = [], picturesLacking = [] } = options;
    this.picturesLacking = picturesLacking;
    this.#pictures = new Map(pictures.map((picture) => [`${picture.report} ${picture.frame}`, picture]));
  }

  /** Name of the reference; `undefined` if encodes have different ones. */
  get against(): string | undefined {
    const [name, ...others] = new Set(this.list.map(({ facts }) => baseName(facts.reference.name)));
    return others.length > 0 ? undefined : name;
  }

  picturesOf({ index }: ReportEncode, frameNum: number): HtmlPictures | undefined {
    return this.#pictures.get(`${index} ${frameNum}`);
  }

  pooled({ facts }: ReportEncode, metric: string | undefined): Pooled | undefined {
    return metric === undefined ? undefined : statedPooled(facts, metric);
  }
}

export function seriesOf({ frames }: Pick<Report, 'frames'>, metric: string): Float64Array {
  return Float64Array.from(frames, ({ metrics }) => metrics[metric] ?? Number.NaN);
}

/** Options that come from callers as data. */
const checked = object({
  looks: optional(
    list(
      object(
        {
          colour: optional(
            fitting('a whole number, 0 or more', (value) => Number.isInteger(value) && Number(value) >= 0),
          ),
          series: optional(string),
        },
        'an object such as { colour: 2, series: "slow" }',
      ),
      'a list with an object for each report',
    ),
  ),
  curves: optional(
    object({ metric: optional(string), anchor: optional(string) }, 'an object such as { anchor: "h264" }'),
  ),
  pictures: optional(
    list(object({ aspect: optional(positive) }, 'pictures of a frame'), 'a list of pictures of frames'),
  ),
  picturesLacking: optional(list(string, 'a list of sentences')),
});

/** Pictures of one frame: JPEG, PNG, WebP or AVIF files. */
export interface HtmlPictures extends PictureFiles {
  /** Index of its report. */
  readonly report: number;
  /** `frameNum` of the frame. */
  readonly frame: number;
  /** Width over height as shown. Default: that of each file. */
  readonly aspect?: number;
}

/** First bytes of files; -1 is any byte. AVIF begins with the size of its `ftyp` box (ISO/IEC 23000-22). */
const STARTS = [
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
  ['image/avif', [-1, -1, -1, -1, ...Array.from('ftypavif', (letter) => letter.charCodeAt(0))]],
] as const;

/** @throws {AnyvmafError} `usage` unless it is a picture of at most 1 MiB */
export function pictureUrl(name: string, bytes: unknown): string {
  if (!(bytes instanceof Uint8Array))
    throw usageError(`${name} must be the bytes of a JPEG, PNG, WebP or AVIF file.`);
  if (bytes.length > LARGEST_PICTURE)
    throw usageError(
      `${name} has ${bytes.length} bytes, but at most ${LARGEST_PICTURE} are allowed; make it smaller.`,
    );
  const type = STARTS.find(([, start]) => start.every((byte, i) => byte === -1 || bytes[i] === byte))?.[0];
  if (type === undefined) throw usageError(`${name} is not a JPEG, PNG, WebP or AVIF file.`);
  return `data:${type};base64,${toBase64(bytes)}`;
}

// --- frames, packed ---

/** The k-th value is `low + code * (high - low) / top`; the code `top + 1` means none. */
export interface PackedMetric {
  readonly low: number;
  readonly high: number;
  /** Bytes a value takes, most significant first. */
  readonly bytes: 2 | 3;
  readonly data: string;
  /** The report's own; absent if the metric is not pooled, `null` if it is not finite. */
  readonly mean?: number | null;
}

/** Frame numbers: evenly spaced, or else the distance of each to the one before (to -1 for the first). */
export type PackedFrames =
  | { readonly first: number; readonly step: number; readonly count: number }
  | { readonly gaps: readonly number[] };

/** Up to this many frames, values keep about seven digits, beyond it nearly five: finer than a chart can show. */
const FINE_FRAMES = 40_000;

/** Packs non-finite values as missing. */
export function packMetric(frames: readonly FrameMetrics[], metric: string): PackedMetric {
  const bytes = frames.length <= FINE_FRAMES ? 3 : 2;
  const top = 2 ** (8 * bytes) - 2;
  const values = seriesOf({ frames }, metric);
  const { low, high } = extentOf([values]) ?? { low: 0, high: 0 };
  const scale = high > low ? top / (high - low) : 0;
  const codes = new Uint8Array(frames.length * bytes);
  let at = 0;
  for (const value of values) {
    const code = Number.isFinite(value) ? Math.round((value - low) * scale) : top + 1;
    if (bytes === 3) codes[at++] = code >>> 16;
    codes[at++] = code >>> 8;
    codes[at++] = code;
  }
  return { low, high, bytes, data: toBase64(codes) };
}

/** @param shift added to each frame number */
export function packFrames(frames: readonly FrameMetrics[], shift = 0): PackedFrames {
  const first = frames[0]?.frameNum ?? 0;
  const step = Math.max(1, (frames[1]?.frameNum ?? first + 1) - first);
  if (frames.every((frame, i) => frame.frameNum === first + i * step))
    return { first: first + shift, step, count: frames.length };
  return { gaps: frames.map((frame, i) => frame.frameNum - (frames[i - 1]?.frameNum ?? -1 - shift)) };
}
