/**
 * @module test/unit/media/evidence-track
 * Which of several video tracks is read, what is said of it, and how frames and bytes of a track are counted.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { declaredBitrate, packetBitrate } from '../../../src/media/evidence/bitrate.js';
import { declaredFrames, packetsOfOneTime } from '../../../src/media/evidence/frame-count.js';
import { chooseTrack, isClearTrack, type VideoTrack } from '../../../src/media/evidence/track.js';
import { preflight } from '../../../src/media/preflight/index.js';

const track = (width: number, isDefault = false): VideoTrack => ({
  width,
  height: (width * 9) / 16,
  isDefault,
});
const [small, large] = [track(160), track(640)];
const side = { name: 'a.mkv', width: 640, height: 360, bitDepth: 8, chroma: '420', frameCount: 50 } as const;

describe('the video track', () => {
  it.each<[string, VideoTrack[], number | undefined, number | undefined]>([
    ['only one', [small], undefined, undefined],
    ['none', [], undefined, undefined],
    ['the default one', [track(160, true), large], undefined, 0],
    ['the default one that comes later', [small, track(320, true), large], undefined, 1],
    ['the largest without a default', [small, large, track(320)], undefined, 1],
    ['the largest of several defaults', [track(160, true), track(640, true)], undefined, 1],
    ['the first of equal ones', [large, large], undefined, 0],
    ['the one asked for', [track(160, true), large], 1, 1],
    ['the first, asked for, of one', [small], 0, undefined],
  ])('is %s', (_, tracks, asked, index) => {
    const request = asked === undefined ? undefined : ({ index: asked, option: 'trackDistorted' } as const);
    expect(chooseTrack(tracks, request, 'a.mkv')?.index).toBe(index);
  });

  it('that is not there is refused with those that are', () => {
    const choose = () =>
      chooseTrack([track(160, true), large], { index: 2, option: 'trackReference' }, 'a.mkv');
    expect(choose).toThrow(AnyvmafError);
    expect(choose).toThrow(
      'trackReference is 2, but a.mkv has 2 video tracks: track 0 (160x90, default), track 1 (640x360).',
    );
  });

  it.each<[boolean, string, VideoTrack[], boolean]>([
    [true, 'asked for', [large, track(640)], true],
    [true, 'larger than all others', [track(640, true), small], false],
    [false, 'the default one beside a larger one', [track(160, true), large], false],
    [false, 'as large as another', [track(640, true), track(640)], false],
  ])('is clear: %s where it is %s', (clear, _, tracks, asked) => {
    const choice = { index: 0, tracks, asked };
    expect(isClearTrack(choice)).toBe(clear);
    const findings = preflight(side, { ...side, track: choice }).filter(({ code }) => code === 'tracks');
    expect(findings).toMatchObject([
      { severity: clear ? 'info' : 'warning', reference: null, distorted: '0 of 2' },
    ]);
    expect(findings[0]?.fix).toBe(clear ? undefined : 'to accept, pass trackDistorted: 0');
  });
});

describe('packets of one time', () => {
  it.each<[string, string, number[], string, number?]>([
    ['h264', 'tt', [0, 0, 1, 1], 'one'],
    ['h264', 'tt', [0, 1, 1, 2], 'unknown'],
    ['h264', 'progressive', [0, 1, 1, 2], 'frames'],
    ['hevc', '', [0, 0, 1, 1], 'frames'],
    ['vp9', '', [0, 1, 1, 2], 'one'],
    ['vp9', '', [0, 10, 11, 20, 30], 'unknown'],
    // Fields with times of their own come twice as often as frames.
    ['h264', 'tt', [0, 1, 2, 3, 4, 5], 'unknown', 2],
    ['h264', 'tt', [0, 2, 4, 6, 8, 10], 'frames', 2],
    ['h264', 'progressive', [0, 1, 2, 3, 4, 5], 'frames', 2],
  ])('of %s %s at %j are %s', (codec, fieldOrder, times, expected, frameTime) => {
    expect(packetsOfOneTime({ codec, fieldOrder, times, ...(frameTime && { frameTime }) })).toBe(expected);
  });
});

describe('what is declared of frames and bit rates', () => {
  it('is believed where it fits', () => {
    expect(declaredFrames(240, 10, 24)).toBe(240);
    expect(declaredFrames(12, 10, 24)).toBeNull();
    expect(declaredFrames(12, null, undefined)).toBe(12);
    expect(declaredFrames(undefined, 10, 24)).toBeNull();
    expect(declaredBitrate({ indexed: 900, tag: 500, file: 1000 })).toBe(900);
    expect(declaredBitrate({ tag: 500, file: 1000 })).toBe(500);
    expect(declaredBitrate({ tag: 15_000_000, file: 150_000 })).toBe(150_000);
    expect(declaredBitrate({ tag: 500 })).toBe(500);
    expect(declaredBitrate({})).toBeNull();
  });

  it('is less than what packets show', () => {
    expect(packetBitrate(1000, Float64Array.of(0, 0.5, 1, 1.5))).toBe(4000);
    expect(packetBitrate(1000, Float64Array.of(0))).toBeUndefined();
  });
});
