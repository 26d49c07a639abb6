/**
 * @module test/support/playlists
 * Playlists and manifests of every kind that make a demuxer open other files, each with many ways to name a file outside of its
 * folder.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Targets that must not be reached. */
export interface Targets {
  /** Absolute path of a file outside, with an extension that playlists may name. */
  readonly path: string;
  /** `http://127.0.0.1:PORT/x.ts` */
  readonly url: string;
}

export interface Attack {
  /** `hls 3: file://... in clip.mp4` */
  readonly title: string;
  /** Writes it with its companions into a folder of its own. @returns the path to give to a tool */
  write(folder: string): string;
}

type Reference = (targets: Targets, link: string) => string;

/** Ways to name the target; `link` is the name of a symbolic link to it beside the playlist. */
const REFERENCES: readonly Reference[] = [
  ({ path }) => path,
  ({ path }) => `file://${path}`,
  ({ path }) => `file:${path}`,
  ({ path }) => `../../outside/${path.split('/').at(-1)}`,
  (_, link) => link,
  ({ url }) => url,
  ({ path }) => `subfile,,start,0,end,0,,:${path}`,
  ({ path }) => `concat:${path}|${path}`,
  ({ path }) => `crypto:${path}`,
  ({ path }) => `crypto+file://${path}`,
  ({ path }) => `data:application/vnd.apple.mpegurl,${encodeURIComponent(media(path))}`,
  ({ url }) => url.replace('http:', 'tcp:'),
  ({ path }) => `cache:${path}`,
  ({ path }) => `async:file:${path}`,
  (_, link) => `./sub/../${link}`,
  ({ url }) => `hls+${url}`,
  ({ path }) => `concatf:${path}`,
  ({ url }) => url.replace('http:', 'https:'),
  ({ path }) => `FILE:${path}`,
  ({ path }) => `pipe:0${path}`,
];

/** File names of playlists. */
const NAMES = ['clip.mp4', 'clip.m3u8', 'clip.mkv', 'clip.ts', 'clip', 'clip.y4m', 'clip.webm', 'clip.mxf'];

const media = (reference: string): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${reference}\n#EXT-X-ENDLIST\n`;

const HLS: readonly ((reference: string) => string)[] = [
  media,
  (to) => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${to}\n`,
  (to) => media('own.ts').replace('#EXTINF', `#EXT-X-KEY:METHOD=AES-128,URI="${to}"\n#EXTINF`),
  (to) => media('own.m4s').replace('#EXTINF', `#EXT-X-MAP:URI="${to}"\n#EXTINF`),
];

const manifest = (inner: string): string =>
  '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" ' +
  'minBufferTime="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">' +
  `<Representation id="1" bandwidth="1" width="64" height="64">${inner}</Representation></AdaptationSet></Period></MPD>\n`;
const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const DASH: readonly ((reference: string) => string)[] = [
  (to) => manifest(`<BaseURL>${xml(to)}</BaseURL>`),
  (to) => manifest(`<SegmentList duration="1"><SegmentURL media="${xml(to)}"/></SegmentList>`),
  (to) => manifest(`<SegmentTemplate duration="1" initialization="${xml(to)}" media="${xml(to)}"/>`),
];

const CONCAT: readonly ((reference: string) => string)[] = [
  (to) => `ffconcat version 1.0\nfile '${to}'\n`,
  (to) => `ffconcat version 1.0\nstream\nfile '${to}'\nduration 1\noption protocol_whitelist ALL\n`,
];

const SDP: readonly ((reference: string, url: string) => string)[] = [
  (_, url) =>
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video ${port(url)} RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
  (_, url) =>
    `v=0\ns=x\nm=video ${port(url)} RTP/AVP/TCP 33\nc=IN IP4 127.0.0.1\na=control:rtsp://127.0.0.1:${port(url)}/x\n`,
  (to) => `v=0\ns=x\nt=0 0\na=control:${to}\nm=video 0 RTP/AVP 96\nc=IN IP4 127.0.0.1\n`,
];
const port = (url: string): string => new URL(url).port;

/** A composition and its asset map, which names the track file. */
function composition(reference: string): { readonly list: string; readonly assets: string } {
  const id = (n: number) => `urn:uuid:00000000-0000-4000-8000-00000000000${n}`;
  return {
    list:
      `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${id(1)}</Id>` +
      '<ContentTitle>x</ContentTitle><EditRate>25 1</EditRate><SegmentList><Segment><Id>urn:uuid:00000000-0000-4000-8000-000000000002' +
      '</Id><SequenceList><cc:MainImageSequence xmlns:cc="http://www.smpte-ra.org/schemas/2067-2/2016">' +
      `<Id>${id(3)}</Id><TrackId>${id(4)}</TrackId><ResourceList><Resource><Id>${id(5)}</Id><EditRate>25 1</EditRate>` +
      `<IntrinsicDuration>25</IntrinsicDuration><TrackFileId>${id(6)}</TrackFileId></Resource></ResourceList>` +
      '</cc:MainImageSequence></SequenceList></Segment></SegmentList></CompositionPlaylist>\n',
    assets:
      `<?xml version="1.0"?><AssetMap xmlns="http://www.smpte-ra.org/schemas/429-9/2007/AM"><Id>${id(7)}</Id><AssetList>` +
      `<Asset><Id>${id(6)}</Id><ChunkList><Chunk><Path>${xml(reference)}</Path></Chunk></ChunkList></Asset></AssetList></AssetMap>\n`,
  };
}

/** Every attack. @param movie a MOV file whose `moov` comes last */
export function attacks(targets: Targets, movie: Uint8Array): Attack[] {
  const list: Attack[] = [];
  for (const [i, reference] of REFERENCES.entries()) {
    const name = NAMES[(i * 3) % NAMES.length] ?? 'clip';
    const link = `link.${targets.path.split('.').at(-1)}`;
    const to = reference(targets, link);
    const plain = (
      kind: string,
      content: string | Uint8Array,
      file = name,
      more: Readonly<Record<string, string>> = {},
    ) =>
      list.push({
        title: `${kind} ${i}: ${to.slice(0, 60)} in ${file}`,
        write(folder) {
          mkdirSync(join(folder, 'sub'), { recursive: true });
          symlinkSync(targets.path, join(folder, link));
          for (const [other, text] of Object.entries(more)) writeFileSync(join(folder, other), text);
          writeFileSync(join(folder, file), content);
          return join(folder, file);
        },
      });
    plain('hls', pick(HLS, i)(to));
    plain('dash', pick(DASH, i)(to));
    plain('ffconcat', pick(CONCAT, i)(to));
    plain('sdp', pick(SDP, i)(to, targets.url));
    const { list: cpl, assets } = composition(to);
    plain('imf', cpl, i % 2 === 0 ? 'cpl.xml' : name, { 'ASSETMAP.xml': assets });
    plain(
      'mov',
      withReference(movie, i % 2 === 0 ? 'alis' : 'url ', to, i),
      i % 4 < 2 ? 'clip.mov' : 'clip.mp4',
    );
    list.push(sequence(i, targets));
  }
  return list;
}

const pick = <T>(all: readonly T[], i: number): T => all[i % all.length] as T;

/** Patterns of image sequences, and a file that matches literally. */
const PATTERNS: readonly (readonly [string, string])[] = [
  ['f%03d.jpg', 'f000.jpg'],
  ['f%d.png', 'f0.png'],
  ['f%04d.ppm', 'f0001.ppm'],
  ['f*.jpg', 'f1.jpg'],
  ['f?.bmp', 'f1.bmp'],
  ['f%03d.dpx', 'f001.dpx'],
  ['f%1d.webp', 'f1.webp'],
  ['f[0-9].jpg', 'f1.jpg'],
  ['f%%%03d.jpg', 'f%001.jpg'],
  ['{f1,f2}.tiff', 'f1.tiff'],
];

/** Starts of picture files, and others. */
const STARTS = ['\xff\xd8\xff\xe0', '\x89PNG\r\n\x1a\n', 'P6 1 1 255\nabc', 'nothing', 'BM'];

function sequence(i: number, { path }: Targets): Attack {
  const [pattern, member] = pick(PATTERNS, i);
  return {
    title: `image2 ${i}: ${member} by way of ${pattern}`,
    write(folder) {
      mkdirSync(folder, { recursive: true });
      symlinkSync(path, join(folder, member));
      writeFileSync(join(folder, pattern), Buffer.from(pick(STARTS, Math.floor(i / 2)), 'latin1'));
      return join(folder, pattern);
    },
  };
}

/** The movie with its data reference in another file. */
function withReference(movie: Uint8Array, type: 'alis' | 'url ', to: string, i: number): Uint8Array {
  const bytes = Buffer.from(movie);
  const at = bytes.indexOf('dref', bytes.lastIndexOf('moov')) - 4;
  if (at < 0) throw new Error('the movie has no data reference');
  const entry = type === 'alis' ? alias(to, i) : Buffer.concat([Buffer.alloc(4), Buffer.from(`${to}\0`)]);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(entry.length + 8, 0);
  head.write(type, 4, 'latin1');
  const old = bytes.readUInt32BE(at);
  const box = Buffer.concat([bytes.subarray(at, at + 16), head, entry]);
  box.writeUInt32BE(box.length, 0);
  const grown = box.length - old;
  // The boxes around it grow by as much.
  for (const parent of ['moov', 'trak', 'mdia', 'minf', 'dinf']) {
    const start = bytes.lastIndexOf(parent, at) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(start) + grown, start);
  }
  return Buffer.concat([bytes.subarray(0, at), box, bytes.subarray(at + old)]);
}

/** A Macintosh alias that goes some folders up, then down a path. */
function alias(to: string, i: number): Buffer {
  const fixed = Buffer.alloc(150);
  const name = Buffer.from(to.split('/').at(-1) ?? '').subarray(0, 62);
  fixed.writeUInt8(4, 14);
  fixed.write('disk', 15);
  fixed.writeUInt8(name.length, 54);
  name.copy(fixed, 55);
  fixed.writeInt16BE(i % 3 === 0 ? -1 : 2, 134);
  fixed.writeInt16BE(i % 3 === 0 ? -1 : 3, 136);
  const path = Buffer.from(i % 2 === 0 ? to : to.replaceAll('/', ':'));
  const record = Buffer.alloc(4);
  record.writeInt16BE(i % 4 < 2 ? 2 : 18, 0);
  record.writeUInt16BE(path.length, 2);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  return Buffer.concat([fixed, record, path, Buffer.alloc(path.length % 2), end]);
}
