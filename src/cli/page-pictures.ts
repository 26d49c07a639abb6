/**
 * @module cli/page-pictures
 * Pictures of the worst frames for the page of `--html`: both frames and where quality is lost, decoded once more after the
 * run. Only the frames that the page lists are decoded. Loaded only for that option.
 */
import { AnyvmafError } from '../core/errors.js';
import { pickOptions } from '../core/options.js';
import type { HtmlPictures, RawVideoFormat, ScoreOptions } from '../index.js';
import { listedMoments } from '../report/html/pictures.js';
import type { Report } from '../report/types.js';
import { ranking, worstFrames } from '../report/worst.js';
import { messageInFlags } from './flags.js';

/** An encode on the page, and the files and options of its run. */
export interface PicturedEncode {
  readonly report: Report;
  /** Absent where there is no reference. */
  readonly reference: string | undefined;
  readonly distorted: string;
  readonly raw: RawVideoFormat | undefined;
  readonly options: ScoreOptions;
}

/** Pictures for a page, and why it lacks others, in sentences. */
export interface PagePictures {
  readonly pictures: readonly HtmlPictures[];
  readonly lacking: readonly string[];
}

/** Longest side of a picture in pixels; on a page of many moments they have less room. */
const SIDE = { few: 192, many: 144 } as const;
/** Moments from which there are many. */
const MANY_MOMENTS = 13;
/** Side of a map's square in pixels of the video. */
const BLOCK = 16;
/** Bytes of all pictures of a page at most. Most pages take a third of it. */
const BUDGET = 3 * 2 ** 20;

/**
 * Pictures of the moments that the page lists, the worst of every encode first, until they fill the page's share for
 * pictures. The same files give the same pictures. An encode whose files cannot be read again has none.
 * @throws the signal's reason
 */
export async function pagePictures(
  encodes: readonly PicturedEncode[],
  signal: AbortSignal,
): Promise<PagePictures> {
  const made: (readonly HtmlPictures[])[] = [];
  const lacking: string[] = [];
  const moments = listedMoments(encodes.length);
  const maxSide = moments * encodes.length < MANY_MOMENTS ? SIDE.few : SIDE.many;
  for (const [i, encode] of encodes.entries()) {
    try {
      made.push(await picturesOf(encode, i, { moments, maxSide }, signal));
    } catch (error) {
      signal.throwIfAborted();
      lacking.push(`There are no pictures of ${encode.report.distorted.name}: ${reasonOf(error)}`);
    }
  }
  const ranked = byRank(made);
  const pictures = withinBudget(ranked);
  const beyond = ranked.length - pictures.length;
  if (beyond > 0)
    lacking.push(
      `${beyond} of ${ranked.length} moments have no pictures: a page holds ${BUDGET / 2 ** 20} MiB of them.`,
    );
  return { pictures, lacking };
}

/** The worst of all encodes, then the second of all. */
function byRank(made: readonly (readonly HtmlPictures[])[]): HtmlPictures[] {
  const most = Math.max(0, ...made.map(({ length }) => length));
  return Array.from({ length: most }, (_, rank) => made.flatMap((of) => of[rank] ?? [])).flat();
}

function withinBudget(pictures: readonly HtmlPictures[]): HtmlPictures[] {
  let room = BUDGET;
  const beyond = pictures.findIndex(({ reference, distorted, map }) => {
    room -= reference.length + distorted.length + (map?.length ?? 0);
    return room < 0;
  });
  return pictures.slice(0, beyond === -1 ? undefined : beyond);
}

/** The worst first. */
async function picturesOf(
  { report, reference, distorted, raw, options }: PicturedEncode,
  index: number,
  { moments, maxSide }: { readonly moments: number; readonly maxSide: number },
  signal: AbortSignal,
): Promise<readonly HtmlPictures[]> {
  const by = ranking(report);
  const worst = by ? worstFrames(report, by, moments).map(({ frameNum }) => frameNum) : [];
  if (worst.length === 0 || reference === undefined) return [];
  if (reference === '-' || distorted === '-') throw new Error('standard input cannot be read twice.');
  const butteraugli = by?.metric.startsWith('butteraugli') === true;
  const { extractFrames, mapQuality } = await import('../index.js');
  // The offset is the one that the run found.
  const { window: _, ...pairing } = pickOptions(options, ({ by }) => by.includes('extract'));
  const offset = report.pairing?.frames.offset;
  const pairs = extractFrames({ reference, distorted, ...(raw && { raw }) }, worst, {
    ...pairing,
    ...(offset !== undefined && { offset }),
    preflight: false,
    signal,
  });
  const made = new Map<number, HtmlPictures>();
  for await (const pair of pairs) {
    const maps = await mapQuality(pair, { blockSize: BLOCK, butteraugli });
    const map = maps.render({ of: butteraugli ? 'butteraugli' : 'both', legend: false, maxSide });
    made.set(pair.index, {
      report: index,
      frame: pair.index,
      aspect: pair.reference.displayAspect,
      reference: await pair.reference.png({ maxSide }),
      distorted: await pair.distorted.png({ maxSide }),
      map: await map.png(),
    });
  }
  // They came in the order of the video.
  return worst.flatMap((frame) => made.get(frame) ?? []);
}

function reasonOf(error: unknown): string {
  const words =
    error instanceof AnyvmafError
      ? messageInFlags(error)
      : error instanceof Error
        ? error.message
        : String(error);
  return /[.!?]$/.test(words) ? words : `${words}.`;
}
