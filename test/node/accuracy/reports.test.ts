/**
 * @module test/node/accuracy/reports
 * Reports are byte for byte what the `vmaf` tool of libvmaf 3.2.0 wrote for the same run, except for the version, the
 * fps figure and our own keys, which stand behind libvmaf's in JSON.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { formatReport, type ReportFormat, score } from '../../../src/index.js';
import { sampleSource } from '../../../src/sample/files.js';
import {
  clipTitle,
  type FixtureClip,
  type FixtureRequest,
  fixtureClip,
  requestTitle,
} from '../../support/fixtures.js';

interface ReportCase extends FixtureRequest {
  /** Files in test/fixtures/reports start with it. */
  readonly name: string;
  readonly clip: FixtureClip;
  readonly formats: readonly ReportFormat[];
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url)), 'utf8');
}

const { cases } = JSON.parse(read('reports.json')) as { cases: readonly ReportCase[] };

/** How our additions to a format begin and end. */
const OWN_KEYS: Readonly<Record<string, RegExp>> = {
  json: /^$|^,\n {2}"/,
  xml: /^$|^ {2}<anyvmaf [\s\S]+<\/anyvmaf>\n$/,
  csv: /^$/,
  sub: /^$/,
};

/** What must differ between two programs and two runs, replaced by words. */
function withoutRunFacts(text: string): string {
  return text
    .replace(/ version="[^"]*"/, ' version="VERSION"')
    .replace(/"version": "[^"]*"/, '"version": "VERSION"')
    .replace(/ fps="[^"]*"/, ' fps="FPS"')
    .replace(/"fps": [^,]*,/, '"fps": FPS,');
}

for (const entry of cases) {
  const { name, clip, formats, models, features, noPrediction, subsample } = entry;
  describe(`${clipTitle(clip)}: ${requestTitle(entry)}`, () => {
    const pair = fixtureClip(clip);
    const run = score(
      {
        reference: sampleSource(pair, 'reference', clip.frames),
        distorted: sampleSource(pair, 'distorted', clip.frames),
      },
      {
        ...(models && { models }),
        ...(features && { features }),
        ...(noPrediction && { noPrediction }),
        ...(subsample && { subsample }),
        threads: 0,
      },
    );
    run.catch(() => {}); // reported by the tests that await it

    for (const format of formats) {
      it(`${format} is libvmaf's`, async () => {
        const expected = read(`reports/${name}.${format}`);
        const actual = withoutRunFacts(formatReport(await run, format));
        const end = { json: '\n}\n', xml: '</VMAF>\n' }[format as string] ?? '';
        const shared = expected.slice(0, expected.length - end.length);
        expect(actual.slice(0, shared.length)).toBe(shared);
        expect(actual.endsWith(end)).toBe(true);
        // Between the two stand our own keys, if any.
        expect(actual.slice(shared.length, actual.length - end.length)).toMatch(OWN_KEYS[format] ?? /^$/);
        if (format === 'json') expect(JSON.parse(actual.replace('FPS', '1'))).toBeTypeOf('object');
      });
    }
  });
}
