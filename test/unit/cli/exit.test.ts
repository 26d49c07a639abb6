/**
 * @module test/unit/cli/exit
 * Which error ends with which code, and what is said about it.
 */
import { expect, test } from 'vitest';
import { ClosedPipe, exitCodeOf, Interrupted, messageOf } from '../../../src/cli/exit.js';
import { AnyvmafError, type ErrorCode } from '../../../src/core/errors.js';

test.each<[ErrorCode, number]>([
  ['usage', 1],
  ['io', 2],
  ['media', 2],
  ['mismatch', 2],
  ['model', 2],
  ['feature', 2],
  ['internal', 70],
  ['aborted', 130],
])('an error of kind %s ends with %d', (code, expected) => {
  expect(exitCodeOf(new AnyvmafError(code, 'so'))).toBe(expected);
});

test('signals end as shells report them', () => {
  expect(exitCodeOf(new Interrupted('SIGINT'))).toBe(130);
  expect(exitCodeOf(new Interrupted('SIGTERM'))).toBe(143);
});

test('a closed pipe is no reason to talk', () => {
  expect(exitCodeOf(new ClosedPipe())).toBe(141);
  expect(messageOf(new ClosedPipe())).toBeUndefined();
});

test('what is not ours is a defect, and says so', () => {
  expect(exitCodeOf(new TypeError('x is undefined'))).toBe(70);
  expect(exitCodeOf('thrown text')).toBe(70);
  expect(messageOf(new TypeError('x is undefined'))).toContain(
    'a defect of anyvmaf itself, please report it: x is',
  );
});

test('a message is one line that cannot steer the terminal', () => {
  expect(messageOf(new AnyvmafError('io', 'no file "a\r\n  b\u001b[2J"\n'))).toBe(
    'no file "a\\x0d\\x0a  b\\x1b[2J"',
  );
});
