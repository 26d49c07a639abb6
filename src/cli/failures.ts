/**
 * @module cli/failures
 * Says on standard error which of several encodes could not be scored, and why.
 */
import { baseName } from '../report/facts.js';
import type { FailedEncode } from '../report/types.js';
import type { Terminal } from './terminal.js';

/**
 * One line for each reason.
 * @param of how many encodes there were: what is wrong with all is not theirs, but the reference's or the options'
 */
export function complainOfFailures(failed: readonly FailedEncode[], of: number, terminal: Terminal): void {
  const reasons = new Map<string, string[]>();
  for (const { distorted, message } of failed)
    reasons.set(message, [...(reasons.get(message) ?? []), baseName(distorted)]);
  for (const [message, names] of reasons) {
    const named = names.length === of || names.every((name) => message.includes(name));
    const line = `${named ? '' : `${names.join(', ')}: `}${message}`;
    terminal.complain(line);
  }
  if (failed.length < of) {
    const names = failed.map(({ distorted }) => baseName(distorted)).join(', ');
    terminal.complain(`${failed.length} of ${of} encodes could not be scored: ${names}`);
  }
}
