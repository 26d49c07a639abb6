/**
 * @module test/node/accuracy/fixtures
 * Every feature of generated clips equals libvmaf's double, in every format and with every option, by the shipped SIMD
 * functions and, for a selection, by their portable twins. Needs nothing outside the repository.
 */
import { describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import {
  clipDigest,
  clipTitle,
  compareWithFixture,
  type FixtureCase,
  type FixtureRun,
  fixtureClip,
  readFixture,
  requestTitle,
} from '../../support/fixtures.js';

function run(entry: FixtureCase, request: FixtureRun, implementation: 'simd128' | 'portable') {
  const { models, features, noPrediction, subsample, compat } = request;
  const pair = fixtureClip(entry.clip);
  return score(
    {
      reference: sampleSource(pair, 'reference', entry.clip.frames),
      distorted: sampleSource(pair, 'distorted', entry.clip.frames),
    },
    {
      ...(models && { models }),
      ...(features && { features }),
      ...(noPrediction && { noPrediction }),
      ...(subsample && { subsample }),
      ...(compat && { compat }),
      threads: 0,
      implementation,
    },
  );
}

for (const name of ['formats', 'options', 'extremes', 'narrow', 'models', 'compat', 'float']) {
  describe(`libvmaf on generated clips: ${name}`, () => {
    for (const entry of readFixture(name)) {
      describe(clipTitle(entry.clip), () => {
        it('is the content that libvmaf measured', async () => {
          expect(await clipDigest(entry.clip)).toBe(entry.digest);
        });

        for (const request of entry.runs) {
          it(requestTitle(request), async () => {
            const report = await run(entry, request, 'simd128');
            expect(compareWithFixture(report, request).wrong).toEqual([]);
            const { frameNums } = request;
            if (frameNums) expect(report.frames.map(({ frameNum }) => frameNum)).toEqual(frameNums);
          });
        }

        // The portable twins are slower: small pictures are enough for them.
        if (entry.clip.width * entry.clip.height > 10_000) return;
        it('the portable functions agree', async () => {
          for (const request of entry.runs) {
            expect(compareWithFixture(await run(entry, request, 'portable'), request).wrong).toEqual([]);
          }
        });
      });
    }
  });
}

describe('names and order of metrics', () => {
  const small = readFixture('formats').filter(({ clip, runs }) => clip.width <= 100 && runs.length > 0);

  it.each(small.map((entry) => [clipTitle(entry.clip), entry] as const))(
    'are those of a single-threaded libvmaf run: %s',
    async (_, entry) => {
      const [request] = entry.runs;
      if (request === undefined) throw new Error('a case without a run');
      const report = await run(entry, request, 'simd128');
      expect(Object.keys(report.frames[0]?.metrics ?? {})).toEqual(Object.keys(request.metrics));
    },
  );

  it('are compared on clips of the fixtures', () => expect(small.length).toBeGreaterThan(3));
});
