/**
 * @module platform/browser/decode-queue
 * Keeps the queue of a browser's decoders short. mediabunny lets 40 packets wait until the first wanted frame is there; after
 * a jump into a group of pictures, decoding the rest of them would hold up whoever wants that frame.
 */

/** Packets that may wait. */
const MOST = 8;

/** What a library that asks is told of a longer queue: it waits. */
const FULL = 1000;

/** Has the decoders of this thread tell that they have enough. @param scope the thread's global scope */
export function keepQueuesShort(scope: { VideoDecoder: typeof VideoDecoder }): void {
  scope.VideoDecoder = class extends scope.VideoDecoder {
    override get decodeQueueSize(): number {
      const size = super.decodeQueueSize;
      return size > MOST ? FULL : size;
    }
  };
}
