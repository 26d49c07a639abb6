/**
 * @module test/unit/engine/measurers
 * One plan on one measurer or several, with several pairs in flight, gives the same records bit for bit; and samples above their
 * range, wherever a file with a wrong bit depth has them.
 */
import { describe, expect, it } from 'vitest';
import type { FramePlanes } from '../../../src/core/frame.js';
import type { CoreCall } from '../../../src/core/module.js';
import { CompositeMeasurer, splitPlan } from '../../../src/engine/backends/composite.js';
import { wasmMeasurers } from '../../../src/engine/backends/core/extractor.js';
import {
  canExceed,
  type FrameSlot,
  findExcess,
  type Measurer,
  planeBytes,
  type RecordLayout,
  readExcess,
  recordLayout,
} from '../../../src/engine/backends/measurer.js';
import { ChunkMeasurer } from '../../../src/engine/workers/measure.js';
import { wasm as core, planOf } from '../../support/metric.js';
import { seeded } from '../../support/random.js';
import { tier } from '../../support/tier.js';

const wasm = wasmMeasurers(core, 'simd128');
const FRAMES = 9;
const SUBSAMPLE = 2;

const FEATURES = [
  ...['vif', 'vif=vif_enhn_gain_limit=1', 'adm', 'motion', 'motion=motion_five_frame_window=true'],
  ...['psnr', 'float_ssim=enable_lcs=true', 'float_psnr'],
];
const PLAN = planOf(FEATURES, { width: 64, height: 48, bitDepth: 10, chroma: '420' }).extraction;

/** Writes 10-bit noise; chroma of the distorted frame 3 has a sample beyond them. */
function write({ index, reference, distorted }: FrameSlot): void {
  [reference, distorted].forEach((planes, role) => {
    [planes.y, planes.cb, planes.cr].forEach((plane, i) => {
      if (!plane) return;
      const noise = seeded(100 * index + 10 * role + i).bytes(plane.length);
      plane.set(noise.map((value, byte) => (byte & 1 ? value & 3 : value)));
    });
  });
  if (index === 3 && distorted.cr) distorted.cr[distorted.cr.length - 1] = 0x7f;
}

async function measureAll(measurer: Measurer): Promise<Float64Array[]> {
  const room = planeBytes(PLAN);
  const frame = { y: new Uint8Array(room.y), cb: new Uint8Array(room.cb), cr: new Uint8Array(room.cr) };
  const side = (role: 'reference' | 'distorted') => ({
    readFrame(index: number, into: FramePlanes) {
      const other = { index, reference: frame, distorted: frame };
      write({ ...other, [role]: into });
      return true;
    },
  });
  const pair = {
    reference: side('reference'),
    distorted: side('distorted'),
    skip: { reference: 0, distorted: 0 },
  };
  const { length } = measurer.layout;
  const chunks = new ChunkMeasurer(measurer, PLAN, { subsample: SUBSAMPLE });
  const { records } = await chunks.measure(pair, { first: 0, count: FRAMES });
  measurer.close();
  return Array.from({ length: FRAMES }, (_, i) => records.subarray(i * length, (i + 1) * length));
}

const bits = (records: readonly (Float64Array | undefined)[]) =>
  records.map((record) => record && Buffer.from(record.buffer, record.byteOffset, record.byteLength));

const whole = await measureAll(wasm.open(PLAN));

/** A measurer with three slots whose pairs finish out of order. */
class SlowMeasurer implements Measurer {
  readonly #inner: Measurer;
  readonly layout: RecordLayout;
  readonly slots = 3;
  most = 0;
  #inFlight = 0;

  /** @param delay milliseconds that a pair takes */
  constructor(
    plan = PLAN,
    readonly delay = (index: number): number => (index % 3 === 0 ? 10 : 1),
  ) {
    this.#inner = wasm.open(plan);
    this.layout = this.#inner.layout;
  }

  slot = (index: number) => this.#inner.slot(index);
  holds = (index: number, from: number) => this.#inner.holds(index, from);
  keep = (slot: FrameSlot) => this.#inner.keep(slot);
  heatmaps = () => [];
  close = () => this.#inner.close();

  async measure(slot: FrameSlot, record: Float64Array, spatial: boolean): Promise<void> {
    this.most = Math.max(this.most, ++this.#inFlight);
    const early = new Float64Array(record.length);
    this.#inner.measure(slot, early, spatial);
    await new Promise((resolve) => setTimeout(resolve, this.delay(slot.index)));
    record.set(early);
    this.#inFlight--;
  }
}

it('measures as many pairs at once as a measurer has slots', async () => {
  const slow = new SlowMeasurer();
  expect(bits(await measureAll(slow))).toEqual(bits(whole));
  expect(slow.most).toBe(3);
});

describe('a plan split over two measurers', () => {
  const onlyVif = { problem: ({ metric }: CoreCall) => (metric === 'vif' ? undefined : 'it is not vif') };

  it.each([
    ['in order', () => 1],
    ['backwards', (index: number) => 30 - 10 * (index % 3)],
    ['even ones first', (index: number) => 1 + 10 * (index % 2)],
  ])('gives the records of one, with the first %s', async (_, delay) => {
    const [first, second] = splitPlan(PLAN, [onlyVif, wasm]);
    if (!first || !second) throw new Error('not split');
    const [ofFirst, others] = [first, second].map(({ plan }) => plan.calls.map(({ metric }) => metric));
    expect(new Set(ofFirst)).toEqual(new Set(['vif']));
    expect(others).not.toContain('vif');
    expect(new Set(others).size).toBe(5);
    const slow = new SlowMeasurer(first.plan, delay);
    const composite = new CompositeMeasurer(PLAN, [
      { part: first, measurer: slow },
      { part: second, measurer: wasm.open(second.plan) },
    ]);
    expect(bits(await measureAll(composite))).toEqual(bits(whole));
    expect(slow.most).toBe(3);
  });
  it('is refused if no measurer has a metric', () => {
    expect(() => splitPlan(PLAN, [onlyVif])).toThrow('No backend of this run measures adm.');
  });
});

describe('history', () => {
  const [motion = -1, fiveFrames = -1] = PLAN.calls.flatMap(({ metric }, i) =>
    metric === 'motion' ? (recordLayout(PLAN).calls[i] ?? []) : [],
  );

  it('goes by frame number: two kept pairs make the next as in the whole run', () => {
    const measurer = wasm.open(PLAN);
    // Earlier measurements do not count.
    for (const index of [0, 1, 2, 4, 5]) {
      const slot = measurer.slot(index);
      write(slot);
      if (index < 4) measurer.measure(slot, new Float64Array(measurer.layout.length), true);
      else measurer.keep(slot);
    }
    expect([2, 3, 4, 5, 6].filter((index) => measurer.holds(index, 6))).toEqual([4, 5]);
    const slot = measurer.slot(6);
    write(slot);
    const record = new Float64Array(measurer.layout.length);
    measurer.measure(slot, record, true);
    measurer.close();
    // Samples out of range are counted by the loop around a measurer.
    const { excess } = measurer.layout;
    expect(bits([record.subarray(0, excess)])).toEqual(bits([whole[6]?.subarray(0, excess)]));
  });

  it('is missing if the pair before was neither measured nor kept', () => {
    const measurer = wasm.open(PLAN);
    const record = new Float64Array(measurer.layout.length);
    for (const index of [0, 2]) {
      const slot = measurer.slot(index);
      write(slot);
      measurer.measure(slot, record, true);
    }
    measurer.close();
    expect(record[motion]).toBeNaN();
    expect(record[fiveFrames]).toBe(whole[2]?.[fiveFrames]);
  });
});

const GREY = { width: 64, height: 48, bitDepth: 8, chroma: '400' } as const;

function recordOf(features: readonly string[]): Float64Array {
  const measurer = wasm.open(planOf(features, GREY).extraction);
  const slot = measurer.slot(0);
  const random = seeded(7);
  slot.reference.y.set(random.bytes(64 * 48).map((v) => v >> 1));
  slot.distorted.y.set(seeded(7).bytes(64 * 48));
  const record = new Float64Array(measurer.layout.length);
  measurer.measure(slot, record, true);
  measurer.close();
  return record;
}

it.each([
  ['40 VIF gain limits', 'vif=vif_enhn_gain_limit', 40, [0, 15, 16, 39]],
  ['70 ADM parameter sets', 'adm=adm_enhn_gain_limit', 70, [0, 63, 64, 69]],
] as const)('measures %s as it measures each alone', (_, option, count, some) => {
  const features = Array.from({ length: count }, (__, i) => `${option}=${1 + i / 64}`);
  const all = recordOf(features);
  const fields = all.length / count;
  for (const i of some) {
    const alone = recordOf(features.slice(i, i + 1));
    expect(alone).toHaveLength(fields);
    expect(all.slice(i * fields, (i + 1) * fields)).toEqual(alone);
  }
  expect(all[0]).not.toBe(all[(count - 1) * fields]);
});

function plane(samples: number, value: number, set: Readonly<Record<number, number>> = {}): Uint8Array {
  const words = new Uint16Array(samples).fill(value);
  for (const [at, sample] of Object.entries(set)) words[Number(at)] = sample;
  return new Uint8Array(words.buffer);
}

const find = (planes: readonly Uint8Array[], bitDepth: number) => readExcess(findExcess(planes, bitDepth));

describe('samples above their range', () => {
  it('are possible at 9 to 15 bits', () => {
    expect([8, 9, 10, 12, 15, 16].filter(canExceed)).toEqual([9, 10, 12, 15]);
  });

  it.each([9, 10, 12, 14, 15])('start beyond the largest of %d bits', (bitDepth) => {
    expect(find([plane(1000, 2 ** bitDepth - 1)], bitDepth)).toBeUndefined();
    expect(find([plane(1000, 2 ** bitDepth)], bitDepth)).toEqual({ plane: 0, value: 2 ** bitDepth });
  });

  it('are found anywhere in a plane of up to 16384 samples, including the last of an odd number', () => {
    for (const samples of [1, 2, 577, 16383, 16384]) {
      for (const at of new Set([0, samples >> 1, samples - 1]))
        expect(find([plane(samples, 5, { [at]: 1024 })], 10)).toEqual({ plane: 0, value: 1024 });
    }
  });

  it('are found in a large plane in a run of a sixteenth', () => {
    const words = new Uint16Array(1920 * 1080).fill(700);
    const bytes = new Uint8Array(words.buffer);
    const run = Math.ceil(words.length / 16);
    for (let start = 0; start + run <= words.length; start += tier(400_009, 100_003)) {
      words.fill(40_000, start, start + run);
      expect(find([bytes], 12)).toEqual({ plane: 0, value: 40_000 });
      words.fill(700, start, start + run);
    }
  });

  it('are reported of the first plane that has any, with its largest', () => {
    const good = plane(100, 900);
    const mixed = [good, plane(100, 3, { 7: 4095, 60: 65_535, 99: 1030 }), plane(100, 2000)];
    expect(find(mixed, 10)).toEqual({ plane: 1, value: 65_535 });
    expect(find([good, good, plane(50, 2000)], 10)).toEqual({ plane: 2, value: 2000 });
    expect(find([good, good, good], 10)).toBeUndefined();
  });
});
