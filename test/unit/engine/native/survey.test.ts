/**
 * @module test/unit/engine/native/survey
 * Installed programs are asked what they are once, however many ask at the same time and whoever gives up.
 */
import { expect, it } from 'vitest';
import type { NativeHost, NativeJob, NativeOutcome } from '../../../../src/engine/backends/native/host.js';
import { survey } from '../../../../src/engine/backends/native/survey.js';

/** A host with one program, which answers when it is told to. */
function fakeHost() {
  const asked: string[] = [];
  const ended: unknown[] = [];
  let answer = () => {};
  const waiting = () =>
    new Promise<void>((resolve) => {
      answer = resolve;
    });
  let gate = waiting();
  const host: NativeHost = {
    pipes: false,
    candidates: (kind) => (kind === 'vmaf' ? [{ path: '/bin/vmaf', from: 'PATH', key: 'vmaf 1' }] : []),
    run: async ({ args, signal }: NativeJob): Promise<NativeOutcome> => {
      asked.push(args.join(' '));
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => {
          ended.push(signal.reason);
          reject(signal.reason);
        });
      });
      await Promise.race([gate, aborted]);
      const stdout = 'is neither one nor the other';
      return { kind: 'ended', code: 0, signal: null, stdout, stderr: '', time: 1 };
    },
  };
  return {
    host,
    asked,
    ended,
    answer: () => answer(),
    again: () => {
      gate = waiting();
    },
  };
}

it('thirty callers at once, each with a signal of its own, share one question and its answer', async () => {
  const { host, asked, answer } = fakeHost();
  const calls = Array.from({ length: 30 }, () => survey(host, { signal: new AbortController().signal }));
  answer();
  for (const { rejected } of await Promise.all(calls)) expect(rejected).toHaveLength(1);
  await survey(host, { signal: new AbortController().signal });
  await survey(host, {});
  expect(asked).toEqual(['--help']);
});

it('a caller that gives up does not end the question for the others', async () => {
  const { host, asked, ended, answer } = fakeHost();
  const stop = new AbortController();
  const [hasty, patient] = [survey(host, { signal: stop.signal }), survey(host, {})];
  stop.abort('enough');
  await expect(hasty).rejects.toBe('enough');
  answer();
  expect((await patient).rejected).toHaveLength(1);
  expect([asked, ended]).toEqual([['--help'], []]);
});

it('when all have given up the program is ended, and the next caller asks anew', async () => {
  const { host, asked, ended, answer, again } = fakeHost();
  const stops = [new AbortController(), new AbortController()];
  const calls = stops.map(({ signal }) => survey(host, { signal }));
  stops[0]?.abort('one');
  expect(ended).toEqual([]);
  stops[1]?.abort('two');
  await Promise.allSettled(calls);
  expect(ended).toEqual(['two']);
  again();
  const next = survey(host, {});
  answer();
  expect((await next).rejected).toHaveLength(1);
  expect(asked).toEqual(['--help', '--help']);
});

it('a caller that has given up before it asks starts nothing', async () => {
  const { host, asked } = fakeHost();
  await expect(survey(host, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
  expect(asked).toEqual([]);
});
