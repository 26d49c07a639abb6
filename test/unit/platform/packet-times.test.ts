/**
 * @module test/unit/platform/packet-times
 * Presentation times from packets, where a clock is set back in the middle.
 */
import { describe, expect, it } from 'vitest';
import { PacketTimes } from '../../../src/platform/ffmpeg/packet-times.js';

/** Times of packets whose clock, in units of 1/25 s, shows `ticks`. */
function times(ticks: readonly number[]) {
  const packets = new PacketTimes();
  for (const tick of ticks) packets.take(`packet|pts=${tick}|dts=${tick}|flags=K_`);
  packets.take('stream|has_b_frames=0|time_base=1/25');
  return packets.finish();
}

describe('a clock that is set back', () => {
  it('goes on by an ordinary step, so that no frame is lost', () => {
    const joined = Array.from({ length: 60 }, (_, n) => (n < 40 ? n : n - 40));
    const found = times(joined);
    expect([...(found?.times ?? [])].map((time) => Math.round(25 * time))).toEqual(
      Array.from({ length: 60 }, (_, n) => n),
    );
    expect(found?.setBack).toEqual([40 / 25]);
  });

  it.each([
    ['from the same time on', 0],
    ['between the times of the first', 2.5],
    ['near its end', 5],
  ])('is found in recordings of less than half a second, the second one %s', (_, from) => {
    const joined = Array.from({ length: 20 }, (_, n) => (n < 10 ? n : n - 10 + from));
    const found = times(joined);
    expect(found?.setBack).toEqual([10 / 25]);
    expect([...(found?.times ?? [])].map((time) => Math.round(25 * time))).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  it.each([
    ['two packets', [0, 1, 2, 4, 3, 5, 6]],
    ['a run of packets', [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13]],
    ['the last ones', [0, 1, 6, 7, 2, 3, 4, 5]],
    ['unevenly spaced ones', [0, 1, 1.25, 1.75, 1.5, 2, 3, 4, 5]],
  ])('is none where %s merely come in another order', (_, ticks) => {
    expect(times(ticks)?.setBack).toBeUndefined();
  });

  it('takes time in proportion to the packets, however often they go back', () => {
    const ticks = Array.from({ length: 200_000 }, (_, n) => (n % 6 === 5 ? n - 5.5 : n));
    expect(times(ticks)?.times.length).toBe(200_000);
  });
});
