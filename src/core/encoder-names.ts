/**
 * @module core/encoder-names
 * Maps common names of encoders to ffmpeg's.
 */

/** The most used encoders, by ffmpeg's names. */
export const COMMON_ENCODERS: readonly string[] = [
  'libx264',
  'libx265',
  'libsvtav1',
  'libaom-av1',
  'libvpx-vp9',
];

const NICKNAMES: Readonly<Record<string, string>> = {
  x264: 'libx264',
  x265: 'libx265',
  'svt-av1': 'libsvtav1',
  svt_av1: 'libsvtav1',
  svtav1: 'libsvtav1',
  'aom-av1': 'libaom-av1',
  libaom: 'libaom-av1',
  'vpx-vp9': 'libvpx-vp9',
  vvenc: 'libvvenc',
};

/** ffmpeg's name of an encoder; other names are returned unchanged. */
export function encoderName(name: string): string {
  const plain = name.trim().toLowerCase();
  return Object.hasOwn(NICKNAMES, plain) ? (NICKNAMES[plain] ?? name) : name;
}
