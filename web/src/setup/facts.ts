/**
 * @module web/setup/facts
 * Facts about a video as short texts.
 */
import type { Inspection } from 'anyvmaf';
import { text } from '../text.js';

type Facts = Inspection['reference'];

const CODECS: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'HEVC',
  av1: 'AV1',
  vp9: 'VP9',
  vp8: 'VP8',
  mpeg2video: 'MPEG-2',
  mpeg4: 'MPEG-4',
  prores: 'ProRes',
  y4m: 'Y4M',
  yuv: 'raw YUV',
};

/** HDR transfers by ffmpeg's names. */
const HDR: Readonly<Record<string, string>> = { smpte2084: 'PQ', 'arib-std-b67': 'HLG' };

/** `4.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** step;
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** `0:05`, `1:02:03`. */
export function formatTime(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** `25`, `29.97`. */
function formatRate({ num, den }: { readonly num: number; readonly den: number }): string {
  return String(Math.round((num / den) * 1000) / 1000);
}

/** Most important first. */
export function describeFacts(facts: Facts): readonly string[] {
  const {
    width,
    height,
    bitDepth,
    chroma,
    frameRate,
    frameCount,
    codec,
    container,
    duration,
    bitrate,
    transfer,
  } = facts;
  const hdr = HDR[transfer ?? ''];
  const sampling = chroma === '400' ? 'luma' : chroma.split('').join(':');
  const name = codec ?? container ?? '';
  return [
    `${width} × ${height}`,
    ...(frameRate ? [text.setup.fps(formatRate(frameRate))] : []),
    ...(name ? [CODECS[name] ?? name] : []),
    `${text.setup.bits(bitDepth)} ${sampling}`,
    ...(hdr ? [text.frames.toneMapped(hdr)] : []),
    ...(frameCount === null || frameCount === undefined ? [] : [text.setup.frames(frameCount)]),
    ...(duration ? [formatTime(duration)] : []),
    ...(bitrate ? [`${formatBytes(bitrate).replace('B', 'b')}/s`] : []),
  ];
}
