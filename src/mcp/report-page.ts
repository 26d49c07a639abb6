/**
 * @module mcp/report-page
 * Makes the HTML page of a report when it is read, with pictures of the worst frames if the videos are still there.
 */
import { pickOptions } from '../core/options.js';
import {
  AnyvmafError,
  type ExtractOptions,
  formatHtml,
  type HtmlPictures,
  ranking,
  worstFrames,
} from '../index.js';
import { mapsOfMetric } from '../report/quality-metrics.js';
import { isReport, readReport } from '../report/read/index.js';
import type { Report } from '../report/schema.js';
import type { Measuring } from './call-threads.js';
import type { Pictured } from './tool.js';
import { sentenceOf } from './wording.js';

/** Moments with three pictures each, and limits of a picture: a page stays below 2 MB. */
const MOMENTS = 4;
const SIDE = 640;
const BYTES = 100_000;

/**
 * @param text JSON of the report
 * @throws the signal's reason; {AnyvmafError} `io` if the text is not a report
 */
export async function reportPage(
  text: string,
  pictured: Pictured | undefined,
  api: Measuring,
  signal: AbortSignal,
): Promise<string> {
  const report = readReport(text);
  if (!isReport(report)) throw new AnyvmafError('io', 'This result is not a report, so it has no page.');
  const pictures: HtmlPictures[] = [];
  const picturesLacking: string[] = [];
  try {
    if (pictured?.request.reference !== undefined)
      pictures.push(...(await picturesOf(report, pictured, api, signal)));
    if (pictures.length === MOMENTS)
      picturesLacking.push(`The ${MOMENTS} worst moments have pictures; describe_worst_frames shows others.`);
  } catch (error) {
    signal.throwIfAborted();
    picturesLacking.push(`There are no pictures: ${sentenceOf(error)}`);
  }
  return formatHtml(report, { pictures, picturesLacking });
}

async function picturesOf(
  report: Report,
  { request, options, origin }: Pictured,
  api: Measuring,
  signal: AbortSignal,
): Promise<readonly HtmlPictures[]> {
  const by = ranking(report);
  const frames = by ? worstFrames(report, by, MOMENTS).map(({ frameNum }) => frameNum) : [];
  if (frames.length === 0) return [];
  const offset = report.pairing?.frames.offset;
  const { window: _, ...pairing } = pickOptions<ExtractOptions>(options, ({ by: takers }) =>
    takers.includes('extract'),
  );
  const drawn: HtmlPictures[] = [];
  await api.takePairs(
    {
      ...{ request, frames, maxSide: SIDE, maps: mapsOfMetric(report) },
      // Do not search again for the offset that scoring found.
      options: { ...pairing, offset: offset ?? pairing.offset, preflight: false, origin },
      previews: { names: ['reference', 'distorted', 'map'], maxSide: SIDE, maxBytes: BYTES },
    },
    {
      signal,
      onPair({ index, aspect, previews, pictures }) {
        drawn.push({
          ...{ report: 0, frame: index, aspect },
          reference: (previews.reference ?? pictures.reference).bytes,
          distorted: (previews.distorted ?? pictures.distorted).bytes,
          map: (previews.map ?? pictures.map).bytes,
        });
      },
    },
  );
  return drawn;
}
