/**
 * @module test/unit/media/evidence
 * Facts read from two videos whatever their labels say (src/media/evidence): rates, pairs in time, fields, tracks, packets that
 * show no frame, and the matrix of their colours.
 */
import { describe, expect, it } from 'vitest';
import type { Fraction } from '../../../src/core/numbers.js';
import { isSamePicture, tellsApart } from '../../../src/media/align/thumbnail.js';
import { chooseTrack, isClearTrack, type VideoTrack } from '../../../src/media/decoder.js';
import { type MatrixFit, matrixFitOf } from '../../../src/media/evidence/averages.js';
import {
  deinterlacer,
  deinterlacing,
  type FieldEvidence,
  FieldMeter,
  judgeFields,
} from '../../../src/media/evidence/fields.js';
import {
  addsGrain,
  isCrowded,
  packetsOfOneTime,
  showsFrame,
  turnsPicture,
} from '../../../src/media/evidence/packets.js';
import {
  declaredRate,
  meantRate,
  type RateFacts,
  rateOf,
  ratesDiffer,
} from '../../../src/media/evidence/rate.js';
import { declaredBitrate, declaredFrames, packetBitrate } from '../../../src/media/facts.js';
import { partnersInTime } from '../../../src/media/preflight/moments.js';
import { cfr, coloursBy, rounded, without } from '../../support/align.js';
import { refusal } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const fps = (num: number, den = 1): Fraction => ({ num, den });
const [NTSC, FILM] = [fps(30000, 1001), fps(24000, 1001)];
const lossy = without(cfr(100, 25), 30, 41, 42, 80);
const fewer = (times: Float64Array) => times.filter((_, n) => n % 11 !== 5 && n % 17 !== 3);
/** Telecined film: frames are shown for two fields, then three. */
const telecined = Float64Array.from({ length: 120 }, (_, n) => ((n + (n >> 1) / 2) * 1001) / 30000);

describe('the rate of a video', () => {
  it.each<[string, Fraction | undefined, RateFacts]>([
    ['of its times', fps(25), { timestamps: cfr(50, 25) }],
    ['of its times in whole milliseconds', fps(30), { timestamps: rounded(cfr(300, 30)) }],
    ['by 1.001 in whole milliseconds', NTSC, { timestamps: rounded(cfr(300, 30000 / 1001)) }],
    ['of times in hundredths of a second', fps(30), { timestamps: rounded(cfr(90, 30), 0.01) }],
    ['of few frames, not of a clock', fps(30), { timestamps: rounded(cfr(30, 30)), frameRate: fps(1000) }],
    ['the commonest if frames were lost', fps(25), { timestamps: lossy, frameRate: fps(24126, 1000) }],
    ['the commonest if a seventh was lost', NTSC, { timestamps: rounded(fewer(cfr(300, 30000 / 1001))) }],
    ['the declared one if rounding hides it', NTSC, { timestamps: rounded(cfr(20, 30)), frameRate: NTSC }],
    ['the declared one if no interval is common', FILM, { timestamps: telecined, frameRate: FILM }],
    ['the declared one without times', fps(50), { frameRate: fps(50), timestamps: null }],
    ['unknown for one frame', undefined, { timestamps: cfr(1, 25) }],
  ])('is %s', (_, expected, facts) => {
    expect(rateOf(facts)).toEqual(expected);
  });

  it.each<[number, Fraction | undefined]>([
    [25, fps(25)],
    [29.9700299, fps(30000, 1001)],
    [23.976, fps(24000, 1001)],
    [12.5, fps(25, 2)],
    [17.123, fps(17123, 1000)],
    [0, undefined],
  ])('%d frames a second means a standard rate', (perSecond, expected) => {
    expect(meantRate(perSecond)).toEqual(expected);
  });

  it('is declared by the nominal one, unless that is a clock or another rate', () => {
    expect(declaredRate(fps(24126, 1000), fps(25))).toEqual(fps(25));
    expect(declaredRate(undefined, fps(25))).toEqual(fps(25));
    expect(declaredRate(fps(24000, 1001), fps(24))).toEqual(fps(24000, 1001));
    expect(declaredRate(fps(25), fps(50))).toEqual(fps(25));
    expect(declaredRate(fps(30), fps(90000))).toEqual(fps(30));
    expect(declaredRate(undefined, fps(1000))).toBeUndefined();
  });

  it.each<[boolean, string, RateFacts, RateFacts]>([
    [true, 'by a thousandth', { timestamps: cfr(300, 30) }, { timestamps: cfr(300, 30000 / 1001) }],
    [true, 'by one frame a second', { timestamps: cfr(300, 24) }, { timestamps: cfr(300, 25) }],
    [true, 'as declared', { frameRate: fps(24) }, { frameRate: fps(24000, 1001) }],
    [false, 'by rounding', { timestamps: cfr(300, 29.97) }, { timestamps: rounded(cfr(250, 29.97)) }],
    [false, 'by frames lost', { timestamps: cfr(300, 60) }, { timestamps: without(cfr(300, 60), 7, 8, 100) }],
    [false, 'by frames lost of one without times', { frameRate: fps(25) }, { timestamps: lossy }],
    [
      false,
      'for a picture',
      { timestamps: cfr(1, 1), frameRate: fps(1) },
      { frameRate: fps(25), frameCount: 1 },
    ],
    [false, 'if intervals are irregular', { timestamps: telecined }, { timestamps: cfr(300, 60) }],
  ])('differs (%s) %s', (expected, _, first, second) => {
    expect(ratesDiffer(first, second)).toBe(expected);
    expect(ratesDiffer(second, first)).toBe(expected);
  });
});

describe('frames that pair at equal times', () => {
  const none = { reference: [], distorted: [] };
  const whole = { reference: 0, distorted: 0 };
  const odd = Float64Array.of(0, 0.033, 0.1, 0.117, 0.35, 0.4, 0.4333, 1.2);

  it.each([
    ['with any intervals', odd, odd],
    ['on clocks of milliseconds', odd, rounded(odd.map((time) => time + 7.0004))],
    ['on a clock of hundredths', cfr(60, 30), rounded(cfr(60, 30), 0.01)],
    ['of a telecined film and its encode', telecined, rounded(telecined)],
  ])('are all: %s', (_, reference, distorted) => {
    expect(partnersInTime({ reference, distorted })).toEqual({ alone: none, after: whole });
  });

  it('leave out frames that one side lacks, those of another rate and those after the end', () => {
    const times = cfr(20, 25);
    const { alone } = partnersInTime({ reference: times, distorted: without(times, 4, 9, 10) });
    expect(alone).toEqual({ reference: [4, 9, 10], distorted: [] });
    const other = partnersInTime({ reference: without(times, 4), distorted: times });
    expect(other).toEqual({ alone: { reference: [], distorted: [4] }, after: whole });
    const { alone: odd50 } = partnersInTime({ reference: cfr(8, 50), distorted: cfr(4, 25) });
    expect(odd50.reference).toEqual([1, 3, 5]);
    const longer = partnersInTime({ reference: cfr(8, 25), distorted: cfr(3, 25) });
    expect(longer).toEqual({ alone: none, after: { reference: 5, distorted: 0 } });
  });

  it('are counted from the first compared frames', () => {
    const first = { reference: 0, distorted: 2 };
    expect(partnersInTime({ reference: odd.subarray(2), distorted: odd, first }).alone).toEqual(none);
  });
});

describe('content that cannot show an offset', () => {
  const picture = (level: (x: number, y: number) => number) =>
    Float32Array.from({ length: 64 * 36 }, (_, k) => level(k % 64, Math.floor(k / 64)));
  const flat = picture((x) => 40 + x);
  const noisy = picture((x, y) => 40 + x + (((x * 7 + y * 13) % 5) - 2));
  const ball = picture((x, y) => (Math.hypot(x - 20, y - 20) < 2 ? 180 : 40 + x));

  it('shows the same picture under any noise', () => {
    expect(isSamePicture(flat, noisy)).toBe(true);
    expect(isSamePicture(flat, ball)).toBe(false);
  });

  it.each([
    [false, 'a still', 100, 0],
    [false, 'one cut among slides', 100, 1],
    [true, 'occasional motion', 100, 5],
    [true, 'the few frames of a short clip', 9, 1],
  ])('(%s for %s) differs in few frames', (expected, _, frames, moved) => {
    const pairs = Array.from({ length: frames }, (_, n) => [flat, n < moved ? ball : noisy] as const);
    expect(tellsApart(pairs)).toBe(expected);
  });
});

const [WIDTH, HEIGHT] = [160, 98];

/** A sample of a scene at a time in frames. */
type Scene = (x: number, y: number, time: number) => number;
/** When the two fields of frame n are captured. */
type Scan = (n: number) => readonly [top: number, bottom: number];

const progressive: Scan = (n) => [n, n];
const topFirst: Scan = (n) => [n, n + 0.5];
const bottomFirst: Scan = (n) => [n + 0.5, n];
/** Film: of four pictures each, the second and the fourth give three fields. */
const pulldown: Scan = (n) => {
  const [top, bottom] = [[0, 1, 1, 2, 3] as const, [0, 1, 2, 3, 3] as const];
  return [4 * Math.floor(n / 5) + (top[n % 5] ?? 0), 4 * Math.floor(n / 5) + (bottom[n % 5] ?? 0)];
};

const wave = (place: number, period: number) => Math.sin((2 * Math.PI * place) / period);
/** Squares and waves that move to the right by `speed` samples a frame. */
const moving =
  (speed: number): Scene =>
  (x, y, time) => {
    const at = x - speed * time;
    return 120 + 50 * wave(at, 23) + 30 * Math.sign(wave(at, 37) * wave(y, 41)) + 15 * wave(y, 19);
  };
/** Noise, the same for the same place and time. */
const random = (x: number, y: number, time: number) => {
  const sine = Math.sin(x * 12.9898 + y * 78.233 + time * 37.719) * 43758.5453;
  return 255 * (sine - Math.floor(sine));
};
/** Small waves that move upwards. */
const upwards: Scene = (x, y, time) => 120 + 50 * wave(x + y + 2 * time, 9) + 40 * wave(x, 5);
const rising: Scene = (x, y, time) => moving(3)(y + 0.3 * x, x, time);

function seen(scene: Scene, scan: Scan = progressive, bitDepth = 8, swap = false): FieldEvidence | undefined {
  const meter = new FieldMeter({ width: WIDTH, height: HEIGHT, bitDepth });
  const bytes = bitDepth > 8 ? 2 : 1;
  for (let n = 0; n < 16; n++) {
    const luma = new Uint8Array(WIDTH * HEIGHT * bytes);
    const view = new DataView(luma.buffer);
    for (let y = 0; y < HEIGHT; y++) {
      const row = swap ? y ^ 1 : y;
      const time = scan(n)[row % 2] ?? 0;
      for (let x = 0; x < WIDTH; x++) {
        const value = Math.round(scene(x, row, time)) * 2 ** (bitDepth - 8);
        if (bytes === 2) view.setUint16(2 * (y * WIDTH + x), value, true);
        else luma[y * WIDTH + x] = value;
      }
    }
    meter.add(n, luma);
  }
  return judgeFields(meter.steps);
}

describe('fields of pictures', () => {
  const whole = { kind: 'progressive' } as const;
  const top = { kind: 'woven', first: 'top-first' } as const;
  const bottom = { kind: 'woven', first: 'bottom-first' } as const;
  const thin: Scene = (x, y, t) => (x < 80 ? 255 * (y % 2) : moving(4)(x, y, t));
  const stripes: Scene = (x, y, t) => 128 + 100 * Math.sign(wave(y + t, 4)) + (x % 3);
  it.each<[string, Scene, Scan, FieldEvidence | undefined]>([
    ['progressive motion', moving(4), progressive, whole],
    ['motion upwards', rising, progressive, whole],
    ['noise that changes', random, progressive, whole],
    ['thin still lines beside motion', thin, progressive, whole],
    ['lines of one sample that brighten', (x, y, t) => (y % 2) * (60 + 10 * t + (x % 7)), progressive, whole],
    ['stripes of two samples that move upwards', stripes, progressive, undefined],
    ['a still picture', (x, y) => moving(0)(x, y, 0), topFirst, undefined],
    ['still thin lines', (_, y) => 255 * (y % 2), topFirst, undefined],
    ['top first', moving(6), topFirst, top],
    ['bottom first', moving(6), bottomFirst, bottom],
    ['bottom first, slower', moving(3), bottomFirst, bottom],
    ['as much motion upwards as from field to field', upwards, topFirst, undefined],
    ['the same of whole pictures', upwards, progressive, whole],
    ['film with pulldown', moving(4), pulldown, { kind: 'pulldown', first: 'top-first' }],
  ])('are judged without a label: %s', (_, scene, scan, expected) => {
    expect(seen(scene, scan)).toEqual(expected);
    // Deeper samples are read the same way.
    if (tier(expected?.kind !== 'progressive', true)) expect(seen(scene, scan, 10)).toEqual(expected);
  });

  it('are those of film with pulldown, although it begins slowly', () => {
    const orders = [0.01, 0.37, 0.56, 0.31, 0.01, 0.02, 0.56, 0.65, 0.4, 0.05, 0.05, 0.41, 0.67, 0.44, 0.03];
    const steps = orders.map((order, frame) => {
      return { frame, moves: true, combed: [2, 3].includes(frame % 5) ? 0.2 : 0, order, exchanged: 1.1 };
    });
    expect(judgeFields(steps)).toEqual({ kind: 'pulldown', first: 'top-first' });
    const slow = steps.map((step) => ({ ...step, combed: step.combed / 4 }));
    const whole = steps.map((step) => ({ ...step, combed: 0, order: 0.01 }));
    expect(judgeFields(slow, whole)).toEqual({ kind: 'pulldown', first: 'top-first' });
  });

  it('are not judged from an order without combs, as in patterns of whole pictures', () => {
    const step = { moves: true, combed: 0, order: 0.37, exchanged: 1.1 };
    const steps = Array.from({ length: 10 }, (_, frame) => ({ frame, ...step }));
    expect(judgeFields(steps)).toBeUndefined();
    expect(judgeFields(steps.map((one) => ({ ...one, combed: 0.02 })))?.kind).toBe('woven');
  });

  it.each<[string, readonly [combed: number, orders: readonly number[]], FieldEvidence | undefined]>([
    ['without any', [0, [0.03, -0.03]], { kind: 'woven', first: 'top-first' }],
    ['with nearly as many', [0.08, [0.03, -0.03]], undefined],
    ['that moves so that its pictures tell the same order', [0, [0.3, 0.28]], undefined],
  ])('are recognised from some combs beside the same content %s', (_, [combed, orders], expected) => {
    const steps = (combs: number, orderOf: readonly number[]) =>
      Array.from({ length: 10 }, (__, frame) => {
        return { frame, moves: true, combed: combs, order: orderOf[frame % 2] ?? 0, exchanged: 1.1 };
      });
    for (const combs of [0.01, 0.15]) {
      const mine = steps(combs, [0.32, 0.24]);
      expect(judgeFields(mine)).toBeUndefined();
      expect(judgeFields(mine, steps((combed * combs) / 0.15, orders))).toEqual(expected);
    }
    expect(judgeFields(steps(0.15, [0.9, -0.3]).slice(0, 4), steps(combed, orders))?.first).toBeUndefined();
  });

  it('are recognised when exchanged, and not judged from a few lines', () => {
    const fine: Scene = (x, y, t) => moving(4)(x, y, t) + 25 * wave(y, 7);
    expect(seen(fine)).toEqual({ kind: 'progressive' });
    expect(seen(fine, progressive, 8, true)).toEqual({ kind: 'exchanged' });
    const meter = new FieldMeter({ width: 64, height: 12, bitDepth: 8 });
    for (let n = 0; n < 8; n++) meter.add(n, new Uint8Array(64 * 12).fill(20 * n));
    expect(judgeFields(meter.steps)).toBeUndefined();
  });

  it.each([
    ['top-first', { kind: 'woven', first: 'top-first' }, 'bwdif=mode=send_frame'],
    ['top-first', undefined, 'bwdif=mode=send_frame'],
    ['top-first', { kind: 'progressive' }, 'bwdif=mode=send_frame'],
    ['top-first', { kind: 'woven', first: 'bottom-first' }, 'bwdif=mode=send_frame:parity=bff'],
    ['unknown', { kind: 'woven', first: 'top-first' }, 'bwdif=mode=send_frame:parity=tff'],
    ['progressive', { kind: 'woven' }, 'bwdif=mode=send_frame'],
    ['progressive', { kind: 'progressive' }, undefined],
    [undefined, undefined, undefined],
  ] as const)('labelled %s are deinterlaced as the pictures %j tell, by %s', (label, evidence, filter) => {
    const how = deinterlacing(label, evidence);
    expect(how && deinterlacer(how)).toBe(filter);
  });
});

const track = (width: number, isDefault = false): VideoTrack => ({
  ...{ width, height: (width * 9) / 16, isDefault },
});
const [small, large] = [track(160), track(640)];

describe('the video track', () => {
  it.each<[string, VideoTrack[], number | undefined, number | undefined]>([
    ['only one', [small], undefined, undefined],
    ['none', [], undefined, undefined],
    ['the default one', [track(160, true), large], undefined, 0],
    ['the default one that comes later', [small, track(320, true), large], undefined, 1],
    ['the largest without a default', [small, large, track(320)], undefined, 1],
    ['the largest of several defaults', [track(160, true), track(640, true)], undefined, 1],
    ['the first of equal ones', [large, large], undefined, 0],
    ['the requested one', [track(160, true), large], 1, 1],
    ['the first, requested, of one', [small], 0, undefined],
  ])('is %s', (_, tracks, requested, index) => {
    const request =
      requested === undefined ? undefined : ({ index: requested, option: 'trackDistorted' } as const);
    expect(chooseTrack(tracks, request, 'a.mkv')?.index).toBe(index);
  });

  it('that does not exist is refused with those that do', () => {
    const request = { index: 2, option: 'trackReference' } as const;
    expect(refusal('usage', () => chooseTrack([track(160, true), large], request, 'a.mkv'))).toBe(
      'trackReference is 2, but a.mkv has 2 video tracks: track 0 (160x90, default), track 1 (640x360).',
    );
  });

  it.each<[boolean, string, VideoTrack[], boolean]>([
    [true, 'requested', [large, track(640)], true],
    [true, 'larger than all others', [track(640, true), small], false],
    [false, 'the default one beside a larger one', [track(160, true), large], false],
    [false, 'as large as another', [track(640, true), track(640)], false],
  ])('is clear: %s if it is %s', (clear, _, tracks, asked) => {
    expect(isClearTrack({ index: 0, tracks, asked })).toBe(clear);
  });
});

it.each<[string, string, number[], string, number?]>([
  ['h264', 'tt', [0, 0, 1, 1], 'one'],
  ['h264', 'tt', [0, 1, 1, 2], 'unknown'],
  ['h264', 'progressive', [0, 1, 1, 2], 'frames'],
  ['hevc', '', [0, 0, 1, 1], 'frames'],
  ['vp9', '', [0, 1, 1, 2], 'one'],
  ['vp9', '', [0, 10, 11, 20, 30], 'unknown'],
  // Fields with their own times come twice as often as frames.
  ['h264', 'tt', [0, 1, 2, 3, 4, 5], 'unknown', 2],
  ['h264', 'tt', [0, 2, 4, 6, 8, 10], 'frames', 2],
  ['h264', 'progressive', [0, 1, 2, 3, 4, 5], 'frames', 2],
])('packets of %s %s at %j are %s', (codec, fieldOrder, times, expected, frameTime) => {
  expect(packetsOfOneTime({ codec, fieldOrder, times, ...(frameTime && { frameTime }) })).toBe(expected);
});

it('declared frames and bit rates are used if they are plausible; packets have a bit rate of their own', () => {
  expect(declaredFrames(240, 10, 24)).toBe(240);
  expect(declaredFrames(12, 10, 24)).toBeNull();
  expect(declaredFrames(12, null, undefined)).toBe(12);
  expect(declaredFrames(undefined, 10, 24)).toBeNull();
  expect(declaredBitrate({ indexed: 900, tag: 500, file: 1000 })).toBe(900);
  expect(declaredBitrate({ tag: 500, file: 1000 })).toBe(500);
  expect(declaredBitrate({ tag: 15_000_000, file: 150_000 })).toBe(150_000);
  expect(declaredBitrate({ tag: 500 })).toBe(500);
  expect(declaredBitrate({})).toBeNull();
  expect(packetBitrate(1000, Float64Array.of(0, 0.5, 1, 1.5))).toBe(4000);
  expect(packetBitrate(1000, Float64Array.of(0))).toBeUndefined();
});

it.each<[string, string, readonly number[], boolean]>([
  ['VP8, shown', 'vp8', [0b0001_0001, 0, 0], true],
  ['VP8, never shown', 'vp8', [0b0000_0001, 0, 0], false],
  ['VP9, shown', 'vp9', [0b1000_0010, 0x49, 0], true],
  ['VP9, never shown', 'vp9', [0b1000_0100, 0x49, 0], false],
  ['VP9, a frame shown again', 'vp9', [0b1000_1000], true],
  ['VP9 of the highest profile, shown', 'vp9', [0b1011_0001, 0, 0], true],
  ['VP9 of the highest profile, never shown', 'vp9', [0b1011_0010, 0, 0], false],
  ['VP9, several frames in one', 'vp9', [0b1000_0100, 0x49, 0b1100_0001], true],
  ['another codec', 'h264', [0], true],
])('a packet of %s is recognised', (_, codec, bytes, shown) => {
  expect(showsFrame(codec, Uint8Array.from(bytes))).toBe(shown);
});

describe('a packet of AV1', () => {
  const delimiter = [0x12, 0];
  // From SVT-AV1 with film-grain=8, and without.
  const header = (last: number) => [0x0a, 0x0b, 0, 0, 0, 0x04, 0x3c, 0xfe, 0xcc, 0xfb, 0xf9, 0, last];
  const frame = [0x32, 0x03, 0x10, 0, 0x8b];
  it.each<[string, readonly number[], boolean]>([
    ['with grain', [...delimiter, ...header(0xc0), ...frame], true],
    ['without', [...delimiter, ...header(0x40), ...frame], false],
    ['whose last bit begins a byte', [...delimiter, 0x0a, 3, 0, 0x01, 0x80, ...frame], true],
    ['with another unit before it', [...delimiter, 0x2a, 1, 0xff, ...header(0xc0), ...frame], true],
    ['with an extension, of unknown size', [0x0c, 0x08, ...header(0xc0).slice(2)], true],
    ['without a header', [...delimiter, ...frame], false],
    ['that is cut off', [0x0a], false],
    ['of zeros only', [0x0a, 2, 0, 0], false],
    ['of sizes without end', new Array<number>(64).fill(0xff), false],
    ['that is empty', [], false],
  ])('%s', (_, bytes, grain) => {
    expect(addsGrain(Uint8Array.from(bytes))).toBe(grain);
  });
});

it.each<[string, readonly number[], boolean]>([
  ['even', [0, 40, 80, 120], false],
  ['late by a millisecond', [0, 40, 81, 120], false],
  ['a tick after the one before', [0, 1, 40, 80, 120], true],
  ['two at once', [0, 40, 40, 80], true],
  ['none', [], false],
])('times are crowded or not: %s', (_, times, crowded) => {
  expect(isCrowded(times)).toBe(crowded);
});

describe('the matrix of two videos', () => {
  it.each([
    [601, 601, 'as stored'],
    [709, 709, 'as stored'],
    [601, 709, '601 to 709'],
    [709, 601, '709 to 601'],
  ] as const)('the colours of BT.%i beside those of BT.%i fit %s', (from, to, fit: MatrixFit) => {
    for (const noise of [0, 1.5]) {
      const pair = { reference: coloursBy(from, 0.15), distorted: coloursBy(to, 0.15, noise) };
      expect(matrixFitOf([pair, pair])).toBe(fit);
    }
  });

  it('grey, missing and unrelated pictures fit no matrix', () => {
    expect(matrixFitOf([{ reference: coloursBy(601, 0), distorted: coloursBy(709, 0) }])).toBeUndefined();
    expect(matrixFitOf([])).toBeUndefined();
    const other = coloursBy(709, 0.15);
    const turned = { y: other.y.toReversed(), cb: other.cb.toReversed(), cr: other.cr.toReversed() };
    expect(matrixFitOf([{ reference: coloursBy(601, 0.15), distorted: turned }])).toBeUndefined();
  });
});

it.each<[string, readonly number[], boolean]>([
  ['turned', [0, 0, 1, 6, 47, 3, 0x08, 0, 0x10, 0x80, 0, 0, 1, 0x65, 0x88], true],
  [
    'not turned by the same bytes in its picture',
    [0, 0, 1, 6, 5, 1, 9, 0x80, 0, 0, 1, 0x65, 47, 3, 0x08, 0, 0x10],
    false,
  ],
])('a packet of H.264 with start codes is %s', (_, bytes, turned) => {
  expect(turnsPicture('h264', Uint8Array.from(bytes), false)).toBe(turned);
});
