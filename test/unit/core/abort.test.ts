import { describe, expect, it, vi } from 'vitest';
import { onAbort, unlessAborted } from '../../../src/core/abort.js';

describe('onAbort', () => {
  it('calls once, with the reason', () => {
    const controller = new AbortController();
    const stop = vi.fn();
    onAbort(controller.signal, stop);
    controller.abort('enough');
    expect(stop.mock.calls).toEqual([['enough']]);
  });

  it('calls at once if the signal has aborted', () => {
    const stop = vi.fn();
    onAbort(AbortSignal.abort('before'), stop);
    expect(stop.mock.calls).toEqual([['before']]);
  });

  it('calls no more once it is told to forget', () => {
    const controller = new AbortController();
    const stop = vi.fn();
    onAbort(controller.signal, stop)();
    controller.abort();
    expect(stop).not.toHaveBeenCalled();
  });
});

describe('unlessAborted', () => {
  it('settles as the work does', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(signal, Promise.resolve(7))).toBe(7);
    await expect(unlessAborted(signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it.each([undefined, 'while it waits'])(
    'rejects with the reason of a signal that aborts %s',
    async (when) => {
      const controller = new AbortController();
      if (when === undefined) controller.abort('enough');
      const waiting = unlessAborted(controller.signal, new Promise(() => {}));
      controller.abort('enough');
      await expect(waiting).rejects.toBe('enough');
    },
  );
});
