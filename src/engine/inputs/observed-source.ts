/**
 * @module engine/inputs/observed-source
 * Looks at frames of a source while somebody else reads them.
 */
import type { FrameSource } from '../../media/types.js';

/** A source that shows the luma of each frame it has read. Workers cannot open it by themselves. */
export function passing(source: FrameSource, look: (index: number, luma: Uint8Array) => void): FrameSource {
  return {
    info: source.info,
    seekable: source.seekable,
    readFrame(index, into) {
      const shown = (found: boolean) => {
        if (found) look(index, into.y);
        return found;
      };
      const reading = source.readFrame(index, into);
      return typeof reading === 'boolean' ? shown(reading) : reading.then(shown);
    },
    close: () => source.close(),
  };
}
