/**
 * @module platform/node/encoding/host
 * The installed ffmpeg as the encoder of a search, and the cache of points from earlier searches.
 */
import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { COMMON_ENCODERS } from '../../../core/choices.js';
import { type AnyvmafError, ioError, usageError } from '../../../core/errors.js';
import { nearest } from '../../../core/nearest.js';
import type { Origin } from '../../../core/origin.js';
import { quoted, shown } from '../../../core/printable.js';
import { cacheFolder, makeFolders, writeReason } from '../../../files/folders.js';
import { type EncoderFacts, isForeignEncoder } from '../../../search/encoders.js';
import { ACTIVITY_KEY, type EncodingHost } from '../../../search/session.js';
import type { PointStore } from '../../../search/targets.js';
import { createFfmpegDecoder } from '../ffmpeg/decoder.js';
import { runTool } from '../ffmpeg/tool.js';
import { openFolder } from './folder.js';
import { decodeThumbnails, sourceFacts } from './source.js';

export function nodeEncoding(origin: Origin): EncodingHost {
  // One decoder, since it caches the times of a source, which each sample needs.
  const decoder = createFfmpegDecoder({ origin });
  return {
    encoder: (name, signal) => encoder(name, origin, signal),
    source: (input, signal) => sourceFacts(decoder, input, origin, signal),
    thumbnails: (...args) => decodeThumbnails(decoder, ...args),
    openFolder: (limit) => openFolder(decoder, origin, limit),
    points: nodePoints,
  };
}

async function encoder(name: string, origin: Origin, signal?: AbortSignal): Promise<EncoderFacts> {
  if (origin.by === 'foreign' && !isForeignEncoder(name)) {
    throw usageError(
      `the encoder ${quoted(name)} is not allowed here; ${COMMON_ENCODERS.join(', ')} and the usual hardware ` +
        'encoders are.',
    );
  }
  if (!/^[\w.-]{1,64}$/.test(name)) throw await unknownEncoder(name, signal);
  const [help, version] = await Promise.all([
    runTool('ffmpeg', ['-hide_banner', '-h', `encoder=${name}`], { signal }),
    runTool('ffmpeg', ['-version'], { signal }),
  ]);
  const text = help.stdout;
  if (!/^Encoder \S/m.test(text)) throw await unknownEncoder(name, signal);
  const options = new Map<string, string>();
  for (const [, option = '', type = ''] of text.matchAll(/^ {1,4}-([\w:.-]+) +<(\w+)> /gm))
    options.set(option, type);
  const library = await libraryVersion(name, signal);
  const formats = /^ *Supported pixel formats: (.*)$/m.exec(text)?.[1] ?? '';
  return {
    name,
    version: versionOf(version.stdout) + (library === undefined ? '' : `, ${name} ${library}`),
    options,
    pixelFormats: formats.split(' ').filter((format) => format !== ''),
  };
}

function versionOf(text: string): string {
  const version = /^ffmpeg version (\S+)/.exec(text)?.[1] ?? 'unknown';
  const codec = /^libavcodec\s+(\S+(?: \S+)?) \//m.exec(text)?.[1]?.replaceAll(' ', '');
  return codec === undefined ? `ffmpeg ${version}` : `ffmpeg ${version}, libavcodec ${codec}`;
}

async function unknownEncoder(name: string, signal: AbortSignal | undefined): Promise<AnyvmafError> {
  const { stdout } = await runTool('ffmpeg', ['-hide_banner', '-encoders'], { signal });
  const known = [...stdout.matchAll(/^ V\S{5} (\S+)/gm)]
    .map(([, encoder = '']) => encoder)
    .filter((encoder) => encoder !== '=');
  const near = nearest(name, known);
  const common = COMMON_ENCODERS.filter((encoder) => known.includes(encoder));
  const meant = near === undefined ? '' : ` did you mean ${near}?`;
  return usageError(
    `the installed ffmpeg has no video encoder ${quoted(name)};${meant || ` it has ${common.join(', ')} and more (ffmpeg -encoders).`}`,
  );
}

const TRIAL = ['-f', 'lavfi', '-i', 'color=s=128x128:r=25', '-frames:v', '1'];

/** The release of an encoder's library, in its log or output. */
const NAMED = [
  /^x265 \[info\]: HEVC encoder version (\S+)/m,
  /^Svt\[info\]: SVT \[version\]:\s+(?:\S+ )*?v?(\d\S*)\s*$/m,
  /^\[[\w.-]+ @ \w+\] v(\d+\.\S+)\s*$/m,
  /x264 - core (\d+(?: r\d+)?)/,
];

/**
 * The release of an encoder's library, which may change, and encode differently, under the same ffmpeg. Encodes a small frame,
 * since ffmpeg does not list it.
 * @returns `undefined` for encoders that do not state it or refuse the frame
 */
async function libraryVersion(encoder: string, signal?: AbortSignal): Promise<string | undefined> {
  const { stdout, stderr } = await runTool(
    'ffmpeg',
    ['-hide_banner', '-nostdin', ...TRIAL, '-c:v', encoder, '-f', 'nut', 'pipe:1'],
    { signal },
  );
  return versionIn(stderr) ?? versionIn(stdout);
}

export function versionIn(text: string): string | undefined {
  return NAMED.map((named) => named.exec(text)?.[1]).find((version) => version !== undefined);
}

const ENDING = '.points.jsonl';

/** One file of lines per key. @param folder default: the user's cache */
function nodePoints(folder: string = join(cacheFolder(), 'search')): PointStore {
  const place = (key: string) => join(resolve(folder), key + ENDING);
  return {
    async read(key) {
      const text = await readFile(place(key), 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    async add(key, line) {
      try {
        await makeFolders(resolve(folder));
        // One write, so that lines of concurrent searches do not mix.
        await appendFile(place(key), `${line}\n`);
      } catch (cause) {
        throw ioError(
          `The points of this search cannot be cached in ${shown(folder)}: ${writeReason(cause)}; name another ` +
            'folder, or none.',
          { cause },
        );
      }
    },
    async clear() {
      const names = await readdir(resolve(folder)).catch((): string[] => []);
      const ours = names.filter((name) => name.endsWith(ENDING));
      for (const name of ours) await rm(join(resolve(folder), name), { force: true });
      return ours.filter((name) => !name.startsWith(ACTIVITY_KEY)).length;
    },
  };
}
