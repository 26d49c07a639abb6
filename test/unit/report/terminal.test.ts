import { describe, expect, it } from 'vitest';
import { formatProgress } from '../../../src/report/progress.js';
import { clock, columns, cut, wrap } from '../../../src/report/terminal.js';

describe('columns', () => {
  it('counts East Asian characters and emoji twice, combining marks not at all', () => {
    expect(['abc', '映像', 'e\u0301', '👍', 'ｱ'].map(columns)).toEqual([3, 4, 1, 2, 1]);
  });
});

describe('cut', () => {
  it('keeps the end of a path and both ends of a name', () => {
    expect(cut('/videos/reference.y4m', 12, 'end')).toBe('…ference.y4m');
    expect(cut('abcdefghij', 7, 'both')).toBe('abc…hij');
    expect(cut('short', 5, 'end')).toBe('short');
    expect(cut('映像映像', 6, 'end')).toBe('…映像');
    expect(cut('abc', 0, 'end')).toBe('');
  });
});

describe('wrap', () => {
  it('breaks at blanks and leaves long words whole', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a muchtoolong b', 5)).toEqual(['a', 'muchtoolong', 'b']);
  });
});

describe('clock', () => {
  it.each([
    [0, 0, '0:00'],
    [7.4, 0, '0:07'],
    [59.6, 0, '1:00'],
    [754, 0, '12:34'],
    [3723, 0, '1:02:03'],
    [1.6, 2, '0:01.60'],
    [59.999, 2, '1:00.00'],
  ])('%d s with %d decimals is %s', (seconds, decimals, text) => {
    expect(clock(seconds, decimals)).toBe(text);
  });
});

describe('formatProgress', () => {
  const halfway = { framesDone: 420, framesTotal: 1000, fps: 35.24, secondsLeft: 16.4 };

  it('shows a bar, percentage, frames, speed and time left', () => {
    expect(formatProgress(halfway)).toBe(
      ` 42%  ${'█'.repeat(13)}${'░'.repeat(18)}   420/1000 frames    35.2 fps    0:16 left`,
    );
  });

  it('never takes more than the width, and says the share before all else', () => {
    for (let width = 0; width <= 200; width++) {
      const line = formatProgress(halfway, { width });
      expect(columns(line), `width ${width}`).toBeLessThanOrEqual(width);
      if (width >= 4) expect(line.startsWith(' 42%')).toBe(true);
    }
  });

  it('keeps its length while frames go by', () => {
    const lengths = [0, 9, 10, 99, 500, 999, 1000].map(
      (framesDone) => formatProgress({ ...halfway, framesDone, secondsLeft: framesDone / 10 }).length,
    );
    expect(new Set(lengths).size).toBe(1);
  });

  it('says 100 % only at the end', () => {
    const at = (framesDone: number) => formatProgress({ ...halfway, framesDone }).slice(0, 4);
    expect([0, 999, 1000, 1001].map(at)).toEqual(['  0%', ' 99%', '100%', '100%']);
    expect(formatProgress({ ...halfway, framesDone: 1000 })).not.toContain('░');
  });

  it('does without a total, a speed or an estimate', () => {
    const open = { framesDone: 1, framesTotal: null, fps: 8.25, secondsLeft: null };
    expect(formatProgress(open)).toBe('1 frame     8.2 fps');
    expect(formatProgress({ ...open, framesDone: 2, fps: Number.NaN })).toBe('2 frames');
    expect(formatProgress({ ...open, framesTotal: 10, fps: 0 })).not.toContain('left');
    expect(formatProgress({ ...open, framesDone: 0, framesTotal: 0 })).toContain('100%');
  });

  it('has colour only when asked', () => {
    expect(formatProgress(halfway)).not.toContain('\u001b');
    expect(formatProgress(halfway, { color: true })).toContain('\u001b[32m█');
  });
});
