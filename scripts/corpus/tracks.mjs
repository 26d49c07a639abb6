/**
 * @module scripts/corpus/tracks
 * Several tracks, cover art, and false tags.
 */
import { sound, X264 } from './make.mjs';

const master = (files) => files.master();
const preview = (files) => files.make('preview.mp4', ['-i', master(files)], '-vf scale=160:90', X264);
const whole = (files) => files.make('whole.mp4', ['-i', master(files)], X264);
const cover = (files) =>
  files.make('cover.png', files.source('bars', { frames: 1, size: '400x400', format: 'rgb24' }));

export default [
  {
    name: 'preview-first',
    what: 'a small preview as the first track, the film as the default one',
    reference: master,
    distorted: (files) =>
      files.make(
        'preview-first.mkv',
        ['-i', preview(files), '-i', whole(files)],
        '-map 0:v -map 1:v -c copy -disposition:v:0 0 -disposition:v:1 default',
      ),
    right: { distorted: { map: '0:v:1' } },
    says: ['tracks'],
    decoders: true,
  },
  {
    name: 'preview-first-mp4',
    what: 'two tracks of MP4, of which the smaller is the default: the other is as large as the reference',
    reference: master,
    distorted: (files) =>
      files.make(
        'preview-first.mp4',
        ['-i', preview(files), '-i', whole(files)],
        '-map 0:v -map 1:v -c copy -disposition:v:0 0 -disposition:v:1 0',
      ),
    right: { distorted: { map: '0:v:1' } },
    finds: { tracks: 'warning' },
    verdict: 'doubtful',
    decoders: true,
  },
  {
    name: 'cover-art',
    what: 'cover art beside the film, larger than it',
    reference: master,
    distorted: (files) =>
      files.make(
        'cover.mp4',
        ['-i', cover(files), '-i', whole(files)],
        '-map 1:v -map 0:v -c copy -disposition:v:1 attached_pic',
      ),
    decoders: true,
  },
  {
    name: 'cover-art-attached',
    what: 'cover art that is attached to Matroska',
    reference: master,
    distorted: (files) =>
      files.make(
        'attached.mkv',
        ['-i', whole(files), '-attach', cover(files)],
        '-map 0:v -c copy -metadata:s:t mimetype=image/png',
      ),
    decoders: true,
  },
  {
    name: 'stale-tags',
    what: 'tags of statistics that are of another encode',
    reference: (files) =>
      files.make(
        'stale.mkv',
        ['-i', files.encode('for-stale.mkv', files.master(), X264, '-crf 8')],
        '-c copy -metadata:s:v BPS=90000 -metadata:s:v NUMBER_OF_FRAMES=700 -metadata:s:v DURATION=00:00:28.000000000',
      ),
    distorted: sound('of-stale.mkv', '-metadata:s:v BPS=15000000 -metadata:s:v NUMBER_OF_FRAMES=9'),
  },
  {
    name: 'sound-and-subtitles',
    what: 'sound and subtitles before and after the video',
    reference: master,
    distorted: (files) =>
      files.make(
        'subtitled.mkv',
        ['-f', 'lavfi', '-i', 'sine=d=2', '-i', whole(files)],
        ['-i', files.put('words.srt', '1\n00:00:00,100 --> 00:00:01,900\nWords.\n')],
        '-map 0:a -map 1:v -map 2:s -c:v copy -c:a aac -c:s srt',
      ),
    decoders: true,
  },
];
