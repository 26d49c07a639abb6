/**
 * @module test/unit/cli/signals
 * A run that is asked to end: it may, and else the process ends and says why.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { interruption } from '../../../src/cli/signals.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('says that it was terminated before a process ends whose run did not stop in time', () => {
  vi.useFakeTimers();
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Never returns, as the real one.
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const stop = interruption(1000);
  try {
    process.listeners('SIGTERM').at(-1)?.('SIGTERM');
    expect(stop.signal.reason).toMatchObject({ message: 'terminated', exitCode: 143 });
    vi.advanceTimersByTime(999);
    expect(written).not.toHaveBeenCalled();
    expect(() => vi.advanceTimersByTime(1)).toThrow('exit 143');
    expect(written).toHaveBeenCalledExactlyOnceWith('anyvmaf: terminated\n');
  } finally {
    stop.release();
  }
});
