/**
 * @module test/unit/wasm/speed-stages
 * The stages of SpEED on a real plane against the specification's vectors: what the core leaves in its memory.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { needsShared, sharedPath } from '../../support/shared.js';
import { memory, native, pointers, put, take, words } from '../../support/wasm.js';

const WIDTH = 288;
const HEIGHT = 162;
/** Blocks of five samples in the 18x10 samples that are left of the plane. */
const BLOCKS = 6;
const N = 25;

/** One plane's stages, binary32 with nine digits: libvmaf 3.2.0, Cb of frame 0, default options. */
interface Stages {
  readonly clip: string;
  readonly x: readonly number[];
  /** Of the samples at the first five offsets in a block. */
  readonly mean: readonly number[];
  /** The first five of the covariance's first row, then [7][12] and [24][24]. */
  readonly covariance: readonly number[];
  readonly eigenvalues: readonly number[];
  readonly z: readonly number[];
  readonly variance: readonly number[];
  readonly entropy: readonly number[];
}

const STAGES: readonly Stages[] = [
  {
    clip: 'clips/src01_hrc00_576x324.yuv420p10le.yuv',
    x: [-4.55424881, -1.13862419, -1.5857048, -1.19620705, 0.211752892],
    mean: [0.172069579, 0.344071239, 0.072969988, 0.0176408067, 0.155242622],
    covariance: [5.30101013, 2.40306759, 0.123507634, -0.488229692, -0.216037676, -1.20355093, 9.0475502],
    eigenvalues: [
      33.0104179, 18.7549248, 13.6262312, 11.7483902, 9.73222351, 8.47602081, 7.69416332, 8.20752335,
      6.64615202, 5.00136757, 0.584866345, 4.80602074, 0.770825207, 0.849419534, 1.15252209, 1.32478464,
      1.75871682, 4.10570097, 3.97149038, 3.64816642, 2.14285326, 3.11785078, 2.55891013, 2.75619602,
      2.68225551,
    ],
    z: [-2.04588509, 0.280715913, -0.629988015, 0.204884857, -0.484907359],
    variance: [1.17764449, 0.810912907, 1.90259933, 0.915797949],
    entropy: [160.779861, 148.667343, 176.874466, 152.570023],
  },
  {
    clip: 'clips/src01_hrc01_576x324.yuv420p10le.yuv',
    x: [-4.54183578, -1.58416939, -1.84879684, -1.02180672, -0.0824604034],
    mean: [0.1381751, 0.32566765, 0.048072923, 0.00543209258, 0.15556021],
    covariance: [4.81891775, 1.85901535, 0.183278888, -0.144520715, -0.0358159579, -1.0727247, 8.23837185],
    eigenvalues: [
      28.8786583, 16.1285152, 13.5671082, 10.7982216, 9.55665398, 8.12279034, 7.57031107, 6.93537331,
      5.74318552, 5.33419991, 0.562885821, 4.57570171, 4.08770704, 4.12163496, 3.6467104, 0.68519491,
      0.923566997, 1.10870171, 1.33413005, 1.64917648, 2.96371341, 2.15239167, 2.2526207, 2.775424,
      2.65261984,
    ],
    z: [-2.05146074, 0.0158884022, -0.780892789, 0.19694452, -0.525050402],
    variance: [1.12170708, 0.75872767, 1.90123343, 0.916695237],
    entropy: [157.746094, 145.160995, 175.381149, 151.188965],
  },
];

/** Where in the core's memory these values lie, `stride` apart: an index, -1 where nowhere. */
function find(all: Float32Array | Float64Array, values: readonly number[], stride = 1): number {
  const [first] = values;
  const end = all.length - (values.length - 1) * stride;
  for (let at = 0; at < end; at++)
    if (all[at] === first && values.every((value, i) => all[at + i * stride] === value)) return at;
  return -1;
}

const single = (values: readonly number[]): number[] => values.map(Math.fround);

/** Measures the plane as Cb and Cr of both pictures, so that no other plane comes after it. */
function measure(plane: Uint16Array): void {
  const context = Number(native('anyvmaf_open')(2 * WIDTH, 2 * HEIGHT, 10, 1));
  const chroma = [put(plane, 64), WIDTH, HEIGHT];
  const picture = [1, 0, 0, 0, ...chroma, ...chroma];
  const none = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const frames = pointers([...picture, ...picture, ...none, ...none]);
  const options = put(new Float32Array(Float64Array.of(1, 1, 0, 0.29, 0, 0, 0).buffer));
  expect(Number(native('anyvmaf_speed_chroma')(context, frames, options, take(40)))).toBe(0);
  native('anyvmaf_close')(context);
}

describe.skipIf(sharedPath('clips') === undefined)(`stages of speed_chroma (${needsShared})`, () => {
  for (const stages of STAGES) {
    it(`equal the specification's vectors: ${stages.clip}`, () => {
      const bytes = readFileSync(sharedPath(stages.clip) ?? '');
      const luma = 2 * 4 * WIDTH * HEIGHT;
      const plane = new Uint16Array(bytes.buffer, bytes.byteOffset + luma, WIDTH * HEIGHT);
      measure(plane.slice());
      const floats = new Float32Array(memory.buffer);
      for (const name of ['x', 'variance', 'entropy'] as const)
        expect(find(floats, single(stages[name])), name).toBeGreaterThan(0);
      // Row after row of 25, a column for each block.
      expect(find(floats, single(stages.z), BLOCKS), 'z').toBeGreaterThan(0);
      // The means at the 25 offsets are kept as what the samples deviate from them, in binary64.
      const x = single(stages.x);
      const deviations = single(stages.mean).map((mean, i) => (x[i] ?? Number.NaN) - mean);
      expect(find(new Float64Array(memory.buffer), deviations), 'mean').toBeGreaterThan(0);

      const covariance = 4 * find(floats, single(stages.covariance.slice(0, 5)));
      expect(covariance, 'covariance').toBeGreaterThan(0);
      const bits = (values: readonly number[]) => [...new Int32Array(Float32Array.from(values).buffer)];
      const entry = (i: number, k: number) => words(covariance + 4 * (N * i + k), 1)[0];
      expect([entry(7, 12), entry(24, 24)]).toEqual(bits(stages.covariance.slice(5)));
      const eigenvalues = take(4 * N);
      native('speed_eigenvalues')(covariance, eigenvalues);
      expect(words(eigenvalues, N)).toEqual(bits(stages.eigenvalues));
    });
  }
});
