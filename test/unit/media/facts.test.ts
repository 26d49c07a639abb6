/** Facts about tracks from ffprobe's JSON (src/media/facts.ts), and names of layouts (pixel-format, delivery). */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { delivery } from '../../../src/media/delivery.js';
import { parseProbe, pixelFormat, pixelFormatName } from '../../../src/media/facts.js';

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

function refusal(changes: object): string {
  try {
    facts(changes);
  } catch (error) {
    if (error instanceof AnyvmafError && error.code === 'media') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

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
    const unknown = {
      avg_frame_rate: '0/0',
      r_frame_rate: '0/0',
      color_range: 'unknown',
      profile: 'unknown',
    };
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
    const tags = { 'NUMBER_OF_FRAMES-eng': '77', DURATION: '01:02:03.500000000', 'BPS-eng': '123456' };
    const none = { nb_frames: undefined, duration: undefined, bit_rate: undefined, tags };
    expect(facts(none)).toMatchObject({ frameCount: 77, duration: 3723.5, bitrate: 123_456 });
    expect(facts({ ...none, tags: {} })).toMatchObject({
      frameCount: null,
      duration: 10.1,
      bitrate: 5_003_750,
    });
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
    const crop = {
      side_data_type: 'Frame Cropping',
      crop_top: 8,
      crop_bottom: 4,
      crop_left: 2,
      crop_right: 6,
    };
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
    expect(refusal({ codec_name: undefined, codec_tag_string: 'XYZ1' })).toContain('does not know (XYZ1)');
    expect(refusal({ pix_fmt: undefined, codec_name: 'av1' })).toContain('can be decoded as av1');
    expect(refusal({ codec_tag_string: 'encv' })).toContain('a.mp4 is encrypted (h264)');
    expect(refusal({ pix_fmt: 'gbrp' })).toContain('RGB (gbrp)');
    expect(refusal({ pix_fmt: 'pal8' })).toContain('RGB (pal8)');
    expect(refusal({ pix_fmt: 'yuv410p' })).toContain('yuv410p, which is not 4:2:0');
    expect(refusal({ pix_fmt: 'grayf32le' })).toContain('grayf32le, which is not');
    expect(refusal({ width: 0 })).toContain('width 0');
    expect(() => parseProbe({ streams: [] }, 'a\nb')).toThrow('a\\x0ab has no video track');
    for (const nonsense of [null, undefined, 3, 'x', [], { streams: 7 }, { streams: [null] }]) {
      expect(() => parseProbe(nonsense, 'n')).toThrow(AnyvmafError);
    }
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
    'rgb24',
    'gbrp10le',
    'pal8',
    'yuv411p',
    'yuv410p',
    'yuv440p',
    'grayf32le',
    'monow',
    'xyz12le',
    'cuda',
    '',
    'toString',
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
