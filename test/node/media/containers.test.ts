/**
 * @module test/node/media/containers
 * Files that end before their container does, made by hand and by ffmpeg in every container; and times from an index, which are
 * those that ffprobe reads with all the pictures.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspect, score } from '../../../src/index.js';
import { findCutOff } from '../../../src/media/file-notes.js';
import { readIndexedTimes } from '../../../src/media/mp4-times.js';
import { bytesReader } from '../../../src/media/readers.js';
import { PacketTimes } from '../../../src/platform/ffmpeg/times.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { type Encode, encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { ascii, concat } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { exhaustive, tier } from '../../support/tier.js';

const cutOff = (bytes: Uint8Array): Promise<string | undefined> => findCutOff(bytesReader(bytes));
const zeros = (length: number): Uint8Array => new Uint8Array(length);

/** Big endian. */
const number = (value: number, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) % 256);

const box = (type: string, body: Uint8Array, length = 8 + body.length): Uint8Array =>
  concat(number(length, 4), ascii(type), body);

const start = box('ftyp', ascii('isom'));
const large = concat(number(1, 4), ascii('mdat'), number(2 ** 33, 8), zeros(100));
// Version 0: reference, time scale, earliest time, offset of the first; then two fragments of 60 bytes.
const fragment = concat(number(60, 4), zeros(8));
const index = concat(zeros(22), number(2, 2), fragment, fragment);
const indexedPart = concat(start, box('sidx', index), box('moof', zeros(52)));

const head = concat(number(0x1a45dfa3, 4), Uint8Array.of(0x84), zeros(4));
const UNKNOWN = Uint8Array.of(0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
const segment = (size: Uint8Array, ...body: Uint8Array[]) =>
  concat(head, number(0x18538067, 4), size, ...body);
const element = (id: number, length: number, there = length) =>
  concat(number(id, id > 0xff ? 4 : 1), Uint8Array.of(0x40, length), zeros(there));
const cluster = (size: Uint8Array, ...body: Uint8Array[]) => concat(number(0x1f43b675, 4), size, ...body);
const live = (size: Uint8Array, there = 50) =>
  segment(UNKNOWN, cluster(size, element(0xe7, 1), element(0xa3, 50, there)));

const transport = (count: number, length = 188, sync = 0) => {
  const bytes = zeros(count * length);
  for (let i = 0; i < count; i++) bytes[i * length + sync] = 0x47;
  return bytes;
};
const chunk = (size: number, there: number) =>
  concat(ascii('RIFF'), number(size, 4).reverse(), ascii('AVI '), zeros(there));
const page = (body: number, there: number) =>
  concat(ascii('OggS'), zeros(22), Uint8Array.of(1, body), zeros(there));

it.each<[string, Uint8Array, string?]>([
  ['MP4', concat(start, box('moov', zeros(40)), box('mdat', zeros(100)))],
  ['MP4 with a short box', concat(start, box('mdat', zeros(100), 300)), '108 of 300 bytes of the mdat box'],
  ['MP4 with a size of 64 bits', concat(start, large), '116 of 8589934592 bytes of the mdat box'],
  ['MP4 with a last box up to the end of the file', concat(start, box('mdat', zeros(100), 0))],
  ['MP4 with something else behind it', concat(start, box('mdat', zeros(100)), zeros(20))],
  ['MP4 cut between fragments', indexedPart, '128 of 188 bytes of the segments in its index'],
  ['Matroska', segment(Uint8Array.of(0x8a), element(0xec, 7))],
  ['Matroska, cut', segment(Uint8Array.of(0xe4), element(0xec, 7)), '10 of 100 bytes of its segment'],
  ['live Matroska', live(UNKNOWN)],
  ['live Matroska, cut within a block', live(UNKNOWN, 20), '20 of 50 bytes of its last element'],
  ['live Matroska, cut after a block', live(Uint8Array.of(0xe4)), '57 of 100 bytes of its last cluster'],
  ['Matroska with an unknown element', segment(UNKNOWN, element(0x99, 50, 20))],
  ['a transport stream', transport(5)],
  ['the same cut within a packet', transport(5).subarray(0, -100), '88 of 188 bytes of its last packet'],
  ['the same with more behind its packets', concat(transport(4), zeros(188), zeros(9))],
  ['M2TS', transport(5, 192, 4).subarray(0, -1), '191 of 192 bytes of its last packet'],
  ['AVI', concat(chunk(104, 100), chunk(54, 50))],
  ['AVI whose size was never written', chunk(0, 100)],
  ['AVI, cut', concat(chunk(104, 100), chunk(54, 40)), '44 of 54 bytes of the RIFF chunk'],
  ['Ogg', concat(page(80, 80), page(90, 90))],
  ['Ogg, cut in its last page', concat(page(80, 80), page(90, 20)), '48 of 118 bytes of its last page'],
  ['text', ascii('once upon a time'.repeat(40))],
  ['nothing', zeros(0)],
])('%s is whole or says what is missing', async (_, bytes, missing) => {
  expect(await cutOff(bytes)).toBe(missing && `found only ${missing}`);
});

describe.runIf(hasFfmpeg)(`what ffmpeg writes (${needsFfmpeg})`, () => {
  const folder = encodeFolder();
  const whole = () => encode({ codec: 'h264', frames: 60, extension: 'mkv' });
  const copies: readonly [string, readonly string[]][] = [
    ['mp4', []],
    ['mov', ['-movflags', '+faststart']],
    ['mp4', ['-movflags', 'frag_keyframe+empty_moov']],
    ['mp4', ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx']],
    ['mkv', []],
    ['mkv', ['-live', '1']],
    ['ts', []],
    ['m2ts', ['-mpegts_m2ts_mode', '1']],
    ['avi', ['-bsf:v', 'h264_mp4toannexb']],
  ];

  it.each(copies)('as %s %j is whole, and half of it is not', async (extension, options) => {
    const name = `${options.join('').replace(/\W/g, '')}whole.${extension}`;
    const path = ffmpeg(join(folder, name), ['-i', whole(), '-c', 'copy', ...options]);
    const bytes = new Uint8Array(readFileSync(path));
    expect(await cutOff(bytes)).toBeUndefined();
    const half = await cutOff(bytes.subarray(0, (bytes.length >> 1) | 1));
    expect(half).toMatch(/^found only \d+ of \d+ bytes of /);
  });

  it('to a pipe is whole, although sizes cannot be written later', async () => {
    const path = join(folder, 'piped.mkv');
    const bytes = execFileSync('ffmpeg', ['-v', 'error', '-i', whole(), '-c', 'copy', '-f', 'matroska', '-']);
    writeFileSync(path, bytes);
    expect(await cutOff(new Uint8Array(bytes))).toBeUndefined();
  });
});

function probed(path: string) {
  const packets = new PacketTimes();
  const args = ['-v', 'error', '-select_streams', 'V:0', '-of', 'compact', '-show_entries'];
  const entries = 'packet=pts,dts,flags:stream=has_b_frames,time_base:format=format_name';
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

const UNEVEN = "setpts='N*0.04/TB+floor(N/3)*0.01/TB'";
const MADE: readonly (readonly [string, Encode])[] = [
  ['H.264 with B-frames', { codec: 'h264' }],
  ['HEVC', { codec: 'hevc', frames: 40 }],
  ['a rate of 30000/1001', { codec: 'h264', rate: '30000/1001', frames: 77 }],
  ['uneven times', { codec: 'h264', extra: ['-vf', UNEVEN, '-fps_mode', 'vfr'] }],
  ['a late start', { codec: 'h264', extra: ['-output_ts_offset', '1.5'] }],
  ['H.264 in a MOV', { codec: 'h264', extension: 'mov' }],
  ['AV1 in MP4', { codec: 'av1', extension: 'mp4', frames: 8 }],
  ['its index in front', { codec: 'h264', extra: ['-movflags', '+faststart'] }],
];

describe.runIf(hasFfmpeg)(`times of an index (${needsFfmpeg})`, () => {
  it.each(tier(MADE.slice(0, 5), MADE))('%s', async (_, options) => {
    const path = encode(options);
    const found = await indexed(path);
    expect(found).toBeDefined();
    expect(found).toEqual(probed(path));
  });

  it('are not given for fragments, other containers and edits that leave out frames', async () => {
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
      expect(found).toEqual(found && probed(path));
    }
    for (const at of [0, 2]) expect(await indexed(others[at] ?? '')).toBeUndefined();
  });

  it('and fragments after it are one video for every decoder that can read it', async () => {
    const path = encode({ codec: 'h264', frames: 36, extra: ['-g', '12', '-movflags', 'frag_keyframe'] });
    expect(await indexed(path)).toBeUndefined();
    const decoders = await nodePlatform.decoders({ urls: false });
    // ffmpeg.wasm reads as ffmpeg does, and takes a second to start.
    for (const decoder of decoders.filter(({ id }) => exhaustive || id !== 'wasm')) {
      if (!(await decoder.availability()).usable) continue;
      if (decoder.id === 'mediabunny') {
        await expect(decoder.probe(path)).rejects.toThrow('continues in fragments after its index');
        continue;
      }
      const facts = await decoder.probe(path);
      expect([facts.frameCount, (await decoder.timestamps(path))?.times.length]).toEqual([null, 36]);
    }
    const range = { unit: 'frames', start: 0, end: 30 } as const;
    const options = { range, features: ['psnr'], noPrediction: true, threads: 0 };
    expect((await score({ reference: path, distorted: path }, options)).frameCount).toBe(30);
  });

  it('of a bare segment are read once it is joined as its refusal says', async () => {
    const whole = encode({ codec: 'h264', frames: 36, extra: ['-g', '12'] });
    const folder = mkdtempSync(join(encodeFolder(), 'segments-'));
    const stream = ['-c', 'copy', '-f', 'hls', '-hls_time', '0.4', '-hls_segment_type', 'fmp4', 'list.m3u8'];
    execFileSync('ffmpeg', ['-v', 'error', '-i', whole, ...stream], { cwd: folder });
    const segment = join(folder, 'list0.m4s');
    const refused = await refusalOf('media', () => inspect({ reference: whole, distorted: segment }));
    const [, command = ''] = /prepend that segment: (cat .*)\.$/.exec(refused) ?? [];
    execFileSync('sh', ['-c', command], { cwd: folder });
    const { distorted } = await inspect({ reference: whole, distorted: join(folder, 'whole.mp4') });
    expect(distorted.timestamps).toHaveLength(12);
  });

  it('of a damaged file end, and take little memory', { timeout: 60_000 }, async () => {
    const bytes = readFileSync(encode({ codec: 'h264', extra: ['-movflags', '+faststart'] }));
    const random = seeded(18);
    for (let i = 0; i < tier(300, 2000); i++) {
      const copy = Uint8Array.from(bytes);
      for (let n = random.int(1, 6); n > 0; n--) copy[random.int(24, 1500)] = random.int(0, 255);
      const found = await readIndexedTimes(bytesReader(copy.subarray(0, random.int(100, copy.length))));
      expect(found?.pts.length ?? 0).toBeLessThan(1 << 27);
    }
  });
});
