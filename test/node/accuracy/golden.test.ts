/**
 * @module test/node/accuracy/golden
 * Every feature of real clips equals the double that libvmaf 3.2.0 gave for it; `npm run accuracy` makes the table.
 */
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listExtractors, score } from '../../../src/index.js';
import { compareWithGolden, type GoldenCase, goldenCases } from '../../support/golden.js';
import { needsShared, sharedPath } from '../../support/shared.js';

const golden = sharedPath('golden/features.json');

function casesByClip(file: string): Map<string, GoldenCase[]> {
  const cases = new Map<string, GoldenCase[]>();
  for (const entry of goldenCases(new URL('../..', pathToFileURL(file)))) {
    cases.set(entry.clip, [...(cases.get(entry.clip) ?? []), entry]);
  }
  return cases;
}

const clips = golden === undefined ? new Map<string, GoldenCase[]>() : casesByClip(golden);

describe.skipIf(golden === undefined)(`libvmaf 3.2.0 on real clips (${needsShared})`, () => {
  it('covers all clips, every extractor and all seventeen models', () => {
    expect(clips.size).toBeGreaterThanOrEqual(6);
    const configs = [...clips.values()].flat().map(({ config }) => config);
    expect(new Set(configs.filter((config) => config.startsWith('m:'))).size).toBe(17);
    const extractors = new Set(configs.map((config) => config.split('=')[0]));
    for (const { name } of listExtractors()) expect(extractors).toContain(name);
  });

  for (const [clip, cases] of clips) {
    it.each(cases)(`${clip}: $config`, async (entry) => {
      const report = await score(entry.request, { ...entry.options, threads: 0 });
      const { compared, wrong } = compareWithGolden(report, entry);
      expect(compared).toBeGreaterThan(0);
      expect(wrong).toEqual([]);
    });
  }
});
