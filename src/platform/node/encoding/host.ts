/**
 * @module platform/node/encoding/host
 * The installed ffmpeg as what encodes for a search.
 */

import { COMMON_ENCODERS } from '../../../core/encoder-names.js';
import { AnyvmafError, usageError } from '../../../core/errors.js';
import { nearest } from '../../../core/nearest.js';
import type { Origin } from '../../../core/origin.js';
import { quoted, shown } from '../../../core/printable.js';
import { quotedWord } from '../../../core/shell.js';
import type { Decoder, TrackFacts } from '../../../media/decoder.js';
import { delivery } from '../../../media/delivery.js';
import type { VideoInput } from '../../../media/types.js';
import { isForeignEncoder } from '../../../search/encoders.js';
import type { EncoderFacts, EncodingHost, OtherTrack, SourceFacts } from '../../../search/host.js';
import { inputArgs } from '../../ffmpeg/access.js';
import { compactFields } from '../../ffmpeg/packet-times.js';
import { createFfmpegDecoder } from '../ffmpeg/decoder.js';
import { type FfmpegInput, ffmpegInput } from '../ffmpeg/input.js';
import { runOn } from '../ffmpeg/launch.js';
import { runTool } from '../ffmpeg/tool.js';
import { openFolder } from './folder.js';
import { libraryVersion } from './library-version.js';
import { readPackets } from './packets.js';
import { nodePoints } from './points.js';
import { decodeThumbnails } from './thumbnails.js';

/** What encodes, for a source named by `origin`. */
export function nodeEncoding(origin: Origin): EncodingHost {
  // It remembers the times of a source, which are asked for once for each sample.
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
      `the encoder ${quoted(name)} is not one that may be asked for here; ${COMMON_ENCODERS.join(', ')} and ` +
        'the usual hardware encoders are.',
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
    pixelFormats: formats.split(' ').filter((one) => one !== ''),
  };
}

/** ffmpeg's version, and that of the library that all its codecs are in. */
function versionOf(text: string): string {
  const version = /^ffmpeg version (\S+)/.exec(text)?.[1] ?? 'unknown';
  const codec = /^libavcodec\s+(\S+(?: \S+)?) \//m.exec(text)?.[1]?.replaceAll(' ', '');
  return codec === undefined ? `ffmpeg ${version}` : `ffmpeg ${version}, libavcodec ${codec}`;
}

async function unknownEncoder(name: string, signal: AbortSignal | undefined): Promise<AnyvmafError> {
  const { stdout } = await runTool('ffmpeg', ['-hide_banner', '-encoders'], { signal });
  const known = [...stdout.matchAll(/^ V\S{5} (\S+)/gm)]
    .map(([, one = '']) => one)
    .filter((one) => one !== '=');
  const near = nearest(name, known);
  const common = COMMON_ENCODERS.filter((one) => known.includes(one));
  const meant = near === undefined ? '' : ` did you mean ${near}?`;
  return usageError(
    `the installed ffmpeg has no video encoder ${quoted(name)};${meant || ` it has ${common.join(', ')} and more (ffmpeg -encoders).`}`,
  );
}

async function sourceFacts(
  decoder: Decoder,
  input: VideoInput,
  origin: Origin,
  signal?: AbortSignal,
): Promise<SourceFacts> {
  const file = await ffmpegInput(input, { urls: 'never', origin });
  const track = await decoder.probe(input, signal);
  const index = track.track?.index ?? 0;
  if (index > 0) {
    throw new AnyvmafError(
      'media',
      `the video that is meant in ${shown(file.name)} is not its first video track`,
      {
        hints: [
          `copy it into a file of its own first: ffmpeg -i ${quotedWord(file.name)} -map 0:V:${index} -c copy SOURCE.mkv`,
        ],
        file: file.name,
      },
    );
  }
  // Refuses what is no luma and chroma, and cannot be made so.
  delivery(track.pixelFormat, 0, file.name, {});
  const packets = await readPackets(file, track, signal);
  if (packets.times.length === 0) {
    throw new AnyvmafError('media', `${shown(file.name)} has no frames to encode.`);
  }
  return {
    track,
    ...packets,
    others: await otherTracks(file, signal),
    ...(await hdrFacts(file, track, signal)),
    identity: `${track.name}\n${file.version ?? ''}`,
  };
}

const KINDS: readonly string[] = ['audio', 'subtitle', 'attachment', 'data', 'video'];

/** Tracks beside the first that is video and no cover. */
async function otherTracks(file: FfmpegInput, signal?: AbortSignal): Promise<readonly OtherTrack[]> {
  const entries = 'stream=codec_type,codec_name:stream_disposition=attached_pic';
  const { stdout } = await runOn(
    'ffprobe',
    file,
    (source) => ['-v', 'error', '-show_entries', entries, '-of', 'compact', ...inputArgs(source)],
    { signal },
  );
  const tracks = stdout
    .split('\n')
    .filter((line) => line.startsWith('stream|'))
    .map(compactFields);
  const kindOf = (fields: ReadonlyMap<string, string>) =>
    fields.get('disposition:attached_pic') === '1' ? 'attachment' : (fields.get('codec_type') ?? '');
  const first = tracks.findIndex((fields) => kindOf(fields) === 'video');
  return tracks.flatMap((fields, i) => {
    const kind = kindOf(fields);
    if (i === first || !KINDS.includes(kind)) return [];
    return [{ kind: kind as OtherTrack['kind'], codec: fields.get('codec_name') ?? '' }];
  });
}

/** What the first frame of a source with an HDR transfer says for displays. */
async function hdrFacts(
  file: FfmpegInput,
  { transfer }: TrackFacts,
  signal?: AbortSignal,
): Promise<Pick<SourceFacts, 'hdr'>> {
  if (transfer !== 'smpte2084' && transfer !== 'arib-std-b67') return {};
  const entries =
    '-v error -select_streams V:0 -read_intervals %+#1 -show_streams -show_frames -of compact'.split(' ');
  const { stdout } = await runOn('ffprobe', file, (source) => [...entries, ...inputArgs(source)], { signal });
  const kinds = [...stdout.matchAll(/side_data_type=([^|\n]{1,80})/g)].map(([, kind = '']) => kind);
  return { hdr: [...new Set(kinds.filter((kind) => /Mastering|Content light|Dolby|DOVI|HDR/i.test(kind)))] };
}
