/**
 * @module test/unit/wasm/maps
 * Maps of VIF and ADM: their cells are integers that add up to what the frame's features are made of, exactly.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { Core, type Implementation } from '../../../src/core/module.js';
import { WasmMapMaker } from '../../../src/engine/backends/core/quality-maps.js';
import { ADM, admStructs, admVariant } from '../../../src/metrics/adm.js';
import { admCsf } from '../../../src/metrics/adm-csf.js';
import { coreCalls, type Metric, type Variant } from '../../../src/metrics/metric.js';
import { VIF } from '../../../src/metrics/vif.js';
import { makeTestImage } from '../../support/fixtures.js';
import { wasm as core, format, putPicture } from '../../support/metric.js';
import { type SeededRandom, seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261121);

const CSF = admCsf({ normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 });
const variant = (gainLimit: number) => admVariant(gainLimit, 0.03125, CSF, { aim: false, scale0: true });

interface Planes extends Pick<VideoFormat, 'width' | 'height' | 'bitDepth'> {
  readonly reference: Uint8Array;
  readonly distorted: Uint8Array;
}

function bytesOf(samples: Uint8Array | Uint16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Cells of all scales, counted by hand: what a scale has, over the side of its cells, rounded up. */
function countCells({ width, height }: Planes, block: number, metric: 'vif' | 'adm'): number[] {
  return [0, 1, 2, 3].map((scale) => {
    const pitch = metric === 'vif' ? 2 ** scale : 2 ** (scale + 1);
    const round = metric === 'vif' ? Math.floor : Math.ceil;
    const side = Math.max(1, block / pitch);
    return Math.ceil(round(width / pitch) / side) * Math.ceil(round(height / pitch) / side);
  });
}

/** Maps of a pair, and its features as the frame's own functions give them. */
function measure(planes: Planes, block: number, gainLimit: number, implementation: Implementation) {
  const { width, height, bitDepth } = planes;
  const instance = new Core(core);
  const video = format(width, height, bitDepth, '400');
  const context = instance.open(video, implementation);
  const reference = putPicture(instance, video, [planes.reference], 1);
  const distorted = putPicture(instance, video, [planes.distorted], 2);
  const at = [reference.planes[0]?.address ?? 0, distorted.planes[0]?.address ?? 0] as const;
  context.setFrames({ reference: [reference], distorted: [distorted] });
  const frame = (metric: Metric, of: Variant) =>
    coreCalls(metric, [of], video).flatMap((call) => [...(context.run(call) ?? [])]);
  const counts = { vif: countCells(planes, block, 'vif'), adm: countCells(planes, block, 'adm') };
  const all = (n: readonly number[]) => n.reduce((a, b) => a + b, 0);
  const vif = context.vifMap(...at, gainLimit, block, all(counts.vif));
  const adm = context.admMap(...at, admStructs([variant(gainLimit)]), block, all(counts.adm));
  return {
    vif: sumsByScale(vif, counts.vif, 4),
    adm: sumsByScale(adm.cells, counts.adm, 6),
    cells: { vif, adm: adm.cells },
    admScores: [...adm.scores],
    frameVif: frame(VIF, { options: [gainLimit], extent: [1] }),
    frameAdm: frame(ADM, variant(gainLimit)).slice(0, 8),
  };
}

/** Maps of a pair as their maker gives them. */
function mapsOf({ width, height, bitDepth, reference, distorted }: Planes, blockSize: number) {
  const video = format(width, height, bitDepth, '400');
  return new WasmMapMaker(core, video, { blockSize, enhnGainLimit: 100 }).measure(reference, distorted);
}

/** Exact sums of each scale's cells. */
function sumsByScale(cells: Float64Array, counts: readonly number[], fields: number): number[][] {
  let next = 0;
  return counts.map((count) => {
    const sums = Array.from({ length: fields }, (_, k) => {
      let sum = 0n;
      for (let i = 0; i < count; i++) sum += BigInt(cells[next + i * fields + k] ?? Number.NaN);
      return Number(sum);
    });
    next += count * fields;
    return sums;
  });
}

/**
 * Accumulators and band terms of libvmaf's portable code for a generated image, scale after scale. Of VIF num_log
 * and den_log; the other sums are 0.
 */
const VECTORS = [
  {
    ...{ width: 64, height: 64, bitDepth: 10 },
    vif: [34886810, 75894816, 15146769, 18057785, 4001917, 4500528, 1033805, 1148170],
    num: [
      821030815200377, 9268414077996, 469230893925, 13678935667853, 14189280337114, 1100508345273,
      21043616866506, 10544888934647, 836296080609, 136621990277201, 40673790374845, 995435337679,
    ],
    den: [
      916426467923, 863252264070, 317748951785, 72658599879428, 66184172581642, 76180917322557,
      74231081415170, 37858816239980, 20814279401469, 182909886352075, 57633582961845, 5005939077050,
    ],
    numTerms: [
      5.17248106, 3.41318679, 2.97908854, 6.46391773, 6.52084827, 3.83025694, 14.7405519, 11.9673223,
      5.86026287, 32.4786949, 21.9505806, 6.93628454,
    ],
    denTerms: [
      5.54238892, 5.49034691, 3.53247166, 7.04319715, 6.8835001, 4.19747925, 15.5007324, 12.6378126,
      6.50290632, 32.9465332, 22.6729317, 7.43662977,
    ],
  },
  {
    ...{ width: 61, height: 47, bitDepth: 8 },
    vif: [23166193, 52063746, 9952909, 11780963, 2515048, 2783457, 567520, 607326],
    num: [
      548068422240554, 6507314324235, 318325542134, 9853057516055, 16287188807999, 801216829304,
      17573056874338, 7564246253234, 592435570040, 70741829273331, 7895696588698, 647176180778,
    ],
    den: [
      627401861525, 643415926325, 225764460257, 52989962177884, 73184807009071, 54196943516456,
      60039469621063, 28310902836691, 14294727939338, 93453093303290, 11732775105019, 3098674735856,
    ],
    numTerms: [
      4.62998056, 3.09997177, 2.71339464, 5.89221001, 6.64986753, 3.53776836, 13.8393192, 10.7297106,
      5.24565792, 26.1643505, 12.9713354, 6.0424633,
    ],
    denTerms: [
      4.97276402, 4.99237967, 3.20821261, 6.43084812, 6.96411324, 3.85179138, 14.4131098, 11.4721069,
      5.77047825, 26.4253635, 13.5919704, 6.38251495,
    ],
  },
] as const;

/** The image of these values. */
function testImage(width: number, height: number, bitDepth: number): Planes {
  const clip = makeTestImage({ width, height, bitDepth, chroma: '400' });
  const [reference, distorted] = (['reference', 'distorted'] as const).map((side) =>
    bytesOf(clip.frame(side, 0)[0]?.samples ?? new Uint8Array()),
  );
  if (!reference || !distorted) throw new Error('a pair has two sides');
  return { width, height, bitDepth, reference, distorted };
}

describe('sums of cells', () => {
  for (const vector of VECTORS) {
    const { width, height, bitDepth } = vector;
    for (const block of [1, 4, 16, 256]) {
      it(`are libvmaf's accumulators: ${width}x${height} ${bitDepth} bit, blocks of ${block}`, () => {
        const { vif, adm } = measure(testImage(width, height, bitDepth), block, 100, 'simd128');
        expect(vif.flatMap((sums) => sums.slice(0, 2))).toEqual([...vector.vif]);
        expect(vif.flatMap((sums) => sums.slice(2))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
        expect(adm.flatMap((sums) => sums.slice(0, 3))).toEqual([...vector.num]);
        expect(adm.flatMap((sums) => sums.slice(3))).toEqual([...vector.den]);
      });
    }
  }
});

const KINDS = ['noise', 'binary', 'smooth', 'flat', 'stripes'] as const;

/** A pair of planes of any kind, near each other or not. */
function randomPair(random: SeededRandom): Planes & { about: string } {
  const [width, height] = [random.int(17, 90), random.int(17, 70)];
  const bitDepth = random.int(8, 16);
  const kind = random.pick(KINDS);
  const top = 2 ** bitDepth - 1;
  const amount = random.pick([0, 1, 4, 40, 255]) * 2 ** (bitDepth - 8);
  const level = random.int(0, top);
  const reference = bitDepth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  for (let i = 0; i < reference.length; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    if (kind === 'noise') reference[i] = random.int(0, top);
    else if (kind === 'binary') reference[i] = random.int(0, 1) * top;
    else if (kind === 'smooth') reference[i] = Math.round((top / 2) * (1 + Math.sin(x / 5 + y / 9)));
    else if (kind === 'flat') reference[i] = level;
    else reference[i] = ((x >> 1) + y) & 1 ? top : 0;
  }
  const gain = random.pick([1, 1, 0.7, 1.3]);
  const distorted = reference.map((v) =>
    Math.max(0, Math.min(top, Math.round(v * gain) + random.int(-amount, amount))),
  );
  const about = `${width}x${height} ${bitDepth} bit ${kind} gain ${gain} noise ${amount}`;
  return { width, height, bitDepth, reference: bytesOf(reference), distorted: bytesOf(distorted), about };
}

describe(`maps of random pairs (seed ${SEED})`, () => {
  it("give back the frame's features to the last bit, of any size, depth, block and gain limit", () => {
    const random = seeded(SEED);
    for (let i = 0; i < tier(20, 60); i++) {
      const planes = randomPair(random);
      const block = random.pick([1, 2, 4, 8, 16, 32, 64, 256]);
      const gain = random.pick([1, 1.2, 100]);
      const implementation = random.pick(['simd128', 'portable'] as const);
      const about = `${planes.about}, block ${block}, gain limit ${gain}, ${implementation}, seed ${SEED}`;
      const found = measure(planes, block, gain, implementation);
      const scores = [
        ...found.vif.map(([numLog = 0, , flatVariance = 0, flat = 0]) =>
          Math.fround(numLog / 2048 + (flat - flatVariance / 16384 / 65025)),
        ),
        ...found.vif.map(([, denLog = 0, , flat = 0]) => Math.fround(denLog / 2048 + flat)),
      ];
      expect(scores, about).toEqual([...found.frameVif]);
      expect(found.admScores, about).toEqual(found.frameAdm);
    }
  });

  it('are the same whichever twin of the functions runs', () => {
    const random = seeded(SEED + 1);
    for (let i = 0; i < tier(6, 12); i++) {
      const planes = randomPair(random);
      const twins = ['simd128', 'portable'] as const;
      const [simd, portable] = twins.map((twin) => measure(planes, 8, 100, twin).cells);
      expect(simd, `${planes.about}, seed ${SEED}`).toEqual(portable);
    }
  });

  it('of small cells are parts of those of large ones', () => {
    const planes = randomPair(seeded(SEED + 2));
    const [small, large] = [mapsOf(planes, 16), mapsOf(planes, 32)];
    for (const [scale, map] of large.vif.entries()) {
      const parts = small.vif[scale];
      map.sums.denLog.forEach((sum, i) => {
        const [x, y] = [2 * (i % map.width), 2 * Math.floor(i / map.width)];
        let inside = 0;
        for (const dy of [0, 1])
          for (const dx of [0, 1])
            if (parts && x + dx < parts.width && y + dy < parts.height)
              inside += parts.sums.denLog[(y + dy) * parts.width + x + dx] ?? 0;
        expect(inside, `scale ${scale} cell ${i}, ${planes.about}, seed ${SEED}`).toBe(sum);
      });
    }
  });
});

describe('cubes of ADM', () => {
  for (const vector of VECTORS) {
    const { width, height, bitDepth } = vector;
    it(`have the unit of which libvmaf takes the root: ${width}x${height} ${bitDepth} bit`, () => {
      const { adm } = mapsOf(testImage(width, height, bitDepth), 16);
      const sum = (cubes: Float64Array) => cubes.reduce((a, b) => a + b, 0);
      const margin = (n: number) => Math.trunc(Math.max(0, n * 0.1 - 0.5));
      adm.forEach(({ bands }, scale) => {
        const [w, h] = [Math.ceil(width / 2 ** (scale + 1)), Math.ceil(height / 2 ** (scale + 1))];
        const noise = Math.cbrt((w - 2 * margin(w)) * (h - 2 * margin(h)) * 0.03125);
        bands.forEach(({ num, den, denWeight }, band) => {
          const [about, at] = [`scale ${scale} band ${band}`, 3 * scale + band];
          expect(Math.cbrt(sum(num)) + noise, about).toBeCloseTo(vector.numTerms[at] ?? 0, 5);
          expect(Math.cbrt(sum(den) * denWeight) + noise, about).toBeCloseTo(vector.denTerms[at] ?? 0, 5);
        });
      });
    });
  }
});

it('says where: what is changed in one corner is lost in that corner', () => {
  const random = seeded(SEED + 3);
  const [width, height] = [128, 96];
  const reference = random.bytes(width * height);
  const distorted = reference.slice();
  for (let y = 16; y < 48; y++) distorted.fill(128, y * width + 16, y * width + 48);
  const { vif, adm } = mapsOf({ width, height, bitDepth: 8, reference, distorted }, 16);
  for (const { num, den, width: columns, blockSize, scale } of vif) {
    den.forEach((whole, i) => {
      // Statistics look as far as 8 pixels at the finest scale and twice as far at each coarser one.
      const [x, y] = [(i % columns) * blockSize, Math.floor(i / columns) * blockSize];
      if (x >= 64 + 16 * scale || y >= 64 + 16 * scale)
        expect(num[i], `scale ${scale} at ${x}, ${y}`).toBeCloseTo(whole, 2);
    });
    const at = Math.floor(32 / blockSize) * (columns + 1);
    expect(num[at]).toBeLessThan(0.9 * (den[at] ?? 0));
  }
  const [finest] = adm;
  // Cells (1, 1) to (2, 2) are the flat part.
  const kept = finest?.bands[0].num[2 * finest.width + 2] ?? 0;
  const there = (finest?.bands[0].den[2 * finest.width + 2] ?? 0) * (finest?.bands[0].denWeight ?? 0);
  expect(kept).toBeLessThan(0.5 * there);
});

it('refuses blocks that are no power of two up to 256', () => {
  const planes = testImage(64, 64, 8);
  for (const block of [0, 3, 512])
    expect(() => measure(planes, block, 100, 'simd128')).toThrow('refused map of vif');
});
