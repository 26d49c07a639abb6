/**
 * @module test/gpu/vif-pixel
 * What a shader computes of a pixel's variances in integers equals the core's doubles, here JavaScript's.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitsData } from '../../src/engine/backends/webgpu/vif.js';
import PIXEL from '../../src/engine/backends/webgpu/vif-pixel.wgsl';
import WIDE from '../../src/engine/backends/webgpu/wide.wgsl';
import { noGpu, softwareDevice } from '../support/gpu.js';
import { seeded } from '../support/random.js';
import { runWgsl } from '../support/run-wgsl.js';

const random = seeded(Number(process.env.ANYVMAF_SEED ?? 20261122));
/** Cases of each kind. */
const CASES = 40_000;
const NSQ = 131072;
/** Largest variance, about: that of black and white samples of 16 bits, and what rounding adds. */
const TOP = 2 ** 30 + 2 ** 16;
const LIMITS = [1, 1 + 2 ** -52, 1.05, 1.2, 2, 3.3333333, 4 - 2 ** -51, 7.3, 16, 89.99, 100];

/** s1, s2, s12, and which limit. */
type Case = readonly [number, number, number, number];

const limitOf = ([, , , which]: Case): number => LIMITS[which] ?? 0;

const HARNESS = `
@group(0) @binding(0) var<storage, read> cases: array<vec4u>;
@group(0) @binding(1) var<storage, read> gain_limits: array<Limit>;
@group(0) @binding(2) var<storage, read_write> results: array<vec2u>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&results)) {
    let v = cases[id.x];
    let gain = gain_of(v.x, v.y, v.z);
    results[id.x] = vec2u(gain.rest, limited(gain, gain_limits[v.w]));
  }
}`;

/** What of the distorted variance is not explained, and what is, as wasm/src/vif.c has it. */
function expected(each: Case): [number, number] {
  const [s1, s2, s12] = each;
  const g = s12 / (s1 + 65536 * 1.0e-10);
  const limit = limitOf(each);
  const limited = Math.min(g, limit);
  return [Math.max(0, Math.trunc(s2 - g * s12)), Math.trunc(limited * limited * s1)];
}

/** Below `top`, small numbers as often as large ones. */
const spread = (from: number, top: number) => Math.floor(from * (top / from) ** random.next());
const near = (value: number) => Math.round(value) + random.int(-2, 2);

/** A case within what filtered samples can have: g^2 * s1 stays below 1.63e9. */
function bounded(s1: number, s2: number, s12: number): Case {
  const variance = Math.min(TOP, Math.max(NSQ, s1));
  const most = Math.floor(Math.sqrt(variance * 1.63e9));
  const within = (v: number, top: number) => Math.max(1, Math.min(top, v));
  return [variance, within(s2, TOP), within(s12, most), random.int(0, LIMITS.length - 1)];
}

const KINDS: Readonly<Record<string, () => Case>> = {
  'any variances': () => bounded(spread(NSQ, TOP), spread(1, TOP), spread(1, TOP)),
  'a distorted variance next to what is explained': () => {
    const [s1, s12] = [spread(NSQ, TOP), spread(1, TOP)];
    return bounded(s1, near((s12 * s12) / s1), s12);
  },
  'quotients that are integers, or almost': () => {
    const [p, q] = [random.int(1, 9), random.int(1, 12)];
    const unit = spread(Math.ceil(NSQ / (q * q)), Math.floor(TOP / (q * q)));
    return bounded(unit * q * q, near(unit * p * p), unit * p * q + random.pick([0, 0, 0, 1, -1]));
  },
  'squares that leave a small remainder': () => {
    const [root, times] = [random.int(362, 32768), random.int(1, 60)];
    return bounded(root * root + random.int(-3, 3), spread(1, TOP), root * times);
  },
  'gains at a limit': () => {
    const s1 = spread(NSQ, TOP);
    return bounded(s1, spread(1, TOP), near(s1 * random.pick(LIMITS)));
  },
  'hardly any covariance': () => bounded(spread(NSQ, TOP), random.pick([1, 2, TOP]), random.int(1, 400)),
};

describe.skipIf(noGpu)('a pixel of VIF in a shader', () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await softwareDevice();
  });
  afterAll(() => {
    device.destroy();
  });

  /** The cases in which a shader gives other numbers than doubles. */
  async function wrong(cases: readonly Case[], code: string): Promise<string[]> {
    const inputs = [Uint32Array.from(cases.flat()), limitsData(LIMITS)];
    const results = await runWgsl(device, code, inputs, 2 * cases.length, cases.length);
    return cases.flatMap((each, i) => {
      const [rest, explained] = expected(each);
      const [gotRest, gotExplained] = results.subarray(2 * i);
      return rest === gotRest && explained === gotExplained
        ? []
        : [`${each.join(' ')}: ${gotRest} ${gotExplained} instead of ${rest} ${explained}`];
    });
  }

  it('equals doubles on a quarter of a million cases', async () => {
    const cases = Object.values(KINDS).flatMap((kind) => Array.from({ length: CASES }, kind));
    expect(cases.length).toBeGreaterThan(200_000);
    const found = await wrong(cases, WIDE + PIXEL + HARNESS);
    expect(found.slice(0, 10), `seed ${random.seed}, ${found.length} cases`).toEqual([]);
  });

  it('needs its constants: another one gives other numbers', async () => {
    const cases = Object.values(KINDS).flatMap((kind) => Array.from({ length: 2000 }, kind));
    const changed = PIXEL.replace('const MARGIN = 3.8146973e-6', 'const MARGIN = 0.0');
    expect(changed).not.toBe(PIXEL);
    expect(await wrong(cases, WIDE + changed + HARNESS)).not.toEqual([]);
  });
});
