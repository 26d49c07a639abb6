/**
 * @module scripts/fuzz/contract
 * The contract of every entry point for any input: a correct result, or one of our errors in readable form.
 */

/** Maximum characters of a message. */
const MESSAGE = 2000;

/** Maximum milliseconds for one input. */
export const PATIENCE = 2000;

/** Maximum growth of a process in bytes. */
export const GROWTH = 512 << 20;

/** Messages must not move the cursor, hide text or begin a new line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this searches for them
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u;

/** What is wrong with an error; `undefined` if it keeps the contract. */
export function faultOf(error) {
  if (error?.name !== 'AnyvmafError')
    return `not an error of ours: ${String(error?.stack ?? error).slice(0, 1500)}`;
  if (error.code === 'internal') return `a defect by its own word: ${error.message.slice(0, 500)}`;
  return messageFault(error.message);
}

/** What is wrong with a message for people. */
export function messageFault(message) {
  if (typeof message !== 'string' || message.trim() === '') return 'an empty message';
  if (message.length > MESSAGE) return `a message of ${message.length} characters: ${message.slice(0, 200)}`;
  const found = UNPRINTABLE.exec(message);
  if (found) return `an unprintable character in a message: ${JSON.stringify(message.slice(0, 300))}`;
  return undefined;
}
