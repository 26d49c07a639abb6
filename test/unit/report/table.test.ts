import { describe, expect, it } from 'vitest';
import type { FindingCode } from '../../../src/media/preflight/types.js';
import { buildReport } from '../../../src/report/build.js';
import { encodesTable, writeTableCsv } from '../../../src/report/table.js';
import { columns } from '../../../src/report/terminal.js';
import type { Report } from '../../../src/report/types.js';
import { paired, report, vmafModel } from '../../support/report.js';

const side = {
  decoder: 'ffmpeg',
  width: 64,
  height: 48,
  bitDepth: 8,
  chroma: '420',
  conversions: [],
} as const;
const none = { count: 0, frames: [] };

function encode(
  name: string,
  values: readonly number[],
  bitrate?: number,
  parts: Partial<Report> = {},
): Report {
  const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = report();
  return buildReport({
    ...facts,
    distorted: { ...facts.distorted, name },
    frameNumbers: values.map((_, i) => i),
    series: [{ name: 'vmaf', values: Float64Array.from(values) }],
    models: [vmafModel],
    frameCount: values.length,
    ...(bitrate !== undefined && {
      pairing: {
        reference: side,
        distorted: { ...side, bitrate, fileSize: bitrate / 8 },
        ...{ width: 64, height: 48, bitDepth: 8, chroma: '420', scale: 'bicubic' },
        frames: {
          policy: 'nearest',
          offset: 0,
          offsetRequested: 0,
          pairs: 2,
          missing: none,
          repeated: none,
          dropped: none,
        },
      } as const,
    }),
    ...parts,
  });
}

describe('encodesTable', () => {
  it('has score, worst percent, bit rate and size of every encode, in order, in 80 columns', () => {
    const text = encodesTable([
      encode('out/a.mp4', [90, 92], 1_840_000),
      encode('out/b.mp4', [70, 71.5], 812_345),
      encode('out/c.mp4', [95, 95]),
    ]);
    expect(text).toBe(`reference  ref.yuv  576x324  4:2:0  10 bit  2 frames

distorted       vmaf  worst 1 %   bit rate    size
a.mp4      91.000000      90.02  1.84 Mb/s  230 kB
b.mp4      70.750000      70.02   812 kb/s  102 kB
c.mp4      95.000000      95.00          -       -

2 frames each  vmaf_v0.6.1
`);
  });

  it('names files whole where their last part is the same', () => {
    const text = encodesTable([encode('a/x.mp4', [90]), encode('b/x.mp4', [90])]);
    expect(text).toContain('\na/x.mp4 ');
    expect(text).toContain('\nb/x.mp4 ');
  });

  it('says once what is true of all, and names those of which it is not', () => {
    const finding = {
      code: 'size',
      severity: 'warning',
      message: 'Sizes differ.',
      fix: '--scale none',
    } as const;
    const text = encodesTable([
      encode('a.mp4', [90], 1, { preflight: [finding], warnings: ['It is short.'] }),
      encode('b.mp4', [90], 1, { preflight: [finding] }),
    ]);
    expect(text).toContain(
      'Preflight\n  ! Sizes differ.\n    [size]  fix: --scale none\n  ! a.mp4: It is short.\n',
    );
    expect(
      encodesTable([encode('a.mp4', [90], 1, { preflight: [finding] })], { notes: 'none' }),
    ).not.toContain('Sizes');
  });

  it('says for each marked encode what resolves its root cause, in five lines at most', () => {
    const flawed = (name: string, code: FindingCode, fix: string) =>
      encode(name, [50], 1e6, {
        preflight: [
          { code, severity: 'warning' as const, message: `${name} has a flaw. `.repeat(9).trim(), fix },
        ],
      });
    const causes = (reports: Report[]) =>
      encodesTable(reports, { notes: 'causes' }).split('\n\n')[2]?.split('\n') ?? [];
    const [fine, late] = [encode('fine.mp4', [90], 1e6), flawed('late.mp4', 'offset', '--offset auto')];
    const one = causes([fine, late]);
    expect(one).toHaveLength(5);
    expect(one[0]).toMatch(/^ {2}× late\.mp4: do not trust this score: late\.mp4 has a flaw\. /);
    expect(one.at(-1)).toBe('    fix: --offset auto');
    // The gravest first; encodes with one cause share a line.
    const two = [flawed('bars.mp4', 'black-borders', '--crop-dis 1:2:3:4'), late, { ...late }];
    expect(causes(two)).toEqual([
      '  × late.mp4, late.mp4: do not trust this score [offset]; fix: --offset auto',
      '  ! bars.mp4: doubtful [black-borders]; fix: --crop-dis 1:2:3:4',
    ]);
    const many = Array.from({ length: 11 }, (_, i) => flawed(`${i}.mp4`, 'offset', `--offset ${i}`));
    expect(causes(many)).toHaveLength(5);
    expect(causes(many).at(-1)).toBe('  and 7 more that are marked above');
    expect(causes(many.slice(0, 5)).at(-1)).toContain('4.mp4');
  });

  it('keeps to the width with long and hostile names', () => {
    const text = encodesTable([encode(`${'long '.repeat(60)}\u001b[31m.mp4`, [90], 1e6)], { width: 80 });
    for (const line of text.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
    expect(text).not.toContain('\u001b');
  });
});

describe('writeTableCsv', () => {
  it('has one record each, with names quoted where they must be', () => {
    const text = [
      ...writeTableCsv([encode('a, "b".mp4', [90, 92], 1_840_000), encode('c.mp4', [50, 50])]),
    ].join('');
    expect(text).toBe(
      'reference,distorted,vmaf_mean,vmaf_harmonic_mean,vmaf_min,vmaf_p1,vmaf_p5,codec,kbps,offset,frames,bitrate,size,trust,trust_codes\n' +
        'ref.yuv,"a, ""b"".mp4",91.000000,90.989130,90.000000,90.020000,90.100000,,1840,0,2,1840000,230000,fine,\n' +
        'ref.yuv,c.mp4,50.000000,50.000000,50.000000,50.000000,50.000000,,,,2,,,fine,\n',
    );
  });

  it('has codec, rate and offset, and every metric that was asked for, but not what scores are made of', () => {
    const pairing = paired({ codec: 'av1', bitrate: 812_345, fileSize: 1000 });
    const wide = encode('wide.mp4', [90, 92], undefined, {
      pairing: { ...pairing, frames: { ...pairing.frames, offset: -12 } },
    });
    const values = (...list: number[]) => Float64Array.from(list);
    const scored = buildReport({
      ...wide,
      frameNumbers: [0, 1],
      series: [
        { name: 'vmaf', values: values(90, 92) },
        { name: 'integer_adm2', values: values(0.9, 0.9) },
        { name: 'VMAF_integer_feature_motion2_score', values: values(0, 1) },
        { name: 'psnr_y', values: values(30, 40) },
        { name: 'cambi', values: values(1, 3) },
      ],
    });
    const [head = '', row = ''] = [...writeTableCsv([scored, encode('narrow.mp4', [1, 2])])].map((text) =>
      text.trimEnd(),
    );
    const names = head.split(',');
    const means = names.filter((name) => name.endsWith('_mean') && !name.endsWith('harmonic_mean'));
    expect(means).toEqual(['vmaf_mean', 'psnr_y_mean', 'cambi_mean']);
    const cell = (name: string) => row.split(',')[names.indexOf(name)];
    expect(['codec', 'kbps', 'offset', 'psnr_y_mean', 'psnr_y_min', 'cambi_mean'].map(cell)).toEqual([
      ...['av1', '812.345', '-12', '35.000000', '30.000000', '2.000000'],
    ]);
  });
});
