/**
 * @module report/html/sections
 * The parts of the page that are text and tables: preflight, worst frames, pooled values, how it was run.
 */
import {
  baseName,
  beginApart,
  bitrateText,
  commonReference,
  frameRate,
  inputFacts,
  offsetStateText,
  sizeText,
  skippedText,
} from '../facts.js';
import { accepts, remarks } from '../findings.js';
import { pooledMetric } from '../pool.js';
import { clock } from '../terminal.js';
import type { Report } from '../types.js';
import { frameGap, worstFrames } from '../worst.js';
import { valueText } from './headline.js';
import { type Content, html, type Markup, raw } from './markup.js';
import { type Page, shiftOf } from './page.js';
import { cellText, colourOf, percentOf } from './series.js';

// --- preflight ---

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

/** What is to be known about the pair before its score is believed; `undefined` when there is nothing to say. */
export function preflightSection({ reports, names }: Page): Markup | undefined {
  const items = remarks(reports).map(({ severity, code, message, fix, finding, of }) => {
    const [tone, sign] = SIGNS[severity];
    const which = of.length < reports.length ? of.map((i) => names[i]).join(', ') : '';
    const values =
      finding?.reference !== undefined && finding.distorted !== undefined
        ? `reference ${findingValue(finding.reference)}, distorted ${findingValue(finding.distorted)}`
        : '';
    return html`<li class="finding" style="--tone:var(--${raw(tone)})"><span class="sign" role="img" aria-label="${severity}">${sign}</span><div>${which !== '' && html`<b>${which}:</b> `}${message}</div>
${code !== undefined && html`<div class="more"><code>${code}</code>${values !== '' && html`<span>${values}</span>`}${fix !== undefined && html`<span>${accepts(finding) ? '' : 'fix: '}<code>${fix}</code></span>`}</div>`}</li>`;
  });
  if (items.length === 0) return undefined;
  return html`<section><div class="bar"><h2>Before you trust the number</h2></div><ul class="findings">${items}</ul></section>`;
}

/** Encodes that could not be scored. */
export function failureSection({ failed }: Page): Markup | undefined {
  if (failed.length === 0) return undefined;
  const [tone, sign] = SIGNS.error;
  const items = failed.map(
    ({ distorted, message }) =>
      html`<li class="finding" style="--tone:var(--${raw(tone)})"><span class="sign" role="img" aria-label="error">${sign}</span><div><b>${baseName(distorted)}:</b> ${message}</div></li>`,
  );
  return html`<section><div class="bar"><h2>Not scored</h2></div><ul class="findings">${items}</ul></section>`;
}

function findingValue(value: string | number | boolean | null): string {
  return value === null ? 'unknown' : String(value);
}

// --- worst frames ---

/** The frames to look at first. */
export function worstSection(page: Page): Markup | undefined {
  const { reports, names, metric, worse } = page;
  if (metric === undefined) return undefined;
  const perReport = Math.max(3, Math.floor(9 / reports.length));
  const lists = reports.map((report, i) => {
    const worst = worstFrames(report, { metric, worse }, perReport);
    const pooled = pooledMetric(report, metric);
    const rate = frameRate(report.reference);
    const rows = worst.map(({ frameNum, value }) => {
      const time = rate === undefined ? '' : clock((frameNum + report.reference.skipped) / rate, 2);
      const share = percentOf(
        value,
        Math.min(0, pooled?.min ?? 0),
        Math.max(
          pooled?.max ?? 1,
          worse === 'low' && pooled !== undefined && pooled.max > 1 && pooled.max <= 100 ? 100 : 0,
        ),
      );
      const place = frameNum + shiftOf(page, report);
      return html`<li><button data-frame="${place}" style="${raw(colourOf(i))}"><span>${place}</span><span class="soft">${time}</span><span class="line"><i style="width:${share}%"></i></span><b>${valueText(page, value)}</b></button></li>`;
    });
    return html`${reports.length > 1 && html`<h3 class="worst-of" style="${raw(colourOf(i))}"><span class="swatch"></span>${names[i]}</h3>`}<ol class="worst">${rows}</ol>`;
  });
  const gap = frameGap(reports[0]);
  return html`<section><div class="bar"><h2>Worst frames</h2><span class="faint small">at least ${gap} frame${gap === 1 ? '' : 's'} apart${page.apart && ', numbered as in the reference'}</span></div>${lists}</section>`;
}

// --- pooled values ---

/** All metrics by their statistics over the frames. */
export function pooledSection(page: Page): Markup | undefined {
  const { reports, names, metric, others } = page;
  const metrics = metric === undefined ? others : [metric, ...others];
  if (metrics.length === 0) return undefined;
  if (reports.length === 1) {
    return html`<section><div class="bar"><h2>Pooled values</h2></div>${pooledTable(reports[0], metrics, metric)}${aggregates(reports[0])}</section>`;
  }
  const means = html`<div class="scroll"><table><thead><tr><th>mean</th>${names.map(
    (name, i) =>
      html`<th class="name" title="${name}"><span class="swatch" style="${raw(colourOf(i))}"></span>${name}</th>`,
  )}</tr></thead><tbody>${metrics.map(
    (name) =>
      html`<tr class="${name === metric && 'main'}"><td>${name}</td>${reports.map((report) => html`<td>${cellText(pooledMetric(report, name)?.mean)}</td>`)}</tr>`,
  )}</tbody></table></div>`;
  const each = reports.map(
    (report, i) =>
      html`<details><summary style="${raw(colourOf(i))}"><span class="swatch"></span>${names[i]}</summary>${pooledTable(report, metrics, metric)}${aggregates(report)}</details>`,
  );
  return html`<section><div class="bar"><h2>Pooled values</h2></div>${means}${each}</section>`;
}

function pooledTable(report: Report, metrics: readonly string[], main: string | undefined): Markup {
  const rows = metrics.map((name) => {
    const pooled = pooledMetric(report, name);
    const { percentiles, stddev } = report.distribution[name] ?? {};
    const values = [
      pooled?.mean,
      pooled?.harmonic_mean,
      pooled?.min,
      percentiles?.p1,
      percentiles?.p5,
      percentiles?.p50,
      pooled?.max,
      stddev,
    ];
    return html`<tr class="${name === main && 'main'}"><td>${name}</td>${values.map((value) => html`<td>${cellText(value)}</td>`)}</tr>`;
  });
  const head = ['mean', 'harmonic', 'min', '1 %', '5 %', 'median', 'max', 'deviation'];
  return html`<div class="scroll"><table><thead><tr><th></th>${head.map((name) => html`<th>${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function aggregates(report: Report): Markup | undefined {
  const entries = Object.entries(report.aggregate_metrics);
  if (entries.length === 0) return undefined;
  return html`<p class="small soft" style="margin-top:10px">Whole run: ${entries.map(([name, value], i) => html`${i > 0 && ', '}${name} <b>${cellText(value)}</b>`)}</p>`;
}

// --- how it was run ---

/** Everything that must be known to make the number again. */
export function runSection({ reports, command }: Page): Markup {
  const [first] = reports;
  const apart = beginApart(reports);
  const groups = [
    group('Reference', inputRows({ ...first, reference: commonReference(reports) }, 'reference')),
    ...reports.map((report, i) =>
      group(reports.length > 1 ? `Distorted ${i + 1}` : 'Distorted', [
        ...inputRows(report, 'distorted'),
        ...(apart ? [['skipped', skippedText(report)] as const, offsetRow(report)] : []),
      ]),
    ),
    group(
      'Comparison',
      // Said of each encode where they differ in it.
      comparisonRows(first).filter(([name]) => !apart || name !== OFFSET),
    ),
    group('Engine', engineRows(first)),
  ];
  return html`<section><div class="bar"><h2>How it was run</h2></div><div class="run">${groups}</div>${command !== undefined && html`<pre><code>${command}</code></pre>`}</section>`;
}

type Row = readonly [name: string, value: Content];

function group(title: string, rows: readonly Row[]): Markup {
  const known = rows.filter(([, value]) => value !== undefined && value !== false && value !== '');
  return html`<div><h3>${title}</h3><dl>${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></div>`;
}

function inputRows(report: Report, side: 'reference' | 'distorted'): Row[] {
  const input = report[side];
  const pairing = report.pairing?.[side];
  const scaled = pairing?.scaledBy;
  return [
    ['file', input.name],
    ['video', inputFacts(input).join(', ')],
    ['codec', [pairing?.codec, pairing?.pixelFormat].filter((part) => part !== undefined).join(', ')],
    [
      'bit rate',
      [bitrateText(pairing?.bitrate), sizeText(pairing?.fileSize)]
        .filter((part) => part !== undefined)
        .join(', '),
    ],
    ['decoded by', pairing?.decodedBy],
    ['scaled by', scaled && `${scaled}, from ${pairing.width}x${pairing.height}`],
    ['converted', pairing?.conversions.join('; ')],
  ];
}

const OFFSET = 'offset';

function offsetRow({ pairing }: Report): Row {
  const frames = pairing?.frames;
  const confidence = frames?.offsetConfidence;
  const sure = confidence === undefined ? '' : ` with confidence ${confidence.toFixed(2)}`;
  const found = frames && `, ${offsetStateText(frames)}${sure}`;
  return [
    OFFSET,
    frames &&
      (frames.offset !== 0 || frames.offsetRequested === 'auto') &&
      `${frames.offset} frames${frames.offsetRequested === 'auto' ? found : ''}`,
  ];
}

function comparisonRows(report: Report): Row[] {
  const { pairing, subsample, frameCount } = report;
  const frames = pairing?.frames;
  const { range } = pairing ?? {};
  const odd = frames
    ? [
        frames.missing.count > 0 ? `${frames.missing.count} missing` : '',
        frames.repeated.count > 0 ? `${frames.repeated.count} repeated` : '',
        frames.dropped.count > 0 ? `${frames.dropped.count} dropped` : '',
      ].filter((part) => part !== '')
    : [];
  return [
    [
      'scored as',
      pairing &&
        `${pairing.width}x${pairing.height}, ${pairing.chroma === '400' ? 'luma only' : [...pairing.chroma].join(':')}, ${pairing.bitDepth} bit`,
    ],
    ['pairs', `${frameCount}${subsample > 1 ? `, one in ${subsample} scored` : ''}`],
    ['paired by', frames && (frames.policy === 'number' ? 'frame number' : `time, ${frames.policy}`)],
    offsetRow(report),
    ['range', range && `${range.start} to ${range.end ?? 'the end'} (${range.unit})`],
    ['frames', odd.join(', ')],
    ...(report.tiny ?? []).map(
      ({ name, source, device, runtime, adapter, quantisation }): Row => [
        'tiny model',
        `${name === source ? source : `${name} = ${source}`}, on ${device}${adapter === undefined ? '' : ` (${adapter})`} by ` +
          `${runtime}${quantisation === 'fp32' ? '' : ', 8 bit'}`,
      ],
    ),
    ...report.models.map(({ name, source, chosen, options, collection }): Row => {
      const flags = [
        options.disableClip && 'disable_clip',
        options.enableTransform && 'enable_transform',
        collection && `${collection.members} members`,
        chosen,
      ];
      return [
        'model',
        [name === source || name === 'vmaf' ? source : `${name} = ${source}`, ...flags]
          .filter((part) => typeof part === 'string')
          .join(', '),
      ];
    }),
  ];
}

function engineRows(report: Report): Row[] {
  const { backend_used: used, backend_requested: asked, threads } = report;
  return [
    ['anyvmaf', report.version],
    ['backend', `${used}${asked === used ? '' : ` (asked for: ${asked})`}, ${report.implementation}`],
    ['workers', threads === 0 ? 'the calling thread' : String(threads)],
    ['speed', Number.isFinite(report.fps) ? `${report.fps.toFixed(2)} frames a second` : ''],
    ['arithmetic', report.compat],
  ];
}
