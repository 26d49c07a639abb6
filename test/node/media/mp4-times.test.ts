/**
 * @module test/node/media/mp4-times
 * Times that are read from an index are those that ffprobe reads with all the pictures, and doubtful indexes are left to it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readIndexedTimes } from '../../../src/media/mp4-times.js';
import { bytesReader } from '../../../src/media/readers.js';
import { PacketTimes } from '../../../src/platform/ffmpeg/packet-times.js';
import { type Encode, encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { seeded } from '../../support/random.js';

function probed(path: string) {
  const packets = new PacketTimes();
  const args = ['-v', 'error', '-select_streams', 'V:0', '-of', 'compact', '-show_entries'];
  const entries = 'packet=pts,dts,flags:stream=has_b_frames,time_base';
  for (const line of execFileSync('ffprobe', [...args, entries, path], { encoding: 'utf8' }).split('\n'))
    packets.take(line);
  return packets.finish();
}

async function indexed(path: string) {
  const index = await readIndexedTimes(bytesReader(readFileSync(path)));
  if (!index) return undefined;
  const packets = new PacketTimes();
  packets.takeIndex(index);
  return packets.finish();
}

const MADE: readonly (readonly [string, Encode])[] = [
  ['H.264 with B-frames', { codec: 'h264' }],
  ['H.264 in a MOV', { codec: 'h264', extension: 'mov' }],
  ['HEVC', { codec: 'hevc', frames: 40 }],
  ['AV1 in MP4', { codec: 'av1', extension: 'mp4', frames: 8 }],
  ['a rate of 30000/1001', { codec: 'h264', rate: '30000/1001', frames: 77 }],
  [
    'uneven times',
    { codec: 'h264', extra: ['-vf', "setpts='N*0.04/TB+floor(N/3)*0.01/TB'", '-fps_mode', 'vfr'] },
  ],
  ['a late start', { codec: 'h264', extra: ['-output_ts_offset', '1.5'] }],
  ['sound beside it', { codec: 'h264', extra: ['-movflags', '+faststart'] }],
];

describe.runIf(hasFfmpeg)(`times of an index (${needsFfmpeg})`, () => {
  it.each(MADE)('%s', async (_, options) => {
    const path = encode(options);
    const found = await indexed(path);
    expect(found).toBeDefined();
    expect(found).toEqual(probed(path));
  });

  it('of fragments, other containers and edits that leave out frames are not given', async () => {
    const whole = encode({ codec: 'h264', frames: 60 });
    const at = (name: string) => `${encodeFolder()}/${name}`;
    const others = [
      ffmpeg(at('fragments.mp4'), ['-i', whole, '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov']),
      ffmpeg(at('cut.mp4'), ['-ss', '0.5', '-i', whole, '-c', 'copy']),
      ffmpeg(at('other.mkv'), ['-i', whole, '-c', 'copy']),
      ffmpeg(at('other.ts'), ['-i', whole, '-c', 'copy']),
    ];
    for (const path of others) {
      const found = await indexed(path);
      if (found) expect(found).toEqual(probed(path));
      else expect(found).toBeUndefined();
    }
    expect(await indexed(others[0] ?? '')).toBeUndefined();
    expect(await indexed(others[2] ?? '')).toBeUndefined();
  });

  it('that is damaged ends, and takes no memory', { timeout: 60_000 }, async () => {
    const bytes = readFileSync(encode({ codec: 'h264', extra: ['-movflags', '+faststart'] }));
    const random = seeded(18);
    for (let i = 0; i < 2000; i++) {
      const copy = Uint8Array.from(bytes);
      for (let n = random.int(1, 6); n > 0; n--) copy[random.int(24, 1500)] = random.int(0, 255);
      const found = await readIndexedTimes(bytesReader(copy.subarray(0, random.int(100, copy.length))));
      expect(found?.pts.length ?? 0).toBeLessThan(1 << 27);
    }
  });
});
