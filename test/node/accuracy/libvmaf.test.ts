/**
 * @module test/node/accuracy/libvmaf
 * Every feature equals the double that libvmaf 3.2.0 gave for it, of generated clips in every format and with every option,
 * and of real clips; and reports are what its tool writes, byte for byte. `npm run accuracy` makes the table.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  type FrameSource,
  formatReport,
  listExtractors,
  type ReportFormat,
  type ScoreOptions,
  score,
} from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import {
  clipDigest,
  clipTitle,
  compareWithFixture,
  compareWithGolden,
  type FixtureClip,
  type FixtureRequest,
  fixtureClip,
  type GoldenCase,
  goldenCases,
  readFixture,
  requestTitle,
} from '../../support/fixtures.js';
import { exhaustive, needsShared, sharedPath } from '../../support/tier.js';

/** Only values matter here: preflight takes as long as measuring. */
const HERE = { threads: 0, preflight: false } as const;

function run(clip: FixtureClip, request: FixtureRequest, more: ScoreOptions = {}) {
  const { models, features, noPrediction, subsample, compat } = request;
  const [reference, distorted] = (['reference', 'distorted'] as const).map((side) =>
    sampleSource(fixtureClip(clip), side, clip.frames),
  ) as [FrameSource, FrameSource];
  const options = {
    ...(models && { models }),
    ...(features && { features }),
    ...(noPrediction && { noPrediction }),
    ...(subsample && { subsample }),
    ...(compat && { compat }),
  };
  return score({ reference, distorted }, { ...options, ...HERE, ...more });
}

const PORTABLE = { implementation: 'portable' } as const;
const FIXTURES = ['formats', 'options', 'extremes', 'narrow', 'models', 'compat', 'float'];

/** Luma samples of the clips of `formats` up to which `npm test` measures them; real clips stand for larger ones. */
const MOST = 300_000;
const isLarge = (name: string, { width, height, frames }: FixtureClip) =>
  name === 'formats' && width * height * frames > MOST;

for (const name of FIXTURES) {
  describe(`libvmaf on generated clips: ${name}`, () => {
    for (const { clip, digest, runs } of readFixture(name)) {
      if (!exhaustive && isLarge(name, clip)) continue;
      describe(clipTitle(clip), () => {
        it('is the content that libvmaf measured', async () => {
          expect(await clipDigest(clip)).toBe(digest);
        });

        it.each(runs.map((one) => [requestTitle(one), one] as const))('%s', async (_, request) => {
          const report = await run(clip, request);
          expect(compareWithFixture(report, request).wrong).toEqual([]);
          const { frameNums, metrics } = request;
          // Fixtures of small clips have the names in the order of a single-threaded run.
          if (name === 'formats' && clip.width <= 100)
            expect(Object.keys(report.frames[0]?.metrics ?? {})).toEqual(Object.keys(metrics));
          if (frameNums) expect(report.frames.map(({ frameNum }) => frameNum)).toEqual(frameNums);
        });

        // The portable functions are slower: small pictures are enough for them.
        it.runIf(clip.width * clip.height <= 10_000)('the portable functions agree', async () => {
          for (const request of runs)
            expect(compareWithFixture(await run(clip, request, PORTABLE), request).wrong).toEqual([]);
        });
      });
    }
  });
}

const golden = sharedPath('golden/features.json');
const cases = golden === undefined ? [] : goldenCases(new URL('../', pathToFileURL(golden)));

/** Every configuration once, on the clips in turn, where motion needs several frames; two of them on every clip. */
function onceEach(all: readonly GoldenCase[]): GoldenCase[] {
  const configs = [...new Set(all.map(({ config }) => config))];
  const everywhere = ['cambi', 'm:vmaf_v0.6.1'];
  return configs.flatMap((config, i) => {
    const fit = all.filter(({ clip, config: other }) => {
      if (other !== config) return false;
      if (everywhere.includes(config)) return true;
      if (clip === 'dark_scene_1080p') return false;
      return !/^m:|motion|temporal/.test(config) || clip.startsWith('src01');
    });
    return everywhere.includes(config) ? fit : fit.slice(i % fit.length, (i % fit.length) + 1);
  });
}

describe.skipIf(golden === undefined)(`libvmaf 3.2.0 on real clips (${needsShared})`, () => {
  it('covers all clips, every extractor and all seventeen models', () => {
    const chosen = onceEach(cases);
    expect(new Set(cases.map(({ clip }) => clip)).size).toBeGreaterThanOrEqual(6);
    expect(new Set(chosen.map(({ clip }) => clip))).toEqual(new Set(cases.map(({ clip }) => clip)));
    const configs = chosen.map(({ config }) => config);
    expect(new Set(configs)).toEqual(new Set(cases.map(({ config }) => config)));
    expect(new Set(configs.filter((config) => config.startsWith('m:'))).size).toBe(17);
    const extractors = new Set(configs.map((config) => config.split('=')[0]));
    const libvmafs = listExtractors().filter(({ beyondLibvmaf }) => !beyondLibvmaf);
    for (const { name } of libvmafs) expect(extractors).toContain(name);
  });

  it.each(exhaustive ? cases : onceEach(cases))('$clip: $config', async (entry) => {
    const report = await score(entry.request, { ...entry.options, ...HERE });
    const { compared, wrong } = compareWithGolden(report, entry);
    expect(compared).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });
});

interface ReportCase extends FixtureRequest {
  /** Names of files in test/fixtures/reports start with it. */
  readonly name: string;
  readonly clip: FixtureClip;
  readonly formats: readonly ReportFormat[];
}

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url)), 'utf8');

const reports = JSON.parse(read('reports.json')) as { cases: readonly ReportCase[] };

/** How our additions to a format, which in JSON follow libvmaf's keys, begin and end. */
const OWN_KEYS: Readonly<Record<string, RegExp>> = {
  json: /^$|^,\n {2}"/,
  xml: /^$|^ {2}<anyvmaf [\s\S]+<\/anyvmaf>\n$/,
  csv: /^$/,
  sub: /^$/,
};

/** The version and the fps, which differ between two programs and two runs, replaced by words. */
function withoutRunFacts(text: string): string {
  return text
    .replace(/ version="[^"]*"/, ' version="VERSION"')
    .replace(/"version": "[^"]*"/, '"version": "VERSION"')
    .replace(/ fps="[^"]*"/, ' fps="FPS"')
    .replace(/"fps": [^,]*,/, '"fps": FPS,');
}

describe.each(
  reports.cases.map((entry) => [`${clipTitle(entry.clip)}: ${requestTitle(entry)}`, entry] as const),
)('a report of %s', (_, entry) => {
  const scored = run(entry.clip, entry, { preflight: true });
  scored.catch(() => {}); // the tests that await it report the error

  it.each(entry.formats)("is libvmaf's as %s", async (format) => {
    const expected = read(`reports/${entry.name}.${format}`);
    const actual = withoutRunFacts(formatReport(await scored, format));
    const end = { json: '\n}\n', xml: '</VMAF>\n' }[format as string] ?? '';
    const shared = expected.slice(0, expected.length - end.length);
    expect(actual.slice(0, shared.length)).toBe(shared);
    expect(actual.endsWith(end)).toBe(true);
    // Our own keys, if any, stand between the two.
    expect(actual.slice(shared.length, actual.length - end.length)).toMatch(OWN_KEYS[format] ?? /^$/);
    if (format === 'json') expect(JSON.parse(actual.replace('FPS', '1'))).toBeTypeOf('object');
  });
});
