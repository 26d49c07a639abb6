/**
 * @module test/node/media/preflight-fixes
 * What preflight advises resolves what it found: each command is run by a shell and each option is given, and then the
 * finding is gone, or no more than an info.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Finding,
  type FindingCode,
  type Hint,
  type InspectOptions,
  inspect,
} from '../../../src/index.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '18', '-threads', '1'];
const LOSSLESS = ['-c:v', 'ffv1', '-threads', '1'];

/** A moving picture with detail all over: 60 frames of 360x240 unless told otherwise. */
function source(size = '360x240', rate = '25', seconds = 2.4): readonly string[] {
  const picture = `testsrc2=size=${size}:rate=${rate}`;
  return ['-f', 'lavfi', '-t', String(seconds), '-i', picture];
}

/** Makes a file by its name; the name says what is in it. */
function make(name: string, input: readonly string[], output: readonly string[]): string {
  return ffmpeg(join(encodeFolder(), name), [...input, '-pix_fmt', 'yuv420p', ...output]);
}

const master = () => make('master.mkv', source(), LOSSLESS);

/** An encode of the master. */
const encode = (name: string, filter: string, ...more: readonly string[]) =>
  make(name, ['-i', master()], [...(filter === '' ? [] : ['-vf', filter]), ...X264, ...more]);

interface Case {
  readonly what: string;
  readonly code: FindingCode;
  readonly pair: () => readonly [reference: string, distorted: string];
  readonly options?: InspectOptions;
  /** Part of the command, where one is expected. */
  readonly command?: string;
  /** What else is found, before or after, and said to be so. */
  readonly besides?: readonly FindingCode[];
  /** The pictures do not go together before, and do after. */
  readonly similar?: boolean;
}

const anamorphic = () => make('anamorphic.mkv', source(), ['-vf', 'setsar=32/27', ...LOSSLESS]);
const BT601 = ['-color_primaries', 'smpte170m', '-color_trc', 'smpte170m', '-colorspace', 'smpte170m'];
const BT709 = ['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709'];
const PQ = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];

const CASES: readonly Case[] = [
  {
    what: 'another size',
    code: 'size',
    pair: () => [master(), encode('small.mp4', 'scale=240:160')],
  },
  {
    what: 'a lost sample aspect ratio',
    code: 'sample-aspect',
    pair: () => [anamorphic(), encode('square.mp4', 'setsar=1')],
    command: 'setsar=32/27',
  },
  {
    what: 'a crop of anamorphic pictures',
    code: 'display-aspect',
    pair: () => [anamorphic(), encode('cropped.mp4', 'crop=360:200,setsar=32/27')],
    command: '-vf crop=360:200 ',
  },
  {
    what: 'a crop that was scaled',
    code: 'display-aspect',
    pair: () => [master(), encode('cropped-small.mp4', 'crop=360:180,scale=300:150')],
    command: '-vf crop=360:180 ',
    besides: ['size'],
  },
  {
    what: 'a picture on its side',
    code: 'display-aspect',
    pair: () => [anamorphic(), encode('turned.mp4', 'transpose=cclock,setsar=27/32')],
    command: 'transpose=clock',
    besides: ['size'],
    similar: true,
  },
  {
    what: 'a picture on its other side',
    code: 'display-aspect',
    pair: () => [anamorphic(), encode('turned-on.mp4', 'transpose=clock,setsar=27/32')],
    command: 'transpose=cclock',
    besides: ['size'],
    similar: true,
  },
  {
    what: 'a picture squeezed without a label',
    code: 'display-aspect',
    pair: () => [master(), encode('squeezed.mp4', 'scale=240:240,setsar=1')],
    command: 'setsar=3/2',
    besides: ['size'],
  },
  {
    what: 'bars above and below the distorted video',
    code: 'black-borders',
    pair: () => [master(), encode('boxed.mp4', 'scale=360:200,pad=360:240:0:20')],
    command: '-i boxed.mp4 -vf crop=360:200:0:20 ',
    besides: ['size'],
  },
  {
    what: 'bars above and below the reference',
    code: 'black-borders',
    pair: () => [
      make('boxed-master.mkv', source('360x200'), ['-vf', 'pad=360:240:0:20', ...LOSSLESS]),
      make('unboxed.mp4', source('360x200'), X264),
    ],
    command: '-i boxed-master.mkv -vf crop=360:200:0:20 ',
    besides: ['display-aspect', 'size'],
  },
  {
    what: 'another rate',
    code: 'frame-rate',
    pair: () => [master(), encode('rate.mp4', 'fps=50')],
  },
  {
    what: 'frames that are missing at the end',
    code: 'frame-count',
    pair: () => [master(), encode('short.mp4', '', '-frames:v', '50')],
  },
  {
    what: 'an end that is missing',
    code: 'duration',
    pair: () => [master(), encode('short.mp4', '', '-frames:v', '50')],
  },
  {
    what: 'frames that are missing at the start',
    code: 'offset',
    pair: () => [master(), encode('late.mp4', 'trim=start_frame=5,setpts=PTS-STARTPTS')],
  },
  {
    what: 'frames that are missing inside',
    code: 'missing-frames',
    pair: () => [master(), encode('gap.mkv', "select='not(between(n\\,30\\,33))'", '-vsync', 'vfr')],
  },
  {
    what: 'fields in the reference',
    code: 'interlaced',
    pair: () => [
      make('fields.mkv', source(), [
        '-vf',
        'setfield=tff',
        '-c:v',
        'mpeg2video',
        '-q:v',
        '2',
        '-flags',
        '+ildct+ilme',
      ]),
      encode('progressive.mp4', ''),
    ],
    command: '-i fields.mkv -vf bwdif',
  },
  {
    what: 'fields in both',
    code: 'interlaced',
    pair: () => [
      make('fields.mkv', source(), [
        '-vf',
        'setfield=tff',
        '-c:v',
        'mpeg2video',
        '-q:v',
        '2',
        '-flags',
        '+ildct+ilme',
      ]),
      encode('fields.mp4', 'setfield=tff', '-flags', '+ildct+ilme'),
    ],
    command: ' && ffmpeg -i fields.mp4 ',
  },
  {
    what: 'limited range expanded to full and labelled so',
    code: 'color-range',
    pair: () => [master(), encode('full.mp4', 'scale=out_range=full', '-color_range', 'pc')],
    command: 'scale=in_range=full:out_range=limited',
  },
  {
    what: 'the same in MJPEG',
    code: 'color-range',
    pair: () => [
      master(),
      ffmpeg(join(encodeFolder(), 'full.avi'), ['-i', master(), '-c:v', 'mjpeg', '-q:v', '2']),
    ],
    command: 'scale=in_range=full:out_range=limited',
  },
  {
    what: 'full range reduced to limited',
    code: 'color-range',
    pair: () => [
      make('full-master.mkv', source(), ['-vf', 'scale=out_range=full', '-color_range', 'pc', ...LOSSLESS]),
      encode('limited.mp4', '', '-color_range', 'tv'),
    ],
    command: 'scale=in_range=limited:out_range=full',
  },
  {
    what: 'a label of full range on the same samples',
    code: 'color-range',
    pair: () => [master(), encode('labelled.mp4', '', '-color_range', 'pc')],
    command: 'h264_metadata=video_full_range_flag=0 labelled-prepared.mp4',
  },
  {
    what: 'a label of full range on the same samples of a codec that has no bit stream filter for it',
    code: 'color-range',
    pair: () => [master(), make('labelled.mkv', ['-i', master()], ['-color_range', 'pc', ...LOSSLESS])],
    command: 'setparams=range=limited',
  },
  {
    what: 'limited range expanded to full without a label',
    code: 'levels',
    pair: () => [master(), encode('expanded.mp4', 'scale=out_range=full,setparams=range=tv')],
    command: 'scale=in_range=full:out_range=limited',
  },
  {
    what: 'other colours',
    code: 'matrix',
    pair: () => [
      make('601.mkv', source(), [...BT601, ...LOSSLESS]),
      make('709.mp4', source(), [
        '-vf',
        'zscale=min=470bg:pin=170m:tin=601:m=709:p=709:t=709',
        ...BT709,
        ...X264,
      ]),
    ],
    command: 'zscale=m=smpte170m',
    besides: ['primaries'],
  },
  {
    what: 'other primaries',
    code: 'primaries',
    pair: () => [
      make('601.mkv', source(), [...BT601, ...LOSSLESS]),
      make('709.mp4', source(), [
        '-vf',
        'zscale=min=470bg:pin=170m:tin=601:m=709:p=709:t=709',
        ...BT709,
        ...X264,
      ]),
    ],
    besides: ['matrix'],
  },
  {
    what: 'high dynamic range in both',
    code: 'hdr',
    pair: () => [make('pq.mkv', source(), [...PQ, ...LOSSLESS]), make('pq.mp4', source(), [...PQ, ...X264])],
    command: 'tonemap',
  },
  {
    what: 'swapped videos',
    code: 'swapped',
    pair: () => [encode('tiny.mp4', 'scale=120:80'), master()],
    besides: ['size'],
  },
  {
    what: 'a model for another size',
    code: 'model-size',
    pair: () => [master(), encode('plain.mp4', '')],
    options: { models: ['version=vmaf_4k_v0.6.1'] },
  },
  {
    what: 'small anamorphic pictures',
    code: 'viewing-distance',
    pair: () => [anamorphic(), encode('plain-anamorphic.mp4', 'setsar=32/27')],
  },
];

const PREPARED = mkdtempSync(join(encodeFolder(), 'prepared-'));
afterAll(() => rmSync(PREPARED, { recursive: true, force: true }));

/** Runs the command as it stands in the finding, beside the files that it names. */
function run(finding: Finding, hint: Extract<Hint, { purpose: 'prepare' }>): Map<string, string> {
  const here = mkdtempSync(join(PREPARED, 'run-'));
  const text = hint.commands.reduce(
    (command, { input }) => command.replace(input, join('..', '..', basename(input))),
    finding.fix ?? '',
  );
  execFileSync('sh', ['-c', text.replaceAll('ffmpeg ', 'ffmpeg -nostdin -v error ')], { cwd: here });
  return new Map(hint.commands.map(({ side, output }) => [side, join(here, output)]));
}

/** The request and the options with a hint followed. */
function followed(
  [reference, distorted]: readonly [string, string],
  options: InspectOptions,
  finding: Finding,
): readonly [{ reference: string; distorted: string }, InspectOptions] {
  const { hint } = finding;
  if (!hint) throw new Error(`${finding.code} has no hint`);
  if (hint.purpose === 'prepare') {
    const files = run(finding, hint);
    return [
      { reference: files.get('reference') ?? reference, distorted: files.get('distorted') ?? distorted },
      options,
    ];
  }
  if (hint.option === 'swap') return [hint.value, options];
  if (hint.option === 'window') throw new Error('another search is no option');
  const change = hint.option === 'model' ? { models: [hint.value] } : { [hint.option]: hint.value };
  return [
    { reference, distorted },
    { ...options, ...change },
  ];
}

describe.runIf(hasFfmpeg)(`following what preflight advises (${needsFfmpeg})`, () => {
  it.each(CASES)(
    'resolves $what: $code',
    async ({ code, pair, options = {}, command, besides = [], similar }) => {
      const files = pair();
      const before = await inspect({ reference: files[0], distorted: files[1] }, options);
      const found = before.findings.find((finding) => finding.code === code);
      expect(found, JSON.stringify(before.findings, null, 1)).toBeDefined();
      if (!found) return;
      if (command !== undefined) {
        const text = files.reduce((fix, file) => fix.replace(file, basename(file)), found.fix ?? '');
        expect(text).toContain(command);
      }
      const [request, changed] = followed(files, options, found);
      const after = await inspect(request, changed);
      const left = after.findings
        .filter(({ severity }) => severity !== 'info')
        .map((finding) => finding.code);
      expect(left).not.toContain(code);
      // Nor is anything new wrong.
      const known = before.findings.map((finding) => finding.code);
      expect(left.filter((other) => !known.includes(other) && !besides.includes(other))).toEqual([]);
      if (similar) {
        expect(before.alignment?.similarity).toBeLessThan(0.5);
        expect(after.alignment?.similarity).toBeGreaterThan(0.98);
      }
      if (found.severity === 'info')
        expect(after.findings.map((finding) => finding.code)).not.toContain(code);
    },
  );
});
