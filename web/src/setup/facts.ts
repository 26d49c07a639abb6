/**
 * @module web/setup/facts
 * Facts about a video as short texts.
 */
import type { Inspection } from 'anyvmaf';
import { bitrateText, timeText } from 'anyvmaf/view';
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
    ...(duration ? [timeText(duration, 0)] : []),
    ...(bitrate ? [bitrateText(bitrate) ?? ''] : []),
  ];
}
