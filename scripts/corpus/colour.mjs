/**
 * @module scripts/corpus/colour
 * Depths, chroma formats, ranges, matrices, RGB, transfer functions and lost colours.
 */
import { readFileSync } from 'node:fs';
import { BT601, BT709, FFV1, HLG, PQ, sound, X264 } from './make.mjs';

const master = (files) => files.master();
const cards = (files) => files.master('cards');
const vf = (name, filter, options = '') => sound(name, `-vf ${filter} ${options}`);

const EXACT = 'flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp';
/** Gray of RGB as BT.601, and as BT.709. */
const rgbTo = (matrix) => `scale=out_color_matrix=${matrix}:out_range=limited:${EXACT},format=yuv444p`;
const rgbMaster = (files) => files.master('cards', { format: 'gbrp' });

/** Tone-mapped to standard dynamic range by the usual chain. */
const toneMapped = (transfer) =>
  `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:t=linear:npl=100,format=gbrpf32le,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p`;

/** A picture in an HDR transfer function. */
const high = (name, options, transfer) => (files) =>
  files.make(
    `${name}.mkv`,
    files.source('pan', { format: 'yuv420p10le' }),
    `-vf setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=limited,zscale=t=linear:npl=300,format=gbrpf32le,zscale=t=${transfer}:p=2020:m=2020_ncl:r=limited,format=yuv420p10le`,
    options,
    FFV1,
  );
const pq = high('pq', PQ, 'smpte2084');
const hlg = high('hlg', HLG, 'arib-std-b67');
const HEVC10 = '-c:v libx265 -preset ultrafast -crf 30 -pix_fmt yuv420p10le -x265-params log-level=error';

const mapped = (master, transfer, name) => ({
  reference: master,
  distorted: (files, reference) => files.encode(name, reference, `-vf ${toneMapped(transfer)}`, X264, BT709),
  right: { reference: { vf: toneMapped(transfer) } },
  finds: { 'dynamic-range': 'warning' },
  verdict: 'untrusted',
});

/** An HEVC MP4 that claims to be Dolby Vision profile 5: a `dvcC` box is inserted into its sample entry. */
function dolbyVision(files, reference) {
  const path = files.encode('profile-5-plain.mp4', reference, HEVC10, '-tag:v hvc1');
  const bytes = readFileSync(path);
  const at = bytes.indexOf('hvcC') - 4;
  // Version 1.0, profile 5, level 3, RPU and base layer, no compatible signal.
  const box = Buffer.alloc(32);
  box.writeUInt32BE(32, 0);
  box.write('dvcC', 4);
  box.set([1, 0, (5 << 1) | 0, (3 << 3) | 0b101, 0], 8);
  // The index is at the end of the file, so sample offsets stay.
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'hvc1']) {
    const place = bytes.lastIndexOf(name, at) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(place) + 32, place);
  }
  return files.put('profile-5.mp4', Buffer.concat([bytes.subarray(0, at), box, bytes.subarray(at)]));
}

/** Converted from BT.601 to BT.709, and converted back by another program. */
const converted = {
  reference: (files) => files.master('pan', { options: BT601 }),
  distorted: vf(
    '709.mp4',
    'zscale=min=170m:pin=170m:tin=601:rin=limited:m=709:p=170m:t=601',
    '-color_primaries smpte170m -color_trc smpte170m -colorspace bt709',
  ),
  right: {
    distorted: {
      vf: 'scale=in_color_matrix=bt709:out_color_matrix=bt601:flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p',
    },
  },
};

export default [
  {
    name: 'depth-10-of-8',
    what: 'a master of 10 bits, its encode of 8',
    reference: (files) => files.master('pan', { format: 'yuv420p10le' }),
    distorted: sound('8-of-10.mp4', '-pix_fmt yuv420p'),
    says: ['bit-depth'],
  },
  {
    name: 'chroma-422-master',
    what: 'a ProRes master of 4:2:2 at 10 bits, its encode of 4:2:0 at 8',
    reference: (files) =>
      files.make(
        'mezzanine.mov',
        files.source('pan', { format: 'yuv422p10le' }),
        '-c:v prores_ks -profile:v 3',
      ),
    distorted: sound('of-mezzanine.mp4', '-pix_fmt yuv420p'),
    says: ['bit-depth', 'chroma-format'],
  },
  {
    name: 'chroma-444',
    what: '4:4:4 in both',
    reference: (files) => files.master('cards', { format: 'yuv444p' }),
    distorted: sound('444.mp4'),
  },
  {
    name: 'full-range-both',
    what: 'full range in both, and labelled so',
    reference: (files) => files.master('pan', { format: 'yuvj420p', options: '-color_range pc' }),
    distorted: sound('full.mp4', '-color_range pc'),
  },
  {
    name: 'full-range-labelled',
    what: 'expanded to full range, and labelled so',
    reference: master,
    distorted: vf('expanded.mp4', 'scale=out_range=full', '-color_range pc -pix_fmt yuvj420p'),
    right: { distorted: { vf: `scale=in_range=full:out_range=limited:${EXACT},format=yuv420p` } },
    finds: { 'color-range': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'full-range-unlabelled',
    what: 'expanded to full range without a label',
    reference: master,
    distorted: vf('unlabelled.mp4', 'scale=out_range=full,setparams=range=tv'),
    right: { distorted: { vf: `scale=in_range=full:out_range=limited:${EXACT},format=yuv420p` } },
    finds: { levels: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'full-range-label-only',
    what: 'the same samples with the label of full range: the score is right',
    reference: master,
    distorted: sound('label-only.mp4', '-bsf:v h264_metadata=video_full_range_flag=1'),
    finds: { 'color-range': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'mjpeg-full-range',
    what: 'Motion JPEG, which is of full range by definition',
    reference: cards,
    distorted: (files, reference) =>
      files.encode('full.avi', reference, '-c:v mjpeg -q:v 5 -pix_fmt yuvj420p'),
    right: { distorted: { vf: `scale=in_range=full:out_range=limited:${EXACT},format=yuv420p` } },
    finds: { 'color-range': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rgb-master-601',
    what: 'a master of RGB, its encode by ffmpeg without a word on colours: BT.601',
    reference: rgbMaster,
    distorted: sound('of-rgb.mp4', '-pix_fmt yuv420p'),
    right: { reference: { vf: rgbTo('bt601') } },
  },
  {
    name: 'rgb-master-601-large',
    what: 'the same at a size at which BT.709 is usual',
    reference: (files) => files.master('cards', { format: 'gbrp', size: '1280x720', frames: 12 }),
    distorted: sound('of-rgb-large.mp4', '-pix_fmt yuv420p'),
    right: { reference: { vf: rgbTo('bt601') } },
  },
  {
    name: 'rgb-master-709',
    what: 'a master of RGB, its encode labelled and converted as BT.709',
    reference: rgbMaster,
    distorted: vf(
      'of-rgb-709.mp4',
      'scale=out_color_matrix=bt709:out_range=limited',
      `-pix_fmt yuv420p ${BT709}`,
    ),
    right: { reference: { vf: rgbTo('bt709') } },
  },
  {
    name: 'rgb-both',
    what: 'RGB in both',
    reference: rgbMaster,
    distorted: (files, reference) =>
      files.encode('rgb.mp4', reference, '-c:v libx264rgb -crf 30 -preset veryfast'),
    right: { reference: { vf: rgbTo('bt709') }, distorted: { vf: rgbTo('bt709') } },
  },
  {
    name: 'matrix-601-to-709',
    what: 'a master in BT.601, its encode converted to BT.709, both labelled',
    ...converted,
    finds: { matrix: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'matrix-by-hand',
    what: 'the same, compared in the matrix that the user names',
    ...converted,
    options: { matrix: 'bt601' },
  },
  {
    name: 'pq-both',
    what: 'PQ in both: VMAF was trained on neither',
    reference: pq,
    distorted: (files, reference) => files.encode('pq.mp4', reference, HEVC10, PQ),
    finds: { hdr: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'hlg-both',
    what: 'HLG in both',
    reference: hlg,
    distorted: (files, reference) => files.encode('hlg.mp4', reference, HEVC10, HLG),
    finds: { hdr: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'pq-tone-mapped',
    what: 'a PQ master, its tone-mapped encode',
    ...mapped(pq, 'smpte2084', 'of-pq.mp4'),
  },
  {
    name: 'hlg-tone-mapped',
    what: 'an HLG master, its tone-mapped encode',
    ...mapped(hlg, 'arib-std-b67', 'of-hlg.mp4'),
  },
  {
    name: 'pq-unlabelled',
    what: 'a PQ master, its encode in PQ that lost the label',
    reference: pq,
    distorted: (files, reference) =>
      files.encode(
        'lost-label.mp4',
        reference,
        '-vf setparams=color_primaries=unknown:color_trc=unknown:colorspace=unknown',
        HEVC10,
      ),
    finds: { transfer: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'dolby-vision-5',
    what: 'Dolby Vision of profile 5, whose base layer is in a colour space of its own',
    reference: master,
    distorted: dolbyVision,
    right: null,
    finds: { 'dolby-vision': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'chroma-gray',
    what: 'an encode without its colours',
    reference: cards,
    distorted: vf('gray.mp4', 'hue=s=0'),
    finds: { chroma: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'chroma-swapped',
    what: 'U in the place of V',
    reference: cards,
    distorted: vf('swapped.mp4', 'shuffleplanes=0:2:1'),
    finds: { chroma: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'chroma-green',
    what: 'chroma planes of zeroes, which look green',
    reference: cards,
    distorted: vf('green.mp4', 'lutyuv=u=0:v=0'),
    finds: { chroma: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'graded',
    what: 'brighter and flatter than the master',
    reference: master,
    distorted: vf('graded.mp4', 'lutyuv=y=val*0.8+30'),
    finds: { levels: 'warning' },
    verdict: 'doubtful',
  },
];
