/**
 * @module engine/inputs/observed-source
 * A source whose frames are observed while they are read.
 */
import type { FramePlanes } from '../../core/frame.js';
import type { FrameSource } from '../../media/types.js';

/**
 * A source that reports the planes of each frame read. Workers cannot open it.
 * @param all planes for a frame of which all are wanted, also where the reader wants luma only
 */
export function observedSource(
  source: FrameSource,
  observe: (index: number, planes: FramePlanes) => void,
  all?: (index: number) => FramePlanes | undefined,
): FrameSource {
  return {
    info: source.info,
    seekable: source.seekable,
    readFrame(index, asked) {
      const into = { ...(asked.cb ? undefined : all?.(index)), ...asked };
      const observed = (found: boolean) => {
        if (found) observe(index, into);
        return found;
      };
      const reading = source.readFrame(index, into);
      return typeof reading === 'boolean' ? observed(reading) : reading.then(observed);
    },
    close: () => source.close(),
  };
}
