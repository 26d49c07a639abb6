/**
 * @module scripts/corpus/content
 * Content that looks faulty but is not.
 */
import { frames, sound } from './make.mjs';

const of = (content, shape) => (files) => files.master(content, shape);
const vf = (name, filter, options = '') => sound(name, `-vf ${filter} ${options}`);

export default [
  {
    name: 'still',
    what: 'a picture that stands: no offset can be known',
    reference: of('bars'),
    distorted: sound('still.mp4', '-crf 40'),
    says: ['offset-unclear'],
  },
  {
    name: 'still-noise',
    what: 'a still under the noise of a camera',
    reference: (files) =>
      files.make('camera.mkv', files.source('bars'), '-vf noise=alls=6:allf=t:all_seed=5 -c:v ffv1'),
    distorted: sound('camera.mp4', '-crf 26'),
  },
  {
    name: 'repeating',
    what: 'twelve frames again and again',
    reference: of('pulse', { frames: 75 }),
    distorted: sound('pulse.mp4', '-crf 38'),
  },
  {
    name: 'repeating-late',
    what: 'the same twelve frames later, which shows the same pictures',
    reference: of('pulse', { frames: 75 }),
    distorted: vf('pulse-late.mp4', 'trim=start_frame=12,setpts=PTS-STARTPTS'),
    right: { reference: { frames: frames(0, 63) } },
    finds: { 'frame-count': 'warning', duration: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'in-the-dark',
    what: 'a small thing on black: its surroundings are no bars',
    reference: of('moon'),
    distorted: sound('moon.mp4', '-crf 44'),
  },
  {
    name: 'on-paper',
    what: 'nearly white all over: the noise of coding is no contrast',
    reference: of('paper'),
    distorted: sound('paper.mp4', '-crf 34'),
  },
  {
    name: 'fade-in',
    what: 'out of black',
    reference: (files) => files.make('fade.mkv', files.source('pan'), '-vf fade=in:0:25 -c:v ffv1'),
    distorted: sound('fade.mp4'),
  },
  {
    name: 'grain',
    what: 'film grain that the encode loses',
    reference: (files) =>
      files.make('grain.mkv', files.source('pan'), '-vf noise=alls=14:allf=t:all_seed=9 -c:v ffv1'),
    distorted: sound('grain.mp4', '-crf 36'),
  },
  {
    name: 'noise',
    what: 'noise alone',
    reference: of('noise'),
    distorted: sound('noise.mp4', '-crf 34'),
  },
  {
    name: 'cut',
    what: 'two shots',
    reference: (files) =>
      files.make(
        'cut-master.mkv',
        files.source('pan', { frames: 50 }),
        ['-filter_complex', "testsrc2=s=320x180:r=25[b];[0][b]overlay=enable='gte(n,20)':format=yuv420"],
        '-c:v ffv1',
      ),
    distorted: sound('cuts.mp4'),
  },
  {
    name: 'blocks',
    what: 'so few bits that blocks show: edges that the master has not are no sharpness',
    reference: of('pan'),
    distorted: (files, reference) => files.encode('blocks.mpg', reference, '-c:v mpeg2video -q:v 31'),
  },
  {
    name: 'blocks-of-soft',
    what: 'blocks in a soft picture',
    reference: (files) => files.make('soft.mkv', files.source('pan'), '-vf boxblur=4 -c:v ffv1'),
    distorted: (files, reference) => files.encode('blocks-of-soft.avi', reference, '-c:v mpeg4 -q:v 31'),
  },
  {
    name: 'sharpened',
    what: 'an encode that was sharpened is no master',
    reference: of('zoom'),
    distorted: vf('sharpened.mp4', 'unsharp=5:5:0.8'),
  },
  {
    name: 'credits',
    what: 'a roll of credits, which repeats itself nearly',
    reference: of('credits'),
    distorted: sound('credits.mp4', '-crf 36'),
  },
  {
    name: 'cells',
    what: 'a pattern that moves by whole rows',
    reference: of('cells'),
    distorted: sound('cells.mp4', '-crf 36'),
  },
  {
    name: 'clock',
    what: 'a still but for its counter',
    reference: of('clock'),
    distorted: sound('clock.mp4', '-crf 36'),
  },
  {
    name: 'few-frames',
    what: 'three frames: too few to check, and a score nevertheless',
    reference: of('pan', { frames: 3 }),
    distorted: sound('three.mp4'),
  },
  {
    name: 'one-frame',
    what: 'a single frame',
    reference: of('cards', { frames: 1 }),
    distorted: sound('one.mp4'),
  },
];
