/**
 * @module scripts/corpus/containers
 * Containers and their time stamps: files that decode completely score completely.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frames, sound, X264 } from './make.mjs';

const master = (files) => files.master();
const cards = (files) => files.master('cards');

const VP8 = '-c:v libvpx -b:v 300k -deadline good -cpu-used 4 -threads 1';
const AV1 = '-c:v libaom-av1 -usage realtime -cpu-used 8 -crf 40 -b:v 0 -threads 1';

/** VP8 in two passes, which stores hidden frames. */
function hidden(files, name) {
  const log = files.at('passes');
  const input = files.source('zoom');
  const coded = `${VP8} -auto-alt-ref 1 -lag-in-frames 16 -passlogfile`;
  const pass = (number) => [...coded.split(' '), log, '-pass', String(number)];
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...input, ...pass(1), '-f', 'null', '-']);
  return files.make(name, input, pass(2));
}

/** Numbered pictures in a folder, from 1. */
function sequence(files, name, input, codec) {
  const stream = readFileSync(files.make(`${name}.${codec}s`, input, '-f image2pipe -c:v', [codec]));
  const folder = files.at(name);
  if (!existsSync(folder)) mkdirSync(folder);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  for (let start = 0, number = 1; start >= 0; number++) {
    const end = stream.indexOf(signature, start + 1);
    const picture = stream.subarray(start, end < 0 ? undefined : end);
    writeFileSync(join(folder, `${String(number).padStart(4, '0')}.png`), picture);
    start = end;
  }
  return join(folder, '%04d.png');
}

const GREY_TO_601 =
  'scale=out_color_matrix=bt601:out_range=limited:flags=bicubic+accurate_rnd+full_chroma_int';
/** RGB converted for the default matrix of an ffmpeg encode. */
const rgb = `${GREY_TO_601},format=yuv444p`;

/** A fragmented MP4, and the offsets of its boxes. */
const fragmented = (files, reference) =>
  files.encode('bare.mp4', reference, X264, '-g 25 -movflags frag_keyframe+empty_moov+default_base_moof');
function cutAtFragment(path) {
  const bytes = readFileSync(path);
  const moof = bytes.indexOf('moof') - 4;
  return [bytes.subarray(0, moof), bytes.subarray(moof)];
}

const joined = (files, reference) => {
  const whole = files.encode('part.ts', reference, X264, '-bf 0 -muxdelay 0');
  return files.put('joined.ts', Buffer.concat([readFileSync(whole), readFileSync(whole)]));
};

export default [
  {
    name: 'mp4-b-frames',
    what: 'MP4 with B-frames, whose edit list hides their delay',
    reference: master,
    distorted: sound('b-frames.mp4', '-bf 3'),
    decoders: true,
  },
  {
    name: 'mp4-fragments',
    what: 'an MP4 that is all fragments, against its own master in fragments: neither states a bit rate',
    reference: (files) =>
      files.make(
        'fragments-master.mp4',
        files.source('pan'),
        X264,
        '-crf 8 -movflags frag_keyframe+empty_moov',
      ),
    distorted: sound('fragments.mp4', '-movflags frag_keyframe+empty_moov -g 12'),
    decoders: true,
  },
  {
    name: 'mp4-first-fragment-in-moov',
    what: 'an MP4 whose index holds the first fragment only',
    reference: master,
    distorted: sound('first.mp4', '-g 12 -movflags frag_keyframe'),
    decoders: ['wasm'],
  },
  {
    name: 'mp4-first-fragment-range',
    what: 'a part of such an MP4 that is longer than the first fragment',
    reference: master,
    distorted: sound('first.mp4', '-g 12 -movflags frag_keyframe'),
    options: { range: { unit: 'frames', start: 0, end: 30 } },
    right: { reference: { frames: frames(0, 30) }, distorted: { frames: frames(0, 30) } },
    decoders: ['wasm'],
  },
  {
    name: 'mp4-edit-list-cut',
    what: 'a cut without encoding: an edit list hides the frames from the key frame on',
    reference: master,
    distorted: (files, reference) =>
      files.make('cut.mp4', ['-ss', '0.4', '-i', files.encode('to-cut.mp4', reference, X264)], '-c copy'),
    right: { reference: { frames: frames(10, 50) } },
    finds: { offset: 'warning' },
    verdict: 'untrusted',
    decoders: true,
  },
  {
    name: 'mp4-late-start',
    what: 'an MP4 that starts half a second late, by an empty edit',
    reference: master,
    distorted: (files, reference) =>
      files.make(
        'late-start.mp4',
        ['-itsoffset', '0.5', '-i', files.encode('early-start.mp4', reference, X264)],
        '-c copy',
      ),
    decoders: true,
  },
  {
    name: 'mp4-bare-segment',
    what: 'a segment without the beginning that says how to decode it',
    reference: master,
    distorted: (files, reference) => files.put('segment.m4s', cutAtFragment(fragmented(files, reference))[1]),
    refused: /cat \S+ \S*segment\.m4s/,
  },
  {
    name: 'mp4-joined-segment',
    what: 'the same after its beginning',
    reference: master,
    distorted: (files, reference) =>
      files.put('init-and-segment.mp4', Buffer.concat(cutAtFragment(fragmented(files, reference)))),
    decoders: true,
  },
  {
    name: 'mp4-without-video',
    what: 'an MP4 of sound only',
    reference: master,
    distorted: (files) => files.make('sound.mp4', '-f lavfi -i sine=d=1 -c:a aac'),
    refused: /no video/,
  },
  {
    name: 'mkv-b-frames',
    what: 'Matroska, whose times are milliseconds, at 30000/1001 frames per second',
    reference: (files) => files.master('cards', { rate: '30000/1001' }),
    distorted: sound('ntsc.mkv', '-bf 3'),
    decoders: true,
  },
  {
    name: 'mkv-two-frames-in-a-millisecond',
    what: 'two neighbouring frames that have one time',
    reference: master,
    distorted: (files, reference) =>
      files.make(
        'equal.mkv',
        ['-i', files.encode('unequal.mkv', reference, X264, '-bf 0')],
        [
          '-c',
          'copy',
          '-bsf:v',
          'setts=pts=if(eq(N\\,20)\\,PREV_OUTPTS\\,PTS):dts=if(eq(N\\,20)\\,PREV_OUTDTS\\,DTS)',
        ],
      ),
    finds: { 'missing-frames': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'avi-without-first-times',
    what: 'B-frames in AVI, which has no times of its own: the first packets seem to lack theirs',
    reference: master,
    distorted: sound('b-frames.avi', '-bf 2'),
    decoders: ['wasm'],
  },
  {
    name: 'avi-mpeg4-b-frames',
    what: 'MPEG-4 part 2 with B-frames in AVI',
    reference: cards,
    distorted: (files, reference) => files.encode('mpeg4.avi', reference, '-c:v mpeg4 -q:v 5 -bf 2'),
    decoders: ['wasm'],
  },
  {
    name: 'mkv-without-first-times',
    what: 'H.264 of an AVI with B-frames, copied to Matroska',
    reference: master,
    distorted: (files, reference) =>
      files.make(
        'without-first.mkv',
        ['-fflags', '+genpts', '-i', files.encode('to-copy.avi', reference, X264, '-bf 2')],
        '-c copy',
      ),
  },
  {
    name: 'webm-vp9',
    what: 'VP9 with frames that are never shown, in superframes',
    reference: (files) => files.master('zoom'),
    distorted: (files, reference) =>
      files.encode(
        'vp9.webm',
        reference,
        '-c:v libvpx-vp9 -cpu-used 5 -crf 40 -b:v 0 -auto-alt-ref 1 -lag-in-frames 16',
      ),
    decoders: true,
  },
  {
    name: 'webm-vp8-hidden-frames',
    what: 'VP8 in two passes, whose hidden frames are packets of their own',
    reference: (files) => files.master('zoom'),
    distorted: (files) => hidden(files, 'hidden.webm'),
    decoders: true,
  },
  {
    name: 'ivf-vp8-hidden-frames',
    what: 'the same in IVF',
    reference: (files) => files.master('zoom'),
    distorted: (files) => files.make('hidden.ivf', ['-i', hidden(files, 'hidden.webm')], '-c copy'),
    decoders: ['wasm'],
  },
  {
    name: 'ts-late-clock',
    what: 'an MPEG transport stream, whose clock starts at 1.4 seconds',
    reference: cards,
    distorted: sound('late.ts', '-bf 3 -g 25'),
    decoders: true,
  },
  {
    name: 'ts-clock-set-back',
    what: 'two recordings of the same, joined as files: the clock goes back',
    reference: (files) => files.master('pan', { frames: 50 }),
    distorted: joined,
    right: { distorted: { frames: frames(0, 50) } },
    warns: [/^Packets are missing/],
    finds: { 'clock-set-back': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'mpg-program-stream',
    what: 'MPEG-2 in a program stream',
    reference: (files) => files.master('life'),
    distorted: (files, reference) => files.encode('program.mpg', reference, '-c:v mpeg2video -q:v 5 -bf 2'),
    decoders: ['wasm'],
  },
  {
    name: 'mov-sound-first',
    what: 'QuickTime with a track of sound that is longer than the pictures',
    reference: master,
    distorted: (files, reference) =>
      files.make(
        'longer-sound.mov',
        '-f lavfi -i sine=d=3',
        ['-i', reference],
        '-map 0 -map 1:v',
        X264,
        '-c:a aac',
      ),
    decoders: true,
  },
  {
    name: 'flv',
    what: 'H.264 in FLV',
    reference: cards,
    distorted: sound('flash.flv', '-bf 2'),
    decoders: ['wasm'],
  },
  {
    name: 'raw-h264',
    what: 'a raw stream of H.264, which has no times',
    reference: (files) => files.master('credits', { rate: '30' }),
    distorted: sound('raw.h264', '-bf 3'),
    decoders: ['wasm'],
  },
  {
    name: 'raw-hevc',
    what: 'a raw stream of HEVC at 50 frames per second',
    reference: (files) => files.master('pan', { rate: '50' }),
    distorted: (files, reference) =>
      files.encode(
        'raw.hevc',
        reference,
        '-c:v libx265 -preset ultrafast -crf 32 -x265-params log-level=error',
      ),
    decoders: ['wasm'],
  },
  {
    name: 'raw-obu',
    what: 'a raw stream of AV1 at another rate than the one that ffmpeg invents',
    reference: (files) => files.master('pan', { rate: '30' }),
    distorted: (files, reference) => files.encode('raw.obu', reference, AV1),
  },
  {
    name: 'ivf-av1',
    what: 'AV1 in IVF',
    reference: cards,
    distorted: (files, reference) => files.encode('av1.ivf', reference, AV1),
  },
  {
    name: 'y4m-master',
    what: 'a master in Y4M, its encode in Matroska',
    reference: (files) => files.make('master.y4m', files.source('pan')),
    distorted: sound('of-y4m.mkv'),
  },
  {
    name: 'yuv-master',
    what: 'a master of raw samples, whose geometry the user gives',
    reference: (files) => files.make('master_320x180.yuv', files.source('pan')),
    distorted: (files) => files.encode('of-yuv.mp4', files.master(), X264),
    options: { frameCount: 40 },
    raw: { width: 320, height: 180, bitDepth: 8, chroma: '420' },
    right: {
      reference: { input: ['-f', 'rawvideo', '-s', '320x180', '-pix_fmt', 'yuv420p'], frames: frames(0, 40) },
      distorted: { frames: frames(0, 40) },
    },
  },
  {
    name: 'gif-master',
    what: 'a GIF, and its encode by ffmpeg without a word on colours',
    reference: (files) =>
      files.make(
        'master.gif',
        files.source('cards', { format: null }),
        '-lavfi trim=end_frame=50,split[a][b];[a]palettegen[c];[b][c]paletteuse',
      ),
    distorted: (files, reference) => files.encode('of-gif.mp4', reference, X264, '-pix_fmt yuv420p'),
    right: { reference: { vf: rgb } },
    decoders: ['wasm'],
  },
  {
    name: 'apng-master',
    what: 'an animated PNG, and its encode',
    reference: (files) => files.make('master.apng', files.source('cards', { frames: 25, format: 'rgb24' })),
    distorted: (files, reference) => files.encode('of-apng.mp4', reference, X264, '-pix_fmt yuv420p'),
    right: { reference: { vf: rgb } },
    decoders: ['wasm'],
  },
  {
    name: 'png-sequence',
    what: 'numbered pictures, and their encode at 25 frames per second',
    reference: (files) =>
      sequence(files, 'pictures', files.source('cards', { frames: 25, format: 'rgb24' }), 'png'),
    distorted: (files, reference) => files.encode('of-pictures.mp4', reference, X264, '-pix_fmt yuv420p'),
    right: { reference: { vf: rgb } },
  },
  {
    name: 'webp-picture',
    what: 'a single picture as WebP, against the PNG that it was made of',
    reference: (files) => files.make('picture.png', files.source('pan', { frames: 1, format: 'rgb24' })),
    distorted: (files, reference) =>
      files.make('picture.webp', ['-i', reference], '-c:v libwebp -quality 60'),
    right: { reference: { vf: rgb } },
  },
  {
    name: 'damaged-middle',
    what: 'an encode of which most frames do not decode: zeroes in its middle',
    reference: master,
    distorted: (files, reference) => {
      const bytes = readFileSync(files.encode('whole.mkv', reference, X264, '-g 250 -bf 0'));
      return files.put('damaged.mkv', bytes.fill(0, bytes.length * 0.3, bytes.length * 0.9));
    },
    options: { allowDamaged: true },
    right: null,
    finds: { 'lost-frames': 'warning' },
    warns: [/is damaged at frame/],
    verdict: 'untrusted',
  },
];
