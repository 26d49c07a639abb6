/**
 * @module test/unit/platform/decode-queue
 * A browser's decoders tell of a full queue early, and of a short one as it is.
 */
import { expect, it } from 'vitest';
import { keepQueuesShort } from '../../../src/platform/browser/decode-queue.js';

it('queues of decoders stay short', () => {
  let waiting = 0;
  const Plain = class {
    static readonly isConfigSupported = () => 'as before';
    get decodeQueueSize(): number {
      return waiting;
    }
  };
  const scope = { VideoDecoder: Plain as unknown as typeof VideoDecoder };
  keepQueuesShort(scope);
  const decoder = new scope.VideoDecoder({ output() {}, error() {} });
  const sizes = [0, 1, 8, 9, 40].map((size) => {
    waiting = size;
    return decoder.decodeQueueSize;
  });
  expect(sizes.slice(0, 3)).toEqual([0, 1, 8]);
  // mediabunny lets 40 wait.
  for (const size of sizes.slice(3)) expect(size).toBeGreaterThan(40);
  expect(scope.VideoDecoder.isConfigSupported({ codec: 'vp8' })).toBe('as before');
});
