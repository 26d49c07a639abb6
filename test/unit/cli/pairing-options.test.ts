/**
 * @module test/unit/cli/pairing-options
 * What the options that bring two videos together ask for.
 */
import { describe, expect, test } from 'vitest';
import { scoreSettings } from '../../../src/cli/commands/score-options.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { ScoreOptions } from '../../../src/engine/contract/types.js';

function options(...args: string[]): ScoreOptions {
  const result = scoreSettings(['a', 'b', ...args]);
  if (typeof result === 'string') throw new Error(`it asked for ${result}`);
  return result.options;
}

function complaint(...args: string[]): string {
  try {
    options(...args);
  } catch (error) {
    if (error instanceof AnyvmafError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

test('all together', () => {
  const line =
    '--decoder ffmpeg --scale lanczos --scale-to 1280x720 --frame-rate-policy strict --offset -3 --range 10-20 ' +
    '--strict --allow-damaged --allow-url --model auto';
  expect(options(...line.split(' '))).toEqual({
    decoder: 'ffmpeg',
    scale: 'lanczos',
    scaleTo: { width: 1280, height: 720 },
    frameRatePolicy: 'strict',
    offset: -3,
    range: { unit: 'frames', start: 10, end: 20 },
    strict: true,
    allowDamaged: true,
    allowUrl: true,
    models: ['auto'],
  });
});

test('without any, the engine has its defaults', () => {
  expect(options()).toEqual({});
});

describe('--range', () => {
  test.each([
    ['240-480', { unit: 'frames', start: 240, end: 480 }],
    ['240-', { unit: 'frames', start: 240 }],
    ['-480', { unit: 'frames', start: 0, end: 480 }],
    [' 1 - 2 ', { unit: 'frames', start: 1, end: 2 }],
    ['1:30-2:00', { unit: 'seconds', start: 90, end: 120 }],
    ['1:02:03.5-', { unit: 'seconds', start: 3723.5 }],
    ['10s-12.5s', { unit: 'seconds', start: 10, end: 12.5 }],
    ['10-12.5s', { unit: 'seconds', start: 10, end: 12.5 }],
    ['0.5-1', { unit: 'seconds', start: 0.5, end: 1 }],
    ['-0:10', { unit: 'seconds', start: 0, end: 10 }],
  ])('%s', (text, range) => {
    expect(options(`--range=${text}`).range).toEqual(range);
    expect(options('--range', text).range).toEqual(range);
  });

  test.each(['', '-', '10', '10-20-30', 'a-b', '1:60-2:00', '1e3-2e3', '10 s-20', '-1--5', '1:2:3:4-'])(
    '"%s" is refused',
    (text) => {
      expect(complaint(`--range=${text}`)).toContain(`--range is "${text}"`);
    },
  );

  test.each(['5-5', '9-3', '1:00-30s'])('"%s" is empty', (text) => {
    expect(complaint(`--range=${text}`)).toContain('must come after its start');
  });
});

describe('--offset', () => {
  test.each([
    ['0', 0],
    ['12', 12],
    ['+12', 12],
    ['-12', -12],
    ['auto', 'auto'],
  ])('%s', (text, offset) => {
    expect(options('--offset', text).offset).toBe(offset);
  });

  test.each(['1.5', 'five', '', '--3', '1s'])('"%s" is refused', (text) => {
    expect(complaint(`--offset=${text}`)).toContain('must be a whole number of frames');
  });
});

describe('--scale-to', () => {
  test.each([
    ['ref', 'ref'],
    ['dis', 'dis'],
    ['1920X1080', { width: 1920, height: 1080 }],
  ])('%s', (text, size) => {
    expect(options('--scale-to', text).scaleTo).toEqual(size);
  });

  test.each(['1080p', '0x100', '1920x', 'reference', ''])('"%s" is refused', (text) => {
    expect(complaint(`--scale-to=${text}`)).toContain('ref, dis or a size such as 1920x1080');
  });
});

test('unknown words get the nearest', () => {
  expect(complaint('--decoder', 'ffmepg')).toContain('did you mean ffmpeg?');
  expect(complaint('--scale', 'bicubik')).toContain('did you mean bicubic?');
  expect(complaint('--frame-rate-policy', 'lax')).toContain('must be strict or nearest');
});

test('options that contradict each other are refused', () => {
  expect(complaint('--strict', '--no-preflight')).toContain('leave out one');
});

test('--no still abbreviates the option of the vmaf tool', () => {
  expect(options('--no').noPrediction).toBe(true);
});
