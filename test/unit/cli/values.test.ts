/**
 * @module test/unit/cli/values
 * Values of options are read as C's strtoul reads them, and never wrap.
 */
import { describe, expect, test } from 'vitest';
import { choiceValue, maskValue, numberValue, unsignedValue } from '../../../src/cli/values.js';
import { AnyvmafError } from '../../../src/core/errors.js';

const use = (value: string, label = '--threads') => ({ name: 'threads', label, value });

describe('whole numbers', () => {
  test.each([
    ['0', 0],
    ['7', 7],
    ['1080', 1080],
    ['0x1F', 31],
    ['0Xff', 255],
    ['017', 15],
    ['00', 0],
    [' 12', 12],
    ['+3', 3],
    ['4294967295', 4294967295],
    ['0xffffffff', 4294967295],
  ])('%j is %d', (text, number) => {
    expect(unsignedValue(use(text), 4)).toBe(number);
  });

  test.each(['', ' ', 'abc', '12a', '1.5', '1e3', '08', '0x', '0xg', '12 ', '--1', 'NaN', 'Infinity'])(
    '%j is none',
    (text) => {
      expect(() => unsignedValue(use(text), 4)).toThrow(
        `--threads is "${text}", but it must be a whole number such as 4`,
      );
    },
  );

  test('neither a sign nor an overflow wraps', () => {
    expect(() => unsignedValue(use('-1'), 4)).toThrow('--threads is "-1", but it cannot be negative');
    expect(() => unsignedValue(use('4294967296'), 4)).toThrow('must be at most 4294967295');
    expect(() => unsignedValue(use('99999999999999999999999'), 4)).toThrow('must be at most 4294967295');
    expect(unsignedValue(use('1024'), 4, 1024)).toBe(1024);
    expect(() => unsignedValue(use('1025'), 4, 1024)).toThrow(
      '--threads is "1025", but it must be at most 1024',
    );
  });

  test('a height that is no number may have been meant as help', () => {
    expect(() => unsignedValue(use('elp', '-h/--height'), 4)).toThrow('(for help type --help)');
  });

  test('a mask may be -1, all bits', () => {
    expect(maskValue(use('-1'))).toBe(0xffffffff);
    expect(maskValue(use('63'))).toBe(63);
    expect(() => maskValue(use('x'))).toThrow(AnyvmafError);
  });
});

describe('decimal numbers', () => {
  test.each([
    ['93', 93],
    ['93.5', 93.5],
    ['-1', -1],
    ['.5', 0.5],
    ['1e2', 100],
  ])('%j is %d', (text, number) => {
    expect(numberValue(use(text))).toBe(number);
  });

  test.each(['', 'high', '9,5', '0x10', 'NaN', 'Infinity', '1e999', '5%'])('%j is none', (text) => {
    expect(() => numberValue(use(text))).toThrow(
      `--threads is "${text}", but it must be a number such as 93.5`,
    );
  });
});

test('a wrong choice names the right ones and the likely one', () => {
  expect(choiceValue(use('420'), ['420', '422'])).toBe('420');
  expect(() => choiceValue(use('libvmaf-3.1', '--compat'), ['libvmaf-3.2', 'libvmaf-3.0'])).toThrow(
    '--compat is "libvmaf-3.1", but it must be libvmaf-3.2 or libvmaf-3.0; did you mean libvmaf-3.2?',
  );
});
