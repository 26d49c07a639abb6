/**
 * @module test/unit/platform/ffmpeg
 * What is read of the words of ffmpeg, ffprobe and encoders: facts of tracks, lines of logs, times of packets, releases.
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
  codec_name: 'h264',
  codec_tag_string: 'avc1',
  profile: 'High',
  width: 1920,
  height: 1080,
  pix_fmt: 'yuv420p',
  sample_aspect_ratio: '1:1',
  avg_frame_rate: '24000/1001',
  r_frame_rate: '24/1',
  has_b_frames: 2,
  nb_frames: '240',
  duration: '10.010000',
  start_time: '0.083417',
  bit_rate: '5000000',
  color_range: 'tv',
  color_primaries: 'bt709',
  color_transfer: 'bt709',
  color_space: 'bt709',
  field_order: 'progressive',
};
const format = {
  format_name: 'mov,mp4,m4a,3gp,3g2,mj2',
  duration: '10.1',
  size: '6262500',
  bit_rate: '5003750',
};

const facts = (changes: object, frame?: object, container: object = format) =>
  parseProbe(
    { streams: [{ ...stream, ...changes }], frames: frame ? [frame] : [], format: container },
    'a.mp4',
  ).facts;

const refused = (changes: object) => refusal('media', () => facts(changes));

describe('facts about a track', () => {
  it('are what ffprobe declares', () => {
    expect(facts({})).toEqual({
      name: 'a.mp4',
      container: 'mov,mp4,m4a,3gp,3g2,mj2',
      codec: 'h264',
      profile: 'High',
      pixelFormat: 'yuv420p',
      width: 1920,
      height: 1080,
      bitDepth: 8,
      chroma: '420',
      frameRate: { num: 24000, den: 1001 },
      frameCount: 240,
      duration: 10.01,
      startTime: 0.083417,
      bitrate: 5_000_000,
      fileSize: 6_262_500,
      sampleAspect: { num: 1, den: 1 },
      rotation: 0,
      colorRange: 'limited',
      primaries: 'bt709',
      transfer: 'bt709',
      matrix: 'bt709',
      fieldOrder: 'progressive',
    });
  });

  it('leave out what is not known', () => {
    const bare = { codec_name: 'vp9', width: 64, height: 48, pix_fmt: 'yuv420p', sample_aspect_ratio: '0:1' };
    const rates = { avg_frame_rate: '0/0', r_frame_rate: '0/0' };
    const unknown = { ...rates, color_range: 'unknown', profile: 'unknown' };
    expect(parseProbe({ streams: [{ ...bare, ...unknown }] }, 'b').facts).toEqual({
      name: 'b',
      container: 'unknown',
      codec: 'vp9',
      pixelFormat: 'yuv420p',
      width: 64,
      height: 48,
      bitDepth: 8,
      chroma: '420',
      frameCount: null,
      duration: null,
      startTime: null,
      bitrate: null,
      fileSize: null,
      rotation: 0,
      fieldOrder: 'unknown',
    });
  });

  it('come from tags where Matroska puts them there', () => {
    const tags = { 'NUMBER_OF_FRAMES-eng': '77', DURATION: '00:00:03.211000000', 'BPS-eng': '123456' };
    const none = { nb_frames: undefined, duration: undefined, bit_rate: undefined, tags };
    expect(facts(none)).toMatchObject({ frameCount: 77, duration: 3.211, bitrate: 123_456 });
    expect(facts({ ...none, tags: {} })).toMatchObject({
      frameCount: null,
      duration: 10.1,
      bitrate: 5_003_750,
    });
  });

  it('are not what the file that was cut or encoded again had', () => {
    const tags = { NUMBER_OF_FRAMES: '86400', BPS: '15000000' };
    const none = { nb_frames: undefined, bit_rate: undefined, tags };
    expect(facts(none)).toMatchObject({ frameCount: null, bitrate: 5_003_750 });
  });

  it('are not those of the first fragment only', () => {
    expect(facts({ nb_frames: '12', bit_rate: '830' })).toMatchObject({
      frameCount: null,
      bitrate: 5_003_750,
    });
    expect(facts({ nb_frames: '238' })).toMatchObject({ frameCount: 238, bitrate: 5_000_000 });
  });

  it.each([
    ['the nominal one where frames were lost', '24126/1000', '25/1', { num: 25, den: 1 }],
    ['the average where ffmpeg rounds the nominal one', '24000/1001', '24/1', { num: 24000, den: 1001 }],
    ['the average of a variable rate', '18/1', '25/1', { num: 18, den: 1 }],
    ['the average where fields are counted', '25/1', '50/1', { num: 25, den: 1 }],
    ['the nominal one where no average is known', '0/0', '30/1', { num: 30, den: 1 }],
  ])('have as frame rate %s', (_, average, nominal, frameRate) => {
    expect(facts({ avg_frame_rate: average, r_frame_rate: nominal }).frameRate).toEqual(frameRate);
  });

  it('have no rate where the container knows none, which ffmpeg invents', () => {
    expect(facts({}, undefined, { ...format, format_name: 'obu' }).frameRate).toBeUndefined();
  });

  it('are turned: size and sample aspect are those of the upright picture', () => {
    const turned = (rotation: number) =>
      facts({ sample_aspect_ratio: '4:3', side_data_list: [{ side_data_type: 'Display Matrix', rotation }] });
    // ffprobe counts counter-clockwise: -90 is a phone held upright.
    expect(turned(-90)).toMatchObject({
      rotation: 90,
      width: 1080,
      height: 1920,
      sampleAspect: { num: 3, den: 4 },
    });
    expect(turned(90)).toMatchObject({ rotation: 270, width: 1080, height: 1920 });
    expect(turned(180)).toMatchObject({
      rotation: 180,
      width: 1920,
      height: 1080,
      sampleAspect: { num: 4, den: 3 },
    });
    expect(turned(-180).rotation).toBe(180);
    expect(turned(-0.3).rotation).toBe(0);
  });

  it('are cropped', () => {
    const sides = { crop_top: 8, crop_bottom: 4, crop_left: 2, crop_right: 6 };
    const crop = { side_data_type: 'Frame Cropping', ...sides };
    const cropped = { width: 1912, height: 1068, crop: { left: 2, top: 8, right: 6, bottom: 4 } };
    expect(facts({ side_data_list: [crop] })).toMatchObject(cropped);
    expect(facts({ side_data_list: [crop] }, { width: 1912, height: 1068 })).toMatchObject(cropped);
    expect(
      facts({ side_data_list: [{ side_data_type: 'Frame Cropping', crop_top: 0 }] }).crop,
    ).toBeUndefined();
  });

  it('believe the first frame rather than the container', () => {
    const frame = { pix_fmt: 'yuv420p10le', width: 1280, height: 720, color_range: 'pc' };
    const found = { pixelFormat: 'yuv420p10le', bitDepth: 10, width: 1280, height: 720, colorRange: 'full' };
    expect(facts({}, frame)).toMatchObject(found);
  });

  it.each([
    ['progressive', 'progressive'],
    ['tt', 'top-first'],
    ['bt', 'top-first'],
    ['bb', 'bottom-first'],
    ['tb', 'bottom-first'],
    ['unknown', 'unknown'],
  ])('know the field order %s', (field_order, order) => {
    expect(facts({ field_order }).fieldOrder).toBe(order);
  });

  it('take the field order from the first frame when the track has none', () => {
    const interlaced = (frame: object) => facts({ field_order: undefined }, frame).fieldOrder;
    expect(interlaced({ interlaced_frame: 1, top_field_first: 1 })).toBe('top-first');
    expect(interlaced({ interlaced_frame: 1, top_field_first: 0 })).toBe('bottom-first');
    expect(interlaced({ interlaced_frame: 0, top_field_first: 0 })).toBe('progressive');
  });

  it('know full range by its layout', () => {
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
    for (const nonsense of [null, undefined, 3, 'x', [], { streams: 7 }, { streams: [null] }]) {
      expect(() => parseProbe(nonsense, 'n')).toThrow(AnyvmafError);
    }
  });
});

describe('facts that no picture shows', () => {
  it('are the profile of Dolby Vision, and grain that the decoder of AV1 adds', () => {
    const record = { side_data_type: 'DOVI configuration record', dv_profile: 5 };
    expect(facts({ side_data_list: [record] })).toMatchObject({ dolbyVision: 5 });
    expect(facts({ codec_name: 'av1', film_grain: 1 })).toMatchObject({ filmGrain: 'added' });
    expect(facts({ codec_name: 'av1', film_grain: 0 })).not.toHaveProperty('filmGrain');
  });
});

describe('names of layouts', () => {
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

  it.each([
    ...('rgb24 gbrp10le pal8 yuv411p yuv410p yuv440p grayf32le monow xyz12le cuda ' + 'toString').split(' '),
    '',
  ])('%s is none that can be scored', (name) => expect(pixelFormat(name)).toBeUndefined());

  it("are ffmpeg's for planar little-endian samples", () => {
    expect(pixelFormatName({ bitDepth: 8, chroma: '420' })).toBe('yuv420p');
    expect(pixelFormatName({ bitDepth: 10, chroma: '422' })).toBe('yuv422p10le');
    expect(pixelFormatName({ bitDepth: 8, chroma: '400' })).toBe('gray');
    expect(pixelFormatName({ bitDepth: 16, chroma: '400' })).toBe('gray16le');
  });
});

describe('delivery', () => {
  it('asks for the planar format of the same samples', () => {
    const to = (name: string) => delivery(name, 0, 'f').pixelFormat;
    expect(to('nv12')).toBe('yuv420p');
    expect(to('p010le')).toBe('yuv420p10le');
    expect(to('yuva422p10le')).toBe('yuv422p10le');
    expect(to('ya8')).toBe('gray');
    // Another name for full range would convert it.
    expect(to('yuvj422p')).toBe('yuvj422p');
  });

  it('keeps alpha if asked, grey as RGB', () => {
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

  it('repeats chroma where nothing else holds it, and says so', () => {
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

describe('lines of the log', () => {
  it.each(lines)('%s', (line, event) => {
    expect(parseLogLine(line)).toEqual(event);
  });
});

describe('times of packets', () => {
  const times = (...lines: string[]) => {
    const packets = new PacketTimes();
    for (const line of lines) packets.take(line);
    return packets.finish();
  };
  const stream = 'stream|has_b_frames=2|time_base=1/1000';

  it('are put in the order in which frames are shown, from 0', () => {
    expect(
      times(
        'packet|pts=80|dts=0|flags=K_',
        'packet|pts=200|dts=40|flags=__',
        'packet|pts=120|dts=80|flags=__',
        '',
        stream,
      ),
    ).toEqual({ times: Float64Array.of(0, 0.04, 0.12), trackStart: 0.08 });
  });

  it('leave out frames that are decoded but never shown, and second fields', () => {
    expect(
      times(
        'packet|pts=0|dts=0|flags=KD',
        'packet|pts=40|dts=40|flags=_D_',
        'packet|pts=80|dts=80|size=300|flags=__',
        'packet|pts=80|dts=81|size=200|flags=__',
        'stream|codec_name=h264|has_b_frames=2|time_base=1/1000|field_order=tt',
      ),
    ).toEqual({ times: Float64Array.of(0), trackStart: 0.08, bytes: 500 });
  });

  it('keep frames to which a coarse clock gives one time', () => {
    const packets = [
      'packet|pts=0|dts=0|flags=K_',
      'packet|pts=40|dts=40|flags=__',
      'packet|pts=40|dts=40|flags=__',
    ];
    const of = (order: string) =>
      times(...packets, `stream|codec_name=h264|time_base=1/1000|field_order=${order}`);
    expect(of('progressive')?.times).toEqual(Float64Array.of(0, 0.04, 0.04));
    const unclear = new PacketTimes();
    for (const line of [...packets, 'stream|codec_name=h264|field_order=tt']) unclear.take(line);
    expect(unclear.needsFrames).toBe(true);
  });

  it('are decoding times where nothing is reordered, and none where that is not known', () => {
    const packets = ['packet|pts=N/A|dts=0|flags=K_', 'packet|pts=N/A|dts=40|flags=K_'];
    expect(times(...packets, 'stream|has_b_frames=0|time_base=1/1000')?.times).toEqual(
      Float64Array.of(0, 0.04),
    );
    expect(times(...packets, stream)).toBeNull();
    expect(times(stream)).toBeNull();
  });

  it('are none of a raw stream of AV1, for which ffmpeg counts frames at 25 a second', () => {
    const packets = ['packet|pts=0|dts=0|flags=K_', 'packet|pts=40|dts=40|flags=__', stream];
    expect(times(...packets, 'format|format_name=obu')).toBeNull();
    expect(times(...packets, 'format|format_name=ivf')?.times).toEqual(Float64Array.of(0, 0.04));
  });
});

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

  const MANY = tier(50_000, 200_000);
  it('takes time in proportion to the packets, however often they go back', () => {
    const ticks = Array.from({ length: MANY }, (_, n) => (n % 6 === 5 ? n - 5.5 : n));
    expect(times(ticks)?.times.length).toBe(MANY);
  });
});

describe('the release of an encoder’s library', () => {
  it.each([
    ['x265 [info]: HEVC encoder version 3.5+1-f0c1022b6\nx265 [info]: build info [Linux]', '3.5+1-f0c1022b6'],
    ['Svt[info]: SVT [version]:\tSVT-AV1 Encoder Lib v1.4.1\nSvt[info]: SVT [build]', '1.4.1'],
    ['Output #0\n[libvpx-vp9 @ 0x55db7c7d7700] v1.12.0\n', '1.12.0'],
    ['NUT\u0001x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec', '164 r3095'],
    ['[mpeg2video @ 0x5] rate 1.5', undefined],
    ['', undefined],
  ])('of %j is %s', (text, version) => expect(versionIn(text)).toBe(version));
});
