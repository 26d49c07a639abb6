/**
 * @module test/unit/report/html
 * The report as a page: its parts, escaping, packed frames, and drawn lines.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { writeHtml } from '../../../src/report/html/document.js';
import { formatHtml } from '../../../src/report/html/index.js';
import { escapeHtml, html, plainPage, raw, scriptJson } from '../../../src/report/html/markup.js';
import { type PackedMetric, packFrames, packMetric } from '../../../src/report/html/page.js';
import type { FrameMetrics, Report } from '../../../src/report/schema.js';
import { extentOf, linePath, roundStep, ticks } from '../../../src/report/view/scales.js';
import { histogram } from '../../../src/report/view/tables.js';
import { built, called, frames, paired, report, vmafModel } from '../../support/report.js';

const HOSTILE = `a"><script>alert(1)</script><img src='http://evil.example/x' onerror=alert(1)> {{}} \${1} .mp4`;

/** A report of vmaf scores. */
function scored(values: ArrayLike<number>, parts: Partial<Report> = {}): Report {
  const adm = Float64Array.from(values, (value) => value / 100);
  return built({ integer_adm2: adm, vmaf: values }, { models: [vmafModel], ...parts });
}

const text = (...args: Parameters<typeof writeHtml>) => [...writeHtml(...args)].join('');

/** The data for the page's script. */
const dataOf = (page: string) =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '');

it('formatHtml returns the page as one string', async () => {
  const [one, other] = [scored([80, 90]), scored([70, 60])];
  expect(await formatHtml(one, { written: 'today' })).toBe(text(one, { written: 'today' }));
  expect(await formatHtml([one, other])).toBe(text([one, other]));
  await expect(formatHtml([])).rejects.toThrow('at least one report');
});

describe('pictures of worst frames', () => {
  const jpeg = (last: number) => new Uint8Array([0xff, 0xd8, 0xff, last]);
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

  it('are embedded beside their frames', () => {
    const pictures = [{ report: 0, frame: 2, reference: jpeg(1), distorted: jpeg(2), map: png }];
    const page = text(scored([80, 90, 40]), { pictures });
    const [, row = ''] = /data-frame="2"(.*?)<\/button>/s.exec(page) ?? [];
    expect(row.match(/src="[^"]*"/g)).toEqual([
      'src="data:image/jpeg;base64,/9j/AQ=="',
      'src="data:image/jpeg;base64,/9j/Ag=="',
      'src="data:image/png;base64,iVBORw=="',
    ]);
    expect(page.match(/<img/g)).toHaveLength(3);
  });

  it.each([
    [new Uint8Array([60, 115, 118, 103]), png, 'the reference picture of frame 2 is not a JPEG'],
    [png, 'data:' as never, 'must be the bytes'],
    [png, new Uint8Array(2 ** 21), 'make it smaller'],
  ])('are refused if they are not small pictures: %#', (reference, distorted, why) => {
    const pictures = [{ report: 0, frame: 2, reference, distorted }];
    const make = () => text(scored([80, 90, 40]), { pictures });
    expect(make).toThrow(AnyvmafError);
    expect(make).toThrow(why);
    expect(() => text(scored([80]), { pictures: 5 as never })).toThrow(
      'options.pictures is 5, but it must be a list',
    );
  });
});

describe('the page of one report', () => {
  const page = text(scored([80, 90, 40]), { command: "anyvmaf 'a b' c", written: 'today' });

  it('is a document that loads nothing', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toMatch(/<\/html>\n$/);
    expect(page).not.toMatch(/\b(src|href)=|@import|url\(|https?:/i);
    expect(page).toContain(`default-src 'none'`);
  });

  it('has the score, pooled values, worst frames, the command, a drawing without script, and its values as JSON', () => {
    for (const part of ['70.00<sup>VMAF</sup>', '<td>70.0000</td>', 'anyvmaf &#39;a b&#39; c', 'today'])
      expect(page).toContain(part);
    expect(page).toMatch(/data-frame="2"/);
    expect(page).toMatch(/<svg [^>]*><path d="M0 /);
    const { runs } = dataOf(page);
    expect(runs).toHaveLength(1);
    expect(Object.keys(runs[0].metrics)).toEqual(['vmaf', 'integer_adm2']);
    expect(runs[0].frames).toEqual({ first: 0, step: 1, count: 3 });
  });
});

it('describes a run once for all encodes where it is the same, otherwise for each', () => {
  const pairing = paired({});
  const ran = (name: string, start: number) => {
    const range = { unit: 'frames', start, end: start + 2 } as const;
    return called(scored([80, 90], { pairing: { ...pairing, range } }), name);
  };
  const groups = (reports: Report[]) => {
    const found = text(reports).matchAll(/<h3>([^<]*)<\/h3><dl>(.*?)<\/dl>/gs);
    return new Map([...found].map(([, title = '', rows = '']) => [title, rows.replaceAll(/<[^>]*>/g, ' ')]));
  };
  const apart = groups([ran('a.mp4', 0), ran('b.mp4', 5)]);
  expect(apart.get('Distorted 1')).toContain('0 to 2 (frames)');
  expect(apart.get('Distorted 2')).toContain('5 to 7 (frames)');
  expect(apart.get('Comparison')).toContain('paired by');
  expect(apart.get('Comparison')).not.toContain('(frames)');
  const alike = groups([ran('a.mp4', 5), ran('b.mp4', 5)]);
  expect(alike.get('Comparison')).toContain('5 to 7 (frames)');
  expect(alike.get('Distorted 2')).not.toContain('(frames)');
});

it('escapes names, warnings, findings, models and metrics everywhere', () => {
  const base = scored([80, 90]);
  const found = { message: HOSTILE, reference: HOSTILE, distorted: HOSTILE, fix: HOSTILE };
  const hostile: Report = {
    ...base,
    version: HOSTILE,
    reference: { ...base.reference, name: HOSTILE, container: HOSTILE },
    distorted: { ...base.distorted, name: `${HOSTILE}2` },
    models: [{ ...vmafModel, source: HOSTILE, chosen: HOSTILE }],
    warnings: [HOSTILE],
    preflight: [{ code: 'size', severity: 'warning', ...found }],
    metrics: [...base.metrics, HOSTILE],
    frames: base.frames.map((frame) => ({ ...frame, metrics: { ...frame.metrics, [HOSTILE]: 1 } })),
    backend_used: HOSTILE,
    implementation: HOSTILE,
  };
  for (const reports of [hostile, [hostile, { ...hostile, distorted: base.distorted }]]) {
    const page = text(reports, { command: HOSTILE, written: HOSTILE });
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img');
    // The style, the data and the script; nothing else starts or ends one.
    expect(page.match(/<script\b/g)).toHaveLength(2);
    expect(page.match(/<\/script\b/g)).toHaveLength(2);
  }
});

it('compares several encodes by as much of their names as differs', () => {
  const named = (name: string) => called(scored([80, 90]), name);
  const page = text([named('/a/x.mp4'), named('/a/y.mp4')]);
  expect(page).toContain('2 encodes of');
  expect(page).toContain('<span title="/a/y.mp4">y.mp4</span>');
  const same = text([named('/a/x.mp4'), named('/b/x.mp4')]);
  expect(same).toContain('<span title="/b/x.mp4">/b/x.mp4</span>');
});

it('a page of a run with a window says how many frames were pooled', () => {
  const page = text({ ...scored([80, 90]), frameCount: 1500 });
  expect(page).toContain('Mean over 1,500 frames by vmaf_v0.6.1');
  expect(page).toContain('<dt>frames of 1,500</dt><dd>2</dd>');
  expect(page).toMatch(/<dt>worst 1 %, last 2<\/dt>.*<dt>worst frame<\/dt>.*<dt>deviation, last 2<\/dt>/);
  expect(page).toContain('98 % of the last 2 frames from');
  expect(page).toContain('Percentiles and deviations: the last 2 frames.');
});

it('the chart draws the mean of the report, also if it has other frames or none that is finite', () => {
  const base = scored([80, 90]);
  const vmaf = { min: 20, max: 95, mean: 60, harmonic_mean: 55 };
  const kept = { ...base, frameCount: 1500, pooled_metrics: { ...base.pooled_metrics, vmaf } };
  expect(dataOf(text(kept)).runs[0].metrics.vmaf.mean).toBe(60);
  const hvs = built({ psnr_hvs: [40, Number.POSITIVE_INFINITY] });
  expect(dataOf(text(hvs)).runs[0].metrics.psnr_hvs.mean).toBe(null);
  const lacking = built({ psnr_hvs: [40, Number.NaN], psnr_y: [40, 41] });
  expect(dataOf(text(lacking)).runs[0].metrics.psnr_hvs).not.toHaveProperty('mean');
});

it('names no reference above encodes of different ones', () => {
  const one = called(scored([80, 90]), '/a/x.mp4');
  const page = text([
    one,
    { ...called(one, '/a/y.mp4'), reference: { ...one.reference, name: 'other.yuv' } },
  ]);
  expect(page).toContain('<h1>2 encodes</h1>');
  expect(/<title>(.*?)<\/title>/.exec(page)?.[1]).toBe('x.mp4, y.mp4');
});

describe('a model whose scores go beyond 100', () => {
  const wide = { ...vmafModel, source: 'vmaf_v1.0.16_3d0h_2160', scoreRange: [0, 110] } as const;

  it('is shown on its own range, or on none if it is not clipped', () => {
    const page = text(scored([99, 108, 105], { models: [wide] }));
    expect(page).toContain('by vmaf_v1.0.16_3d0h_2160, scale 0 to 110.');
    // The mean of 104 is 94.55 % of the way, 100 is 90.91 % of it.
    expect(page).toContain('<span class="dot" style="left:94.55%"></span>');
    expect(page).toContain('<span class="tick" style="left:90.91%">100</span>');
    const both = text([scored([99], { models: [wide] }), scored([108], { models: [wide] })]);
    expect(both).toContain('0 to 110, bar: ');
    const unclipped = { ...wide, options: { disableClip: true, enableTransform: false } };
    const plain = text(scored([99, 117], { models: [unclipped] }));
    expect(plain).toContain('not clipped to a range');
    expect(plain).toContain('<span class="tick" style="left:85.47%">100</span>');
  });
});

it('draws each curve of a search in the colour of its points and its key, even with twenty', () => {
  const curves = Array.from({ length: 20 }, (_, i) => ({
    name: `c${i}`,
    points: [1000, 20_000].map((kbps) => ({ kbps, quality: 80 + i, label: '' })),
  }));
  const set = { quality: 'vmaf', curves, hull: [], chosen: [], target: 90 };
  const page = plainPage('search', [
    { headline: 'H', about: 'A' },
    { title: 'T', curves: set },
  ]);
  const strokes = [...page.matchAll(/stroke="(var\(--e[^"]*)"/g)].map(([, colour]) => colour);
  const swatches = [...page.matchAll(/class="swatch" style="--c:([^;]*);/g)].map(([, colour]) => colour);
  const dots = [...page.matchAll(/class="dot small" style="--c:([^;]*);/g)].map(([, colour]) => colour);
  expect(strokes).toHaveLength(20);
  expect(strokes).toEqual(swatches);
  expect(dots).toEqual(swatches.flatMap((colour) => [colour, colour]));
  expect(new Set(strokes).size).toBe(20);
  expect(page).toContain('bit rate in Mb/s, logarithmic');
  expect(page).toContain('>10</span>');
});

describe('quality over bit rate', () => {
  /** 50 frames of two seconds at a bit rate. */
  const sized = (kilobits: number, level: number): Report => {
    const one = scored(new Float64Array(50).fill(level));
    const frameRate = { num: 25, den: 1 };
    const parts = { name: `${kilobits}.mp4`, frameRate, frameCount: 50, fileSize: 250 * kilobits };
    return { ...one, distorted: { ...one.distorted, ...parts } };
  };

  it('has a point for each encode, on a logarithmic bit rate', () => {
    const page = text([sized(2000, 90), sized(500, 70)]);
    // 6 % of the span are free on either side: 6 of 112 parts from the left and from the right.
    expect(page).toContain('left:5.36%');
    expect(page).toContain('left:94.64%');
    // 1000 is half way.
    expect(page).toContain('<i class="gx" style="left:50%">');
    expect(page).toContain('title="2000.mp4: VMAF 90.00 at 2.00 Mb/s"');
    expect(page).toContain('bit rate in kb/s');
    expect(page).toMatch(/class="tag left" style="[^"]*">2000\.mp4</);
    expect(page).toMatch(/class="tag[^"]*" style="[^"]*">500\.mp4</);
  });

  it('has no badge for a good pair, whose score may be low', () => {
    const page = text([{ ...sized(500, 18.85), preflight: [] }]);
    expect(page).toMatch(/<p class="files">against [^<]* · Videos match<\/p>/);
    expect(page).not.toContain('class="badge"');
    expect(text([sized(500, 18.85)])).not.toContain('Videos match');
  });

  it('has no point for an encode whose score cannot be trusted', () => {
    const offset = { code: 'offset', severity: 'error', message: 'Other moments.' } as const;
    const three = [sized(2000, 90), { ...sized(1000, 10), preflight: [offset] }, sized(500, 70)];
    const page = text(three);
    expect(page).not.toContain('title="1000.mp4: VMAF');
    expect(page).toContain('title="500.mp4: VMAF 70.00');
    // A doubtful one has a point.
    const warned = { ...offset, code: 'levels', severity: 'warning' } as const;
    const doubtful = text([...three.slice(0, 1), { ...sized(1000, 10), preflight: [warned] }]);
    expect(doubtful).toContain('title="1000.mp4: VMAF');
  });

  it('has BD-rate between comparable curves', () => {
    const coded = (codec: string, kilobits: number, level: number, parts: Partial<Report> = {}) => ({
      ...sized(kilobits, level),
      pairing: paired({ codec, bitrate: 1000 * kilobits, fileSize: 250 * kilobits }),
      ...parts,
    });
    const qualities = [60, 70, 80, 90];
    const curve = (codec: string, factor: number) =>
      qualities.map((level, i) => coded(codec, factor * 500 * 2 ** i, level));
    // Three quarters of the rate at every quality: 25 % less, and a third more in the other direction.
    const page = text([...curve('h264', 1), ...curve('av1', 0.75)]);
    expect(page).toContain('BD-rate between curves');
    const cellsOf = (row: string) => [...row.matchAll(/>([^<]*)<\/td>/g)].map(([, cell]) => cell);
    const found = page.matchAll(/<tr><th scope="row">(av1|h264)<\/th>(.*?)<\/tr>/g);
    const rows = [...found].map(([, codec, cells = '']) => [codec, ...cellsOf(cells)]);
    expect(rows).toEqual([
      ['h264', '–', '+33.3 %'],
      ['av1', '−25.0 %', '–'],
    ]);
    expect(page).not.toContain('fewer than four encodes');
    const three = text([...curve('h264', 1), ...curve('av1', 0.75).slice(1)]);
    expect(three).toContain('Curves with fewer than four encodes: av1.');
    // A wrong pair is named, and does not affect the others.
    const wrong = { preflight: [{ code: 'offset', severity: 'error', message: 'Other moments.' } as const] };
    const reference = { ...scored([1]).reference, name: 'other.y4m' };
    const short = coded('av1', 900, 99, { ...wrong, reference });
    const mixed = text([...curve('h264', 1), ...curve('av1', 0.75), short]);
    expect(mixed).toMatch(/Left out because its score cannot be trusted: \S/);
    expect(mixed).toContain('−25.0 %');
    expect(page).not.toContain('Left out');
  });

  it('needs two encodes with a bit rate', () => {
    expect(text([sized(2000, 90), scored([70])])).not.toContain('over bit rate');
    expect(text([sized(2000, 90), sized(2000, 80)])).toContain('over bit rate');
  });
});

it('has a column for each further metric', () => {
  const one = scored([80, 90]);
  const extended = (name: string, value: number) =>
    called(built({ vmaf: [80, 90], psnr_y: [value, value] }, { models: [vmafModel] }), name);
  const page = text([extended('a.mp4', 31.5), extended('b.mp4', 33.25)]);
  expect(page).toContain('<span class="num" title="psnr_y">PSNR</span>');
  expect(page).toContain('<div class="num" data-label="PSNR">33.25</div>');
  expect(text([one, one])).not.toContain('data-label="PSNR"');
});

it('shows a perceptual metric and its meaning if no model ran', () => {
  const named = (metric: string, value: number, aggregates = {}) =>
    text([built({ psnr_y: [40, 40], [metric]: [value, value] }, { aggregates })]);
  expect(named('ssimulacra2', -3)).toContain('-3.000<sup>SSIMULACRA2</sup>');
  expect(named('ssimulacra2', -3)).toContain(
    'Mean of ssimulacra2 over 2 frames; higher is better. SSIMULACRA2: 90 is visually lossless',
  );
  const norm = named('butteraugli_3norm', 1.5);
  expect(norm).toContain('lower is better. Butteraugli of the whole picture');
  expect(named('xpsnr_weighted', 41)).toContain('Mean of xpsnr_weighted in dB over 2 frames');
  const clip = named('cvvdp_q', 2.5, { cvvdp: 9.75 });
  expect(clip).toContain('9.750<sup>ColorVideoVDP</sup>');
  expect(clip).toContain('Computed over 2 frames. ColorVideoVDP in JOD');
  expect(clip).toContain('<dt>mean of Q</dt><dd>2.500</dd>');
});

it('names a cause once, with the encodes that share it, and folds all findings', () => {
  const offset = { code: 'offset', severity: 'error', message: 'Other moments are compared.' } as const;
  const info = { code: 'bit-depth', severity: 'info', message: 'Depths differ.' } as const;
  const named = (name: string) => called(scored([80, 90], { preflight: [offset, info] }), name);
  const page = text([named('a.mp4'), named('b.mp4')]);
  expect(page.match(/class="flaw-note"/g)).toHaveLength(1);
  expect(page).toMatch(/class="flaw-note"[^>]*>a\.mp4, b\.mp4: <b>do not trust this score:/);
  expect(page).toContain('<details open class="found"><summary>2 notes about the comparison</summary>');
  expect(text(scored([80, 90], { preflight: [info] }))).toContain('1 note about the comparison<');
  expect(text(scored([80, 90], { preflight: [] }))).not.toContain('about the comparison');
});

it('has a page for features only, for one frame and for values that are not finite', () => {
  expect(text(scored([80, 90], { models: [] }))).toContain('frame by frame');
  expect(text(scored([80]))).toContain('80.00<sup>');
  expect(text(scored([Number.NaN, Number.NaN]))).toContain('</html>');
  expect(text(report())).toContain('</html>');
});

it('takes less than 40 bytes a frame for twelve metrics of very many frames', () => {
  const count = 41_000;
  const values = Float64Array.from({ length: 1000 }, (_, i) => 50 + 40 * Math.sin(i));
  const metrics = ['vmaf', ...'abcdefghijk'];
  const short = built(Object.fromEntries(metrics.map((name) => [name, values])), { models: [vmafModel] });
  // The same values repeated: only their number takes space.
  const frameOf = (i: number) => ({ frameNum: i, metrics: short.frames[i % 1000]?.metrics ?? {} });
  const frames = Array.from({ length: count }, (_, i) => frameOf(i));
  const long = { ...short, frames, frameCount: count };
  let size = 0;
  for (const piece of writeHtml(long)) size += piece.length;
  expect(size).toBeLessThan(40 * count);
});

describe('encodes that start on different frames of the reference', () => {
  const rate = { num: 25, den: 1 };
  const dip = Array.from({ length: 200 }, (_, i) => (i === 100 ? 20 : 90));
  const from = (skipped: number, name: string) => {
    const reference = { ...report().reference, frameRate: rate, frameCount: 200, skipped };
    return called(scored(dip.slice(skipped), { reference }), name);
  };
  const page = text([from(0, 'whole.mp4'), from(12, 'late.mp4')]);

  it('share the axis of the reference', () => {
    const { skipped, apart, runs } = dataOf(page);
    expect({ skipped, apart }).toEqual({ skipped: 0, apart: true });
    expect(runs.map(({ frames }: { frames: unknown }) => frames)).toEqual([
      { first: 0, step: 1, count: 200 },
      { first: 12, step: 1, count: 188 },
    ]);
  });

  it('have their dips at one place of the static drawing', () => {
    const drawn = page.matchAll(/<path d="(M[^"]+)" fill="none" stroke="var\(--e[01],var\(--s[01]\)\)"/g);
    const [whole = '', late = ''] = [...drawn].map(([, path]) => path ?? '');
    // The lowest point has the largest y.
    const lowest = (path: string) =>
      [...path.matchAll(/([\d.]+) ([\d.]+)/g)]
        .map(([, x, y]) => [Number(x), Number(y)] as const)
        .reduce((low, point) => (point[1] > low[1] ? point : low))[0];
    // 900 columns for 199 steps: frame 100.
    expect(lowest(whole)).toBeCloseTo((100 * 900) / 199, 1);
    expect(lowest(late)).toBeCloseTo(lowest(whole), 1);
    expect(Number(/^M([\d.]+)/.exec(late)?.[1])).toBeCloseTo((12 * 900) / 199, 1);
  });

  it('list their worst frames by number and time of the reference', () => {
    const cells = /data-frame="(\d+)"[^>]*><span>(\d+)<\/span><span class="soft">([^<]*)</g;
    const dips = [...page.matchAll(cells)].filter(([, place]) => place === '100');
    expect(dips.map(([, , number, time]) => `${number} ${time}`)).toEqual(['100 0:04.00', '100 0:04.00']);
  });

  it('each state what was skipped, and the head does not', () => {
    const head = /<p class="files">([^<]*)</.exec(page)?.[1];
    expect(head).not.toContain('skipped');
    const skipped = [...page.matchAll(/skipped at the start: ([^<]*)</g)].map(([, what]) => what);
    expect(skipped).toEqual(['none', '12 of reference']);
  });

  it('are numbered by pair, as in their logs, if they start together', () => {
    const together = text([from(12, 'a.mp4'), from(12, 'b.mp4')]);
    expect(together).toContain('"skipped":12,"apart":false');
    expect(together).toContain('data-frame="88"');
    expect(together).toContain('>0:04.00<');
  });
});

it('encodes of different frame rates have times of their own, and an axis of frames', () => {
  const at = (num: number) => ({ num, den: 1 });
  const { frames } = paired({});
  const ran = (num: number, policy: 'number' | 'nearest') => {
    const values = Array.from({ length: 2 * num }, (_, i) => (i === num ? 20 : 90));
    const pairing = { ...paired({}), frames: { ...frames, policy, by: 'distorted' as const } };
    const { reference, distorted } = report();
    const sides = {
      reference: { ...reference, frameRate: at(50) },
      distorted: { ...distorted, frameRate: at(num) },
    };
    return called(scored(values, { ...sides, pairing }), `${num}.mp4`);
  };
  const page = text([ran(50, 'number'), ran(25, 'nearest')]);
  const dips = [...page.matchAll(/<span>(50|25)<\/span><span class="soft">(0:01[^<]*)</g)];
  expect(dips.map(([, frame, time]) => `${frame} ${time}`)).toEqual(['50 0:01.00', '25 0:01.00']);
  expect(dataOf(page).rate).toBe(null);
  expect(dataOf(text([ran(25, 'nearest'), ran(25, 'nearest')])).rate).toBe(25);
});

describe('a score that cannot be trusted', () => {
  const message = 'Other moments.';
  const offset = { code: 'offset', severity: 'warning', message, fix: '--offset 12' } as const;
  const wrong = scored([10, 20], { preflight: [offset] });

  it('is marked in title and headline, with the cause below and without a rating', () => {
    const page = text(wrong);
    expect(page).toMatch(/<title>vmaf 15\.00 × ·/);
    expect(page).toMatch(/15\.00<span class="flaw"[^>]* aria-label="untrusted"[^>]*>×<\/span>/);
    expect(text([wrong, scored([80, 90])]).match(/<span class="flaw"/g)).toHaveLength(1);
    const note = /class="flaw-note"[^>]*><b>do not trust this score:<\/b> \[offset\] Other moments\. \(fix:/;
    expect(page).toMatch(note);
    expect(page).not.toContain('class="word"');
  });
});

describe('markup', () => {
  it('escapes values of html in content and attributes, control and direction characters too', () => {
    const hostile = `"><img src=x onerror='alert(1)'>&amp;`;
    expect(html`<b title="${hostile}">${hostile}</b>`.text).toBe(
      '<b title="&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;">' +
        '&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;</b>',
    );
    expect(html`${'a\u0000b\u001bc\u202ed'}`.text).toBe('a\\x00b\\x1bc\\u202ed');
  });

  it('keeps markup, numbers and lists in html, and omits false and undefined', () => {
    const nested = html`${html`<i>${1}</i>`}${[raw('<hr>'), 'a', undefined]}${false}${0}`;
    expect(nested.text).toBe('<i>1</i><hr>a0');
  });

  it('replaces lone surrogates in escapeHtml, which UTF-8 cannot hold', () => {
    expect(escapeHtml('a\ud800b')).toBe('a\uFFFDb');
    expect(escapeHtml('😀')).toBe('😀');
  });

  it('cannot end a script element by scriptJson, and round-trips', () => {
    const value = { name: '</script><!--<script>\u2028&' };
    const { text } = scriptJson(value);
    expect(text).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe('packed frames', () => {
  /** By the description of the format, not by the page's script. */
  function unpack({ low, high, bytes, data }: PackedMetric): number[] {
    const codes = Buffer.from(data, 'base64');
    const top = 2 ** (8 * bytes) - 2;
    return Array.from({ length: codes.length / bytes }, (_, i) => {
      const code = codes.readUIntBE(i * bytes, bytes);
      return code > top ? Number.NaN : low + (code * (high - low)) / top;
    });
  }

  const error = (packed: PackedMetric, values: readonly number[]) =>
    Math.max(...unpack(packed).map((value, i) => Math.abs(value - (values[i] ?? 0))));

  it('keep values of a short run to a ten millionth of their range', () => {
    const values = Array.from({ length: 5000 }, (_, i) => 50 + 50 * Math.sin(i * i));
    const packed = packMetric(frames('vmaf', values), 'vmaf');
    expect(packed.bytes).toBe(3);
    expect(error(packed, values)).toBeLessThan(100 * 1e-7);
  });

  it('take two bytes a value in a long run', () => {
    const values = Array.from({ length: 41_000 }, (_, i) => Math.sin(i));
    const packed = packMetric(frames('x', values), 'x');
    expect(packed.data).toHaveLength(Math.ceil((2 * 41_000) / 3) * 4);
    expect(error(packed, values)).toBeLessThan(2e-5);
  });

  it('keep gaps, values that are not finite as gaps, constants and empty series', () => {
    const list: FrameMetrics[] = [
      ...frames('x', [1, Number.NaN, Number.POSITIVE_INFINITY]),
      { frameNum: 3, metrics: {} },
      { frameNum: 4, metrics: { x: 3 } },
    ];
    expect(unpack(packMetric(list, 'x'))).toEqual([1, Number.NaN, Number.NaN, Number.NaN, 3]);
    expect(unpack(packMetric(frames('x', [7, 7]), 'x'))).toEqual([7, 7]);
    expect(unpack(packMetric([], 'x'))).toEqual([]);
  });

  it('state evenly spaced numbers by first, step and count, others by their distances', () => {
    const numbered = (numbers: number[]) => numbers.map((frameNum) => ({ frameNum, metrics: {} }));
    expect(packFrames(numbered([10, 15, 20]))).toEqual({ first: 10, step: 5, count: 3 });
    expect(packFrames(numbered([4]))).toEqual({ first: 4, step: 1, count: 1 });
    expect(packFrames([])).toEqual({ first: 0, step: 1, count: 0 });
    expect(packFrames(numbered([0, 1, 5]))).toEqual({ gaps: [1, 1, 4] });
  });
});

describe('a line of a chart', () => {
  /** A value at each frame from 0 on. */
  const line = (values: ArrayLike<number>) => ({ frames: Array.from(values, (_, i) => i), values });

  it('goes through every value if there is room, except gaps', () => {
    expect(linePath(line([0, 10, 5]), [0, 2], { low: 0, high: 10 }, 100, 50)).toBe('M0 50L50 0L100 25');
    expect(linePath(line([1, Number.NaN, 1]), [0, 2], { low: 0, high: 1 }, 10, 10)).toBe('M0 0M10 0');
  });

  it('loses no dip of one frame among 20,000, and stays short', () => {
    const values = new Float64Array(20_000).fill(90);
    values[12_345] = 3;
    const path = linePath(line(values), [0, 19_999], { low: 0, high: 100 }, 900, 100);
    const points = [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
    expect(points.filter(([, y]) => y === 97)).toEqual([[555.5, 97]]);
    expect(path.length).toBeLessThan(20_000);
  });
});

describe('scales', () => {
  it('a histogram has round edges, the greatest value in the last bin, and one bin for a single value', () => {
    const extent = { low: 80.2, high: 100 };
    const { low, high, step, counts } = histogram([80.2, 81, 81.9, 100, Number.NaN], extent, 20);
    expect([low, high, step]).toEqual([80, 100, 1]);
    expect([counts[0], counts[1], counts[19]]).toEqual([1, 2, 1]);
    expect(counts.reduce((a, b) => a + b)).toBe(4);
    const single = histogram([5, 5], { low: 5, high: 5 }, 40);
    expect(single.counts.reduce((a, b) => a + b)).toBe(2);
  });

  it('a histogram may span more than a number can hold', () => {
    const { counts } = histogram([-1e308, 0, 0, 1e308], { low: -1e308, high: 1e308 }, 42);
    expect(counts.length).toBeLessThan(100);
    expect(counts.filter((count) => count > 0)).toEqual([1, 2, 1]);
    expect(ticks(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 6)).toEqual([]);
  });

  it('extentOf ignores values that are not finite', () => {
    const series = [
      [1, Number.NaN],
      [-2, Number.POSITIVE_INFINITY],
    ];
    expect(extentOf(series)).toEqual({ low: -2, high: 1 });
    expect(extentOf([[Number.NaN]])).toBeUndefined();
  });

  it.each([
    [10, 5, 2],
    [100, 3, 50],
    [0.9, 10, 0.1],
    [0.07, 4, 0.02],
  ])('a span of %f in at most %i parts has steps of %f', (span, parts, step) => {
    expect(roundStep(span, parts)).toBeCloseTo(step, 12);
  });

  it('ticks are multiples of a round step within the range', () => {
    expect(ticks(41, 99, 6)).toEqual([50, 60, 70, 80, 90]);
    expect(ticks(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
  });
});
