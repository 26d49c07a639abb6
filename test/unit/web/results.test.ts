/**
 * @module test/unit/web/results
 * The data behind charts and tables of results: growing columns and their statistics, thinned lines, texts, colours, curves,
 * requested metrics, comparability, sorting, axes and BD-rate.
 */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InputPairing } from '../../../src/media/pairing/types.js';
import { bdQuality, bdRate } from '../../../src/report/bd-rate.js';
import { templates as markup } from '../../../src/report/html/markup.js';
import { STYLES } from '../../../src/report/html/styles.js';
import { pool } from '../../../src/report/pool.js';
import { bdTable, comparedWith, curvesOf, signed } from '../../../src/report/view/bd.js';
import { drawLine, type Pen, Scale } from '../../../src/report/view/chart-drawing.js';
import { ChartState, type FrameEncodes } from '../../../src/report/view/chart-state.js';
import { comparable, type Encode, EncodeList, type Facts } from '../../../src/report/view/encodes.js';
import {
  bitrateText,
  compare,
  curveNames,
  highest,
  leftOutText,
  logTicks,
  numberedColour,
  type RatePoint,
  ratePoints,
  scoreText,
  shortName,
  shortText,
  sizeText,
  spreadKind,
  thinned,
  timeText,
} from '../../../src/report/view/index.js';
import { Columns, type Encodes, reachedText } from '../../../web/src/results/encodes.js';
import { nextSorting, sorted } from '../../../web/src/results/headline.js';
import { comparisonOf } from '../../../web/src/results/rates.js';
import { type ChosenFile, coloursOf, DEFAULT_SETTINGS, Session } from '../../../web/src/session.js';
import { summary, typedMetrics, withMetric } from '../../../web/src/setup/models.js';
import { seeded } from '../../support/random.js';
import { paired, vmafModel } from '../../support/report.js';

function columnsOf(values: ArrayLike<number>, step = 1): Columns {
  const columns = new Columns();
  for (let i = 0; i < values.length; i++)
    columns.add({ frameNum: i * step, metrics: { vmaf: values[i] ?? 0 } });
  return columns;
}

describe('columns', () => {
  it('keep every value while they grow', () => {
    const columns = columnsOf(
      Float64Array.from({ length: 1000 }, (_, i) => i / 7),
      3,
    );
    expect(columns.length).toBe(1000);
    expect(columns.last).toBe(2997);
    expect(columns.at('vmaf', 2997)).toBe(999 / 7);
    expect(columns.at('vmaf', 1)).toBeNaN();
    expect(columns.at('psnr', 0)).toBeNaN();
    expect(columns.extent('vmaf')).toEqual([0, 999 / 7]);
  });

  it('have NaN where a metric comes late or is missing', () => {
    const columns = new Columns();
    columns.add({ frameNum: 0, metrics: { a: 1 } });
    columns.add({ frameNum: 4, metrics: { a: 2, b: 5 } });
    columns.add({ frameNum: 5, metrics: { b: Number.POSITIVE_INFINITY } });
    expect([...(columns.values('a') ?? [])]).toEqual([1, 2, Number.NaN]);
    expect([...(columns.values('b') ?? [])]).toEqual([Number.NaN, 5, Number.POSITIVE_INFINITY]);
    expect(columns.extent('b')).toEqual([5, 5]);
    expect(columns.statistics('a')).toBeUndefined();
  });

  it('compute percentiles of the frames at the time of the statistics, even if more arrived since', () => {
    const columns = columnsOf([10, 30, 20]);
    const before = columns.statistics('vmaf');
    for (let frameNum = 3; frameNum < 400; frameNum++) columns.add({ frameNum, metrics: { vmaf: 90 } });
    expect(before?.percentile(50)).toBe(20);
    expect(before).toMatchObject({ min: 10, max: 30, mean: 20 });
    expect(columns.statistics('vmaf')).toMatchObject({ min: 10, max: 90 });
  });

  it('have libvmaf’s statistics', () => {
    const values = Float64Array.of(80, 90, 100, 70);
    const statistics = columnsOf(values).statistics('vmaf');
    // 4 / (1/81 + 1/91 + 1/101 + 1/71) - 1, by hand.
    expect(statistics?.harmonic_mean).toBeCloseTo(83.530519, 5);
    expect(statistics).toMatchObject({ ...pool(values), min: 70, max: 100, mean: 85 });
    expect(statistics?.stddev).toBeCloseTo(Math.sqrt(125), 12);
    expect(statistics?.percentile(50)).toBe(85);
    expect(statistics?.percentile(1)).toBeCloseTo(70.3, 12);
  });
});

describe('thinning', () => {
  const line = (columns: Columns) => ({ frames: columns.numbers, values: columns.values('vmaf') ?? [] });

  it('leaves few frames unchanged', () => {
    expect(thinned(line(columnsOf([1, 2, 3], 2)), [0, 10], 100)).toEqual({ x: [0, 2, 4], y: [1, 2, 3] });
    expect(thinned(line(columnsOf([4, 5], 3)), [0, 10], 100)).toEqual({ x: [0, 3], y: [4, 5] });
  });

  it('keeps every dip and peak', () => {
    const { seed, next } = seeded(20_240_601);
    const values = Float64Array.from({ length: 50_000 }, () => 60 + 20 * next());
    for (const [at, value] of [
      [0, 3],
      [17_123, 1],
      [49_999, 2],
      [30_000, 99],
    ] as const)
      values[at] = value;
    const { x, y: row } = thinned(line(columnsOf(values)), [0, 49_999], 400);
    expect(x.length, `seed ${seed}`).toBe(800);
    for (const value of [1, 2, 3, 99]) expect(row, `seed ${seed}`).toContain(value);
    const at = x[row.indexOf(1)] ?? 0;
    expect(Math.abs(at - 17_123)).toBeLessThan(50_000 / 400);
  });

  it('extends a part to the frames just outside', () => {
    const { x } = thinned(line(columnsOf([1, 2, 3, 4, 5, 6])), [1.5, 3.5], 100);
    expect(x).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps values that are not finite as gaps', () => {
    const { y } = thinned(line(columnsOf([1, Number.NaN, 3])), [0, 2], 100);
    expect(y).toEqual([1, Number.NaN, 3]);
  });
});

/** An encode with frames 0 to 999. */
const FRAMES: FrameEncodes = {
  list: [{ index: 0, name: 'encode', columns: columnsOf(new Float64Array(1000)) }],
  span: [0, 999],
  rate: undefined,
  origin: 0,
  coming: false,
  isScore: () => true,
  said: String,
  valueText: (_, value) => String(value),
  meanOf: () => undefined,
};

describe('a chart that moves', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('comes to rest once its span has not changed for a while', () => {
    const state = new ChartState(FRAMES);
    const rests: unknown[] = [];
    state.rest.watch((part) => rests.push(part));
    for (let i = 0; i < 50; i++) {
      state.zoomTo(i, i + 100);
      vi.advanceTimersByTime(20);
      expect(state.moving).toBe(true);
    }
    expect(rests).toEqual([null]);
    vi.advanceTimersByTime(500);
    expect(state.moving).toBe(false);
    expect(rests).toEqual([null, [49, 149]]);
    // Charts with the same frames rest together.
    const other = new ChartState(FRAMES, state);
    other.zoomBy(2);
    expect([state.moving, other.moving]).toEqual([true, true]);
  });

  it('draws once per frame, also after a drawing that throws', () => {
    const due: FrameRequestCallback[] = [];
    vi.stubGlobal('requestAnimationFrame', (work: FrameRequestCallback) => due.push(work));
    const state = new ChartState(FRAMES);
    const done: number[] = [];
    state.eachFrame(() => done.push(1));
    state.eachFrame(() => {
      done.push(2);
      throw new Error('no canvas');
    });
    state.eachFrame(() => done.push(3));
    expect(due.length).toBe(1);
    due.shift()?.(0);
    expect(done).toEqual([1]);
    expect(() => due.shift()?.(16)).toThrow('no canvas');
    due.shift()?.(33);
    expect(done).toEqual([1, 2, 3]);
    expect(due.length).toBe(0);
    state.eachFrame(() => done.push(4));
    due.shift()?.(50);
    expect(done.at(-1)).toBe(4);
  });

  /** The lines that a chart strokes. */
  function strokes(rough: boolean, density: number, values: Float64Array) {
    vi.stubGlobal('devicePixelRatio', density);
    const found: { readonly width: number; readonly points: (readonly [number, number])[] }[] = [];
    let points: [number, number][] = [];
    const point = (x: number, y: number) => points.push([x, y]);
    const pen = {
      lineWidth: 1.6,
      moveTo: point,
      lineTo: point,
      beginPath: () => {
        points = [];
      },
      stroke: () => found.push({ width: pen.lineWidth, points }),
    };
    const line = { frames: values.map((_, i) => i), values };
    drawLine(
      pen as unknown as Pen,
      new Scale(400, 100, [0, values.length - 1], [0, 100]),
      line,
      false,
      rough,
    );
    expect(pen.lineWidth).toBe(1.6);
    return found;
  }

  it('draws hairlines along the same points, together as wide as its line, and loses no bad frame', () => {
    const values = new Float64Array(20_000).fill(90);
    values[7777] = 3;
    for (const density of [1, 2, 3]) {
      const [exact, ...others] = strokes(false, density, values);
      expect(others).toEqual([]);
      expect(exact?.width).toBe(1.6);
      expect(Math.max(...(exact?.points.map(([, y]) => y) ?? []))).toBe(97);
      const rough = strokes(true, density, values);
      const shifts = rough.map(({ width, points }) => {
        expect(width).toBeCloseTo(1 / density, 9);
        const away = points.flatMap(([x, y], i) => {
          const [at = 0, height = 0] = exact?.points[i] ?? [];
          return [x - at, y - height];
        });
        expect(points.length).toBe(exact?.points.length);
        const [shift = 0] = away;
        for (const offset of away) expect(offset).toBeCloseTo(shift, 9);
        return shift;
      });
      const wide = Math.max(...shifts) - Math.min(...shifts) + 1 / density;
      expect(Math.abs(wide - 1.6)).toBeLessThanOrEqual(0.5 / density);
      expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeCloseTo(0, 9);
    }
  });

  it('draws the highest bar of each pixel', () => {
    const bytes = [5, 9, 1, 4, 4, 8, 2];
    const frames = [0, 1, 3, 4, 5, 6];
    expect(highest(frames, bytes, (i) => i / 3)).toEqual([1, 5, 6]);
    expect(highest(frames, bytes, (i) => i)).toEqual(frames);
    expect(highest([], bytes, (i) => i)).toEqual([]);
  });
});

describe('texts', () => {
  it('state how many of all frames a stopped run scored', () => {
    const frames = (count: number, total?: number) => reachedText(count, { name: 'a', frames: [], total });
    expect([frames(12, 48), frames(48, 48), frames(1), frames(1200)]).toEqual([
      '12 of 48 frames',
      '48 frames',
      '1 frame',
      '1,200 frames',
    ]);
  });

  it('never round a score up to 100', () => {
    expect([
      scoreText(99.996),
      scoreText(100),
      scoreText(93.705),
      scoreText(undefined),
      scoreText(Number.NaN),
    ]).toEqual(['99.99', '100.00', '93.70', '–', '–']);
  });

  it.each([
    [timeText(0), '0:00.00'],
    [timeText(59.999), '1:00.00'],
    [timeText(59.9996, 3), '1:00.000'],
    [timeText(3725.4, 1), '1:02:05.4'],
    [timeText(75, 0), '1:15'],
    [bitrateText(4_213_000), '4.21 Mb/s'],
    [bitrateText(999_600), '1.00 Mb/s'],
    [bitrateText(0), undefined],
    [sizeText(999), '999 B'],
    [sizeText(39_000_000), '39.0 MB'],
    [shortText(0.123456), '0.1235'],
    [shortText(1234567.8), '1.2346e+6'],
    [shortName('a-very-long-name-crf23.mp4', 16), 'a-ver…-crf23.mp4'],
    [shortName('short.mp4', 16), 'short.mp4'],
  ])('%j', (text, expected) => {
    expect(text).toBe(expected);
  });
});

function encodes(...list: readonly (readonly [codec: string | undefined, bitrate: number])[]): Encode[] {
  return list.map(([codec, bitrate], index) => ({
    index,
    name: `${index}`,
    facts: codec === undefined ? {} : { pairing: paired({ codec, bitrate }) },
    count: 1,
    metrics: ['vmaf'],
    skipped: 0,
    fileSize: undefined,
  }));
}

class List extends EncodeList<Encode> {
  constructor(readonly list: readonly Encode[]) {
    super();
  }
  pooled(): undefined {
    return undefined;
  }
}

it('the spread of a bootstrap collection is no score, also in logs without models', () => {
  const [encode] = encodes([undefined, 1]);
  const list = new List(encode ? [encode] : []);
  expect(['vmaf', 'vmaf_neg'].map((metric) => list.isScore(metric))).toEqual([true, true]);
  for (const metric of ['vmaf_bagging', 'vmaf_stddev', 'vmaf_ci_p95_lo', 'psnr_y'])
    expect(list.isScore(metric), metric).toBe(false);
});

/** Linear RGB as seen with all cones, and without L, M or S cones: Machado, Oliveira and Fernandes (2009), severity 1. */
const EYES = [
  [1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
];

type Three = readonly [number, number, number];
const times = (matrix: readonly number[], [a, b, c]: Three): Three => {
  const row = (i: number) => (matrix[i] ?? 0) * a + (matrix[i + 1] ?? 0) * b + (matrix[i + 2] ?? 0) * c;
  return [row(0), row(3), row(6)];
};
const each = ([a, b, c]: Three, of: (value: number) => number): Three => [of(a), of(b), of(c)];
const linear = (hex: string): Three =>
  each([1, 3, 5], (at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
/** Ottosson (2020). */
const oklab = (rgb: Three): Three => {
  const cones = times(
    [
      ...[0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566],
      ...[0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  return times(
    [
      ...[0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099],
      ...[0.0259040371, 0.7827717662, -0.808675766],
    ],
    each(cones, Math.cbrt),
  );
};
const luminance = ([red, green, blue]: Three) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

describe('colours of encodes', () => {
  const palettes = (css: string) => {
    const all = [...css.matchAll(/--s(\d+): (#[0-9a-f]{6})/g)].map(([, number, hex = '']) => ({
      number,
      hex,
    }));
    const numbers = Array.from({ length: 16 }, (_, i) => String(i));
    expect(all.map(({ number }) => number).join()).toMatch(
      new RegExp(`^${numbers.join()},${numbers.join()}`),
    );
    return [all.slice(0, 16), all.slice(16, 32)].map((list) => list.map(({ hex }) => hex));
  };

  it('are sixteen, distinct to all kinds of colour vision, light and dark, with contrast to the background', () => {
    const sheets = palettes(STYLES);
    expect(palettes(readFileSync('web/src/styles/base.css', 'utf8'))).toEqual(sheets);
    for (const [sheet, ground] of [
      [sheets[0] ?? [], '#ffffff'],
      [sheets[1] ?? [], '#191c23'],
    ] as const) {
      for (const [i, colour] of sheet.entries()) {
        const lights = [luminance(linear(colour)), luminance(linear(ground))].sort((a, b) => b - a);
        expect(((lights[0] ?? 0) + 0.05) / ((lights[1] ?? 0) + 0.05), colour).toBeGreaterThan(3);
        for (const other of sheet.slice(0, i))
          for (const eye of EYES) {
            const seen = [colour, other].map((hex) =>
              oklab(each(times(eye, linear(hex)), (value) => Math.min(1, Math.max(0, value)))),
            );
            const away = Math.hypot(...[0, 1, 2].map((k) => (seen[0]?.[k] ?? 0) - (seen[1]?.[k] ?? 0)));
            expect(away, `${colour} ${other}`).toBeGreaterThan(0.07);
          }
      }
    }
  });

  it('are repeated with other dashes and shapes', () => {
    const looks = Array.from({ length: 64 }, (_, i) => JSON.stringify(numberedColour(i)));
    expect(new Set(looks).size).toBe(64);
    expect(numberedColour(3, 1)).toEqual([
      ['--e1', 'var(--s3)'],
      ['--d1', 'none'],
      ['--k1', 'none'],
    ]);
    expect(numberedColour(19)).toEqual([
      ['--c', 'var(--s3)'],
      ['--d', expect.stringMatching(/^[\d ]+$/)],
      ['--k', expect.stringMatching(/^linear-gradient/)],
    ]);
  });

  it('stay with their encodes while others come and go', () => {
    const session = new Session();
    let id = 0;
    const file = (name: string): ChosenFile => ({ id: id++, file: new File(['x'], name), kind: 'encoded' });
    const [a, b, c, d] = [file('a'), file('b'), file('c'), file('d')];
    session.distorted.value = [a, b, c];
    expect(coloursOf(session)).toEqual([0, 1, 2]);
    session.distorted.value = [c, a];
    expect(coloursOf(session)).toEqual([2, 0]);
    session.distorted.value = [d, c, a];
    expect(coloursOf(session)).toEqual([1, 2, 0]);
    // An encode that returns gets another colour if its own was reused.
    session.distorted.value = [d, c, a, b];
    expect(coloursOf(session)).toEqual([1, 2, 0, 3]);
    // Results of the last session count too, although their videos are absent.
    session.results.value = [{ name: 'old', colour: 4, frames: [] }];
    session.distorted.value = [a, file('e')];
    expect(coloursOf(session)).toEqual([0, 1]);
    session.distorted.value = [a, ...['f', 'g', 'h', 'i'].map(file)];
    expect(coloursOf(session)).toEqual([0, 1, 2, 3, 5]);
  });
});

describe('curves of encodes', () => {
  type Facts = Partial<InputPairing>;
  const fast: Facts = { encoderSettings: 'x264 subme=2 ref=1 me=hex keyint=250' };
  const slow: Facts = { encoderSettings: 'x264 subme=8 ref=5 me=hex keyint=250' };
  const small: Facts = { ...fast, width: 480, height: 270 };
  const vp9: Facts = { codec: 'vp9' };
  const curvesOfFiles = (names: string, facts: readonly Facts[]) =>
    curveNames(
      names.split(' ').map((name, index) => ({
        ...(encodes(['h264', 1])[0] as Encode),
        index,
        name,
        facts: { pairing: paired({ codec: 'h264', ...facts[index % facts.length] }) },
      })),
    );
  it.each<[what: string, files: string, facts: Facts[], curves: string[]]>([
    [
      'settings apart, named by the start of the file names',
      'x264_fast_20.mp4 x264_slow_20.mp4 x264_fast_30.mp4 x264_slow_crf30.mp4',
      [fast, slow],
      ['h264 fast', 'h264 slow', 'h264 fast', 'h264 slow'],
    ],
    [
      'settings apart, named by the settings that differ',
      '20-fast.mp4 20-slow.mp4 30-fast.mp4 30-slow.mp4',
      [fast, slow],
      ['h264 subme=2 ref=1', 'h264 subme=8 ref=5', 'h264 subme=2 ref=1', 'h264 subme=8 ref=5'],
    ],
    ['sizes apart', 'a.mp4 b.mp4 c.mp4', [fast, small], ['h264 1920×1080', 'h264 480×270', 'h264 1920×1080']],
    ['depths apart', 'a.mp4 b.mp4', [{}, { bitDepth: 10 }], ['h264 8 bit', 'h264 10 bit']],
    [
      'names that differ in more than numbers apart, if streams have no settings',
      'crf20_good.webm crf20_best.webm crf30_good.webm crf30_best.webm',
      [vp9],
      ['vp9 crf#_good', 'vp9 crf#_best', 'vp9 crf#_good', 'vp9 crf#_best'],
    ],
    [
      'an encode with more words in its name on the curve of that name',
      ['fast-q30', 'fast-q44', 'slow-q30', 'slow-q44-again', 'slower-q44']
        .map((name) => `film-vp9-${name}.webm`)
        .join(' '),
      [vp9],
      ['vp9 fast', 'vp9 fast', 'vp9 slow', 'vp9 slow', 'vp9 slower'],
    ],
    [
      'no names apart if each is alone',
      'low.mp4 high.mp4 high2.mp4',
      [{}, {}, { codec: 'av1' }],
      ['h264', 'h264', 'av1'],
    ],
  ])('keep %s', (_, files, facts, curves) => {
    expect(curvesOfFiles(files, facts)).toEqual(curves);
  });
});

it('a chosen comparison of curves is by a metric that the encodes have', () => {
  const shown = new List(encodes([undefined, 1]).map((one) => ({ ...one, metrics: ['vmaf'] })));
  const session = new Session();
  session.comparison.value = { metric: 'psnr_y', anchor: 'gone' };
  expect(comparisonOf(shown as unknown as Encodes, session)).toMatchObject({ metric: 'vmaf' });
});

describe('requested metrics', () => {
  const list = (metrics: readonly string[], facts: Facts = { models: [vmafModel] }) =>
    new List([{ ...(encodes([undefined, 1])[0] as Encode), metrics, facts }]);
  it('are all but the features behind scores', () => {
    const inner = [
      ...['integer_adm2', 'integer_adm_scale3', 'integer_aim', 'integer_vif_scale0', 'integer_motion3'],
      ...['VMAF_integer_feature_motion2_score', 'float_vif_scale1', 'speed_chroma_u', 'float_moment_ref1st'],
    ];
    const requested = 'psnr_y psnr_hvs float_ssim float_ms_ssim cambi ciede2000 vmaf_neg my_own'.split(' ');
    const both = list([...inner, ...requested, 'vmaf']);
    expect(both.asked).toEqual(['vmaf', ...requested]);
    expect(both.inner).toEqual(inner);
  });

  it('exclude the spread of a bootstrap score', () => {
    const collection = {
      members: 20,
      bagging: 'b_bagging',
      stddev: 'b_stddev',
      ciLow: 'b_lo',
      ciHigh: 'b_hi',
    };
    const models = [{ ...vmafModel, name: 'b', collection }];
    expect(list(['b', 'b_bagging', 'b_stddev', 'psnr_y'], { models }).asked).toEqual(['b', 'psnr_y']);
  });
});

describe('comparable encodes', () => {
  const facts: Facts = { models: [vmafModel], reference: { name: 'ref' } as NonNullable<Facts['reference']> };
  const one = (index: number, parts: Partial<Encode> = {}): Encode => ({
    ...(encodes([undefined, 1])[0] as Encode),
    index,
    name: 'abcdef'[index] ?? '',
    facts,
    count: 96,
    ...parts,
  });
  const said = (list: readonly Encode[]) => {
    const { alike, others } = comparable(list);
    return [
      alike.map(({ name }) => name).join(''),
      ...others.map(({ encode, why }) => `${encode.name} ${why}`),
    ];
  };
  it.each<[what: string, list: readonly Encode[], expected: readonly string[]]>([
    ['all if alike', [one(0), one(1)], ['ab']],
    [
      'all but one with other frames of the reference',
      [one(0), one(1, { skipped: 10 }), one(2, { skipped: 0 })],
      ['ac', 'b frames'],
    ],
    ['all but a shorter one', [one(0), one(1, { count: 60 }), one(2)], ['ac', 'b counts']],
    [
      'the largest group that is alike',
      [one(0, { facts: { ...facts, models: [] } }), one(1), one(2), one(3, { facts: {} })],
      ['bc', 'a models', 'd references'],
    ],
    [
      'none if each differs',
      [one(0), one(1, { count: 60 }), one(2, { count: 20 })],
      ['', 'b counts', 'c counts'],
    ],
    [
      'those scored completely, however many were not',
      [one(0, { partial: true, count: 60 }), one(1), one(2, { partial: true, count: 60 }), one(3)],
      ['bd', 'a partial', 'c partial'],
    ],
    [
      'those not left out',
      [one(0, { left: true, count: 60 }), one(1), one(2), one(3, { left: true })],
      ['bc'],
    ],
    [
      'none if all were stopped',
      [one(0, { partial: true, count: 60 }), one(1, { partial: true, count: 60 })],
      ['', 'a partial', 'b partial'],
    ],
  ])('are %s', (_, list, expected) => {
    expect(said(list)).toEqual(expected);
  });

  it('alone have the best of each column and points on curves', () => {
    const sizes = [300, 100, 200];
    const rated = sizes.map((fileSize, i) =>
      one(i, {
        fileSize,
        partial: i === 1,
        facts: { ...facts, pairing: paired({ codec: 'h264', bitrate: 1000 * fileSize, fileSize }) },
      }),
    );
    class Means extends List {
      override pooled(): undefined {
        return { mean: 50, min: 0, max: 100, harmonic_mean: 50, stddev: 0, percentile: () => 50 } as never;
      }
    }
    const shown = new Means(rated);
    expect(compare(shown).map(({ best }) => best)).toEqual([
      [false, false, false, false],
      [false, false, false, false],
      [false, false, true, true],
    ]);
    expect(ratePoints(shown, 'vmaf').map(({ name }) => name)).toEqual(['c', 'a']);
    expect(leftOutText(shown)).toBe('Left out because its run was stopped: b.');
  });
});

describe('rows', () => {
  it('are sorted by numbers or names, rows without a value last either way', () => {
    expect(sorted([3, undefined, 1, 2], false)).toEqual([2, 3, 0, 1]);
    expect(sorted([3, undefined, 1, 2], true)).toEqual([0, 3, 2, 1]);
    expect(sorted(['crf10', 'crf9', 'crf9'], false)).toEqual([1, 2, 0]);
  });
  it('are sorted from the better end, then from the worse, then not at all', () => {
    const first = nextSorting(null, 2, true);
    expect(first).toEqual({ column: 2, down: true });
    const second = nextSorting(first, 2, true);
    expect(second).toEqual({ column: 2, down: false });
    expect(nextSorting(second, 2, true)).toBeNull();
    expect(nextSorting(second, 1, false)).toEqual({ column: 1, down: false });
  });
});

describe('logarithmic axes', () => {
  it.each([
    [40, 3000, 8, [50, 100, 200, 500, 1000, 2000]],
    [40, 3000, 4, [100, 300, 1000, 3000]],
    [0.9, 1.1, 6, [0.9, 0.95, 1, 1.05, 1.1]],
    [3, 40, 4, [5, 10, 20]],
  ])('from %d to %d with %d marks', (low, high, parts, expected) => {
    expect(logTicks(low, high, parts)).toEqual(expected);
  });
});

describe('distributions', () => {
  it('are cumulative above three encodes', () => {
    expect([1, 3, 4, 11].map(spreadKind)).toEqual(['histogram', 'histogram', 'cumulative', 'cumulative']);
  });
});

describe('BD-rate between curves', () => {
  const point = (codec: string | undefined, rate: number, quality: number): RatePoint => ({
    index: 0,
    name: '',
    curve: codec,
    rate,
    quality,
  });
  const points = [
    point('h264', 1e6, 70),
    point('vp9', 0.5e6, 70),
    point('av1', 1e6, 5),
    point('h264', 4e6, 90),
    point('vp9', 2e6, 90),
    point('flat', 1e6, 80),
    point('flat', 2e6, 80),
    point('av1', 2e6, 10),
    point(undefined, 1e6, 50),
    point(undefined, 2e6, 60),
  ];
  it('takes curves with at least two qualities', () => {
    expect(curvesOf(points).map(({ name }) => name)).toEqual(['h264', 'vp9', 'av1']);
  });
  it('equals the public function, or states why there is none', () => {
    const [h264, vp9, av1] = curvesOf(points) as [never, never, never];
    const kbps = (codec: string) =>
      points
        .filter((point) => point.curve === codec)
        .map(({ rate, quality }) => ({ kbps: rate / 1000, quality }));
    const compared = comparedWith(h264, vp9);
    if ('refused' in compared) throw new Error(compared.refused);
    expect(compared.rate).toEqual(bdRate(kbps('h264'), kbps('vp9')));
    expect(compared.quality).toEqual(bdQuality(kbps('h264'), kbps('vp9')));
    // Half the rate at every quality.
    expect(signed(compared.rate.value)).toBe('−50.0 %');
    // The area between both: from the lowest common quality up the anchor, and down the other curve.
    const sides = [compared.outline.slice(0, 25), compared.outline.slice(25).reverse()];
    expect(sides.map((side) => [side[0], side.at(-1)])).toEqual([
      [
        [expect.closeTo(1e6, 3), 70],
        [expect.closeTo(4e6, 3), 90],
      ],
      [
        [expect.closeTo(0.5e6, 3), 70],
        [expect.closeTo(2e6, 3), 90],
      ],
    ]);
    expect(comparedWith(h264, av1)).toEqual({
      refused: expect.stringContaining('share no range of quality'),
    });
  });
  it('has the right sign for metrics of which less is better', () => {
    // CAMBI: the second needs twice the rate for as little banding.
    const [anchor, other] = curvesOf(
      [point('h264', 1e6, 9), point('h264', 4e6, 1), point('vp9', 2e6, 9), point('vp9', 8e6, 1)],
      -1,
    ) as [never, never];
    const compared = comparedWith(anchor, other);
    if ('refused' in compared) throw new Error(compared.refused);
    expect(signed(compared.rate.value)).toBe('+100 %');
    expect(compared.quality?.value).toBeLessThan(0);
    expect(compared.outline[0]).toEqual([expect.closeTo(1e6, 3), 9]);
  });
  it('follows a tiny model of which less is better, and names compared values with their sign', () => {
    const tiny = [{ metrics: ['loss'], better: 'lower' }] as unknown as Facts['tiny'];
    const codecs = ['h264', 'h264', 'vp9', 'vp9'];
    const all = codecs.map((curve, index) => ({ curve, index }));
    const list = (facts: Facts) =>
      new List(all.map(({ index }) => ({ ...(encodes([undefined, 1])[0] as Encode), index, facts })));
    const rated = (metric: string, qualities: readonly number[], facts: Facts = {}) => {
      const given = all.map((one, i) => ({ ...point(one.curve, 1e6 * (i + 1), qualities[i] ?? 0), ...one }));
      return bdTable(markup, list(facts), given, metric, { anchor: 'h264' })?.text ?? '';
    };
    const less = rated('loss', [9, 1, 8, 2], { models: [], tiny });
    expect(less).not.toContain('does not always rise');
    expect(less).toContain('title="compared from 2.000 to 8.000, 100 % of the shorter curve"');
    // The curves share no bit rate, so that only rates are compared.
    expect(less).not.toContain('no value');
    expect(less).toContain('<td class="">–</td><td class="ranges">2.000 to 8.000</td>');
    const signed = rated('ssimulacra2', [-20, 50, -10, 40]);
    expect(signed).toContain('title="compared from -10.00 to 40.00, 100 % of the shorter curve"');
  });
  it('of a range of rates covers the qualities of the anchor at those rates', () => {
    const curve = (name: string, times: number) =>
      [60, 75, 86, 94].map((quality, i) => point(name, times * 4e5 * 2 ** i, quality));
    const [anchor, other] = curvesOf([...curve('h264', 1), ...curve('vp9', 0.6)]) as [never, never];
    const of = (min: number, max: number) => {
      const compared = comparedWith(anchor, other, { rates: { min, max } });
      return 'refused' in compared ? compared.refused : compared;
    };
    const part = of(800, 1600);
    if (typeof part === 'string') throw new Error(part);
    expect(part.rate.range).toEqual({ from: expect.closeTo(75, 9), to: expect.closeTo(86, 9) });
    expect(part.quality?.range).toEqual({ from: expect.closeTo(800, 6), to: expect.closeTo(1600, 6) });
    expect(part.rate.value).toBeCloseTo(-40, 6);
    expect(of(0, Number.POSITIVE_INFINITY)).toEqual(comparedWith(anchor, other));
    expect(of(1e5, 1e6)).toContain('share no range');
  });
  it.each([
    [12.34, '+12.3 %'],
    [-0.04, '0.0 %'],
    [1234.5, '+1235 %'],
  ])('is formatted with its sign: %d', (value, text) => {
    expect(signed(value)).toBe(text);
  });
});

describe('metrics with a checkbox', () => {
  it('come before typed ones', () => {
    const typed = ['psnr=enable_mse=true', 'float_ssim'];
    expect(withMetric(typed, 'cambi', true)).toEqual(['float_ssim', 'cambi', 'psnr=enable_mse=true']);
    expect(withMetric(typed, 'float_ssim', false)).toEqual(['psnr=enable_mse=true']);
    expect(typedMetrics(typed)).toEqual(['psnr=enable_mse=true']);
  });
  it('are named in the summary', () => {
    const features = ['float_ms_ssim', 'ciede', 'psnr_hvs'];
    expect(summary({ ...DEFAULT_SETTINGS, features })[0]).toBe('VMAF + MS-SSIM + CIEDE2000 + PSNR_HVS');
  });
});
