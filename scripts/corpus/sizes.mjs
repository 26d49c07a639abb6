/**
 * @module scripts/corpus/sizes
 * Sizes, pixel aspects, rotation, padding, bars and crops.
 */
import { FFV1, sound, X264 } from './make.mjs';

const master = (files) => files.master();
const vf = (name, filter, options = '') => sound(name, `-vf ${filter} ${options}`);
const upscaled = (size = '320:180') => ({
  distorted: { vf: `scale=${size}:flags=bicubic+accurate_rnd,format=yuv420p` },
});

export default [
  {
    name: 'half-size',
    what: 'an encode of half the size, scaled up for the comparison',
    reference: master,
    distorted: vf('half.mp4', 'scale=160:90'),
    right: upscaled(),
    finds: { size: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'size-accepted',
    what: 'the same, as the user says',
    reference: master,
    distorted: vf('half.mp4', 'scale=160:90'),
    options: { scale: 'bicubic' },
    right: upscaled(),
  },
  {
    name: 'odd-size',
    what: 'an odd number of rows and columns',
    reference: (files) => files.master('cards', { size: '321x181' }),
    distorted: (files, reference) =>
      files.encode('odd.mkv', reference, '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 45 -b:v 0'),
  },
  {
    name: 'odd-rows-cut',
    what: 'an odd master, whose encoder cut a row and a column off',
    reference: (files) => files.master('cards', { size: '321x181' }),
    distorted: vf('even.mp4', 'crop=320:180:0:0'),
    right: { reference: { vf: 'crop=320:180:0:0:exact=1' } },
  },
  {
    name: 'not-of-blocks',
    what: 'a size that is not a multiple of the blocks: the codec pads and crops by itself',
    reference: (files) => files.master('pan', { size: '322x182' }),
    distorted: sound('blocks.mp4'),
  },
  {
    name: 'tall-and-narrow',
    what: 'a picture that stands, and its encode',
    reference: (files) => files.master('cards', { size: '180x320' }),
    distorted: sound('upright.mp4'),
  },
  {
    name: 'small',
    what: 'a thumbnail of 64x48',
    reference: (files) => files.master('cards', { size: '64x48' }),
    distorted: sound('small.mp4'),
  },
  {
    name: 'padded-repeated',
    what: 'four rows more, of the last one again: the coded size in the place of the shown one',
    reference: master,
    distorted: vf('padded.mp4', 'pad=320:184:0:0,fillborders=bottom=4:mode=smear'),
    right: { distorted: { vf: 'crop=320:180:0:0' } },
    finds: { framing: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'padded-black',
    what: 'eight black rows more',
    reference: master,
    distorted: vf('padded-black.mp4', 'pad=320:188:0:0'),
    right: { distorted: { vf: 'crop=320:180:0:0' } },
    finds: { 'black-borders': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'letterbox',
    what: 'black bars above and below, the size of the picture kept',
    reference: (files) => files.master('pan', { size: '320x140' }),
    distorted: vf('boxed.mp4', 'pad=320:180:0:20'),
    right: { distorted: { vf: 'crop=320:140:0:20' } },
    finds: { 'black-borders': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'letterbox-both',
    what: 'the same bars in both',
    reference: (files) =>
      files.make('boxed-master.mkv', files.source('pan', { size: '320x140' }), '-vf pad=320:180:0:20', FFV1),
    distorted: sound('boxed-both.mp4'),
    says: ['black-borders'],
  },
  {
    name: 'cropped',
    what: 'the top and bottom of the picture cut off',
    reference: master,
    distorted: vf('cropped.mp4', 'crop=320:140:0:20'),
    right: { reference: { vf: 'crop=320:140:0:20' } },
    finds: { framing: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'anamorphic-both',
    what: 'samples that are wider than high, in both',
    reference: (files) => files.make('anamorphic.mkv', files.source('pan'), '-vf setsar=32/27', FFV1),
    distorted: sound('anamorphic.mp4'),
  },
  {
    name: 'anamorphic-lost',
    what: 'the same, the label lost: the samples are equal',
    reference: (files) => files.make('anamorphic.mkv', files.source('pan'), '-vf setsar=32/27', FFV1),
    distorted: vf('square.mp4', 'setsar=1'),
    finds: { 'sample-aspect': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'anamorphic-scaled',
    what: 'anamorphic samples made square by scaling',
    reference: (files) => files.make('anamorphic.mkv', files.source('pan'), '-vf setsar=32/27', FFV1),
    distorted: vf('squared.mp4', 'scale=380:180,setsar=1'),
    right: upscaled(),
    finds: { size: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rotated-label',
    what: 'a phone: pictures on their side with the label to turn them, the encode upright',
    reference: (files) =>
      files.make(
        'phone.mp4',
        ['-i', files.make('side.mp4', files.source('pan'), X264, '-crf 16')],
        '-c copy -metadata:s:v rotate=90',
      ),
    distorted: sound('turned.mp4'),
    says: ['rotation'],
    decoders: true,
  },
  {
    name: 'rotated-lost',
    what: 'pictures on their side, without the label',
    reference: master,
    distorted: vf('on-its-side.mp4', 'transpose=clock'),
    right: { distorted: { vf: 'transpose=cclock' } },
    finds: { 'display-aspect': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'model-of-other-screen',
    what: 'the model for 4K on small pictures',
    reference: master,
    distorted: sound('other-screen.mp4'),
    options: { models: ['version=vmaf_4k_v0.6.1'] },
    finds: { 'model-size': 'warning' },
    verdict: 'doubtful',
  },
];
