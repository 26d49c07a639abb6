/**
 * @module scripts/corpus/fields
 * Interlaced, combed and telecined video.
 */
import { FFV1, sound, X264 } from './make.mjs';

const BWDIF = 'bwdif=mode=send_frame:parity=auto:deint=all';
/** 50 fields per second, woven into 25 frames, top or bottom field first. */
const WOVEN = 'interlace=scan=tff:lowpass=0';
const smooth = (files) => files.master('run', { rate: '50', frames: 100 });

const woven = (files) => files.make('woven.mkv', ['-i', smooth(files)], `-vf ${WOVEN} -field_order tt`, FFV1);
const INTERLACED = '-flags +ildct+ilme';

export default [
  {
    name: 'interlaced-both',
    what: 'fields in both, labelled so',
    reference: woven,
    distorted: sound('woven.mp4', `-vf setfield=tff -x264-params tff=1 ${INTERLACED}`),
    right: { reference: { vf: BWDIF }, distorted: { vf: BWDIF } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'interlaced-mpeg2',
    what: 'an interlaced broadcast of MPEG-2',
    reference: woven,
    distorted: (files, reference) =>
      files.encode('woven.ts', reference, `-vf setfield=tff -c:v mpeg2video -q:v 6 ${INTERLACED} -top 1`),
    right: { reference: { vf: BWDIF }, distorted: { vf: BWDIF } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'interlaced-to-progressive',
    what: 'an interlaced master, its encode deinterlaced before',
    reference: woven,
    distorted: (files, reference) => files.encode('whole.mp4', reference, `-vf setfield=tff,${BWDIF}`, X264),
    right: { reference: { vf: BWDIF } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'fields-bottom-label',
    what: 'the same woven pictures, labelled with the wrong field first',
    reference: woven,
    distorted: sound('bottom.mp4', `-vf setfield=bff -x264-params bff=1 ${INTERLACED}`),
    right: { reference: { vf: BWDIF }, distorted: { vf: `setfield=tff,${BWDIF}` } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'combed-without-label',
    what: 'woven fields that are labelled progressive, against the whole pictures',
    reference: (files) =>
      files.make('each-second.mkv', ['-i', smooth(files)], "-vf select='not(mod(n,2))' -r 25", FFV1),
    distorted: (files) =>
      files.encode('combed.mp4', woven(files), '-vf setfield=prog -field_order progressive', X264, '-crf 18'),
    right: { distorted: { vf: `setfield=tff,${BWDIF}` } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'telecine',
    what: 'film at 24 frames per second, its encode at 30 by a 3:2 pulldown',
    reference: (files) => files.master('run', { rate: '24', frames: 60 }),
    distorted: (files, reference) =>
      files.encode(
        'telecine.mp4',
        reference,
        `-vf telecine=first_field=top:pattern=23,setfield=tff ${INTERLACED} -x264-params tff=1`,
        X264,
      ),
    right: { distorted: { vf: 'fieldmatch=order=tff,decimate' } },
    finds: { interlaced: 'warning' },
    verdict: 'doubtful',
  },
  {
    name: 'interlaced-y4m',
    what: 'a Y4M master that is labelled as interlaced, deinterlaced as the user asks',
    reference: (files) =>
      files.make('woven.y4m', ['-i', woven(files)], '-vf setfield=tff -field_order tt -pix_fmt yuv420p'),
    distorted: (files, reference) =>
      files.encode('of-woven-y4m.mp4', reference, `-vf setfield=tff -x264-params tff=1 ${INTERLACED}`, X264),
    options: { deinterlace: true },
    right: { reference: { vf: `setfield=tff,${BWDIF}` }, distorted: { vf: BWDIF } },
  },
  {
    name: 'interlaced-label-only',
    what: 'whole pictures that carry the label of fields',
    reference: (files) => files.master('run'),
    distorted: sound('label.mp4', `-vf setfield=tff -x264-params tff=1 ${INTERLACED}`),
  },
];
