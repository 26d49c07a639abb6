/**
 * @module test/platform/packet-times.test
 * Presentation times from packets, where a clock is set back in the middle.
 */
import { describe, expect, it } from 'vitest';
import { PacketTimes } from '../../src/platform/ffmpeg/packet-times.js';

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

  it('is none where packets merely come in another order', () => {
    expect(times([0, 1, 2, 4, 3, 5, 6])?.setBack).toBeUndefined();
  });
});
