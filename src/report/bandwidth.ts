/**
 * @module report/bandwidth
 * Measures HLS segments for the bandwidths in master playlists (RFC 8216 and its successor) and DASH manifests. Pure.
 */
import { type AnyvmafError, ioError } from '../core/errors.js';
import { shown } from '../core/printable.js';

/** Run in the folder of a ladder's streams, because the rates that ffmpeg writes are guesses. */
export const BANDWIDTH_COMMAND = 'anyvmaf ladder --master master.m3u8';

interface Segment {
  readonly bytes: number;
  readonly seconds: number;
}

/** Bits per second. */
interface Rates {
  readonly peak: number;
  readonly average: number;
}

/** Files in the folder of a master playlist. */
export interface PlaylistFiles {
  /** @throws {AnyvmafError} `io` for a missing file */
  text(name: string): Promise<string>;
  bytes(name: string): Promise<number>;
}

const PLAIN = /^[^/\\:?#%]{1,255}$/;

/**
 * Replaces the bandwidths in a master playlist with measured ones.
 * @param playlist its name, for messages
 * @returns the new text, and peak rates in bits per second by media playlist
 * @throws {AnyvmafError} `io` unless the text is a master playlist of files in one folder
 */
export async function measuredMaster(
  playlist: string,
  master: string,
  files: PlaylistFiles,
): Promise<{ readonly text: string; readonly peaks: ReadonlyMap<string, number> }> {
  const refused = (why: string) =>
    ioError(`${shown(playlist)} is not an HLS master playlist of files in one folder: ${why}.`);
  const lines = master.split(/\r?\n/);
  if (lines[0] !== '#EXTM3U') throw refused('it does not begin with #EXTM3U');
  const known = new Map<string, Promise<Rates>>();
  const rates = (name: string) => {
    const found = known.get(name) ?? ratesOf(name, files, refused);
    known.set(name, found);
    return found;
  };
  // A player may fetch any rendition of a group beside the video, so count the most expensive one.
  const sounds = new Map<string, Rates>();
  for (const line of lines.filter((tag) => tag.startsWith('#EXT-X-MEDIA:'))) {
    const { 'GROUP-ID': group, URI: uri } = attributesOf(line);
    if (group === undefined || uri === undefined) continue;
    const [own, most] = [await rates(uri), sounds.get(group) ?? { peak: 0, average: 0 }];
    sounds.set(group, { peak: Math.max(own.peak, most.peak), average: Math.max(own.average, most.average) });
  }
  const out = [...lines];
  let streams = 0;
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith('#EXT-X-STREAM-INF:')) continue;
    const video = await rates(lines[i + 1] ?? '');
    const { AUDIO: group = '' } = attributesOf(line);
    const { peak, average } = sounds.get(group) ?? { peak: 0, average: 0 };
    const rest = line.replace(/(?<=[:,])(?:AVERAGE-)?BANDWIDTH=\d+,?/g, '').replace(/,$/, '');
    const measured = `BANDWIDTH=${Math.ceil(video.peak + peak)},AVERAGE-BANDWIDTH=${Math.ceil(video.average + average)}`;
    out[i] = rest.replace(':', `:${measured},`).replace(/,$/, '');
    streams++;
  }
  if (streams === 0) throw refused('it lists no streams');
  const peaks = new Map<string, number>();
  for (const [name, found] of known) peaks.set(name, Math.ceil((await found).peak));
  return { text: out.join('\n'), peaks };
}

/** Replaces bandwidths in a DASH manifest: representation 0 gets the peak of `media_0.m3u8`. */
export function measuredManifest(manifest: string, peaks: ReadonlyMap<string, number>): string {
  return manifest.replace(/<Representation [^>]{1,2000}>/g, (tag) => {
    const id = / id="(\d{1,4})"/.exec(tag)?.[1];
    const peak = peaks.get(`media_${id}.m3u8`);
    return peak === undefined ? tag : tag.replace(/ bandwidth="\d+"/, ` bandwidth="${peak}"`);
  });
}

async function ratesOf(
  name: string,
  files: PlaylistFiles,
  refused: (why: string) => AnyvmafError,
): Promise<Rates> {
  if (!PLAIN.test(name)) throw refused(`it names ${shown(name)}, which is not a file in the same folder`);
  const lines = (await files.text(name)).split(/\r?\n/);
  const target = Number(lines.find((line) => line.startsWith('#EXT-X-TARGETDURATION:'))?.split(':')[1]);
  const segments: Segment[] = [];
  let seconds = Number.NaN;
  let range: string | undefined;
  for (const line of lines) {
    if (line.startsWith('#EXTINF:')) seconds = Number.parseFloat(line.slice(8));
    else if (line.startsWith('#EXT-X-BYTERANGE:')) range = line.slice(17);
    else if (line !== '' && !line.startsWith('#')) {
      if (!PLAIN.test(line))
        throw refused(`${name} names ${shown(line)}, which is not a file in the same folder`);
      const bytes = range === undefined ? await files.bytes(line) : Number.parseInt(range, 10);
      segments.push({ bytes, seconds });
      [seconds, range] = [Number.NaN, undefined];
    }
  }
  if (segments.length === 0 || !(target > 0) || segments.some((segment) => !(segment.seconds > 0)))
    throw refused(`${name} has no segments with a duration`);
  const average = rateOf(segments);
  // Peak over any run of consecutive segments that lasts 0.5 to 1.5 target durations.
  let peak = 0;
  for (const [from] of segments.entries()) {
    for (let until = from + 1; until <= segments.length; until++) {
      const run = segments.slice(from, until);
      const length = run.reduce((sum, segment) => sum + segment.seconds, 0);
      if (length > 1.5 * target) break;
      if (length >= 0.5 * target) peak = Math.max(peak, rateOf(run));
    }
  }
  return { peak: Math.max(peak, average), average };
}

function rateOf(segments: readonly Segment[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  return (8 * bytes) / seconds;
}

/** Attributes of a tag: `NAME=value` or `NAME="value"`, separated by commas. */
function attributesOf(line: string): Readonly<Record<string, string>> {
  const pairs = line.slice(line.indexOf(':') + 1).matchAll(/([A-Z0-9-]{1,40})=(?:"([^"]*)"|([^",]*))/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = '', quoted, plain = '']) => [name, quoted ?? plain]),
  );
}
