/**
 * @module test/support/refusals
 * Messages of expected errors, checked to be ours, of the expected code and on one line.
 */
import { expect } from 'vitest';
import { AnyvmafError, type ErrorCode } from '../../src/core/errors.js';

function sentenceOf(error: unknown, code: ErrorCode): string {
  if (!(error instanceof AnyvmafError) || error.code !== code) throw error;
  expect(error.message).not.toMatch(/[\n\r]/);
  return error.message;
}

/** The message of the error that `act` throws. */
export function refusal(code: ErrorCode, act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return sentenceOf(error, code);
  }
  throw new Error('nothing was refused');
}

/** The message of the error that `act` rejects with. */
export async function refusalOf(code: ErrorCode, act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return sentenceOf(error, code);
  }
  throw new Error('nothing was refused');
}
