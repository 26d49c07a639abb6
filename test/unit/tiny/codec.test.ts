/**
 * @module test/unit/tiny/codec
 * Codec blocks by hand, for the two vocabularies that models of the reference have.
 */
import { describe, expect, it } from 'vitest';
import { codecBlock, presetOrdinal } from '../../../src/tiny/codec.js';
import type { CodecBlockSpec } from '../../../src/tiny/types.js';

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

describe('a codec block', () => {
  it('has a slot, preset / 9 and crf / 63 in the second generation', () => {
    const block = codecBlock(SECOND, 14, { codec: 'libx264', preset: 'medium', crf: 28 }, 'm');
    expect([...block]).toEqual([1, ...Array<number>(11).fill(0), Math.fround(5 / 9), Math.fround(28 / 63)]);
  });

  it('has a constant preset and an unclamped crf in the third', () => {
    const block = codecBlock(THIRD, 18, { codec: 'h264_nvenc', crf: 10 }, 'm');
    expect(block.indexOf(1)).toBe(3);
    expect([...block.slice(16)]).toEqual([0.5, Math.fround((10 - 19) / 18)]);
    // The preset does not count there, whatever it is called.
    expect(codecBlock(THIRD, 18, { codec: 'h264_amf', preset: 'balanced', crf: 10 }, 'm')[16]).toBe(0.5);
  });

  it('may be the slots alone', () => {
    expect([...codecBlock({ ...SECOND, vocabulary: ['libx264'] }, 1, { codec: 'avc', crf: 1 }, 'm')]).toEqual(
      [1],
    );
    expect(() => codecBlock(SECOND, 13, { codec: 'avc', crf: 1 }, 'm')).toThrow(
      'make 12 or, with preset and rate factor, 14',
    );
  });

  it('knows encoders by their aliases', () => {
    const aliases = { h264: 0, avc: 0, hevc: 1, h265: 1, av1: 2, vvc: 3, h266: 3, vp9: 4, unknown: 11 };
    for (const [codec, slot] of Object.entries(aliases))
      expect(codecBlock(SECOND, 14, { codec, crf: 30 }, 'm').indexOf(1), codec).toBe(slot);
    expect(codecBlock(THIRD, 18, { codec: 'AV1', crf: 30 }, 'm').indexOf(1)).toBe(13);
  });

  it('needs an encoder that the model knows, and a crf', () => {
    expect(() => codecBlock(SECOND, 14, { codec: 'libx264' }, 'm')).toThrow('tiny_crf');
    expect(() => codecBlock(SECOND, 14, { crf: 3 }, 'm')).toThrow('tiny_codec');
    expect(() => codecBlock(SECOND, 14, { codec: 'mpeg2', crf: 3 }, 'm')).toThrow(
      'does not know; it knows libx264, ',
    );
    expect(() => codecBlock(THIRD, 18, { codec: 'unknown', crf: 3 }, 'm')).toThrow('does not know');
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
