/**
 * @module test/unit/platform/ffmpeg
 * The output of ffmpeg, ffprobe and encoders: facts of tracks, log lines, packet times, releases.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { delivery, pixelFormat, pixelFormatName } from '../../../src/media/delivery.js';
import { parseProbe } from '../../../src/media/facts.js';
import { type LogEvent, parseLogLine } from '../../../src/platform/ffmpeg/log.js';
import { PacketTimes } from '../../../src/platform/ffmpeg/times.js';
import { versionIn } from '../../../src/platform/node/encoding/host.js';
import { refusal } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const stream = {
  ...{ codec_name: 'h264', codec_tag_string: 'avc1', profile: 'High', width: 1920, height: 1080 },
  ...{ pix_fmt: 'yuv420p', sample_aspect_ratio: '1:1', has_b_frames: 2, nb_frames: '240' },
  ...{ avg_frame_rate: '24000/1001', r_frame_rate: '24/1', duration: '10.010000', start_time: '0.083417' },
  ...{ bit_rate: '5000000', color_range: 'tv', color_primaries: 'bt709', color_transfer: 'bt709' },
  ...{ color_space: 'bt709', field_order: 'progressive' },
};
const MP4 = 'mov,mp4,m4a,3gp,3g2,mj2';
const format = { format_name: MP4, duration: '10.1', size: '6262500', bit_rate: '5003750' };

const facts = (changes: object, frame?: object, container: object = format) => {
  const found = { streams: [{ ...stream, ...changes }], frames: frame ? [frame] : [], format: container };
  return parseProbe(found, 'a.mp4').facts;
};

const refused = (changes: object) => refusal('media', () => facts(changes));

describe('facts about a track', () => {
  it('are as ffprobe declares them', () => {
    expect(facts({})).toEqual({
      ...{ name: 'a.mp4', container: MP4, codec: 'h264', profile: 'High', pixelFormat: 'yuv420p' },
      ...{ width: 1920, height: 1080, bitDepth: 8, chroma: '420', rotation: 0, fieldOrder: 'progressive' },
      ...{ frameRate: { num: 24000, den: 1001 }, frameCount: 240, duration: 10.01, startTime: 0.083417 },
      ...{ bitrate: 5_000_000, fileSize: 6_262_500, sampleAspect: { num: 1, den: 1 } },
      ...{ colorRange: 'limited', primaries: 'bt709', transfer: 'bt709', matrix: 'bt709' },
    });
  });

  it('omit unknown values', () => {
    const bare = { codec_name: 'vp9', width: 64, height: 48, pix_fmt: 'yuv420p', sample_aspect_ratio: '0:1' };
    const rates = { avg_frame_rate: '0/0', r_frame_rate: '0/0' };
    const unknown = { ...rates, color_range: 'unknown', profile: 'unknown' };
    expect(parseProbe({ streams: [{ ...bare, ...unknown }] }, 'b').facts).toEqual({
      ...{ name: 'b', container: 'unknown', codec: 'vp9', pixelFormat: 'yuv420p', width: 64, height: 48 },
      ...{ bitDepth: 8, chroma: '420', frameCount: null, duration: null, startTime: null },
      ...{ bitrate: null, fileSize: null, rotation: 0, fieldOrder: 'unknown' },
    });
  });

  it('come from the tags of Matroska, unless these are of the file before it was cut or encoded', () => {
    const tags = { 'NUMBER_OF_FRAMES-eng': '77', DURATION: '00:00:03.211000000', 'BPS-eng': '123456' };
    const none = { nb_frames: undefined, duration: undefined, bit_rate: undefined, tags };
    expect(facts(none)).toMatchObject({ frameCount: 77, duration: 3.211, bitrate: 123_456 });
    const untagged = { frameCount: null, duration: 10.1, bitrate: 5_003_750 };
    expect(facts({ ...none, tags: {} })).toMatchObject(untagged);
    const old = { NUMBER_OF_FRAMES: '86400', BPS: '15000000' };
    expect(facts({ nb_frames: undefined, bit_rate: undefined, tags: old })).toMatchObject({
      ...{ frameCount: null, bitrate: 5_003_750 },
    });
  });

  it.each([
    ['Matroska', 'matroska,webm', { DURATION: '00:00:01.6' }, 1.2],
    ['Matroska without tags', 'matroska,webm', {}, 1.6],
    ['mkvmerge', 'matroska,webm', { DURATION: '00:00:01.2', _STATISTICS_WRITING_APP: 'mkvmerge' }, 1.2],
    ['FLV', 'flv', {}, 2],
  ])('have a duration without the delay before the first frame: %s', (_, format_name, tags, expected) => {
    const late = { duration: undefined, nb_frames: undefined, start_time: '0.400000', tags };
    const { duration } = facts(late, undefined, { ...format, format_name, duration: '2.0' });
    expect(duration).toBeCloseTo(expected, 6);
  });

  it('are not those of the first fragment only', () => {
    const fragment = facts({ nb_frames: '12', bit_rate: '830' });
    expect(fragment).toMatchObject({ frameCount: null, bitrate: 5_003_750 });
    expect(facts({ nb_frames: '238' })).toMatchObject({ frameCount: 238, bitrate: 5_000_000 });
  });

  it.each([
    ['the nominal one if frames were lost', '24126/1000', '25/1', { num: 25, den: 1 }],
    ['the average if ffmpeg rounds the nominal one', '24000/1001', '24/1', { num: 24000, den: 1001 }],
    ['the average of a variable rate', '18/1', '25/1', { num: 18, den: 1 }],
    ['the average if fields are counted', '25/1', '50/1', { num: 25, den: 1 }],
    ['the nominal one if no average is known', '0/0', '30/1', { num: 30, den: 1 }],
  ])('have as frame rate %s', (_, average, nominal, frameRate) => {
    expect(facts({ avg_frame_rate: average, r_frame_rate: nominal }).frameRate).toEqual(frameRate);
  });

  it('have no frame rate if the container has none, which ffmpeg invents', () => {
    expect(facts({}, undefined, { ...format, format_name: 'obu' }).frameRate).toBeUndefined();
  });

  it('have the size and sample aspect of the upright picture', () => {
    const turned = (rotation: number) =>
      facts({ sample_aspect_ratio: '4:3', side_data_list: [{ side_data_type: 'Display Matrix', rotation }] });
    // ffprobe counts counter-clockwise: -90 is a phone held upright.
    const upright = { width: 1080, height: 1920 };
    const portrait = { rotation: 90, ...upright, sampleAspect: { num: 3, den: 4 } };
    expect(turned(-90)).toMatchObject(portrait);
    expect(turned(90)).toMatchObject({ rotation: 270, ...upright });
    const own = { side_data_list: [{ side_data_type: '3x3 displaymatrix', rotation: -90 }] };
    expect(facts({}, { width: 1920, height: 1080, ...own })).toMatchObject({ rotation: 90, ...upright });
    const upsideDown = { rotation: 180, width: 1920, height: 1080, sampleAspect: { num: 4, den: 3 } };
    expect(turned(180)).toMatchObject(upsideDown);
    expect(turned(-180).rotation).toBe(180);
    expect(turned(-0.3).rotation).toBe(0);
  });

  it('have the size of the cropped picture', () => {
    const sides = { crop_top: 8, crop_bottom: 4, crop_left: 2, crop_right: 6 };
    const crop = { side_data_type: 'Frame Cropping', ...sides };
    const cropped = { width: 1912, height: 1068, crop: { left: 2, top: 8, right: 6, bottom: 4 } };
    expect(facts({ side_data_list: [crop] })).toMatchObject(cropped);
    // ffprobe's frame is not cropped.
    expect(facts({ side_data_list: [crop] }, { width: 1920, height: 1080 })).toMatchObject(cropped);
    const none = { side_data_type: 'Frame Cropping', crop_top: 0 };
    expect(facts({ side_data_list: [none] }).crop).toBeUndefined();
  });

  it('prefer the first frame to the container', () => {
    const frame = { pix_fmt: 'yuv420p10le', width: 1280, height: 720, color_range: 'pc' };
    const found = { pixelFormat: 'yuv420p10le', bitDepth: 10, width: 1280, height: 720, colorRange: 'full' };
    expect(facts({}, frame)).toMatchObject(found);
  });

  it.each([
    ['progressive', 'progressive'],
    ['tt', 'top-first'],
    ['tb', 'top-first'],
    ['bb', 'bottom-first'],
    ['bt', 'bottom-first'],
    ['unknown', 'unknown'],
  ])('have the field order %s', (field_order, order) => {
    expect(facts({ field_order }).fieldOrder).toBe(order);
  });

  it('take the field order from the first frame if the track has none, and full range from the layout', () => {
    const interlaced = (frame: object) => facts({ field_order: undefined }, frame).fieldOrder;
    expect(interlaced({ interlaced_frame: 1, top_field_first: 1 })).toBe('top-first');
    expect(interlaced({ interlaced_frame: 1, top_field_first: 0 })).toBe('bottom-first');
    expect(interlaced({ interlaced_frame: 0, top_field_first: 0 })).toBe('progressive');
    expect(facts({ pix_fmt: 'yuvj420p', color_range: undefined }).colorRange).toBe('full');
  });

  it('are refused with a reason', () => {
    expect(refused({ codec_name: undefined, codec_tag_string: 'XYZ1' })).toContain('does not know (XYZ1)');
    expect(refused({ pix_fmt: undefined, codec_name: 'av1' })).toContain('can be decoded as av1');
    expect(refused({ codec_tag_string: 'encv' })).toContain('a.mp4 is encrypted (h264)');
    expect(refused({ pix_fmt: 'gbrp' })).toContain('RGB (gbrp)');
    expect(refused({ pix_fmt: 'pal8' })).toContain('RGB (pal8)');
    expect(refused({ pix_fmt: 'yuv410p' })).toContain('yuv410p, which is not 4:2:0');
    expect(refused({ pix_fmt: 'grayf32le' })).toContain('grayf32le, which is not');
    expect(refused({ width: 0 })).toContain('width 0');
    expect(() => parseProbe({ streams: [] }, 'a\nb')).toThrow('a\\x0ab has no video track');
    for (const nonsense of [null, undefined, 3, 'x', [], { streams: 7 }, { streams: [null] }])
      expect(() => parseProbe(nonsense, 'n')).toThrow(AnyvmafError);
  });

  it('include the profile of Dolby Vision, and grain that the decoder of AV1 adds', () => {
    const record = { side_data_type: 'DOVI configuration record', dv_profile: 5 };
    expect(facts({ side_data_list: [record] })).toMatchObject({ dolbyVision: 5 });
    expect(facts({ codec_name: 'av1', film_grain: 1 })).toMatchObject({ filmGrain: 'added' });
    expect(facts({ codec_name: 'av1', film_grain: 0 })).not.toHaveProperty('filmGrain');
  });
});

describe('pixel formats', () => {
  it.each([
    ['yuv420p', 8, '420'],
    ['yuvj444p', 8, '444'],
    ['yuv422p10le', 10, '422'],
    ['yuv420p9be', 9, '420'],
    ['yuv444p14le', 14, '444'],
    ['yuva444p12le', 12, '444'],
    ['gray', 8, '400'],
    ['gray12le', 12, '400'],
    ['ya8', 8, '400'],
    ['ya16be', 16, '400'],
    ['nv12', 8, '420'],
    ['nv24', 8, '444'],
    ['p010le', 10, '420'],
    ['p212be', 12, '422'],
    ['p416le', 16, '444'],
    ['uyvy422', 8, '422'],
  ])('%s has %i bit %s', (name, bitDepth, chroma) => {
    expect(pixelFormat(name)).toEqual({ bitDepth, chroma });
  });

  const UNUSABLE = 'rgb24 gbrp10le pal8 yuv411p yuv410p yuv440p grayf32le monow xyz12le cuda toString';
  it.each([...UNUSABLE.split(' '), ''])('%s cannot be scored', (name) => {
    expect(pixelFormat(name)).toBeUndefined();
  });

  it("have ffmpeg's names for planar little-endian samples", () => {
    expect(pixelFormatName({ bitDepth: 8, chroma: '420' })).toBe('yuv420p');
    expect(pixelFormatName({ bitDepth: 10, chroma: '422' })).toBe('yuv422p10le');
    expect(pixelFormatName({ bitDepth: 8, chroma: '400' })).toBe('gray');
    expect(pixelFormatName({ bitDepth: 16, chroma: '400' })).toBe('gray16le');
  });
});

describe('delivery', () => {
  it('uses the planar format of the same samples', () => {
    const to = (name: string) => delivery(name, 0, 'f').pixelFormat;
    expect(to('nv12')).toBe('yuv420p');
    expect(to('p010le')).toBe('yuv420p10le');
    expect(to('yuva422p10le')).toBe('yuv422p10le');
    expect(to('ya8')).toBe('gray');
    // Another name for full range would convert it.
    expect(to('yuvj422p')).toBe('yuvj422p');
  });

  it('keeps alpha on request, with grey as RGB', () => {
    const kept = (name: string, rotation: 0 | 90 = 0) => {
      const { pixelFormat, chroma, alpha } = delivery(name, rotation, 'f', { alpha: true, matrix: 'gbr' });
      return `${pixelFormat} ${chroma} ${alpha === true}`;
    };
    expect(kept('yuva420p')).toBe('yuva420p 420 true');
    expect(kept('yuva444p12be')).toBe('yuva444p12le 444 true');
    expect(kept('yuva422p10le', 90)).toBe('yuva444p10le 444 true');
    expect(kept('yuv420p')).toBe('yuv420p 420 false');
    expect(kept('ya8')).toBe('gbrap 444 true');
    expect(kept('ya16be')).toBe('gbrap16le 444 true');
    expect(kept('rgba64be')).toBe('gbrap16le 444 true');
    expect(kept('rgb24')).toBe('gbrp 444 false');
  });

  it('repeats chroma if no other format holds it, with a note', () => {
    expect(delivery('yuv411p', 0, 'f')).toMatchObject({ pixelFormat: 'yuv422p', chroma: '422' });
    expect(delivery('yuvj440p', 0, 'f')).toMatchObject({ pixelFormat: 'yuvj444p', chroma: '444' });
    expect(delivery('yuv440p10le', 0, 'f')).toMatchObject({ pixelFormat: 'yuv444p10le', bitDepth: 10 });
    expect(delivery('yuv422p10le', 90, 'f')).toMatchObject({ pixelFormat: 'yuv444p10le', chroma: '444' });
    expect(delivery('yuv422p', 180, 'f').note).toBeUndefined();
    expect(delivery('yuv420p', 270, 'f').note).toBeUndefined();
    expect(delivery('yuv411p', 0, 'f').note).toContain('repeated, as 4:2:2');
  });
});

const lines: readonly (readonly [string, LogEvent | undefined])[] = [
  // 5.1
  [
    '[Parsed_showinfo_0 @ 0x55] [info] n:   1 pts:    512 pts_time:0.04    pos:    13236 fmt:yuv420p sar:1/1 s:320x240 i:P iskey:0 type:B ',
    { kind: 'frame', pts: 512, width: 320, height: 240, pixelFormat: 'yuv420p' },
  ],
  // 7.1
  [
    '[Parsed_showinfo_1 @ 0x55] [info] n:1000 pts: -90000 pts_time:-1     duration:   3600 duration_time:0.04    fmt:yuv420p10le cl:left sar:0/1 s:3840x2160 i:T iskey:1 type:I',
    { kind: 'frame', pts: -90000, width: 3840, height: 2160, pixelFormat: 'yuv420p10le' },
  ],
  [
    '[Parsed_showinfo_0 @ 0x55] [info] n:   0 pts:NOPTS pts_time:NOPTS pos:0 fmt:gray sar:1/1 s:32x32 i:P iskey:1 type:I ',
    { kind: 'frame', pts: undefined, width: 32, height: 32, pixelFormat: 'gray' },
  ],
  [
    '[Parsed_showinfo_0 @ 0x55cc] [info] config in time_base: 1/12800, frame_rate: 25/1',
    { kind: 'timebase', num: 1, den: 12800 },
  ],
  ['[Parsed_showinfo_0 @ 0x55cc] [info] config out time_base: 0/0, frame_rate: 0/0', undefined],
  ['[Parsed_showinfo_0 @ 0x55cc] [info] color_range:unknown color_space:unknown', undefined],
  ['[info] Stream mapping:', { kind: 'decoding' }],
  ['[info]     title           : [error] n: 1 pts: 2 fmt:x s:1x1 ', undefined],
  ['[h264 @ 0x55] [error] Reference 5 >= 3', { kind: 'damage', text: 'Reference 5 >= 3', atEnd: false }],
  [
    '[vist#0:0/h264 @ 0x1] [dec:h264 @ 0x2] [error] Error submitting packet to decoder: Invalid data found when processing input',
    {
      kind: 'damage',
      text: 'Error submitting packet to decoder: Invalid data found when processing input',
      atEnd: false,
    },
  ],
  [
    '[matroska,webm @ 0x55] [error] File ended prematurely',
    { kind: 'damage', text: 'File ended prematurely', atEnd: true },
  ],
  ['[warning] file:/a b.mp4: corrupt input packet in stream 0', { kind: 'gap' }],
  [
    '[swscaler @ 0x55] [warning] deprecated pixel format used, make sure you did set range correctly',
    undefined,
  ],
  ['[h264 @ 0x55] [error] mmco: unref short failure', undefined],
  ['anything else', undefined],
  ['', undefined],
];

it.each(lines)('the log line %s is parsed', (line, event) => {
  expect(parseLogLine(line)).toEqual(event);
});

describe('times of packets', () => {
  const times = (...lines: string[]) => {
    const packets = new PacketTimes();
    for (const line of lines) packets.take(line);
    return packets.finish();
  };
  const packet = (pts: number, dts: number, flags: string) => `packet|pts=${pts}|dts=${dts}|flags=${flags}`;
  const stream = 'stream|has_b_frames=2|time_base=1/1000';

  it('are in display order from 0', () => {
    const packets = [packet(80, 0, 'K_'), packet(200, 40, '__'), packet(120, 80, '__')];
    const expected = { times: Float64Array.of(0, 0.04, 0.12), trackStart: 0.08 };
    expect(times(...packets, '', stream)).toEqual(expected);
  });

  it('are those of decoded frames if a recording starts between key frames', () => {
    const needs = (container: string) => {
      const packets = new PacketTimes();
      const lines = [packet(0, 0, '__'), packet(40, 40, 'K_'), stream, `format|format_name=${container}`];
      for (const line of lines) packets.take(line);
      return packets.needsFrames;
    };
    expect([needs('mpegts'), needs('matroska,webm')]).toEqual([true, false]);
    const shown = (...times: readonly number[]) => {
      const packets = new PacketTimes();
      for (const [i, pts] of times.entries()) packets.take(packet(pts, 40 * i, i === 0 ? 'K_' : '__'));
      for (const line of [stream, 'format|format_name=mpegts']) packets.take(line);
      return packets.needsFrames;
    };
    // Leading pictures of an open GOP refer to pictures before the cut.
    expect([shown(120, 40, 80, 160), shown(40, 120, 80, 160)]).toEqual([true, false]);
  });

  it('leave out frames that are never shown, and second fields', () => {
    const found = times(
      packet(0, 0, 'KD'),
      packet(40, 40, '_D_'),
      'packet|pts=80|dts=80|size=300|flags=__',
      'packet|pts=80|dts=81|size=200|flags=__',
      'stream|codec_name=h264|has_b_frames=2|time_base=1/1000|field_order=tt',
    );
    expect(found).toEqual({ times: Float64Array.of(0), trackStart: 0.08, bytes: 500 });
  });

  it('keep frames that a coarse clock gives one time', () => {
    const packets = [packet(0, 0, 'K_'), packet(40, 40, '__'), packet(40, 40, '__')];
    const of = (order: string) =>
      times(...packets, `stream|codec_name=h264|time_base=1/1000|field_order=${order}`);
    expect(of('progressive')?.times).toEqual(Float64Array.of(0, 0.04, 0.04));
    const unclear = new PacketTimes();
    for (const line of [...packets, 'stream|codec_name=h264|field_order=tt']) unclear.take(line);
    expect(unclear.needsFrames).toBe(true);
  });

  it('are decoding times if nothing is reordered, and unknown otherwise', () => {
    const packets = ['packet|pts=N/A|dts=0|flags=K_', 'packet|pts=N/A|dts=40|flags=K_'];
    const decoding = times(...packets, 'stream|has_b_frames=0|time_base=1/1000')?.times;
    expect(decoding).toEqual(Float64Array.of(0, 0.04));
    expect(times(...packets, stream)).toBeNull();
    expect(times(stream)).toBeNull();
  });

  it('are unknown for a raw stream of AV1, whose frames ffmpeg counts at 25 a second', () => {
    const packets = [packet(0, 0, 'K_'), packet(40, 40, '__'), stream];
    expect(times(...packets, 'format|format_name=obu')).toBeNull();
    expect(times(...packets, 'format|format_name=ivf')?.times).toEqual(Float64Array.of(0, 0.04));
  });
});

/** Times of packets whose clock shows `ticks` of 1/25 s, in such ticks. */
function clock(ticks: readonly number[]) {
  const packets = new PacketTimes();
  for (const tick of ticks) packets.take(`packet|pts=${tick}|dts=${tick}|flags=K_`);
  packets.take('stream|has_b_frames=0|time_base=1/25');
  const { times, setBacks } = packets.finish() ?? {};
  return { setBacks, ticks: [...(times ?? [])].map((time) => Math.round(25 * time)) };
}
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('a clock that is set back', () => {
  it('continues by an ordinary step, so that no frame is lost', () => {
    const found = clock(upTo(60).map((n) => (n < 40 ? n : n - 40)));
    expect(found).toEqual({ setBacks: [40 / 25], ticks: upTo(60) });
  });

  it.each([
    ['starts at the same time', 0],
    ['starts between the times of the first', 2.5],
    ['starts near its end', 5],
  ])('is found in recordings of less than half a second, if the second %s', (_, from) => {
    const found = clock(upTo(20).map((n) => (n < 10 ? n : n - 10 + from)));
    expect(found).toEqual({ setBacks: [10 / 25], ticks: upTo(20) });
  });

  it.each([
    ['two packets', [0, 1, 2, 4, 3, 5, 6]],
    ['a run of packets', [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13]],
    ['the last ones', [0, 1, 6, 7, 2, 3, 4, 5]],
    ['unevenly spaced ones', [0, 1, 1.25, 1.75, 1.5, 2, 3, 4, 5]],
  ])('is not found if %s are merely reordered', (_, ticks) => {
    expect(clock(ticks).setBacks).toBeUndefined();
  });

  const MANY = tier(50_000, 200_000);
  it('is found in linear time, however often packets go back', () => {
    const ticks = Array.from({ length: MANY }, (_, n) => (n % 6 === 5 ? n - 5.5 : n));
    expect(clock(ticks).ticks.length).toBe(MANY);
  });
});

it.each([
  ['x265 [info]: HEVC encoder version 3.5+1-f0c1022b6\nx265 [info]: build info [Linux]', '3.5+1-f0c1022b6'],
  ['Svt[info]: SVT [version]:\tSVT-AV1 Encoder Lib v1.4.1\nSvt[info]: SVT [build]', '1.4.1'],
  ['Output #0\n[libvpx-vp9 @ 0x55db7c7d7700] v1.12.0\n', '1.12.0'],
  ['NUT\u0001x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec', '164 r3095'],
  ['[mpeg2video @ 0x5] rate 1.5', undefined],
  ['', undefined],
])("the release of an encoder's library in %j is %s", (text, version) =>
  expect(versionIn(text)).toBe(version),
);
