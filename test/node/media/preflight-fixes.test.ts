/**
 * @module test/node/media/preflight-fixes
 * What preflight advises resolves what it found: each command is run by a shell and each option is given, and then the
 * finding is gone, or only an info.
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
  score,
} from '../../../src/index.js';
import { CONVERT_WITHOUT_LOSS } from '../../../src/media/errors.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { tier } from '../../support/tier.js';

const words = (text: string): string[] => text.split(' ');
const X264 = words('-c:v libx264 -preset ultrafast -crf 18 -threads 1');
const LOSSLESS = words('-c:v ffv1 -threads 1');
const PSNR = { features: ['psnr'], noPrediction: true };

/** A moving picture with detail all over: by default 60 frames of 360x240. */
function source(size = '360x240', rate = '25', seconds = 2.4): readonly string[] {
  const picture = `testsrc2=size=${size}:rate=${rate}`;
  return ['-f', 'lavfi', '-t', String(seconds), '-i', picture];
}

/** Makes a file, whose name says what is in it. */
const make = (name: string, input: readonly string[], output: readonly string[]): string =>
  ffmpeg(join(encodeFolder(), name), [...input, '-pix_fmt', 'yuv420p', ...output]);

const master = () => make('master.mkv', source(), LOSSLESS);

/** An encode of the master. */
const encode = (name: string, filter: string, ...more: readonly string[]) =>
  make(name, ['-i', master()], [...(filter === '' ? [] : ['-vf', filter]), ...X264, ...more]);

/** A master, and an encode of the plain one. */
const from =
  (reference: () => string, name: string, filter: string, ...more: readonly string[]) =>
  (): Pair => [reference(), encode(name, filter, ...more)];

type Pair = readonly [reference: string, distorted: string];

interface Case {
  readonly what: string;
  readonly code: FindingCode;
  readonly pair: () => Pair;
  /** Part of the command, where one is expected. */
  readonly command?: string;
  /** Other findings that may remain, before or after. */
  readonly besides?: readonly FindingCode[];
  /** The pictures match only after the fix. */
  readonly similar?: boolean;
}

type More = Omit<Case, 'what' | 'code' | 'pair'>;
const resolves = (what: string, code: FindingCode, pair: Case['pair'], more: More = {}): Case => ({
  ...{ what, code, pair, ...more },
});

const anamorphic = () => make('anamorphic.mkv', source(), ['-vf', 'setsar=32/27', ...LOSSLESS]);
const BT709 = words('-color_primaries bt709 -color_trc bt709 -colorspace bt709');
const BARE = words('-color_primaries unknown -colorspace unknown');
const SDR = 'format=yuv444p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709';
/** A master of high dynamic range. */
const hdrMaster =
  (transfer: 'smpte2084' | 'arib-std-b67', labels = words('-color_primaries bt2020 -colorspace bt2020nc')) =>
  () => {
    const light = `${SDR},zscale=t=linear:npl=100,format=gbrpf32le`;
    const filter = `${light},zscale=p=2020:t=${transfer}:m=2020_ncl:r=limited,format=yuv420p10le`;
    const bare = labels === BARE ? ',setparams=color_primaries=unknown:colorspace=unknown' : '';
    const light10 = ['-vf', filter + bare, '-color_trc', transfer, ...labels, '-color_range', 'tv'];
    const name = `${transfer}${labels === BARE ? '-bare' : ''}.mkv`;
    return ffmpeg(join(encodeFolder(), name), [...source('360x240', '25', 1), ...light10, ...LOSSLESS]);
  };
const toneMapped = () => make('tone-mapped.mp4', source('360x240', '25', 1), ['-vf', SDR, ...BT709, ...X264]);
const INTERLACED = words('-flags +ildct+ilme');
const FIELDS = words('-vf tinterlace=interleave_top -c:v mpeg2video -q:v 2 -top 1');
const fields = () => make('fields.mkv', source('360x240', '50'), [...FIELDS, ...INTERLACED]);
/** An encode of the same fields. */
const fieldsAgain = () =>
  make('fields.mp4', ['-i', fields()], [...words('-vf setfield=tff'), ...X264, ...INTERLACED]);

const CASES: readonly Case[] = [
  resolves('a lost sample aspect ratio', 'sample-aspect', from(anamorphic, 'square.mp4', 'setsar=1'), {
    command: 'setsar=32/27',
  }),
  resolves(
    'a crop that was scaled',
    'framing',
    from(master, 'cropped-small.mp4', 'crop=360:180,scale=300:150'),
    { command: '-vf crop=360:180:0:30 ', besides: ['size'] },
  ),
  resolves(
    'a picture on its side',
    'display-aspect',
    from(anamorphic, 'turned.mp4', 'transpose=cclock,setsar=27/32'),
    { command: 'transpose=clock', besides: ['size'], similar: true },
  ),
  resolves(
    'a picture on its other side',
    'display-aspect',
    from(anamorphic, 'turned-on.mp4', 'transpose=clock,setsar=27/32'),
    { command: 'transpose=cclock', besides: ['size'], similar: true },
  ),
  resolves(
    'a picture squeezed without a label',
    'display-aspect',
    from(master, 'squeezed.mp4', 'scale=240:240,setsar=1'),
    { command: 'setsar=3/2', besides: ['size'] },
  ),
  resolves(
    'bars above and below the reference',
    'black-borders',
    () => [
      make('boxed-master.mkv', source('360x200'), ['-vf', 'pad=360:240:0:20', ...LOSSLESS]),
      make('unboxed.mp4', source('360x200'), X264),
    ],
    { command: '-i boxed-master.mkv -vf crop=360:200:0:20 ', besides: ['display-aspect', 'size'] },
  ),
  resolves(
    'bars of the reference within larger ones',
    'black-borders',
    () => {
      const boxed = make('boxed-master.mkv', source('360x200'), ['-vf', 'pad=360:240:0:20', ...LOSSLESS]);
      const more = ['-vf', 'scale=240:160,pad=240:180:0:10', ...X264];
      return [boxed, make('boxed-twice.mp4', ['-i', boxed], more)];
    },
    { command: ' && ffmpeg -i boxed-master.mkv -vf crop=360:200:0:20 ', besides: ['size'] },
  ),
  resolves('fields in both', 'interlaced', () => [fields(), fieldsAgain()], {
    command: ' && ffmpeg -i fields.mp4 ',
  }),
  resolves(
    'a label of full range on the same samples',
    'color-range',
    from(master, 'labelled.mp4', '', '-color_range', 'pc'),
    { command: 'h264_metadata=video_full_range_flag=0 labelled-prepared.mp4' },
  ),
  resolves(
    'a label of full range on the same samples of a codec that has no bit stream filter for it',
    'color-range',
    () => [master(), make('labelled.mkv', ['-i', master()], ['-color_range', 'pc', ...LOSSLESS])],
    { command: 'setparams=range=limited' },
  ),
  ...(
    [
      [
        'HLG that states nothing else against standard dynamic range',
        hdrMaster('arib-std-b67', BARE),
        toneMapped,
      ],
      ['standard dynamic range against PQ', toneMapped, hdrMaster('smpte2084')],
      ['PQ against HLG', hdrMaster('smpte2084'), hdrMaster('arib-std-b67')],
      ['HLG against PQ that states nothing else', hdrMaster('arib-std-b67'), hdrMaster('smpte2084', BARE)],
    ] as const
  ).map(([what, reference, distorted]) =>
    resolves(what, 'dynamic-range', () => [reference(), distorted()], {
      command: 'zscale=tin=',
      besides: ['hdr', 'levels', 'primaries', 'matrix', 'transfer', 'chroma', 'swapped'],
    }),
  ),
  resolves(
    'other primaries, without other labels',
    'primaries',
    () => [
      make('wide.mkv', source(), ['-color_primaries', 'bt2020', ...LOSSLESS]),
      encode('narrow.mp4', '', '-color_primaries', 'bt709'),
    ],
    { command: 'zscale=tin=', besides: ['levels'] },
  ),
  resolves(
    'PQ without its label',
    'transfer',
    () => {
      const bare = ['-vf', 'setparams=color_trc=unknown', ...LOSSLESS];
      const labelled = hdrMaster('smpte2084')();
      return [labelled, ffmpeg(join(encodeFolder(), 'pq-unlabelled.mkv'), ['-i', labelled, ...bare])];
    },
    { command: 'setparams=color_trc=smpte2084', besides: ['hdr'] },
  ),
  resolves(
    'small anamorphic pictures',
    'viewing-distance',
    from(anamorphic, 'plain-anamorphic.mp4', 'setsar=32/27'),
  ),
];

/** A filter and a label. The corpus and tests of the engine follow further advice; all texts are tested in unit tests. */
const FEW = ['a picture on its side', 'a label of full range on the same samples'];

const PREPARED = mkdtempSync(join(encodeFolder(), 'prepared-'));
afterAll(() => rmSync(PREPARED, { recursive: true, force: true }));

/** Runs the command as it stands in the finding, beside the files that it names. */
function run(finding: Finding, hint: Extract<Hint, { purpose: 'prepare' }>): Record<string, string> {
  const here = mkdtempSync(join(PREPARED, 'run-'));
  const beside = (path: string) => join('..', '..', basename(path));
  const text = hint.commands.reduce((all, { input }) => all.replace(input, beside(input)), finding.fix ?? '');
  execFileSync('sh', ['-c', text.replaceAll('ffmpeg ', 'ffmpeg -nostdin -v error ')], { cwd: here });
  return Object.fromEntries(hint.commands.map(({ side, output }) => [side, join(here, output)]));
}

type Request = Record<'reference' | 'distorted', string>;

/** The request and the options after a hint is followed. */
function followed(request: Request, finding: Finding): [Request, InspectOptions] {
  const { hint } = finding;
  if (!hint) throw new Error(`${finding.code} has no hint`);
  if (hint.purpose === 'prepare') return [{ ...request, ...run(finding, hint) }, {}];
  return [request, { [hint.option]: hint.value }];
}

const ADVISED = `what cannot be decoded has its score once it is converted as advised (${needsFfmpeg})`;
it.runIf(hasFfmpeg)(ADVISED, async () => {
  const here = mkdtempSync(join(PREPARED, 'run-'));
  const distorted = encode('advised.mp4', '');
  const [, command = ''] = /losslessly first: (ffmpeg .*)$/.exec(CONVERT_WITHOUT_LOSS) ?? [];
  const filled = command.replace('VIDEO', distorted).replace('ffmpeg', 'ffmpeg -nostdin -v error');
  execFileSync('sh', ['-c', filled], { cwd: here });
  const options = { preflight: false, frameCount: 5, ...PSNR };
  const scored = async (file: string) =>
    (await score({ reference: master(), distorted: file }, options)).frames;
  expect(await scored(join(here, 'OUTPUT.y4m'))).toEqual(await scored(distorted));
});

describe.runIf(hasFfmpeg)(`following what preflight advises (${needsFfmpeg})`, () => {
  const warned = (findings: readonly Finding[]) =>
    findings.filter(({ severity }) => severity !== 'info').map((finding) => finding.code);
  const few = CASES.filter(({ what }) => FEW.includes(what));

  it.each(tier(few, CASES))('resolves $what: $code', async (one) => {
    const { code, command, besides = [], similar } = one;
    const [reference, distorted] = one.pair();
    const pair = { reference, distorted };
    const before = await inspect(pair);
    const found = before.findings.find((finding) => finding.code === code);
    expect(found, JSON.stringify(before.findings, null, 1)).toBeDefined();
    if (!found) return;
    const text = [reference, distorted].reduce(
      (fix, file) => fix.replace(file, basename(file)),
      found.fix ?? '',
    );
    expect(text).toContain(command ?? '');
    const after = await inspect(...followed(pair, found));
    const left = warned(after.findings);
    expect(left).not.toContain(code);
    // No other warning is new.
    const known = [...before.findings.map((finding) => finding.code), ...besides];
    expect(left.filter((other) => !known.includes(other))).toEqual([]);
    if (similar) {
      expect(before.alignment?.similarity).toBeLessThan(0.5);
      expect(after.alignment?.similarity).toBeGreaterThan(0.98);
    }
    // The equivalent option has the same effect.
    const { hint } = found;
    if (hint?.purpose === 'prepare' && hint.instead) {
      const wanted = Object.fromEntries(hint.instead.map((one) => [one.option, 'value' in one && one.value]));
      expect(warned((await inspect(pair, wanted)).findings)).not.toContain(code);
    }
    if (found.severity === 'info') expect(after.findings.map((finding) => finding.code)).not.toContain(code);
  });
});
