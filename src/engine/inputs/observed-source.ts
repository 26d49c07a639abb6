/**
 * @module engine/inputs/observed-source
 * A source whose frames are observed while they are read.
 */
import type { FrameSource } from '../../media/types.js';

/** A source that reports the luma of each frame read. Workers cannot open it. */
export function observedSource(
  source: FrameSource,
  observe: (index: number, luma: Uint8Array) => void,
): FrameSource {
  return {
    info: source.info,
    seekable: source.seekable,
    readFrame(index, into) {
      const observed = (found: boolean) => {
        if (found) observe(index, into.y);
        return found;
      };
      const reading = source.readFrame(index, into);
      return typeof reading === 'boolean' ? observed(reading) : reading.then(observed);
    },
    close: () => source.close(),
  };
}
