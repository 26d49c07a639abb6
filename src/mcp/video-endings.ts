/**
 * @module mcp/video-endings
 * Endings of names of videos.
 */

/** Raw video, which does not say what it is. */
export const RAW_ENDING = '.yuv';

/** Endings of files that are videos. */
export const VIDEO_ENDINGS: ReadonlySet<string> = new Set(
  (
    '.3gp .264 .265 .av1 .avi .flv .h264 .h265 .hevc .ivf .m2ts .m2v .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .obu .ogv .ts ' +
    '.vob .webm .wmv .y4m .yuv'
  ).split(' '),
);
