/**
 * @module test/unit/web/time
 * Lanes below the curve: types and quantizers from slice headers, coded frames by pair, bit rates, shots, statistics of a
 * span, and positions of thumbnails.
 */
import type { Report } from 'anyvmaf';
import { describe, expect, it, vi } from 'vitest';
import { Coded, codedOf } from '../../../web/src/packets/client.js';
import { headReader, KINDS } from '../../../web/src/packets/headers.js';
import { Columns, shotsOf } from '../../../web/src/results/encodes.js';
import { placed } from '../../../web/src/results/pictures.js';
import { seeded } from '../../support/random.js';
import { paired, report } from '../../support/report.js';
import { tier } from '../../support/tier.js';

/** Packs bits into bytes, ignoring spaces. */
function bytes(bits: string): number[] {
  const all = bits.replaceAll(' ', '');
  return (all.padEnd(Math.ceil(all.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) =>
    Number.parseInt(byte, 2),
  );
}

/** NAL units with four-byte lengths, or with start codes. */
const behindLengths = (...units: number[][]) =>
  Uint8Array.from(units.flatMap((unit) => [0, 0, 0, unit.length, ...unit]));
const behindStarts = (...units: number[][]) => Uint8Array.from(units.flatMap((unit) => [0, 0, 1, ...unit]));

/** An Exp-Golomb code with 17 zeros: a count above 200,000. */
const MANY = `${'0'.repeat(17)}1${'1'.repeat(17)}`;

describe('types of coded frames', () => {
  const read = (codec: string, config: Uint8Array | undefined) => {
    const reader = headReader(codec, config);
    return { kindOf: (packet: Uint8Array) => reader?.read(packet).kind };
  };
  const avc = read('avc', Uint8Array.of(1, 0x64, 0, 30, 0xff));

  // In Exp-Golomb, 1 is 0, 010 is 1, 011 is 2, 00110 is 5, 00111 is 6, 0001000 is 7.
  it.each([
    ['1', 'P'],
    ['010', 'B'],
    ['011', 'I'],
    ['00110', 'P'],
    ['00111', 'B'],
    ['0001000', 'I'],
  ])('reads the H.264 slice type %s as %s, after other NAL units', (code, kind) => {
    const slice = [0x41, ...bytes(`1 ${code}`)];
    expect(avc.kindOf(behindLengths([0x09, 0xf0], [0x06, 5, 1, 0], slice))).toBe(kind);
    expect(read('avc', undefined).kindOf(behindStarts([0x09, 0xf0], slice))).toBe(kind);
  });

  it('skips emulation prevention bytes', () => {
    // The first macroblock is 2^16 - 1: 16 zeros, a one and 16 zeros; the bytes 0 0 3 encode 0 0.
    expect(avc.kindOf(behindLengths([0x41, 0, 0, 3, 0x80, 0, 0b00100000]))).toBe('B');
  });

  /** PPS 0, which reserves two bits in each slice header. */
  const parameters = [0x44, 1, ...bytes('1 1 0 0 010')];
  const hevcSlice = (type: number, bits: string) => [type << 1, 1, ...bytes(bits)];

  it('reads H.265 slice types behind the extra bits that the PPS declares', () => {
    const config = [...new Array<number>(21).fill(0), 0xff, 1, 34, 0, 1, 0, parameters.length, ...parameters];
    const reader = read('hevc', Uint8Array.from(config));
    const kindOf = (type: number, bits: string) => reader.kindOf(behindLengths(hevcSlice(type, bits)));
    // First slice; PPS 0; two bits; the type.
    expect([kindOf(1, '1 1 11 1'), kindOf(1, '1 1 11 010'), kindOf(1, '1 1 00 011')]).toEqual([
      'B',
      'P',
      'I',
    ]);
    // Random access pictures have one more bit.
    expect(kindOf(21, '1 0 1 11 011')).toBe('I');
  });

  it('reads H.265 parameters in the stream, and returns no type without them', () => {
    const slice = hevcSlice(1, '1 1 11 010');
    expect(read('hevc', undefined).kindOf(behindStarts(parameters, slice))).toBe('P');
    expect(read('hevc', undefined).kindOf(behindStarts(slice))).toBeUndefined();
  });

  it('terminates on damaged packets', () => {
    for (const bad of [[], [0, 0, 0], [0xff, 0xff, 0xff, 0xff, 1], [0, 0, 0, 0, 0, 0, 0, 0]])
      expect(avc.kindOf(Uint8Array.from(bad))).toBeUndefined();
  });
});

/** Starts of streams by libx264, libx265, libvpx and libaom: parameters, and frames with their quantizers by trace_headers. */
const STREAMS = {
  avc: {
    parameters: '00000167640015ac520905825b011000000300100000030320f162d89600000168e88e52c8b0',
    frames: [
      ['000001658882003fd4576d84', 24],
      // With weighted and reordered references.
      ['000001419a109b1fb6fce4b3ab7832d377fc34056f5f66a2e4ed6a', 27],
      ['000001019e204e49fffc4a823700fe7d09c819a06230', 29],
      ['000001419a2117e08326530fffed4851b6f7688e', 27],
    ],
  },
  hevc: {
    parameters:
      '00000142010101600000030090000003000003003ca00b08048596666924caf0168080000003008000000c840000014401c172b64240',
    frames: [
      ['0000012801af0960655ed9020d1e56051efc', 35],
      ['0000010201d01157843184b0609efd0d9a6f0bdfd2f264', 35],
      ['0000010001e024bf810c1863fe804b9fffb59f32c8fd', 38],
      ['0000010201d029dd7d4430612cba00e8778eca418396', 35],
      ['0000010201e086957f50430185b0fe8e839069659a60', 37],
    ],
  },
  vp9: {
    parameters: '',
    frames: [
      ['92498342000af808fb041c120e0c490004b86fae', 73],
      ['96004092f0d1500000946832d14e0eb5', 160],
      // The last frame again, and the first.
      ['98', 160],
      ['99', 73],
    ],
  },
  av1: {
    parameters: '0a0b00000004457e3e6d7c8020',
    frames: [
      ['32c12a1400a07010d86fb198504a08b94fd17da2c8f8', 14],
      ['32d60a3202080a108ca3478008208404815de000e14a', 120],
      ['1a01e8', 120],
      ['1a01c8', 14],
    ],
  },
} as const;

describe.each(['avc', 'hevc', 'vp9', 'av1'] as const)('quantizers of %s', (codec) => {
  const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
  const { parameters, frames } = STREAMS[codec];
  /** Quantizers of all frames, read in order. */
  const read = (change: (packet: Uint8Array, i: number) => Uint8Array) => {
    const reader = headReader(codec, undefined);
    const all = [parameters, ...frames.map(([packet]) => packet)];
    return all.map((packet, i) => reader?.read(change(hex(packet), i)).qp).slice(1);
  };

  it('match ffmpeg, also for frames that are shown again', () => {
    expect(read((packet) => packet)).toEqual(frames.map(([, qp]) => qp));
  });

  it('are not guessed from truncated headers', () => {
    for (const [i, [packet, qp]] of frames.entries())
      for (let length = 0; length < packet.length / 2; length++) {
        const found = read((all, at) => (at === i + 1 ? all.subarray(0, length) : all))[i];
        expect([undefined, qp]).toContain(found);
      }
  });

  it('of damaged headers are absent or within their range, and nothing throws', () => {
    const random = seeded(34);
    const range = codec === 'avc' || codec === 'hevc' ? [-48, 51] : [0, 255];
    const found = new Set<number | undefined>();
    for (let round = 0; round < tier(1000, 4000); round++)
      for (const qp of read((packet) => {
        for (let n = random.int(0, 3); n > 0 && packet.length > 0; n--)
          packet[random.int(0, packet.length - 1)] = random.int(0, 255);
        return packet;
      }))
        found.add(qp);
    const numbers = [...found].filter((qp) => qp !== undefined);
    expect(
      numbers.filter((qp) => !Number.isInteger(qp) || qp < (range[0] ?? 0) || qp > (range[1] ?? 0)),
    ).toEqual([]);
    expect([found.has(undefined), numbers.length > 10], `seed ${random.seed}`).toEqual([true, true]);
  });
});

it.each([
  // An SPS with pic_order_cnt_type 1, and a PPS with tiles.
  ['avc', [0x67, 66, 0, 30], `11010011${MANY}`],
  ['hevc', [0x44, 1], `11000000011100011000010${MANY}${MANY}0`],
] as const)('an impossible count in %s parameters does not stall the reader', (codec, head, bits) => {
  const fields = (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '1'), 2));
  const unit = [0, 0, 1, ...head, ...fields];
  // Reading to the end of the packet from each unit would take many minutes.
  const packet = Uint8Array.from(Array.from({ length: 20_000 }, () => unit).flat());
  expect(headReader(codec, undefined)?.read(packet)).toEqual({});
});

it('other codecs have no reader', () => {
  expect(headReader('vp8', undefined)).toBeUndefined();
});

/** Coded frames at 25 fps. */
function coded(sizes: readonly number[], run: Report, kinds: readonly string[] = []): Coded {
  const frames = {
    times: Float64Array.from(sizes, (_, i) => i / 25),
    bytes: Float64Array.from(sizes),
    kinds: Uint8Array.from(sizes, (_, i) => KINDS.findIndex((kind) => kind === (kinds[i] ?? 'P'))),
    quantizers: Float64Array.from(sizes, (_, i) => (i === 0 ? Number.NaN : 20 + i)),
    quantizer: 'qp',
  } as const;
  return new Coded(frames, { name: 'a', frames: [], report: run });
}

describe('coded frames', () => {
  it('belong to the pairs that show them, after skipped frames', () => {
    const run = report();
    const { pairs } = coded([1, 2, 3, 4], { ...run, distorted: { ...run.distorted, skipped: 2 } });
    expect([...pairs]).toEqual([-2, -1, 0, 1]);
  });

  it('have a bit rate over a span and over a second', () => {
    const video = coded(
      Array.from({ length: 50 }, (_, i) => (i < 25 ? 100 : 300)),
      report(),
    );
    expect(video.rate(0, 24)).toBeCloseTo(8 * 2500, 6);
    expect(video.rate(25, 49)).toBeCloseTo(8 * 7500, 6);
    expect(video.rates()[12]).toBeCloseTo(8 * 100 * 25, 6);
    expect(video.rates()[25]).toBeGreaterThan(8 * 100 * 25);
  });

  it('are those of the track that was scored', async () => {
    let failures = 1;
    /** Answers with the track as the size of the only frame. */
    class Reader {
      onmessage: ((event: { readonly data: unknown }) => void) | null = null;
      postMessage({
        call,
        argument,
      }: {
        readonly call: number;
        readonly argument: { readonly track?: number };
      }) {
        const one = (value: number) => Float64Array.of(value);
        const bytes = one(100 + (argument.track ?? -1));
        const result = { times: one(0), bytes, kinds: Uint8Array.of(0), quantizers: one(Number.NaN) };
        const lost = argument.track === 5 && failures-- > 0;
        const failure = { name: 'Error', message: 'lost' };
        queueMicrotask(() => this.onmessage?.({ data: lost ? { call, failure } : { call, result } }));
      }
      terminate() {}
    }
    vi.stubGlobal('Worker', Reader);
    const file = new File(['v'], 'two.mkv');
    const source = { reference: file, distorted: file, options: {} };
    const of = async (track?: number) => {
      const run = track === undefined ? undefined : report({ pairing: paired({ track, tracks: 2 }) });
      const coded = await codedOf({ name: 'two', frames: [], source, ...(run && { report: run }) });
      return coded?.frames.bytes[0];
    };
    expect([await of(), await of(0), await of(1), await of(0)]).toEqual([99, 100, 101, 100]);
    // A failure is not remembered.
    await expect(of(5)).rejects.toThrow('lost');
    expect(await of(5)).toBe(105);
    vi.unstubAllGlobals();
  });

  it('find the next and previous key frame', () => {
    const video = coded([9, 1, 1, 9, 1], report(), ['key', 'P', 'B', 'key', 'P']);
    expect([video.key(0, 1), video.key(3, 1), video.key(2, -1), video.key(0, -1)]).toEqual([
      3,
      undefined,
      0,
      undefined,
    ]);
    expect([video.nearest(2.6), video.nearest(-5), video.nearest(99)]).toEqual([3, 0, 4]);
  });
});

function columnsOf(metric: string, values: readonly number[]): Columns {
  const columns = new Columns();
  for (const [frameNum, value] of values.entries()) columns.add({ frameNum, metrics: { [metric]: value } });
  return columns;
}

describe('spans and shots', () => {
  it('computes statistics of a span', () => {
    const columns = columnsOf('vmaf', [10, 20, 30, 40, 90]);
    const { count, mean, min, harmonic_mean, percentile } = columns.statistics('vmaf', [1, 3]) ?? {};
    expect({ count, mean, min }).toEqual({ count: 3, mean: 30, min: 20 });
    expect(harmonic_mean).toBeCloseTo(3 / (1 / 21 + 1 / 31 + 1 / 41) - 1, 9);
    expect(percentile?.(5)).toBeCloseTo(21, 9);
    expect(columns.statistics('vmaf', [7, 9])).toBeUndefined();
  });

  it('finds cuts by change relative to the neighbours, not by fast motion', () => {
    const change = Array.from({ length: 60 }, (_, i) =>
      i === 20 || i === 23 ? 60 : i > 40 ? 30 + (i % 3) : 2,
    );
    expect(shotsOf(columnsOf('VMAF_integer_feature_motion_sad_score', change))).toEqual([20, 23]);
    expect(shotsOf(columnsOf('vmaf', change))).toEqual([]);
  });

  it('places thumbnails near their frames, without overlap and within the width', () => {
    const at = (...places: number[]) => places.map((at, frame) => ({ frame, at }));
    expect(placed(at(300), 100, 600).map(({ middle }) => middle)).toEqual([300]);
    expect(placed(at(598, 2, 590), 100, 600).map(({ middle }) => middle)).toEqual([50, 444, 550]);
    // Without room, the least important ones are left out.
    expect(placed(at(50, 60, 70), 100, 210).map(({ frame }) => frame)).toEqual([0, 1]);
  });
});
