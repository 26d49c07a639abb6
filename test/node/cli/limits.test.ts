/**
 * @module test/node/cli/limits
 * What fails because the system gives no more files or memory names the limit and is no defect of the program.
 */
import { expect, it } from 'vitest';
import { exitCodeOf, messageOf } from '../../../src/cli/exit.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { limitError } from '../../../src/core/system-limits.js';
import { sentenceOf } from '../../../src/mcp/results.js';
import { PROGRAM, run, videos } from '../../support/cli.js';

const linux = process.platform === 'linux';

/** Runs the program under a limit of the shell. */
function limited(limit: string, args: readonly string[]) {
  return run('/bin/sh', ['-c', `ulimit ${limit}; exec "$@"`, 'sh', process.execPath, PROGRAM, ...args]);
}

const withCode = (code: string, message: string) => Object.assign(new Error(message), { code });

it.each([
  [withCode('EMFILE', 'EMFILE: too many open files, open "/x.js"'), /^Too many files are open.*ulimit -n/],
  [withCode('ENFILE', 'ENFILE: file table overflow'), /^The system has too many files open/],
  [withCode('ENOMEM', 'spawn ENOMEM'), /^Memory ran out/],
  [withCode('EAGAIN', 'spawn ffmpeg EAGAIN'), /^The system starts no more processes/],
  [withCode('ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EMFILE'), /^Too many files/],
  [withCode('ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EAGAIN'), /no more processes/],
  [new RangeError('Array buffer allocation failed'), /^Memory ran out/],
  [new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory'), /^Memory ran/],
])('a limit of the system is no defect: %s', (cause, sentence) => {
  expect(messageOf(cause)).toMatch(sentence);
  expect(exitCodeOf(cause)).toBe(2);
  expect(sentenceOf(cause)).toMatch(sentence);
  expect(limitError(cause)).toMatchObject({ code: 'resource', cause });
});

it('what is something else stays what it is', () => {
  for (const cause of [
    new TypeError('x is undefined'),
    withCode('ENOENT', 'no such file'),
    new AnyvmafError('io', 'cannot read EMFILE'),
    undefined,
  ])
    expect(limitError(cause)).toBeUndefined();
});

it.skipIf(!linux)('too few open files are told with the limit, whenever they run out', async () => {
  using files = videos();
  const pair = files.pair(['r.y4m', 'd.y4m'], 3);
  let told = 0;
  for (const limit of [22, 26, 32, 40, 48, 56]) {
    const { code, stdout, stderr } = await limited(`-n ${limit}`, pair);
    if (code === 0) continue;
    told++;
    expect([code, stdout], `ulimit -n ${limit}: ${stderr}`).toEqual([2, '']);
    expect(stderr).toMatch(/^anyvmaf: .*too many files are open.*raise the limit.*ulimit -n.*\n$/i);
  }
  expect(told).toBeGreaterThan(2);
});

it.skipIf(!linux)('too little address space is told with the limit and a way out', async () => {
  using files = videos();
  const pair = files.pair(['r.y4m', 'd.y4m'], 3);
  const { code, stdout, stderr } = await limited('-v 12000000', [...pair, '--threads', '2']);
  expect([code, stdout], stderr).toEqual([2, '']);
  expect(stderr).toMatch(/^anyvmaf: Memory ran out, .* limited to 11718 MiB \(ulimit -v\).*\n$/);
  const way = /NODE_OPTIONS=(\S+),/.exec(stderr)?.[1] ?? '';
  expect(way).toBe('--disable-wasm-trap-handler');
});
