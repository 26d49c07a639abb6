/**
 * @module test/unit/wasm/cvvdp
 * ColorVideoVDP: the authors' values for pictures and clips (../shared), those of an independent program in double
 * precision for pictures made here, both columns of the table to the last bit, and what the metric makes of the core's Q.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Colour, ScoredFormat } from '../../../src/core/colour.js';
import type { VideoFormat } from '../../../src/core/frame.js';
import type { Implementation } from '../../../src/core/module.js';
import { wasmMeasurers } from '../../../src/engine/backends/core/extractor.js';
import { planFeatures } from '../../../src/engine/backends/features.js';
import { CVVDP, DISPLAYS } from '../../../src/metrics/cvvdp.js';
import { jodOf } from '../../../src/metrics/jod.js';
import type { ExtractorInstance } from '../../../src/metrics/metric.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { disturbed, format, type Picture, picture } from '../../support/metric.js';
import { type ColourNumbers, PerceptualContext, perceptual, readPng } from '../../support/perceptual.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';
import { SEED, some } from '../../support/wasm.js';

type DisplayName = keyof typeof DISPLAYS;
const HDR = { sdr: 0, pq: 6, hlg: 7 } as const;

/** JOD by which programs in binary32 may differ from each other, and from one in double precision. */
const TOLERANCE = 1e-5;

function options(name: DisplayName, rate: number): number[] {
  const { signal, peak, contrast, ambient, reflectivity, pixelsPerDegree } = DISPLAYS[name];
  const colour: ColourNumbers = [0, 1, HDR[signal], 0, 0, signal === 'sdr' ? 0 : 1];
  return [...colour, ...colour, rate, peak, contrast, ambient, reflectivity, pixelsPerDegree];
}

interface Clip {
  readonly video: VideoFormat;
  readonly reference: readonly Picture[];
  readonly distorted: readonly Picture[];
}

/** Q of every frame; a rate of 0 takes them for stills. */
function measure(implementation: Implementation, clip: Clip, chosen: readonly number[]): number[] {
  const rate = chosen[12] ?? 0;
  const window = rate === 0 ? 1 : 2 * Math.ceil(rate / 8) + 1;
  const context = new PerceptualContext(implementation, clip.video);
  const values = clip.reference.map((_, frame) => {
    const held = (pictures: readonly Picture[]) =>
      pictures.slice(Math.max(0, frame + 1 - window), frame + 1).reverse();
    const lists = { reference: held(clip.reference), distorted: held(clip.distorted) };
    return context.run('cvvdp', lists, chosen, 1, ['frames', 'history', 'parameters'])[0] ?? Number.NaN;
  });
  context.close();
  return values;
}

const instance = (display: string): ExtractorInstance => parseFeature(`cvvdp=display=${display}`);

/** JOD of the whole clip, or of stills if the rate is 0. */
function jod(qs: readonly number[], video: VideoFormat, rate: number): number {
  const timed = { ...video, ...(rate > 0 && { frameRate: { num: rate, den: 1 } }) };
  const finisher = CVVDP.finish(instance('standard_4k'), timed, 'libvmaf-3.2');
  const none = () => {};
  for (const [frame, q] of qs.entries()) finisher.push(frame, () => q, none);
  return finisher.aggregates?.().cvvdp ?? Number.NaN;
}

/** One of the planes G, B, R as a pattern that moves by a column a frame. */
const pattern = (x: number, y: number, plane: number, frame: number): number => {
  const c = (plane + 1) % 3;
  return (((x + frame) * (3 + c) + y * 2 + ((x * y) >> 4) * (c === 1 ? 3 : 1)) % 230) + 12;
};

/** The same with fewer levels, in blocks. */
const coarse = (x: number, y: number, plane: number, frame: number): number => {
  const value = pattern(x, y, plane, frame);
  return value - (value % 16) + (((x >> 3) + (y >> 3) + frame) & 1 ? 5 : 9);
};

function patterns(width: number, height: number, frames: number): Clip {
  const video = format(width, height, 8, '444');
  const of = (value: typeof pattern) =>
    Array.from({ length: frames }, (_, frame) => picture(video, (x, y, p) => value(x, y, p, frame)));
  return { video, reference: of(pattern), distorted: of(coarse) };
}

describe('cvvdp of pictures made here', () => {
  // Of a program of its own for the recipe, in double precision. Sides of both parities: one border depends on that.
  const stills = [
    [72, 50, 'standard_4k', 9.92322],
    [72, 50, 'standard_fhd', 9.744369],
    [61, 48, 'standard_fhd', 9.721055],
    [72, 51, 'standard_fhd', 9.747219],
    [61, 48, 'standard_hdr_pq', 9.724273],
    [61, 48, 'standard_hdr_hlg', 9.891819],
    [13, 13, 'standard_fhd', 9.204751],
    [5, 4, 'standard_hdr_hlg', 9.874406],
    [3, 2, 'standard_4k', 9.907621],
  ] as const;
  it.each(stills)('is what the recipe gives of a still of %i x %i on %s', (width, height, name, expected) => {
    const clip = patterns(width, height, 1);
    const still = jod(measure('simd128', clip, options(name, 0)), clip.video, 0);
    expect(Math.abs(still - expected)).toBeLessThan(TOLERANCE);
  });

  const clips = [
    [5, 'standard_fhd', 9.742858],
    [25, 'standard_fhd', 9.752862],
    [120, 'standard_fhd', 9.63897],
    [25, 'standard_hdr_hlg', 9.626467],
    [25, 'standard_hdr_pq', 9.430899],
  ] as const;
  it.each(clips)('is what the recipe gives of a clip at %i fps on %s', (rate, name, expected) => {
    const clip = patterns(64, 48, 12);
    const found = jod(measure('simd128', clip, options(name, rate)), clip.video, rate);
    expect(Math.abs(found - expected)).toBeLessThan(TOLERANCE);
  });

  it('is 10 for equal pictures', () => {
    const { video, reference } = patterns(40, 30, 3);
    for (const rate of [0, 30]) {
      const qs = measure('simd128', { video, reference, distorted: reference }, options('standard_4k', rate));
      expect(qs).toEqual([0, 0, 0]);
      expect(jod(qs, video, rate)).toBe(10);
    }
  });

  it('shows the first frame of a clip before it begins', () => {
    const { video, reference, distorted } = patterns(40, 30, 1);
    const same = Array.from({ length: 9 }, () => [reference[0] ?? [], distorted[0] ?? []] as const);
    const clip = { video, reference: same.map(([r]) => r), distorted: same.map(([, d]) => d) };
    const qs = measure('simd128', clip, options('standard_fhd', 30));
    for (const q of qs) expect(Math.abs(q / (qs[8] ?? 0) - 1)).toBeLessThan(1e-5);
  });

  it('refuses what it cannot measure', () => {
    const refused = (clip: Clip, chosen: readonly number[]) =>
      expect(() => measure('simd128', clip, chosen)).toThrow('no cvvdp for these');
    const clip = patterns(8, 8, 1);
    refused(patterns(8, 1, 1), options('standard_4k', 0));
    refused(clip, options('standard_4k', 240.5));
    refused(clip, options('standard_4k', Number.NaN));
    // The display's numbers begin with place 13: peak, contrast, ambient light, reflectivity, pixels per degree.
    for (const [place, value] of [
      [13, 0],
      [13, 20000],
      [14, 1],
      [15, -1],
      [17, 0],
    ] as const)
      refused(clip, options('standard_4k', 0).with(place, value));
  });
});

describe(`cvvdp of the authors' program (${needsShared})`, () => {
  const folder = sharedPath('golden/perceptual/');
  interface Values {
    stills: Record<string, { cvvdp: Partial<Record<DisplayName, number>> }>;
    cvvdp_video_clip160_by_fps: Record<string, Partial<Record<DisplayName, number>>>;
  }
  const values: Values = folder
    ? JSON.parse(readFileSync(`${folder}values.json`, 'utf8'))
    : { stills: {}, cvvdp_video_clip160_by_fps: {} };
  const shown = ['standard_fhd', 'standard_4k', 'standard_hdr_pq'] as const;
  const entries = (of: Partial<Record<DisplayName, number>>) =>
    shown.map((name) => [name, of[name] ?? 0] as const);

  it.skipIf(!folder)('is theirs for every still', () => {
    for (const [name, { cvvdp }] of Object.entries(values.stills)) {
      const reference = readPng(`${folder}${name}_ref.png`);
      const distorted = readPng(`${folder}${name}_dis.png`);
      const clip = { video: reference.format, reference: [reference.planes], distorted: [distorted.planes] };
      for (const [display, expected] of entries(cvvdp)) {
        const found = jod(measure('simd128', clip, options(display, 0)), clip.video, 0);
        expect(Math.abs(found - expected), `${name} on ${display}: ${found}`).toBeLessThan(TOLERANCE);
      }
    }
  });

  it.skipIf(!folder)('is theirs for a clip at three frame rates', () => {
    const video = format(160, 90, 8, '444');
    const samples = video.width * video.height;
    const frames = (side: 'ref' | 'dis'): Picture[] => {
      const rgb = readFileSync(`${folder}clip160_${side}.rgb`);
      return Array.from({ length: rgb.length / samples / 3 }, (_, frame) =>
        [1, 2, 0].map((c) =>
          Uint8Array.from({ length: samples }, (_, i) => rgb[3 * (frame * samples + i) + c] ?? 0),
        ),
      );
    };
    const clip = { video, reference: frames('ref'), distorted: frames('dis') };
    for (const [rate, of] of Object.entries(values.cvvdp_video_clip160_by_fps))
      for (const [display, expected] of entries(of)) {
        const found = jod(measure('simd128', clip, options(display, Number(rate))), video, Number(rate));
        expect(Math.abs(found - expected), `${rate} on ${display}: ${found}`).toBeLessThan(TOLERANCE);
      }
  });
});

describe('the twins of cvvdp', () => {
  const names = Object.keys(DISPLAYS) as DisplayName[];

  it('give the same bits for random pictures of sides from 2 to 70', () => {
    const random = seeded(SEED);
    const sides = Array.from({ length: 69 }, (_, i) => i + 2);
    for (const width of some(sides, 1)) {
      const height = random.int(width < 16 ? 2 : 16, 70);
      const depth = random.pick([8, 10]);
      const video = format(width, height, depth, '444');
      const top = 2 ** depth - 1;
      const level = random.int(0, top);
      const spread = random.pick([2, 40, top]);
      const noise = () => Math.min(top, Math.max(0, level + random.int(-spread, spread)));
      const reference = Array.from({ length: 4 }, () => picture(video, noise));
      const distorted = reference.map((of) => disturbed(random, of, depth, random.int(0, 30)));
      const chosen = options(random.pick(names), random.pick([0, 24, 60]));
      const clip = { video, reference, distorted };
      const about = `${width}x${height} with options ${chosen}, seed ${SEED}`;
      expect(measure('simd128', clip, chosen), about).toEqual(measure('portable', clip, chosen));
    }
  });

  it('raise to powers as Math does, to the same bits', () => {
    const env = { emscripten_notify_memory_growth: () => {} };
    const { exports } = new WebAssembly.Instance(perceptual, { env });
    const call = (name: string, ...args: number[]): number => {
      const value = exports[name];
      if (typeof value !== 'function') throw new Error(`no ${name}`);
      return Number(value(...args));
    };
    const { memory } = exports;
    if (!(memory instanceof WebAssembly.Memory)) throw new Error('no memory');
    call('_initialize');
    const random = seeded(SEED);
    const n = 4001;
    const at = call('anyvmaf_alloc', 4 * n + 64);
    const values = Float32Array.from({ length: n }, (_, i) => (i === 0 ? 0 : 2 ** (random.next() * 40 - 20)));
    for (const exponent of [0.2, 1.30262268, 2.26435518, 3.58878732].map(Math.fround)) {
      const [portable, simd] = ['_c', '_simd'].map((suffix) => {
        new Float32Array(memory.buffer, at, n).set(values);
        call(`cvvdp_power${suffix}`, at, n, exponent);
        return new Float32Array(memory.buffer, at, n).slice();
      });
      expect(simd).toEqual(portable);
      const start = 1e-5 ** exponent;
      values.forEach((x, i) => {
        const exact = (Math.fround(x + Math.fround(1e-5)) ** exponent - start) as number;
        // The logarithm, of up to 20, is as exact as binary32 has it; so is its product with the exponent.
        const bound = (3e-7 + 2.4e-6 * exponent) * (exact + start);
        expect(Math.abs((simd?.[i] ?? Number.NaN) - exact), `${x}^${exponent}`).toBeLessThanOrEqual(bound);
      });
      expect(simd?.[0]).toBe(0);
    }
  });
});

describe('the metric cvvdp', () => {
  const colour: Colour = {
    ...{ matrix: 'bt709', range: 'limited', transfer: 'srgb', siting: 'left', upsampling: 'bicubic' },
  } as const;
  const scored = (extra: Partial<ScoredFormat> = {}): ScoredFormat => ({
    ...format(1920, 1080),
    colours: { reference: colour, distorted: colour },
    ...extra,
  });
  const callAt = (frameRate: ScoredFormat['frameRate']) => {
    const video = scored(frameRate ? { frameRate } : {});
    const variant = CVVDP.measure(instance('standard_fhd'), video, 'libvmaf-3.2');
    return variant ? CVVDP.calls([variant], video)[0] : undefined;
  };

  it('knows the displays by their pixels per degree', () => {
    expect(DISPLAYS.standard_fhd.pixelsPerDegree).toBeCloseTo(37.8425, 4);
    expect(DISPLAYS.standard_4k.pixelsPerDegree).toBeCloseTo(75.4024, 4);
    expect(CVVDP.spec.options[0]?.default).toBe('standard_4k');
  });

  it('looks back a quarter of a second', () => {
    expect(callAt(undefined)?.back).toBe(0);
    expect(callAt({ num: 30000, den: 1001 })?.back).toBe(8);
    expect(callAt({ num: 60, den: 1 })?.back).toBe(16);
    expect(callAt({ num: 120, den: 1 })?.back).toBe(30);
  });

  const most = [
    { bitDepth: 8, chroma: '444', rate: 60 },
    { bitDepth: 8, chroma: '420', rate: 120 },
    // As many bytes as the first.
    { bitDepth: 10, chroma: '420', rate: 60 },
  ] as const;
  it.each(most.slice(0, tier(1, 3)))(
    'takes less than 250 MB for 1080p of $bitDepth bits in $chroma at $rate fps',
    (one) => {
      const { rate, ...samples } = one;
      const sized = { ...samples, width: 1920, height: 1080, frameRate: { num: rate, den: 1 } };
      const { extraction } = planFeatures([instance('standard_4k')], scored(sized), 'libvmaf-3.2');
      const measurer = wasmMeasurers(perceptual, 'simd128').open(extraction);
      measurer.measure(measurer.slot(0), new Float64Array(measurer.layout.length), true);
      const { byteLength } = measurer.slot(1).reference.y.buffer;
      measurer.close();
      expect(byteLength).toBeLessThan(250e6);
    },
    60_000,
  );

  it('refuses videos that the display does not show', () => {
    const measured = (video: ScoredFormat) => CVVDP.measure(instance('standard_4k'), video, 'libvmaf-3.2');
    const pq = { ...colour, transfer: 'pq' } as const;
    expect(() => measured(scored({ colours: { reference: colour, distorted: pq } }))).toThrow(
      'display standard_4k shows SDR but the distorted video is PQ; choose another display, for example standard_hdr_pq.',
    );
    const fast = scored({ frameRate: { num: 1000, den: 1 } });
    expect(() => measured(fast)).toThrow('up to 240 frames per second');
  });

  it('makes JOD of Q', () => {
    expect(jodOf(0)).toBe(10);
    expect(jodOf(1)).toBeCloseTo(10 - 0.0439569391310215, 12);
    // Both parts meet at 0.1.
    expect(jodOf(0.1)).toBeCloseTo(jodOf(0.1 + 1e-12), 9);
    // The root of the mean square, not the mean.
    expect(jod([3, 4], format(16, 16), 0)).toBeCloseTo(jodOf(Math.sqrt(12.5)), 12);
    // Of clips with the method's power, by hand: sqrt(12.5 + 7e-5 + 1e-5) - sqrt(1e-5).
    expect(jod([3, 4], format(16, 16), 25)).toBeCloseTo(jodOf(Math.sqrt(12.50008) - Math.sqrt(1e-5)), 12);
  });
});
