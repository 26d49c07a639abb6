/**
 * @module scripts/corpus/codecs
 * Sound transcodes by each codec: no findings.
 */
import { sound, X264 } from './make.mjs';

/** A transcode without findings. */
const fine = (name, content, extension, options, more = {}) => ({
  name,
  what: `${content} by ${/-c:v (\S+)/.exec(options)[1]}, at a quality that is low`,
  reference: (files) => files.master(content, more.shape),
  distorted: (files, reference) => files.encode(`codec-${name}.${extension}`, reference, options),
  ...more,
});

const X265 = '-c:v libx265 -preset ultrafast -x265-params log-level=error:pools=none:frame-threads=1 -crf 36';

export default [
  fine('x264-low', 'pan', 'mp4', `${X264} -crf 40`),
  fine('x264-blocks', 'zoom', 'mp4', '-c:v libx264 -preset ultrafast -crf 48 -x264-params no-deblock=1'),
  fine('x264-lossless', 'life', 'mp4', '-c:v libx264 -preset ultrafast -qp 0'),
  fine('x265', 'cards', 'mp4', X265),
  fine('x265-10-bit', 'pan', 'mkv', `${X265} -pix_fmt yuv420p10le`, {
    says: ['bit-depth'],
    decoders: ['wasm'],
  }),
  fine('vp8', 'life', 'webm', '-c:v libvpx -b:v 60k -deadline realtime -cpu-used 8', { decoders: true }),
  fine('vp9-realtime', 'pan', 'webm', '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 55 -b:v 0'),
  fine('vp9-10-bit', 'cards', 'webm', '-c:v libvpx-vp9 -cpu-used 6 -crf 45 -b:v 0 -pix_fmt yuv420p10le', {
    says: ['bit-depth'],
  }),
  fine('av1-aom', 'credits', 'mkv', '-c:v libaom-av1 -usage realtime -cpu-used 8 -crf 45 -b:v 0'),
  fine('av1-svt', 'pan', 'mp4', '-c:v libsvtav1 -preset 10 -crf 45'),
  fine('av1-svt-10-bit', 'zoom', 'webm', '-c:v libsvtav1 -preset 10 -crf 50 -pix_fmt yuv420p10le', {
    says: ['bit-depth'],
  }),
  fine('av1-film-grain', 'pan', 'mp4', '-c:v libsvtav1 -preset 8 -crf 40 -svtav1-params film-grain=20', {
    says: ['film-grain'],
  }),
  fine('mpeg2', 'pan', 'ts', '-c:v mpeg2video -b:v 250k -bf 2'),
  fine('mpeg4', 'zoom', 'mp4', '-c:v mpeg4 -q:v 12'),
  fine('xvid', 'cells', 'avi', '-c:v libxvid -q:v 8'),
  fine('theora', 'cards', 'ogv', '-c:v libtheora -q:v 4', { decoders: ['wasm'] }),
  fine(
    'mjpeg-limited',
    'life',
    'mkv',
    '-c:v mjpeg -q:v 8 -pix_fmt yuv420p -strict unofficial -color_range tv',
  ),
  fine('prores', 'pan', 'mov', '-c:v prores_ks -profile:v 0 -pix_fmt yuv422p10le', {
    says: ['bit-depth', 'chroma-format'],
    decoders: ['wasm'],
  }),
  fine('ffv1-of-blurred', 'credits', 'mkv', '-vf boxblur=2 -c:v ffv1'),
  fine('utvideo', 'cards', 'avi', '-c:v utvideo -pix_fmt yuv420p'),
  {
    name: 'blocks-of-y4m',
    what: 'a master of Y4M, its blocky encode by VP8',
    reference: (files) => files.make('life.y4m', files.source('life')),
    distorted: (files, reference) =>
      files.encode('of-life.webm', reference, '-c:v libvpx -b:v 60k -deadline realtime -cpu-used 8'),
  },
  {
    name: 'generation',
    what: 'an encode of an encode, both in delivery codecs, the second smaller',
    reference: (files) => files.make('first-generation.mp4', files.source('pan'), X264, '-crf 20'),
    distorted: sound('second-generation.mp4', '-crf 36'),
  },
  {
    name: 'better-codec',
    what: 'AV1 of an MPEG-2 broadcast, at a fifth of its bit rate',
    reference: (files) => files.make('broadcast.ts', files.source('pan'), '-c:v mpeg2video -b:v 900k -bf 2'),
    distorted: (files, reference) =>
      files.encode(
        'of-broadcast.mkv',
        reference,
        '-c:v libaom-av1 -usage realtime -cpu-used 8 -crf 48 -b:v 0',
      ),
  },
];
