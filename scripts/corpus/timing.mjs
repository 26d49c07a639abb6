/**
 * @module scripts/corpus/timing
 * Rates, offsets, slips and lost frames.
 */
import { FFV1, frames, sound, X264 } from './make.mjs';

const master = (files) => files.master();
const rate = (rate, count) => (files) => files.master('pan', { rate, frames: count });
const vf = (name, filter, options = '') => sound(name, `-vf ${filter} ${options}`);

const VFR = '-fps_mode vfr';
/** Frames that a screen recording lacks. */
const sparse = "select='not(mod(n*n,7)-1)+not(mod(n,3))'";
const without = (from, to) => `select='not(between(n,${from},${to}))'`;

export default [
  {
    name: 'same-rate-24',
    what: '24000/1001 in Matroska and in MP4',
    reference: rate('24000/1001', 48),
    distorted: sound('film.mp4'),
  },
  {
    name: 'same-rate-60',
    what: '60000/1001 in WebM, whose milliseconds make intervals of 16 and 17',
    reference: rate('60000/1001', 90),
    distorted: (files, reference) =>
      files.encode('sixty.webm', reference, '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 45 -b:v 0'),
  },
  {
    name: 'rate-25-to-30',
    what: 'converted from 25 to 30 frames per second, some shown twice',
    reference: master,
    distorted: vf('30.mp4', 'fps=30'),
    // The first or the second of two equal frames: the picture is the same.
    right: { distorted: { vf: 'fps=25' } },
    finds: { 'frame-rate': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rate-30-to-60',
    what: 'each frame of 30 per second shown twice at 60',
    reference: rate('30', 60),
    distorted: vf('60.mp4', 'fps=60'),
    right: { distorted: { frames: frames(0, 120, 2) } },
    finds: { 'frame-rate': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rate-60-to-30',
    what: 'every second frame of 60 per second: right at the frames of the encode',
    reference: rate('60', 90),
    distorted: vf('half-rate.mp4', "select='not(mod(n,2))'", '-r 30'),
    right: { reference: { frames: frames(0, 90, 2) } },
    finds: { 'frame-rate': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rate-24-to-25-speed',
    what: 'film at 24 shown at 25: the same frames in less time',
    reference: rate('24', 72),
    distorted: vf('pal.mp4', 'setpts=N/25/TB', '-r 25'),
    finds: { 'frame-rate': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'rate-23.976-to-24',
    what: '23.976 relabelled as 24, three seconds: the same frames, at the same times but for two milliseconds',
    reference: rate('24000/1001', 72),
    distorted: vf('24.mp4', 'setpts=N/24/TB', '-r 24'),
  },
  {
    name: 'vfr-both',
    what: 'variable rate in both, the same times: nothing stands against it, also with `strict`',
    reference: (files) =>
      files.make('vfr.mkv', files.source('pan', { rate: '60', frames: 120 }), ['-vf', sparse], VFR, FFV1),
    distorted: sound('vfr.mp4', VFR),
    options: { strict: true },
  },
  {
    name: 'vfr-copy-of-steady',
    what: 'a steady master, its encode with the frames that do not move left out',
    reference: (files) =>
      files.make('held.mkv', files.source('pan'), ['-vf', "select='not(mod(n,2))',fps=25"], FFV1),
    distorted: sound('not-held.mkv', `-vf mpdecimate=max=1 ${VFR}`),
    right: { reference: { frames: frames(0, 50, 2) } },
    finds: { 'frame-rate': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'milliseconds-only',
    what: 'thirty frames in 0.97 seconds of milliseconds: not 1000 per second',
    reference: (files) => files.make('thirty.mkv', files.source('pan', { rate: '30', frames: 30 }), FFV1),
    distorted: sound(
      'thirty.webm',
      '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 45 -b:v 0 -vf settb=1/1000,setpts=N*33 -enc_time_base 1/1000 -fps_mode passthrough',
    ),
  },
  {
    name: 'offset-late',
    what: 'the encode lacks the first five frames',
    reference: master,
    distorted: vf('late.mp4', 'trim=start_frame=5,setpts=PTS-STARTPTS'),
    right: { reference: { frames: frames(5, 50) } },
    finds: { offset: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'offset-early',
    what: 'the encode has seven frames of black in front',
    reference: master,
    distorted: vf('early.mp4', 'tpad=start=7:color=black'),
    right: { distorted: { frames: frames(7, 57) } },
    finds: { offset: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'end-missing',
    what: 'the encode ends ten frames early',
    reference: master,
    distorted: sound('end-missing.mp4', '-frames:v 40'),
    right: { reference: { frames: frames(0, 40) } },
    finds: { 'frame-count': 'warning', duration: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'lost-kept-times',
    what: 'four frames lost inside, the others at their times',
    reference: (files) => files.master('pan', { frames: 75 }),
    distorted: vf('lost.mkv', without(30, 33), VFR),
    right: { distorted: { frames: [...frames(0, 30), 29, 29, 30, 30, ...frames(30, 71)] } },
    finds: { 'missing-frames': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'slip-lost',
    what: 'four frames lost inside, and the rest moved up',
    reference: (files) => files.master('pan', { frames: 100 }),
    distorted: vf('slip.mp4', `${without(40, 43)},setpts=N/25/TB`),
    right: null,
    finds: { slip: 'error' },
    verdict: 'untrusted',
  },
  {
    name: 'slip-doubled',
    what: 'frame 30 stays for four more: a slip, and no offset of the whole',
    reference: (files) => files.master('pan', { frames: 100 }),
    distorted: vf('doubled.mp4', 'loop=loop=4:size=1:start=30,setpts=N/25/TB'),
    right: null,
    finds: { slip: 'error' },
    verdict: 'untrusted',
  },
  {
    name: 'lost-then-slip',
    what: 'frames lost that kept their times, and later a slip that did not',
    reference: (files) => files.master('pan', { frames: 125 }),
    distorted: vf(
      'lost-then-slip.mkv',
      `${without(20, 21)},setpts='if(gt(N,70),PTS-5/25/TB,PTS)',select='not(between(n,71,75))'`,
      VFR,
    ),
    right: null,
    finds: { slip: 'error', 'missing-frames': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'lost-most',
    what: 'three of four frames are gone',
    reference: (files) => files.master('pan', { frames: 80 }),
    distorted: vf('most-lost.mp4', "select='not(mod(n,25)-1)+lt(n,15)+eq(n,79)'", VFR),
    right: null,
    finds: { 'lost-frames': 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'freeze',
    what: 'the picture stands for ten frames and then goes on where it would be',
    reference: (files) => files.master('pan', { frames: 75 }),
    distorted: (files, reference) =>
      files.make(
        'freeze.mp4',
        ['-i', reference, '-i', reference],
        '-filter_complex [0][1]freezeframes=first=30:last=40:replace=30',
        X264,
      ),
    finds: { 'duplicate-frames': 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'swapped',
    what: 'the encode is given as the reference',
    reference: (files) => files.encode('to-swap.mp4', files.master(), X264, '-crf 34'),
    distorted: master,
    right: { swap: true },
    finds: { swapped: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'unrelated',
    what: 'another video',
    reference: master,
    distorted: (files) => files.make('other.mp4', files.source('cards'), X264),
    right: null,
    finds: { unrelated: 'warning' },
    verdict: 'untrusted',
  },
  {
    name: 'identical',
    what: 'a file against itself',
    reference: (files) => files.encode('itself.mp4', files.master(), X264),
    distorted: (_, reference) => reference,
    finds: { identical: 'warning' },
    verdict: 'doubtful',
  },
];
