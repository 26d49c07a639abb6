/**
 * @module test/unit/wasm/xpsnr
 * XPSNR in the core: its block sums in both twins, errors by a plain recipe, and FFmpeg's values of real clips.
 */
import { describe, expect, it } from 'vitest';
import { chromaSize, type VideoFormat } from '../../../src/core/frame.js';
import { score } from '../../../src/index.js';
import { disturbed, format, type Picture, picture, runMetric, runTwins } from '../../support/metric.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';
import { compare, DEPTHS, longs, pointers, put, SEED, some, WIDTHS } from '../../support/wasm.js';

/** Samples of one depth: noise, or black and white, which give the largest sums. */
function samples(random: SeededRandom, n: number, depth: number): Uint8Array | Uint16Array {
  const top = 2 ** depth - 1;
  const noise = random.int(0, 2) > 0;
  const out = depth > 8 ? new Uint16Array(n) : new Uint8Array(n);
  return out.map(() => (noise ? random.int(0, top) : random.int(0, 1) * top));
}

describe('block sums, all depths and widths', () => {
  /** Runs a function that adds to a row of sums. */
  function compareRow(name: string, about: string, n: number, run: Parameters<typeof compare>[2]) {
    compare(name, about, (twin) =>
      run((...args) => {
        const sums = put(new Int32Array(2 * n));
        twin(...args, sums);
        return longs(sums, n);
      }),
    );
  }

  it('squared errors and differences in time of a row of blocks', () => {
    const random = seeded(SEED);
    for (const width of WIDTHS)
      for (const depth of some(DEPTHS, width)) {
        const [rows, block] = [random.int(1, 6), random.pick([4, 8, 12, 20, 64, 728])];
        const [a, b, c] = [0, 1, 2].map(() => samples(random, width * rows, depth));
        if (!a || !b || !c) throw new Error('three planes');
        const about = `${width}x${rows} in blocks of ${block}, ${depth} bit`;
        const blocks = Math.ceil(width / block);
        const shape = [width, rows, block, depth];
        compareRow('xpsnr_sse', about, blocks, (twin) => twin(put(a), put(b), ...shape));
        for (const name of ['xpsnr_temporal', 'xpsnr_temporal_big'])
          for (const [order, there] of [1, 2].flatMap((k) => [0, 1, 2].map((n) => [k, n] as const))) {
            compareRow(name, `${about}, order ${order}, ${there} earlier`, blocks, (twin) =>
              twin(pointers([put(a), there > 0 ? put(b) : 0, there > 1 ? put(c) : 0]), order, ...shape),
            );
          }
      }
  });

  it('spatial activity of a window', () => {
    const random = seeded(SEED + 1);
    for (const width of WIDTHS)
      for (const depth of some(DEPTHS, width)) {
        const height = random.int(1, 9);
        const stride = width + 4 + random.int(0, 5);
        const plane = samples(random, stride * (height + 4), depth);
        const start = (2 * stride + 2) * plane.BYTES_PER_ELEMENT;
        for (const name of ['xpsnr_spatial', 'xpsnr_spatial_big'])
          compare(name, `${width}x${height}, ${depth} bit`, (twin) =>
            twin(put(plane) + start, stride, width, height, depth),
          );
      }
  });

  it('the largest block of the largest samples', () => {
    const [side, random] = [728, seeded(SEED + 2)];
    for (const depth of [8, 16]) {
      const top = 2 ** depth - 1;
      const plane = (sample: (x: number, y: number) => number) => {
        const n = (side + 4) * (side + 4);
        const out = depth > 8 ? new Uint16Array(n) : new Uint8Array(n);
        return out.map((_, i) => top * sample(i % (side + 4), Math.floor(i / (side + 4))));
      };
      const board = plane((x, y) => (x + y) & 1);
      const groups = plane((x, y) => ((x >> 1) + (y >> 1)) & 1);
      const start = (2 * (side + 4) + 2) * board.BYTES_PER_ELEMENT;
      for (const [name, content] of [
        ['xpsnr_spatial', board],
        ['xpsnr_spatial_big', groups],
      ] as const)
        compare(name, `${depth} bit`, (twin) => twin(put(content) + start, side + 4, side, side, depth));
      const [white, black] = [plane(() => 1), plane(() => 0)];
      const second = random.pick([white, black]);
      const shape = [side, side, side, depth] as const;
      compareRow('xpsnr_sse', `${depth} bit`, 1, (twin) => twin(put(white), put(black), ...shape));
      for (const name of ['xpsnr_temporal', 'xpsnr_temporal_big'])
        compareRow(name, `${depth} bit`, 1, (twin) =>
          twin(pointers([put(white), put(black), put(second)]), 2, ...shape),
        );
    }
  });
});

/** Reference luma, newest first; absent ones are black. */
type History = readonly [Picture, (Picture | undefined)?, (Picture | undefined)?];

/** The recipe, sample by sample. */
class Recipe {
  readonly #video: VideoFormat;
  readonly #history: History;
  readonly #order: number;
  readonly #side: number;
  readonly #big: boolean;
  /** Of the high-pass. */
  readonly #taps: readonly { readonly tap: number; readonly dx: number; readonly dy: number }[];

  constructor(video: VideoFormat, history: History, order: number) {
    const area = video.width * video.height;
    this.#video = video;
    this.#history = history;
    this.#order = order;
    this.#side = 4 * Math.trunc(32 * Math.sqrt(area / (3840 * 2160)) + 0.5);
    this.#big = area > 2048 * 1152;
    const rows = this.#big
      ? ['011110', '123321', '13..31', '13..31', '123321', '011110']
      : ['121', '2.2', '121'];
    const offset = this.#big ? 2 : 1;
    this.#taps = rows.flatMap((row, i) =>
      [...row].map((tap, j) => ({ tap: tap === '.' ? 12 : -Number(tap), dx: j - offset, dy: i - offset })),
    );
  }

  /** Weighted errors of the planes. */
  errors(distorted: Picture): number[] {
    const { width, height, bitDepth } = this.#video;
    const share = (width * height) / (3840 * 2160);
    const scale = Math.sqrt((16 * 2 ** (2 * bitDepth - 9)) / Math.sqrt(Math.max(1e-5, share)));
    const weights = this.#side > 0 ? this.#weights() : [];
    const chroma = chromaSize(this.#video);
    return this.#history[0].map((plane, c) => {
      const [w, h] = c === 0 ? [width, height] : [chroma.width, chroma.height];
      // Of the size that FFmpeg has: odd sides rounded up.
      const [across, down] = [
        Math.trunc((this.#side * Math.round(width / Math.round(width / w))) / width),
        Math.trunc((this.#side * Math.round(height / Math.round(height / h))) / height),
      ];
      if (this.#side === 0) return squares(plane, distorted[c], w, [0, 0, w, h]);
      let sum = 0;
      weights.forEach((weight, k) => {
        const columns = Math.ceil(width / this.#side);
        const [x, y] = [(k % columns) * across, Math.floor(k / columns) * down];
        sum +=
          squares(plane, distorted[c], w, [x, y, Math.min(w, x + across), Math.min(h, y + down)]) * weight;
      });
      return Math.floor(sum * scale + 0.5);
    });
  }

  #weights(): number[] {
    const { width, height } = this.#video;
    const side = this.#side;
    const columns = Math.ceil(width / side);
    const weights: number[] = [];
    for (let y = 0; y < height; y += side)
      for (let x = 0; x < width; x += side) {
        const k = weights.push(this.#weight(x, y)) - 1;
        if (width * height > 640 * 480) continue;
        const at = (i: number) => weights[i] ?? 0;
        let most = x === 0 ? (k > 1 ? at(k - 2) : 0) : x > side ? Math.max(at(k - 2), at(k)) : at(k);
        if (k > columns) most = Math.max(most, at(k - 1 - columns));
        if (k > 0) weights[k - 1] = Math.min(at(k - 1), most);
        const isLast = x + side >= width && y + side >= height;
        if (isLast && k > columns) weights[k] = Math.min(at(k), Math.max(at(k - 1), at(k - columns)));
      }
    return weights;
  }

  #weight(x0: number, y0: number): number {
    const { width, height, bitDepth } = this.#video;
    const [w, h] = [Math.min(this.#side, width - x0), Math.min(this.#side, height - y0)];
    const b = this.#big ? 2 : 1;
    const [left, top] = [x0 > 0 ? 0 : b, y0 > 0 ? 0 : b];
    const [right, bottom] = [Math.min(w, width - x0 - b), Math.min(h, height - y0 - b)];
    if (right <= left || bottom <= top) return 1;
    let details = 0;
    let changes = 0;
    for (let y = top; y + b <= bottom; y += b)
      for (let x = left; x + b <= right; x += b) details += Math.abs(this.#detail(x0 + x, y0 + y));
    if (this.#big && right <= 12) details = 0;
    for (let y = 0; y + b <= h; y += b)
      for (let x = 0; x + b <= w; x += b) {
        let change = 0;
        for (let i = 0; i < b; i++)
          for (let j = 0; j < b; j++) change += this.#change(x0 + x + j, y0 + y + i);
        changes += 2 * Math.abs(change);
      }
    const activity = details / ((right - left) * (bottom - top)) + changes / (w * h);
    const limited = Math.max(activity, 2 ** (bitDepth - 6));
    return 1 / Math.sqrt(limited * limited);
  }

  /** The high-passed sample, or two by two samples of a big picture. */
  #detail(x: number, y: number): number {
    let sum = 0;
    for (const { tap, dx, dy } of this.#taps) sum += tap * this.#luma(0, x + dx, y + dy);
    return sum;
  }

  #change(x: number, y: number): number {
    const change = this.#luma(0, x, y) - this.#order * this.#luma(1, x, y);
    return this.#order === 1 ? change : change + this.#luma(2, x, y);
  }

  #luma(back: number, x: number, y: number): number {
    return this.#history[back]?.[0]?.[y * this.#video.width + x] ?? 0;
  }
}

type Box = readonly [left: number, top: number, right: number, bottom: number];

function squares(a: Picture[number], b: Picture[number] | undefined, stride: number, box: Box): number {
  const [left, top, right, bottom] = box;
  let sum = 0;
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) sum += ((a[y * stride + x] ?? 0) - (b?.[y * stride + x] ?? 0)) ** 2;
  return sum;
}

/** Parts without detail, parts with noise, and a part that moves. */
function content(random: SeededRandom, video: VideoFormat, at: number): Picture {
  const top = 2 ** video.bitDepth - 1;
  const across = Float64Array.from({ length: video.width }, (_, x) => 0.3 * Math.sin((x + 3 * at) / 9));
  const down = [0, 1, 2].map((plane) =>
    Float64Array.from({ length: video.height }, (_, y) => 0.2 * Math.cos(y / 5 + plane)),
  );
  return picture(video, (x, y, plane) => {
    const waves = 0.5 + (across[x] ?? 0) + (down[plane]?.[y] ?? 0);
    const noise = x > video.width / 3 ? random.next() * (y > video.height / 3 ? 0.3 : 0.02) : 0;
    return Math.round(top * Math.min(1, waves * 0.8 + noise));
  });
}

describe('weighted errors', () => {
  const CASES: readonly (readonly [string, VideoFormat])[] = [
    ['no block', format(44, 44)],
    ['blocks of four with smoothing', format(160, 90, 8)],
    ['blocks of four, odd sides', format(79, 61, 10)],
    ['a single column of blocks', format(17, 640, 8, '422')],
    ['4:4:4', format(352, 98, 12, '444')],
    ['4:0:0', format(353, 99, 8, '400')],
    ['all bits of 16', format(130, 90, 16)],
    ['just smoothed', format(640, 480)],
    ['just not smoothed', format(642, 480, 10)],
    ['odd sides, not smoothed', format(1001, 333, 8)],
    ['big and odd', format(4099, 577, 10)],
    ['big with a last block of less than twelve columns', format(4170, 570, 8, '400')],
    ...tier<typeof CASES>([], [['big', format(4096, 578, 8)]]),
  ];

  it.each(CASES)(`are those of the recipe: %s (seed ${SEED})`, (_, video) => {
    const random = seeded(SEED + 3);
    const [reference, earlier, second] = [2, 1, 0].map((n) => content(random, video, n));
    if (!reference || !earlier || !second) throw new Error('three pictures');
    const distorted = disturbed(random, reference, video.bitDepth, 2 ** (video.bitDepth - 6));
    const histories: readonly (readonly [order: number, history: History])[] = [
      [1, [reference, earlier]],
      [2, [reference, earlier, second]],
      [2, [reference, earlier]],
      [1, [reference]],
    ];
    // A big picture takes the plain implementation a second.
    const isBig = video.width * video.height > 500_000;
    for (const [order, history] of isBig ? tier([random.pick(histories)], histories) : histories) {
      const [, earlierReference, secondEarlierReference] = history;
      const pictures = {
        reference,
        distorted,
        ...(earlierReference && { earlierReference }),
        ...(secondEarlierReference && { secondEarlierReference }),
      };
      const [portable, simd] = runTwins(video, pictures, 'xpsnr', [order]);
      const expected = new Recipe(video, history, order).errors(distorted);
      const planes = video.chroma === '400' ? [...expected, 0, 0] : expected;
      expect(portable, `order ${order}, ${history.length} pictures`).toEqual(planes);
      expect(simd).toEqual(portable);
    }
  });

  it('are none between equal pictures', () => {
    const video = format(130, 90);
    const reference = content(seeded(SEED), video, 0);
    const pictures = { reference, distorted: reference };
    expect(runMetric('simd128', video, pictures, 'xpsnr', [1])).toEqual([0, 0, 0]);
  });
});

type Values = readonly [y: number, u: number, v: number];

/** FFmpeg 8.1's values of the first frames and of its summary, for clips of ../shared. */
interface Golden {
  readonly reference: string;
  readonly distorted: string;
  readonly raw: VideoFormat;
  /** Frames per second, if the clip's rate matters. */
  readonly fps?: number;
  /** Frames that the summary is of. */
  readonly count: number;
  readonly frames: readonly Values[];
  readonly summary: Values;
}

const clips = (reference: string, distorted: string, raw: VideoFormat) => ({ reference, distorted, raw });
const STREET = (depth: number) => ({
  reference: `src01_hrc00_576x324.yuv420p${depth}le.yuv`,
  distorted: `src01_hrc01_576x324.yuv420p${depth}le.yuv`,
  raw: format(576, 324, depth),
});
const SMALL = clips('src01_hrc00_160x90.yuv', 'src01_hrc01_160x90.yuv', format(160, 90));

const GOLDEN: Readonly<Record<string, Golden>> = {
  street_10bit: {
    ...STREET(10),
    count: 3,
    frames: [
      [37.056232, 41.751797, 43.873554],
      [31.03591, 38.130356, 40.275188],
      [30.089668, 37.831745, 40.046974],
    ],
    summary: [32.2285, 39.0647, 41.2308],
  },
  street_12bit: {
    ...STREET(12),
    count: 3,
    frames: [
      [37.062595, 41.75816, 43.879917],
      [31.042276, 38.136723, 40.281551],
      [30.096033, 37.838112, 40.053341],
    ],
    summary: [32.2349, 39.0711, 41.2372],
  },
  small_8bit: {
    ...SMALL,
    count: 12,
    frames: [
      [42.148067, 43.474911, 45.339458],
      [34.916748, 39.68914, 40.920715],
      [33.287262, 39.625874, 40.661652],
      [32.648968, 39.545597, 40.474323],
    ],
    summary: [32.3957, 39.6954, 40.6913],
  },
  small_8bit_50fps: {
    ...SMALL,
    fps: 50,
    count: 12,
    frames: [
      [42.148067, 43.474911, 45.339458],
      [38.883274, 43.755058, 45.243469],
      [33.228527, 39.552288, 40.589443],
      [32.572304, 39.466618, 40.406364],
    ],
    summary: [32.5536, 39.9293, 40.9366],
  },
  hall_cif: {
    ...clips('hall_cif_frm_0_frm_0.yuv', 'hall_plr10_3693_frm_0_frm_0.yuv', format(352, 288)),
    count: 1,
    frames: [[40.568203, 43.529491, 45.173347]],
    summary: [40.5682, 43.5295, 45.1733],
  },
  dark_1080p_8bit: {
    ...clips('dark_scene_1920x1080_420p_ref.yuv', 'dark_scene_1920x1080_420p_dis.yuv', format(1920, 1080)),
    count: 1,
    frames: [[47.772266, 48.565678, 52.285038]],
    summary: [47.7723, 48.5657, 52.285],
  },
};

describe.skipIf(!sharedPath('clips'))(`real clips (${needsShared})`, () => {
  it.each(Object.entries(GOLDEN))('%s has FFmpeg’s values to every digit it prints', async (_, golden) => {
    const { raw, fps, count, frames, summary } = golden;
    const [reference = '', distorted = ''] = [golden.reference, golden.distorted].map((name) =>
      sharedPath(`clips/${name}`),
    );
    const features = [fps === undefined ? 'xpsnr' : `xpsnr=fps=${fps}`];
    const range = { unit: 'frames', start: 0, end: count } as const;
    const options = { features, range, noPrediction: true, threads: 0, preflight: false };
    const report = await score({ reference, distorted, raw }, options);
    const suffix = fps === undefined ? '' : `_fps_${fps}`;
    const planes = ['y', 'u', 'v'].map((plane) => `xpsnr_${plane}${suffix}`);
    // FFmpeg's metadata are single precision with six decimals, its summary double with four.
    const printed = report.frames.map(({ metrics }) =>
      planes.map((name) => Number(Math.fround(metrics[name] ?? 0).toFixed(6))),
    );
    expect(printed).toHaveLength(count);
    expect(printed.slice(0, frames.length)).toEqual(frames);
    const whole = planes.map((name) => Number(report.aggregate_metrics[`sequence_${name}`]?.toFixed(4)));
    expect(whole).toEqual(summary);
  });
});
