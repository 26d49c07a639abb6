/**
 * @module test/unit/tiny/call-serializer
 * Calls wait for each other, also for one that fails.
 */
import { expect, test } from 'vitest';
import { serializeCalls } from '../../../src/tiny/session.js';

test('calls run one after the other, in the order they were asked for, past one that fails', async () => {
  const told: string[] = [];
  const calls = serializeCalls(async (name: string) => {
    told.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, name === 'first' ? 20 : 1));
    told.push(`${name} ends`);
    if (name === 'second') throw new Error('no');
    return name;
  });
  const results = ['first', 'second', 'third'].map((name) => calls.run(name));
  const settled = Promise.allSettled(results);
  await calls.settled();
  expect(told).toEqual(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
