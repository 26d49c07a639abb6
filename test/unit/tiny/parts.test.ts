/**
 * @module test/unit/tiny/parts
 * Parts of tiny models: codec blocks by hand, pictures as models are given them, half precision, calls in turn.
 */
import { describe, expect, it, test } from 'vitest';
import type { FramePlanes, VideoFormat } from '../../../src/core/frame.js';
import type { PictureBinding } from '../../../src/tiny/bind.js';
import { codecBlock, presetOrdinal } from '../../../src/tiny/features.js';
import { fromHalves, toHalves } from '../../../src/tiny/ort.js';
import { Resampler, TinyPictureScorer } from '../../../src/tiny/scorers.js';
import { openSession } from '../../../src/tiny/session.js';
import type { CodecBlockSpec, TinyModel, TinySession, TinyTensor } from '../../../src/tiny/types.js';

const FACTS = { runtime: 'onnxruntime-node', device: 'cpu', notes: [] } as const;

const SECOND: CodecBlockSpec = {
  vocabulary:
    'libx264 libx265 libsvtav1 libvvenc libvpx-vp9 h264_nvenc hevc_nvenc av1_nvenc h264_qsv hevc_qsv av1_qsv unknown'.split(
      ' ',
    ),
  presetNorm: { kind: 'ordinal' },
  crfNorm: { kind: 'div63' },
};
const THIRD: CodecBlockSpec = {
  vocabulary:
    'libx264 libaom-av1 libx265 h264_nvenc hevc_nvenc av1_nvenc h264_amf hevc_amf av1_amf h264_qsv hevc_qsv av1_qsv libvvenc libsvtav1 h264_videotoolbox hevc_videotoolbox'.split(
      ' ',
    ),
  presetNorm: { kind: 'constant', value: 0.5 },
  crfNorm: { kind: 'minmax', min: 19, max: 37 },
};

const second = (facts: Parameters<typeof codecBlock>[2], slots = 14) => codecBlock(SECOND, slots, facts, 'm');
const third = (facts: Parameters<typeof codecBlock>[2]) => codecBlock(THIRD, 18, facts, 'm');

describe('a codec block', () => {
  it('has a slot, preset / 9 and crf / 63 in the second generation', () => {
    const block = second({ codec: 'libx264', preset: 'medium', crf: 28 });
    expect([...block]).toEqual([1, ...Array<number>(11).fill(0), Math.fround(5 / 9), Math.fround(28 / 63)]);
  });

  it('has a constant preset and an unclamped crf in the third', () => {
    const block = third({ codec: 'h264_nvenc', crf: 10 });
    expect(block.indexOf(1)).toBe(3);
    expect([...block.slice(16)]).toEqual([0.5, Math.fround((10 - 19) / 18)]);
    // The preset does not count there, whatever it is called.
    expect(third({ codec: 'h264_amf', preset: 'balanced', crf: 10 })[16]).toBe(0.5);
  });

  it('may be the slots alone', () => {
    const avc = { codec: 'avc', crf: 1 };
    expect([...codecBlock({ ...SECOND, vocabulary: ['libx264'] }, 1, avc, 'm')]).toEqual([1]);
    expect(() => second(avc, 13)).toThrow('need 12 or, with preset and rate factor, 14');
  });

  it('knows encoders by their aliases', () => {
    const aliases = { h264: 0, avc: 0, hevc: 1, h265: 1, av1: 2, vvc: 3, h266: 3, vp9: 4, unknown: 11 };
    for (const [codec, slot] of Object.entries(aliases))
      expect(second({ codec, crf: 30 }).indexOf(1), codec).toBe(slot);
    expect(third({ codec: 'AV1', crf: 30 }).indexOf(1)).toBe(13);
  });

  it('needs an encoder that the model knows, and a crf', () => {
    expect(() => second({ codec: 'libx264' })).toThrow('tiny_crf');
    expect(() => second({ crf: 3 })).toThrow('tiny_codec');
    const mpeg2 = { codec: 'mpeg2', crf: 3 };
    expect(() => second(mpeg2)).toThrow('does not support; it supports libx264, ');
    expect(() => third({ codec: 'unknown', crf: 3 })).toThrow('does not support');
  });
});

describe('the place of a preset', () => {
  it.each([
    ['libx264', 'ultrafast', 0],
    ['libx265', 'placebo', 9],
    ['libvvenc', 'faster', 1],
    ['libvvenc', 'slower', 8],
    ['libvpx-vp9', 'realtime', 0],
    ['libvpx-vp9', 'best', 9],
    ['hevc_nvenc', 'p4', 5],
    ['av1_nvenc', 'p7', 9],
    ['h264_qsv', 'veryfast', 2],
    ['h264_qsv', 'veryslow', 8],
    ['libsvtav1', '4', 4],
    ['libsvtav1', '13', 9],
    ['libx264', undefined, 5],
  ])('of %s %s is %d', (encoder, preset, place) => expect(presetOrdinal(encoder, preset)).toBe(place));

  it('is refused where the encoder has no such preset', () => {
    expect(() => presetOrdinal('libx264', 'p4')).toThrow('libx264 does not have; it has ultrafast');
    expect(() => presetOrdinal('libsvtav1', 'medium')).toThrow('a number from 0 to 13');
    expect(() => presetOrdinal('libx264', 'constructor')).toThrow('does not have');
  });
});

function resized(filter: 'nearest' | 'bilinear' | 'bicubic', source: number[], width: number): number[] {
  const into = new Float32Array(width);
  new Resampler({ width: source.length, height: 1 }, { width, height: 1 }, filter).plane(source, into);
  return [...into].map((value) => Number(value.toFixed(5)));
}

describe('resizing', () => {
  it('takes half-pixel centres: a result of half the size lies between two samples', () => {
    expect(resized('bilinear', [0, 10, 20, 30], 2)).toEqual([5, 25]);
    expect(resized('nearest', [0, 10, 20, 30], 2)).toEqual([10, 30]);
    // Catmull-Rom at a half: -1/16, 9/16, 9/16, -1/16, the edge repeated.
    expect(resized('bicubic', [0, 10, 20, 30], 2)).toEqual([(90 - 20) / 16, (180 + 270 - 10 - 30) / 16]);
  });

  it('repeats edges when it enlarges, and keeps what has the size already', () => {
    expect(resized('bilinear', [0, 8], 4)).toEqual([0, 2, 6, 8]);
    expect(resized('nearest', [0, 8], 4)).toEqual([0, 0, 8, 8]);
    for (const filter of ['nearest', 'bilinear', 'bicubic'] as const)
      expect(resized(filter, [3, 1, 4, 1, 5], 5)).toEqual([3, 1, 4, 1, 5]);
  });

  it('works in both directions', () => {
    const into = new Float32Array(1);
    new Resampler({ width: 2, height: 2 }, { width: 1, height: 1 }, 'bilinear').plane([0, 4, 8, 12], into);
    expect(into[0]).toBe(6);
  });
});

const BINDING: PictureBinding = {
  ...{ source: 'm', name: 'm', channels: 1, height: null, width: null, mean: [0], std: [1] },
  kind: 'picture',
  outputs: [{ tensor: 'y', metric: 'm' }],
  inputs: [{ tensor: 'x', role: 'distorted' }],
  resize: 'disabled',
};
const COLOUR = { ...BINDING, channels: 3, mean: [0, 0, 0], std: [1, 1, 1] } as const;

/** What the graph was given, and a session that answers with a number. */
function recorder(answer: number[] = [1]): { session: TinySession; seen: Record<string, TinyTensor>[] } {
  const seen: Record<string, TinyTensor>[] = [];
  const run: TinySession['run'] = async (inputs) => {
    seen.push({ ...inputs });
    return { y: { data: Float32Array.from(answer), dims: [answer.length] } };
  };
  return { seen, session: { ...FACTS, run, close: async () => {} } };
}

const tiny = { width: 2, height: 1, bitDepth: 8, chroma: '444' } as const;
const other = { y: new Uint8Array(2), cb: new Uint8Array(2), cr: new Uint8Array(2) };

/** What the graph is given of a distorted picture. */
async function given(binding: PictureBinding, shown: FramePlanes, video: VideoFormat = tiny) {
  const { session, seen } = recorder();
  const scorer = new TinyPictureScorer(binding, session, video);
  scorer.take(other, shown);
  await scorer.score(0, new Float64Array(1), 0);
  return seen[0]?.x;
}

describe('a picture', () => {
  it('is luma over its peak, at 8 and at 10 bit, and normalised after that', async () => {
    const y = Uint8Array.of(0, 255);
    expect(await given(BINDING, { y })).toEqual({ data: Float32Array.of(0, 1), dims: [1, 1, 1, 2] });
    const deep = { y: new Uint8Array(Uint16Array.of(1023, 341).buffer) };
    const ten = await given(BINDING, deep, { ...tiny, bitDepth: 10 });
    expect([...(ten?.data ?? [])]).toEqual([1, Math.fround(341 / 1023)]);
    const normalised = await given({ ...BINDING, mean: [0.5], std: [0.25] }, { y });
    expect([...(normalised?.data ?? [])]).toEqual([-2, 2]);
  });

  it('is BT.709 of limited range as 8-bit RGB where there are three channels', async () => {
    // Black, white, and the primaries red and blue of BT.709.
    const planes = {
      y: Uint8Array.of(16, 235, 63, 32),
      cb: Uint8Array.of(128, 128, 102, 240),
      cr: Uint8Array.of(128, 128, 240, 118),
    };
    const x = await given(COLOUR, planes, { ...tiny, width: 4 });
    const samples = [...(x?.data ?? [])].map((value) => Math.round(value * 255));
    expect(samples.slice(0, 4)).toEqual([0, 255, 255, expect.closeTo(1, -1)]);
    expect(samples.slice(4, 8)).toEqual([0, 255, expect.closeTo(0, -1), expect.closeTo(0, -1)]);
    expect(samples.slice(8, 12)).toEqual([0, 255, expect.closeTo(0, -1), 255]);
  });

  it('of another size is refused, or resized when that is asked for', () => {
    const { session } = recorder();
    const fixed = { ...BINDING, width: 224, height: 224 };
    const strict = () => new TinyPictureScorer(fixed, session, tiny);
    expect(strict).toThrow('takes pictures of 224x224, but these are 2x1');
    expect(() => new TinyPictureScorer({ ...fixed, resize: 'bicubic' }, session, tiny)).not.toThrow();
    expect(() => new TinyPictureScorer(COLOUR, session, { ...tiny, chroma: '400' })).toThrow('only luma');
  });

  it('must be scored with one number', async () => {
    const scored = async (answer: number[], binding: Partial<PictureBinding> = {}) => {
      const scorer = new TinyPictureScorer({ ...BINDING, ...binding }, recorder(answer).session, tiny);
      const into = new Float64Array(1);
      await scorer.score(7, into, 0);
      return into[0];
    };
    await expect(scored([Number.NaN])).rejects.toThrow('returns NaN for frame 7');
    await expect(scored([Number.POSITIVE_INFINITY])).rejects.toThrow('returns Infinity for frame 7');
    await expect(scored([1, 2])).rejects.toThrow('returns 2 values as "y" for one frame');
    const unnamed = scored([1], { outputs: [{ tensor: 'z', metric: 'm' }] });
    await expect(unnamed).rejects.toThrow('returns no values as "z"');
    expect(await scored([1, 2], { reduce: 'mean' })).toBe(1.5);
    expect(await scored([7], { range: [1, 5] })).toBe(5);
  });
});

test('half precision holds what it can hold, and rounds to the nearest, ties to even', () => {
  const exact = [0, -0, 1, -2, 65504, 2 ** -14, 2 ** -24, 0.5, 1024, Number.POSITIVE_INFINITY];
  expect([...fromHalves(toHalves(Float32Array.from(exact)))]).toEqual(exact);
  expect(fromHalves(toHalves(Float32Array.of(Number.NaN)))[0]).toBeNaN();
  const ties = toHalves(Float32Array.of(1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20));
  expect([...ties]).toEqual([0x3c00, 0x3c02, 0x3c01]);
  const ends = toHalves(Float32Array.of(65520, 65519, 2 ** -25, 1.5 * 2 ** -25, 2 ** -26));
  expect([...ends]).toEqual([0x7c00, 0x7bff, 0, 1, 0]);
});

test('calls run one after the other, in the order they were asked for, past one that fails', async () => {
  const told: string[] = [];
  const graph = { inputs: [] } as unknown as TinyModel['graph'];
  const session = await openSession<string>({ source: 'm', graph }, FACTS, async () => ({
    tensor: (_, { data }) => `${data[0]}`,
    async run({ x: name }) {
      told.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, name === '1' ? 20 : 1));
      told.push(`${name} ends`);
      if (name === '2') throw new Error('no');
      return {};
    },
    async release() {
      told.push('released');
    },
  }));
  const results = [1, 2, 3].map((name) => session.run({ x: { data: Float32Array.of(name), dims: [1] } }));
  const settled = Promise.allSettled(results);
  await results[2];
  await session.close();
  expect(told).toEqual([...[1, 2, 3].flatMap((name) => [`${name} begins`, `${name} ends`]), 'released']);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
