/**
 * @module test/unit/metrics/limits
 * Sizes and formats that psnr_hvs, ciede, cambi and SpEED refuse before a frame is measured, in words that help.
 */
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { metricOf } from '../../../src/metrics/index.js';
import { parseFeature } from '../../../src/metrics/options.js';

function measure(feature: string, format: Partial<VideoFormat>) {
  const instance = parseFeature(feature);
  const video: VideoFormat = { width: 1920, height: 1080, bitDepth: 8, chroma: '420', ...format };
  return metricOf(instance).measure(instance, video, 'libvmaf-3.2');
}

describe('what extractors cannot take', () => {
  it.each(['psnr_hvs', 'ciede', 'speed_chroma'])('%s: video without chroma', (name) => {
    expect(() => measure(name, { chroma: '400' })).toThrow(new RegExp(`The ${name} extractor .*4:0:0`));
  });

  it('psnr_hvs: more than 12 bits', () => {
    expect(() => measure('psnr_hvs', { bitDepth: 16 })).toThrow('12 bits');
    expect(measure('psnr_hvs', { bitDepth: 12 })).toBeTruthy();
  });

  it.each([
    ['speed_chroma', { width: 158, height: 400 }, '79x200'],
    ['speed_chroma', { width: 400, height: 158, chroma: '422' }, undefined],
    ['speed_chroma', { width: 79, height: 400, chroma: '444' }, '79x400'],
    ['speed_chroma=speed_prescale=0.5', { width: 300, height: 400 }, '75x100'],
    ['speed_chroma=speed_prescale=2', { width: 80, height: 80 }, undefined],
    ['speed_temporal', { width: 300, height: 79 }, '300x79'],
    ['speed_temporal', { width: 80, height: 80 }, undefined],
  ] as const)('%s of %j: fewer than 80 samples on a side', (feature, format, refused) => {
    if (refused) expect(() => measure(feature, format)).toThrow(`80x80 samples but here it has ${refused}`);
    else expect(measure(feature, format)).toBeTruthy();
  });

  it.each([
    ['cambi', { width: 215, height: 215 }, '215x215'],
    ['cambi', { width: 216, height: 20 }, undefined],
    ['cambi=enc_width=200:enc_height=200', { width: 640, height: 480 }, '200x200'],
    // An encode larger than the picture is not one.
    ['cambi=enc_width=200:enc_height=500', { width: 640, height: 480 }, undefined],
    ['cambi=src_width=700:src_height=400', { width: 640, height: 480 }, '700x400 for an encode of 640x480'],
    ['cambi', { width: 3840, height: 2160 }, undefined],
    ['cambi', { width: 4096, height: 2160 }, 'has 67 columns for 4096x2160'],
    ['cambi', { width: 7680, height: 4320 }, 'has 131 columns for 7680x4320'],
    ['cambi=cambi_high_res_speedup=1080:window_size=60', { width: 7680, height: 4320 }, undefined],
    ['cambi=window_size=127', { width: 3840, height: 2160 }, 'has 127 columns for 3840x2160'],
  ] as const)('%s of %j: sizes out of its range', (feature, format, refused) => {
    if (refused) expect(() => measure(feature, format)).toThrow(refused);
    else expect(measure(feature, format)).toBeTruthy();
  });
});
