/**
 * @module test/gpu/records
 * The GPU's records equal the core's bit for bit: VIF, ADM, motion and squared errors over sizes, depths, options and unusual
 * pictures. `npm run gpu:parity` runs more of them.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../src/core/frame.js';
import type { ExtractionPlan } from '../../src/engine/backends/measurer.js';
import { ADM_HIGH, ADM_LOW } from '../../src/engine/backends/webgpu/adm.js';
import maskNarrow from '../../src/engine/backends/webgpu/adm-mask-s0.wgsl';
import maskWide from '../../src/engine/backends/webgpu/adm-mask-s123.wgsl';
import { openWebgpu, type WebgpuKind } from '../../src/engine/backends/webgpu/measurer.js';
import { VIF_FILTERS, vifLogOffsets } from '../../src/engine/backends/webgpu/vif.js';
import { ADM, admVariant } from '../../src/metrics/adm.js';
import { type AdmCsfSettings, admCsf } from '../../src/metrics/adm-csf.js';
import { coreCalls } from '../../src/metrics/metric.js';
import { noGpu, softwareGpu } from '../support/gpu.js';
import { disparity, drawCase, FILL_NAMES, pairsOf } from '../support/gpu-parity.js';
import { format, picture, planOf } from '../support/metric.js';
import { seeded } from '../support/random.js';
import { exhaustive, tier } from '../support/tier.js';
import { memory, native, take } from '../support/wasm.js';

const SEED = Number(process.env.ANYVMAF_SEED ?? 20261122);
const CHROMA = ['420', '422', '444', '400'] as const;

/** Every shader, each metric with several parameter sets in one call. */
const FEATURES = [
  ...['psnr', 'motion', 'motion=motion_five_frame_window=true'],
  ...['vif', 'vif=vif_enhn_gain_limit=1', 'vif=vif_enhn_gain_limit=1.2:vif_skip_scale0=true'],
  'vif=vif_enhn_gain_limit=7.3',
  ...['adm', 'adm=adm_enhn_gain_limit=1', 'adm=adm_enhn_gain_limit=1.2:adm_noise_weight=0'],
];

/** The calls of all features, and of motion as in libvmaf up to 3.0. */
function everything(video: VideoFormat): ExtractionPlan {
  const plan = planOf(FEATURES, video).extraction;
  const legacy = planOf(['motion'], video, 'libvmaf-3.0').extraction;
  return { ...plan, calls: [...plan.calls, ...legacy.calls] };
}

/** Options of an ADM parameter set; absent ones have their defaults. */
interface AdmOptions extends Partial<AdmCsfSettings> {
  readonly gainLimit?: number;
  readonly noiseWeight?: number;
  readonly aim?: boolean;
  readonly scale0?: boolean;
}

/** ADM with parameter sets, some of which feature strings cannot express. */
function admPlan(video: VideoFormat, sets: readonly AdmOptions[]): ExtractionPlan {
  const variants = sets.map(
    ({ gainLimit = 100, noiseWeight = 0.03125, aim = true, scale0 = true, ...csf }) => {
      const settings = { normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 };
      return admVariant(gainLimit, noiseWeight, admCsf({ ...settings, ...csf }), { aim, scale0 });
    },
  );
  return { format: video, calls: coreCalls(ADM, variants, video) };
}

const ADM_SETS: Readonly<Record<string, readonly AdmOptions[]>> = {
  'every kind of parameter set': [
    ...[{}, { gainLimit: 1 }],
    ...[1.2, 1 + 2 ** -52, 33.3, 99.99999].map((gainLimit) => ({ gainLimit })),
    // VMAF v1 at its viewing distances.
    ...[
      { normViewDist: 1.5, refDisplayHeight: 2160 },
      { normViewDist: 3, refDisplayHeight: 1080 },
      { normViewDist: 3, refDisplayHeight: 2160 },
      { normViewDist: 5, refDisplayHeight: 1080 },
    ].map((view) => ({ csfMode: 2, noiseWeight: 0.02, gainLimit: 1, ...view })),
    { normViewDist: 4.5, refDisplayHeight: 720 },
    { normViewDist: 24, refDisplayHeight: 4320 },
    // Contrast sensitivities that wrap.
    ...[{ csfMode: 1 }, { csfMode: 1, csfScale: 50, csfDiagScale: 0.3 }],
    { csfMode: 3, noiseWeight: 0 },
    ...[{ aim: false }, { scale0: false }, { aim: false, scale0: false }],
  ],
  'scale 0 left out everywhere': [{ scale0: false }],
  '64 parameter sets': Array.from({ length: 64 }, (_, i) => ({ gainLimit: 1 + i, noiseWeight: i / 64 })),
};

/** Columns, rows and bit depths: the smallest pictures, edges of workgroups, very wide, very high, many workgroups. */
const SIZES: readonly (readonly [width: number, height: number, few: number[], all: number[]])[] = [
  [17, 17, [8, 9], [8, 9, 10, 12, 15, 16]],
  [18, 33, [16], [8, 9, 10, 12, 16]],
  [64, 64, [], [8, 9, 10, 12, 14, 16]],
  [65, 19, [10], [8, 13]],
  [127, 65, [], [8, 9, 10, 12, 16]],
  [131, 47, [15], [8, 11, 15]],
  [255, 129, [], [8, 14]],
  [321, 181, [], [8, 10]],
  [641, 61, [], [8, 13]],
  [641, 361, [], [8, 10]],
  [1030, 18, [8], [8]],
  [19, 523, [8], [8]],
  [19, 1031, [], [8]],
];

describe('tables of the shaders', () => {
  const source = (name: string) => readFileSync(new URL(`../../wasm/src/${name}`, import.meta.url), 'utf8');

  it("equal the core's filters and factors of ADM", () => {
    const taps = (name: string) =>
      new RegExp(`${name}\\[4\\] = \\{(.*)\\}`).exec(source('filters.h'))?.[1]?.split(',').map(Number);
    expect(taps('adm_low')).toEqual([...ADM_LOW]);
    expect(taps('adm_high')).toEqual([...ADM_HIGH]);
    const factors = [...source('adm.c').matchAll(/\((\d+) \* c /g)].map(([, factor]) => factor);
    const shaders = [maskNarrow, maskWide].flatMap((text) =>
      [...text.matchAll(/^const \w+TH = (\d+)/gm)].map(([, factor]) => factor),
    );
    expect(shaders).toEqual(factors);
  });

  it("equal the core's filters of VIF", () => {
    const [, table = ''] = /vif_filter\[4\]\[17\] = \{\n([\s\S]*?)\n\};/.exec(source('filters.h')) ?? [];
    const rows = [...table.matchAll(/\{([^}]*)\}/g)].map(([, row = '']) => row.split(',').map(Number));
    expect(VIF_FILTERS).toStrictEqual(rows);
  });

  it("equal the core's logarithms of VIF, none of which depends on the last bit", () => {
    const at = take(3 * 32768);
    native('vif_build_tables')(at);
    expect(vifLogOffsets()).toStrictEqual(new Uint8Array(memory.buffer, at + 2 * 32768, 32768).slice());
    for (let i = 32768; i < 65536; i++) {
      const exact = 2048 * Math.log2(i) + 0.5 + 2 ** -10;
      if (Math.abs(exact - Math.round(exact)) < 1e-9) throw new Error(`log2 of ${i}`);
    }
  });
});

describe.skipIf(noGpu)(`records of the GPU (seed ${SEED})`, () => {
  let kind: WebgpuKind;
  // Compiles shaders, which is slow on a software adapter.
  beforeAll(async () => {
    kind = await openWebgpu(await softwareGpu());
    for (const bitDepth of [8, 16]) (await kind.open(everything(format(64, 64, bitDepth)))).close();
  }, 400_000);
  afterAll(() => kind.close());

  const sizes = SIZES.filter(([, , few]) => exhaustive || few.length > 0);
  it.each(sizes)('equal the core’s at %dx%d', async (width, height, few, all) => {
    const random = seeded(SEED + width * height);
    for (const bitDepth of tier(few, all)) {
      const plan = everything(format(width, height, bitDepth, random.pick(CHROMA)));
      const seed = random.int(0, 1e9);
      const many = width * height > 5000;
      const pairs = [...pairsOf(plan, 'natural', seed, 1), ...pairsOf(plan, 'mixed', seed, many ? 1 : 3)];
      expect(await disparity(kind, plan, pairs), `seed ${seed}`).toEqual([]);
    }
  });

  // `npm test` takes all kinds in one run, since opening a plan takes longer than measuring its frames.
  it.each(tier([FILL_NAMES], [['mixed'], ...FILL_NAMES.map((fill) => [fill])]).map((fills) => [fills]))(
    'equal the core’s for pictures of %s',
    async (fills) => {
      for (const bitDepth of tier([8, 16], [8, 10, 15, 16])) {
        const plan = everything(format(43, 37, bitDepth));
        const pairs = fills.flatMap((fill) =>
          pairsOf(plan, fill, SEED + bitDepth, tier(2, fill === 'mixed' ? 6 : 4)),
        );
        expect(await disparity(kind, plan, pairs), `seed ${SEED + bitDepth}`).toEqual([]);
      }
    },
  );

  it.each(Object.entries(ADM_SETS).slice(0, tier(2, 3)))(
    'equal the core’s for ADM with %s',
    async (_title, sets) => {
      const plan = admPlan(format(96, 54, 8, '400'), sets);
      expect(await disparity(kind, plan, pairsOf(plan, 'natural', SEED, tier(1, 3)))).toEqual([]);
    },
  );

  it('equal the core’s for VIF without scale 0', async () => {
    const features = [100, 1, 1.2, 7.3].map(
      (limit) => `vif=vif_enhn_gain_limit=${limit}:vif_skip_scale0=true`,
    );
    const plan = planOf(features, format(131, 67, 10, '400')).extraction;
    expect(plan.calls.map(({ args }) => args.at(-1))).toEqual([1]);
    expect(await disparity(kind, plan, pairsOf(plan, 'natural', SEED, 2))).toEqual([]);
  });

  it('equal portable C for ADM of samples beyond the bit depth', async () => {
    const random = seeded(SEED);
    const plan = admPlan(format(48, 48, 10, '400'), [{}]);
    const [reference, distorted] = [0, 1].map(() => picture(plan.format, () => random.int(0, 65535)));
    const pairs = [{ reference: reference ?? [], distorted: distorted ?? [] }];
    expect(await disparity(kind, plan, pairs, {}, 'portable')).toEqual([]);
  });

  it('equal the core’s for random options, sizes, depths and histories', async () => {
    const random = seeded(SEED);
    for (let i = 0; i < tier(1, 24); i++) {
      const { plan, pairs, run, title } = drawCase(random, { width: 120, height: 90 });
      expect(await disparity(kind, plan, pairs, run), `${title}; seed ${SEED}`).toEqual([]);
    }
  }, 200_000);
});
