/**
 * @module test/unit/core/printable
 * Messages stay one printable line of bounded length, whatever they repeat.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { magnitude, wholeNumber } from '../../../src/core/numbers.js';
import { printable, quoted, shown, showValue } from '../../../src/core/printable.js';
import { parseFeature } from '../../../src/metrics/options.js';
import { parseModelString } from '../../../src/models/grammar.js';

function thrown(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof AnyvmafError) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('text from outside', () => {
  it('shows what is hidden in it as codes', () => {
    expect(printable('a\n\u001b[2J\u0085\u2028\u202e\u{e0041}\ud800é😀')).toBe(
      'a\\x0a\\x1b[2J\\x85\\u2028\\u202e\\u{e0041}\\ud800é😀',
    );
  });

  it('is cut to its ends and tells its length, never within a character', () => {
    expect(shown('ab'.repeat(40_000), 9)).toBe('ababab…bab (80,000 characters)');
    expect(shown('😀'.repeat(10), 5)).toBe('😀😀… (20 characters)');
    // Escapes count as what they are.
    expect(shown('\u2028'.repeat(100)).length).toBeLessThan(230);
    expect(quoted('\ud800'.repeat(150)).length).toBeLessThan(230);
    expect(shown('a\nb')).toBe('a\\x0ab');
    expect(quoted('"'.repeat(300)).length).toBeLessThan(450);
  });

  it('of any type is told in a few words', () => {
    const values = [undefined, null, 5n, Symbol('x'), () => {}, [1], {}, new Uint8Array(3)];
    expect(values.map((value) => showValue(value)).join('; ')).toBe(
      'undefined; null; 5n; a symbol; a function; an array of 1; an object; 3 bytes',
    );
  });
});

describe('an error', () => {
  it('is one printable line of bounded length, and so is its cause', () => {
    const cause = new Error(`bad\n\u001b[31m${'x'.repeat(1e6)}`);
    const error = new AnyvmafError('io', `cannot read\n\u202e${'y'.repeat(1e6)}`, { cause });
    for (const { message } of [error, error.cause as Error]) {
      expect(message).toMatch(/^[\x20-\x7e…]+$/);
      expect(message.length).toBeLessThan(3200);
    }
  });

  it.each([
    ['feature name', () => parseFeature('a'.repeat(3_900_000))],
    ['option', () => parseFeature(`psnr=${'a'.repeat(3000)}=1`)],
    ['number', () => parseFeature(`cambi=window_size=${'1'.repeat(7000)}x`)],
    ['model string', () => parseModelString('version=x:'.repeat(100_000))],
    ['model name', () => parseModelString(`version=x:name=${'n'.repeat(3000)}`)],
  ])('about an endless %s comes at once and is short', (_, work) => {
    const start = performance.now();
    expect(thrown(work).length).toBeLessThan(1200);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('refuses __proto__ as an option as it does any other that there is not', () => {
    expect(thrown(() => parseFeature('psnr=__proto__=1'))).toContain('has no option "__proto__"');
  });
});

describe('numbers', () => {
  it('are decimal or hexadecimal, and nothing else', () => {
    const texts = ['1', '1.', '.5', '1e3', '1.5E-2', '0x1F', '', '.', '1e', '0x', 'e5', '1 ', '1x', '--1'];
    expect(texts.map(magnitude)).toEqual([1, 1, 0.5, 1000, 0.015, 31, ...Array(8).fill(undefined)]);
  });

  it('of frames are whole and exact', () => {
    expect(['0', '007', '9007199254740991', '9007199254740992', '', '1.', '-1'].map(wholeNumber)).toEqual([
      0,
      7,
      9007199254740991,
      ...Array(4).fill(undefined),
    ]);
  });
});
