/**
 * @module test/unit/media/vpx
 * Which packets of VP8 and VP9 show a frame.
 */
import { describe, expect, it } from 'vitest';
import { isCrowded, showsFrame } from '../../../src/media/evidence/vpx.js';

describe('a packet', () => {
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
  ])('of %s', (_, codec, bytes, shown) => {
    expect(showsFrame(codec, Uint8Array.from(bytes))).toBe(shown);
  });
});

describe('times', () => {
  it.each<[string, readonly number[], boolean]>([
    ['even', [0, 40, 80, 120], false],
    ['a frame late by a millisecond', [0, 40, 81, 120], false],
    ['a tick after the one before', [0, 1, 40, 80, 120], true],
    ['two at once', [0, 40, 40, 80], true],
    ['none', [], false],
  ])('%s', (_, times, crowded) => {
    expect(isCrowded(times)).toBe(crowded);
  });
});
