/**
 * @module search/surrounded
 * An encode with pictures of its reference before and after it, so that metrics that look at neighbours see the same at its
 * ends as in the middle of a video.
 */
import { allocateFrame, describeFormat, type FramePlanes } from '../core/frame.js';
import { openVideo } from '../media/open.js';
import type { FrameSource } from '../media/types.js';
import type { FrameRun } from './host.js';
import type { Session } from './session.js';

/**
 * @param reference a Y4M file of the folder
 * @param encoded which of its frames the encode has
 * @param name the encode, in the folder
 */
export async function surroundedEncode(
  session: Session,
  reference: string,
  encoded: FrameRun,
  name: string,
): Promise<FrameSource> {
  const { platform, folder, signal } = session;
  const pictures = await openVideo(reference, { platform: platform.files, signal });
  try {
    const frames = await folder.frames(name, signal);
    const total = pictures.info.frameCount ?? encoded.first + encoded.count;
    const end = encoded.first + encoded.count;
    return {
      info: { ...frames.info, container: 'frames', frameCount: total },
      seekable: false,
      readFrame(index, into) {
        if (index >= encoded.first && index < end) return frames.readFrame(index - encoded.first, into);
        return index < total && readAs(pictures, index, frames, into);
      },
      async close() {
        await frames.close();
        await pictures.close();
      },
    };
  } catch (error) {
    await pictures.close();
    throw error;
  }
}

/** Reads a picture in the format of other frames; where that differs, it is grey: nobody scores it. */
async function readAs(
  from: FrameSource,
  index: number,
  as: FrameSource,
  into: FramePlanes,
): Promise<boolean> {
  if (describeFormat(from.info) === describeFormat(as.info)) return from.readFrame(index, into);
  const planes = allocateFrame(as.info);
  const middle = 1 << (as.info.bitDepth - 1);
  for (const plane of [planes.y, planes.cb, planes.cr]) {
    if (as.info.bitDepth === 8) plane?.fill(middle);
    else for (let i = 1; plane && i < plane.length; i += 2) plane[i] = middle >> 8;
  }
  into.y.set(planes.y);
  if (planes.cb) into.cb?.set(planes.cb);
  if (planes.cr) into.cr?.set(planes.cr);
  return true;
}
