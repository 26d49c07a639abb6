/**
 * @module test/node/parts/consent
 * Nothing is fetched unless somebody agreed, and nobody is asked twice.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { PartsDoor } from '../../../src/parts/consent.js';
import { fakeNpm } from '../../support/fake-npm.js';

let folder = '';
let parts: typeof import('../../../src/parts/consent.js');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-consent-'));
  vi.stubEnv('ANYVMAF_CACHE', folder);
  vi.stubEnv('ANYVMAF_INSTALL', '');
  vi.stubEnv('PATH', fakeNpm(folder, `writeFileSync(${JSON.stringify(join(folder, 'npm-ran'))}, '');`));
  // It remembers answers.
  vi.resetModules();
  parts = await import('../../../src/parts/consent.js');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const ran = () => existsSync(join(folder, 'npm-ran'));
const refused = (work: () => Promise<void>) =>
  work().then(
    () => '',
    (error: Error) => error.message,
  );

/** Answers in turn; counts questions, and how many were open at once. */
function door(answers: readonly boolean[]) {
  const asked: string[] = [];
  let [open, most] = [0, 0];
  const opened: PartsDoor = {
    async ask({ name }) {
      asked.push(name);
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      return answers[asked.length - 1] ?? false;
    },
    say() {},
  };
  return { opened, asked, most: () => most };
}

describe('a part that is missing', () => {
  it('is an error in a program that has nobody to ask, with what to install as data', async () => {
    const error = await parts.obtainPart('tiny').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(
      /the package onnxruntime-web 1\.30\.0 \(.* MB to fetch\), which runs tiny models .*, is not installed; run npm install onnxruntime-web@1\.30\.0\.$/,
    );
    expect((error as AnyvmafError).objections?.[0]?.hints).toEqual([
      { purpose: 'install', part: 'tiny', packages: 'onnxruntime-web@1.30.0' },
    ]);
    expect(ran()).toBe(false);
  });

  it('is asked for once, also by several at the same time, and a no holds', async () => {
    const { opened, asked } = door([false]);
    parts.openPartsDoor(opened);
    const all = await Promise.all([1, 2, 3].map(() => refused(() => parts.obtainPart('decoder'))));
    for (const message of all) expect(message).toContain('@ffmpeg/core 0.12.10');
    expect(await refused(() => parts.obtainPart('decoder'))).toContain('is not installed');
    expect(asked).toEqual(['decoder']);
    expect(ran()).toBe(false);
  });

  it('is asked for after another question has been answered', async () => {
    const { opened, asked, most } = door([false, false]);
    parts.openPartsDoor(opened);
    await Promise.all([refused(() => parts.obtainPart('decoder')), refused(() => parts.obtainPart('tiny'))]);
    expect(asked).toEqual(['decoder', 'tiny']);
    expect(most()).toBe(1);
  });

  it('is fetched after a yes, and tried again after a failure', async () => {
    const { opened, asked } = door([true, true]);
    parts.openPartsDoor(opened);
    expect(await refused(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(ran()).toBe(true);
    expect(await refused(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(asked).toEqual(['tiny', 'tiny']);
  });

  it('is not asked for where that is set', async () => {
    const { opened, asked } = door([true]);
    parts.openPartsDoor(opened);
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    expect(await refused(() => parts.obtainPart('tiny'))).toContain('is not installed');
    vi.stubEnv('ANYVMAF_INSTALL', 'maybe');
    expect(await refused(() => parts.obtainPart('tiny'))).toBe(
      'ANYVMAF_INSTALL is "maybe", but it must be auto or never.',
    );
    expect(ran()).toBe(false);
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    expect(await refused(() => parts.obtainPart('tiny'))).toContain('left no package');
    vi.stubEnv('ANYVMAF_INSTALL', 'never');
    parts.agreeToParts();
    expect(await refused(() => parts.obtainPart('tiny'))).toContain('left no package');
    expect(asked).toEqual([]);
  });

  it('is given up with the reason of the signal', async () => {
    const stop = new AbortController();
    parts.openPartsDoor({ ask: () => new Promise(() => {}), say() {} });
    const going = parts.obtainPart('tiny', stop.signal);
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await refused(() => going)).toBe('enough');
  });

  it('is fetched on for the others when one gives up', async () => {
    vi.stubEnv('ANYVMAF_INSTALL', 'auto');
    const mark = JSON.stringify(join(folder, 'go'));
    vi.stubEnv(
      'PATH',
      fakeNpm(
        folder,
        `setInterval(() => { if (require('node:fs').existsSync(${mark})) process.exit(3); }, 50);`,
      ),
    );
    const stop = new AbortController();
    const first = refused(() => parts.obtainPart('tiny', stop.signal));
    const second = refused(() => parts.obtainPart('tiny'));
    stop.abort(new AnyvmafError('aborted', 'enough'));
    expect(await first).toBe('enough');
    writeFileSync(join(folder, 'go'), '');
    expect(await second).toContain('npm ended with code 3');
  });
});
