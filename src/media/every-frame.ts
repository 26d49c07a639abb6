/**
 * @module media/every-frame
 * How ffmpeg is told to hand out frames as they come.
 */

/** Hand out frames as they are decoded, none repeated or dropped to even out their times. @param version ffmpeg's, as it says it */
export function everyFrame(version: string): string[] {
  const [, major = '', minor = ''] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  const old = major !== '' && Number(major) * 100 + Number(minor) < 501;
  return [old ? '-vsync' : '-fps_mode', 'passthrough'];
}
