/**
 * @module test/node/media/corpus
 * Awkward pairs, made by ffmpeg from its own sources: score, findings, verdict and advice are those of a careful person.
 * `npm run corpus` runs the same cases from the shell.
 */
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { score, trustOf } from '../../../src/index.js';
import { root } from '../../support/built.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { exhaustive, tier } from '../../support/tier.js';

vi.setConfig({ testTimeout: 120_000 });

interface Case {
  readonly kind: string;
  readonly name: string;
  readonly what: string;
}

/** What modules of scripts/corpus export. */
interface Corpus {
  readonly CASES: readonly Case[];
  readonly SOME: readonly Case[];
  corpusFiles(host: { ffmpeg: typeof ffmpeg; folder: string }): object;
  preparer(folder: string): object;
  runCase(one: Case, host: object): Promise<{ readonly misses: readonly string[] }>;
}

const modules = ['cases', 'make', 'run'].map((name) => import(join(root, `scripts/corpus/${name}.mjs`)));
const imported = Object.assign({}, ...(await Promise.all(modules))) as Corpus;
const { CASES, SOME, corpusFiles, preparer, runCase } = imported;

it('the corpus has cases of every kind in each tier, all with different names', () => {
  const names = CASES.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  const kinds = (cases: readonly Case[]) => new Set(cases.map(({ kind }) => kind));
  expect(kinds(SOME)).toEqual(kinds(CASES));
});

const host = () => ({
  score,
  trustOf,
  files: corpusFiles({ ffmpeg, folder: encodeFolder() }),
  prepare: preparer(encodeFolder()),
  otherDecoders: exhaustive,
});

const cases = tier(SOME, CASES).map((one) => [`${one.kind}, ${one.name}: ${one.what}`, one] as const);
it.runIf(hasFfmpeg).each(cases)(`%s (${needsFfmpeg})`, async (_, one) => {
  expect((await runCase(one, host())).misses).toEqual([]);
});
