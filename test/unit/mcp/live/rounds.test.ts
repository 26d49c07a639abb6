import { afterEach, describe, expect, it, vi } from 'vitest';
import { Rounds } from '../../../../src/mcp/live/rounds.js';

/** Ends the round, as the loop does when all that arrived is taken. */
const endRound = () => new Promise<void>((done) => setImmediate(done));

describe('the rounds of a server', () => {
  const waits = vi.spyOn(Atomics, 'wait');
  afterEach(() => {
    waits.mockReset();
    vi.useRealTimers();
  });

  /** Rounds with questions, so many milliseconds apart. @returns how often the thread rested */
  async function rests(rounds: number, pause: number, questions = 1): Promise<number> {
    waits.mockReturnValue('timed-out');
    vi.useFakeTimers({ toFake: ['performance'] });
    const thread = new Rounds();
    for (let i = 0; i < rounds; i++) {
      for (let asked = 0; asked < questions; asked++) thread.asked();
      expect(waits.mock.calls.every(([, , , rest]) => rest !== undefined && rest <= 25)).toBe(true);
      await endRound();
      vi.advanceTimersByTime(pause);
    }
    return waits.mock.calls.length;
  }

  it('have no rest where few ask', async () => {
    expect(await rests(50, 30)).toBe(0);
    expect(await rests(6, 0)).toBe(0);
  });

  it('are followed by a rest where many ask', async () => {
    expect(await rests(50, 5)).toBe(44);
  });

  it('count once for all who asked', async () => {
    expect(await rests(50, 30, 20)).toBe(0);
    expect(await rests(7, 0, 20)).toBe(1);
  });

  it('go on as before when the many are gone', async () => {
    waits.mockReturnValue('timed-out');
    vi.useFakeTimers({ toFake: ['performance'] });
    const thread = new Rounds();
    const round = () => {
      thread.asked();
      return endRound();
    };
    for (let i = 0; i < 10; i++) await round();
    expect(waits.mock.calls.length).toBe(4);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(160);
      await round();
    }
    expect(waits.mock.calls.length).toBe(4);
  });
});
