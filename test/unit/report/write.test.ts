/**
 * @module test/unit/report/write
 * Reports in every format: byte for byte like libvmaf, our additions, precision, and long runs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../src/report/read/index.js';
import { formatReport, type ReportFormat, writeReport } from '../../../src/report/write.js';
import { collectionModel, paired, pooled, printed, report, spread, vmafModel } from '../../support/report.js';
import { cpuTime, tier } from '../../support/tier.js';

const FORMATS: readonly ReportFormat[] = ['xml', 'json', 'csv', 'sub', 'ndjson'];

/** Logs of libvmaf 3.2.0's tool, with words for version and fps; see test/node/accuracy. */
const FOLDER = new URL('../../fixtures/reports/', import.meta.url);
const LOGS = readdirSync(FOLDER).map((name) => [name, name.split('.')[1] as ReportFormat] as const);
/** How libvmaf's part ends, and how ours follows it. */
const ENDS: Partial<Record<ReportFormat, readonly [end: string, ours: string]>> = {
  json: ['\n}\n', ',\n  "reference"'],
  xml: ['</VMAF>\n', '  <anyvmaf '],
};

it.each(LOGS)("libvmaf's log %s is written again byte for byte", (name, format) => {
  const log = readFileSync(new URL(name, FOLDER), 'utf8').replace('VERSION', '9.9.9').replace('FPS', '14.02');
  const { frames, metrics, pooled_metrics, aggregate_metrics } = readReport(log);
  const reference = { ...report().reference, width: 64, height: 48 };
  const text = formatReport(
    report({ frames, metrics, pooled_metrics, aggregate_metrics, reference }),
    format,
  );
  const [end, ours] = ENDS[format] ?? ['', ''];
  expect(ours ? theirs(text, ours) + end : text).toBe(log);
  expect(text.endsWith(end)).toBe(true);
});

/** libvmaf's part of a log: everything before the first of our keys. */
function theirs(text: string, ours: string): string {
  const at = text.indexOf(ours);
  expect(at).toBeGreaterThan(0);
  return text.slice(0, at);
}

describe('xml', () => {
  it('has no size and no values without frames (C.6), or the size and an infinite fps without features', () => {
    const text = formatReport(report({ fps: Number.NaN }), 'xml');
    expect(theirs(text, '  <anyvmaf ')).toBe(`<VMAF version="9.9.9">
  <params qualityWidth="0" qualityHeight="0" />
  <fyi fps="-nan" />
  <frames>
  </frames>
  <pooled_metrics>
  </pooled_metrics>
  <aggregate_metrics />
`);
    const empty = formatReport(report({ fps: Number.POSITIVE_INFINITY, frameCount: 2 }), 'xml');
    expect(empty).toContain('qualityWidth="576" qualityHeight="324" />\n  <fyi fps="inf" />\n');
  });

  it('omits missing values, and pooled values of their metric', () => {
    const gaps = report({
      metrics: ['a', 'b'],
      frames: [
        { frameNum: 0, metrics: { b: 2 } },
        { frameNum: 5, metrics: { a: Number.POSITIVE_INFINITY, b: Number.NaN } },
      ],
      pooled_metrics: { a: {}, b: pooled(2, 2, Number.NaN, Number.NEGATIVE_INFINITY) },
    });
    const text = formatReport(gaps, 'xml');
    expect(text).toContain(`
    <frame frameNum="0" b="2.000000" />
    <frame frameNum="5" a="inf" b="-nan" />
  </frames>
  <pooled_metrics>
    <metric name="a" />
    <metric name="b" min="2.000000" max="2.000000" mean="-nan" harmonic_mean="-inf" />
`);
  });

  it('adds an element of our own, escaped', () => {
    const { reference, distorted } = report();
    const own = report({
      ...{ metrics: ['vmaf'], models: [collectionModel], distribution: { vmaf: spread(80) } },
      reference: { ...reference, name: 'a<"b">&\n\u0001.yuv', frameRate: { num: 30000, den: 1001 } },
      distorted: { ...distorted, frameCount: null },
      warnings: ['1 < 2.'],
    });
    const text = formatReport(own, 'xml');
    const element = text.slice(text.indexOf('  <anyvmaf '));
    expect(element).toBe(`  <anyvmaf compat="libvmaf-3.2" backend_requested="wasm" \
backend_used="wasm" implementation="simd128" threads="1" subsample="1" frame_count="0">
    <reference name="a&lt;&quot;b&quot;&gt;&amp;&#10;\uFFFD.yuv" container="yuv" width="576" height="324" bit_depth="10" \
chroma="420" frame_rate="30000/1001" frame_count="2" skipped="0" />
    <distorted name="dis.yuv" container="yuv" width="576" height="324" bit_depth="10" chroma="420" skipped="0" />
    <model name="vmaf" source="vmaf_b_v0.6.3" features="integer_adm2 integer_motion2 integer_vif_scale0" \
disable_clip="false" enable_transform="false" members="20" bagging="vmaf_bagging" stddev="vmaf_stddev" \
ci_p95_lo="vmaf_ci_p95_lo" ci_p95_hi="vmaf_ci_p95_hi" />
    <distribution metric="vmaf" p1="80.000000" p5="80.000000" p10="80.000000" p25="80.000000" p50="80.000000" \
p75="80.000000" p90="80.000000" p95="80.000000" p99="80.000000" stddev="0.000000" />
    <warning>1 &lt; 2.</warning>
  </anyvmaf>
</VMAF>
`);
  });
});

describe('json', () => {
  it('has empty lists on two lines without frames (C.6)', () => {
    expect(theirs(formatReport(report({ fps: Number.NaN }), 'json'), ',\n  "reference"')).toBe(`{
  "version": "9.9.9",
  "fps": null,
  "frames": [
  ],
  "pooled_metrics": {
  },
  "aggregate_metrics": {
  }`);
  });

  it('ends the line after a null, omits missing values, and leaves failed pooling empty', () => {
    const gaps = report({
      metrics: ['a', 'b', 'c'],
      frames: [{ frameNum: 3, metrics: { a: Number.NaN, c: Number.NEGATIVE_INFINITY } }],
      pooled_metrics: { a: pooled(1, Number.POSITIVE_INFINITY, Number.NaN, 1), b: {}, c: {} },
      aggregate_metrics: { d: Number.POSITIVE_INFINITY },
    });
    const text = formatReport(gaps, 'json');
    expect(text).toContain(`
      "frameNum": 3,
      "metrics": {
        "a": null,
        "c": null
      }
    }
  ],
  "pooled_metrics": {
    "a": {
      "min": 1.000000,
      "max": null,
      "mean": null,
      "harmonic_mean": 1.000000
    },
    "b": {
    },
    "c": {
    }
  },
  "aggregate_metrics": {
    "d": null
  },
`);
  });

  it('adds keys of our own', () => {
    const { reference: ref, distorted: dis } = report();
    const own = report({
      ...{ metrics: ['vmaf'], models: [collectionModel, { ...vmafModel, name: 'x' }] },
      distribution: { vmaf: spread(80.5) },
      reference: { ...ref, name: 'a"b.yuv', frameRate: { num: 25, den: 1 } },
      distorted: { ...dis, frameCount: null, skipped: 3 },
      warnings: ['Short.'],
    });
    const text = formatReport(own, 'json');
    const { version, fps, frames, pooled_metrics, aggregate_metrics, ...ours } = JSON.parse(text);
    const keys =
      'reference distorted models distribution compat backend_requested backend_used implementation threads ' +
      'subsample frame_count warnings trust';
    expect(Object.keys(ours).join(' ')).toBe(keys);
    const input = { container: 'yuv', width: 576, height: 324, bit_depth: 10, chroma: '420' };
    const model = {
      ...{ name: 'vmaf', source: 'vmaf_b_v0.6.3', options: { disable_clip: false, enable_transform: false } },
      features: ['integer_adm2', 'integer_motion2', 'integer_vif_scale0'],
    };
    const collection = {
      ...{ members: 20, bagging: 'vmaf_bagging', stddev: 'vmaf_stddev' },
      ...{ ci_p95_lo: 'vmaf_ci_p95_lo', ci_p95_hi: 'vmaf_ci_p95_hi' },
    };
    const { reference, distorted, models, distribution, warnings } = ours;
    expect({ reference, distorted, models, distribution, warnings }).toEqual({
      reference: { ...input, name: 'a"b.yuv', frame_rate: '25/1', frame_count: 2, skipped: 0 },
      distorted: { ...input, name: 'dis.yuv', frame_count: null, skipped: 3 },
      models: [
        { ...model, collection },
        { ...model, name: 'x', source: 'vmaf_v0.6.1' },
      ],
      distribution: { vmaf: spread(80.5) },
      warnings: ['Short.'],
    });
    expect(text.endsWith('\n}\n')).toBe(true);
    expect(text).toContain('\n      "percentiles": {\n        "p1": 80.500000,\n');
  });

  it('keeps the order and values of metrics named like numbers or members of Object', () => {
    const names = ['b', '1', '__proto__', 'a', '0'];
    const values = Object.fromEntries(names.map((name, i) => [name, i]));
    const frames = [{ frameNum: 0, metrics: values }];
    const text = formatReport(report({ metrics: [...names, 'constructor'], frames }), 'json');
    expect(text).toContain(
      '"b": 0.000000,\n        "1": 1.000000,\n        "__proto__": 2.000000,\n        "a": 3.000000,\n        "0": 4.000000\n      }',
    );
    expect(text).toContain('"__proto__": {\n    },');
  });
});

describe('csv', () => {
  it('omits missing values as libvmaf does', () => {
    const frames = [{ frameNum: 4, metrics: { b: Number.POSITIVE_INFINITY } }];
    const gap = report({ metrics: ['a', 'b'], frames });
    expect(formatReport(gap, 'csv')).toBe('Frame,a,b,\n4,inf,\n');
  });
});

it('csv is a header and sub is empty without frames (C.6)', () => {
  expect(['csv', 'sub'].map((format) => formatReport(report(), format as ReportFormat))).toEqual([
    'Frame,\n',
    '',
  ]);
});

it('ndjson is a header, the frames and a summary, one object per line', () => {
  const text = formatReport({ ...printed, warnings: ['A.\nB.'] }, 'ndjson');
  expect(text.endsWith('}\n')).toBe(true);
  const lines = text.trimEnd().split('\n');
  const [header, first, second, summary] = lines.map((line) => JSON.parse(line));
  expect(lines).toHaveLength(4);
  const { metrics, frames, pooled_metrics, aggregate_metrics } = printed;
  expect(header).toMatchObject({ type: 'header', version: '9.9.9', metrics, subsample: 1 });
  expect(first).toEqual({ type: 'frame', ...frames[0] });
  expect(second).toEqual({ type: 'frame', ...frames[1] });
  const rest = { pooled_metrics, aggregate_metrics, frame_count: 2, warnings: ['A.\nB.'] };
  expect(summary).toMatchObject({ type: 'summary', fps: 14.02, ...rest });
  expect(lines[1]).toContain('"psnr_cb":39.255496');
});

describe('pairing and findings', () => {
  const plain = paired({
    ...{ frameRate: { num: 25, den: 1 }, scaledBy: 'swscale bicubic', conversions: ['8 to 10 bit', 'a < b'] },
  });
  const repeated = { count: 3, frames: [1, 2, 3] };
  const frames = { policy: 'nearest', offset: 2, offsetRequested: 'auto', repeated, pairs: 2 } as const;
  const size = { code: 'size', severity: 'warning', message: 'A & "B".' } as const;
  const found = report({
    ...printed,
    pairing: {
      ...plain,
      range: { unit: 'frames', start: 5 },
      frames: { ...plain.frames, ...frames },
    },
    preflight: [{ ...size, reference: '640x360', distorted: null, fix: '--scale none' }],
  });

  it('are in our own element in XML', () => {
    const [theirs = '', own = ''] = formatReport(found, 'xml').split('  <anyvmaf ');
    expect(theirs).toBe(formatReport(printed, 'xml').split('  <anyvmaf ')[0]);
    expect(own).toContain(
      '    <pairing width="1920" height="1080" bit_depth="8" chroma="420" scale="bicubic" range_unit="frames" ' +
        'range_start="5" policy="nearest" offset="2" offset_requested="auto" pairs="2" missing="0" repeated="3" ' +
        'repeated_frames="1 2 3" dropped="0">\n',
    );
    expect(own).toContain(
      'frame_rate="25/1" scaled_by="swscale bicubic" conversions="8 to 10 bit; a &lt; b" />\n    </pairing>\n',
    );
    expect(own).toContain(
      '    <finding code="size" severity="warning" reference="640x360" fix="--scale none">A &amp; &quot;B&quot;.</finding>\n',
    );
  });

  it('are in the summary of NDJSON, because they are complete at the end only', () => {
    const lines = formatReport(found, 'ndjson').trimEnd().split('\n');
    const [header, summary] = [lines[0], lines.at(-1)].map((line) => JSON.parse(line ?? ''));
    expect(Object.keys(header)).not.toContain('pairing');
    const json = JSON.parse(formatReport(found, 'json'));
    expect(summary).toMatchObject({ pairing: json.pairing, preflight: json.preflight });
  });
});

describe('every format', () => {
  const value = 82.56422654900535;
  const one = report({
    metrics: ['vmaf'],
    frames: [{ frameNum: 0, metrics: { vmaf: value } }],
    pooled_metrics: { vmaf: pooled(value, value, value, value) },
  });

  it.each(FORMATS)('%s has the requested precision', (format) => {
    expect(formatReport(one, format)).toContain('82.564227');
    expect(formatReport(one, format, { precision: 3 })).toMatch(/82\.6[^0-9]/);
    // 17 significant digits of that double, from a C library.
    expect(formatReport(one, format, { precision: 17 })).toContain('82.564226549005355');
    expect(formatReport(one, format, { precision: 'max' })).toContain('82.564226549005355');
  });

  it('writes fps with two decimals at any precision', () => {
    expect(formatReport({ ...one, fps: 100.125 }, 'json', { precision: 'max' })).toContain('"fps": 100.12,');
    expect(formatReport({ ...one, fps: 7 }, 'xml', { precision: 2 })).toContain('<fyi fps="7.00" />');
  });

  it.each(FORMATS)('%s of a long run is written in pieces, quickly', (format) => {
    const metrics = Array.from({ length: 20 }, (_, i) => `m${i}`);
    const frames = Array.from({ length: tier(800, 10_000) }, (_, frameNum) => ({
      frameNum,
      metrics: Object.fromEntries(metrics.map((name, i) => [name, Math.sqrt(frameNum + i)])),
    }));
    const long = report({ metrics, frames });
    let pieces: string[] = [];
    const took = cpuTime(() => {
      pieces = [...writeReport(long, format, { precision: 'max' })];
    });
    // Measured at 0.1 s; the bound only catches a change of complexity.
    expect(took).toBeLessThan(3000);
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(1 << 17);
    expect(JSON.stringify(readReport(pieces.join('')).frames) === JSON.stringify(frames)).toBe(true);
  });
});

it.each(['yaml', '', 'toString', undefined])('an unknown format is refused: %s', (format) => {
  const named = format === undefined ? 'undefined' : `"${format}"`;
  const message = `The report format is ${named}, but it must be one of xml, json, csv, sub, ndjson.`;
  const refusal = expect.objectContaining({ code: 'usage', message });
  expect(() => Reflect.apply(formatReport, null, [printed, format])).toThrow(refusal);
  expect(() => [...Reflect.apply(writeReport, null, [printed, format])]).toThrow(refusal);
});
