/**
 * @module web/results/tables
 * What is text and tables: findings, pooled values, and how it was run.
 */
import { type Finding, type Report, type Severity, trustOf } from 'anyvmaf';
import { h, patch } from '../dom.js';
import { text } from '../text.js';
import { type Encode, type Encodes, PERCENTS } from './encodes.js';
import { bitrateText, cellText, inputFacts, sizeText, whole } from './format.js';
import type { Section } from './section.js';

const words = text.results;

/** A section whose content is made anew when what it is made of changed. */
function section(
  heading: string,
  id: string,
  hasContent: () => boolean,
  render: () => readonly (HTMLElement | false | undefined)[],
): Section {
  const body = h('div', {});
  const element = h(
    'section',
    { class: 'card', 'aria-labelledby': id },
    h('div', { class: 'bar' }, h('h2', { id }, heading)),
    body,
  );
  return {
    element,
    update() {
      element.hidden = !hasContent();
      patch(body, ...(element.hidden ? [] : render().filter((child) => child instanceof HTMLElement)));
    },
    hasContent,
    close: () => {},
  };
}

// --- findings ---

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];
const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

interface Remark {
  readonly severity: Severity;
  readonly message: string;
  readonly finding?: Finding;
  readonly of: number[];
}

/** What reports warn of, the same thing once, worst first. */
function remarks(list: readonly Encode[]): Remark[] {
  const all = new Map<string, Remark>();
  const add = (remark: Omit<Remark, 'of'>, index: number) => {
    const key = `${remark.severity} ${remark.message}`;
    const known = all.get(key);
    if (known) known.of.push(index);
    else all.set(key, { ...remark, of: [index] });
  };
  for (const { facts, index } of list) {
    for (const finding of facts.preflight ?? [])
      add({ severity: finding.severity, message: finding.message, finding }, index);
    for (const message of facts.warnings ?? [])
      if (!facts.preflight?.some((finding) => finding.message === message))
        add({ severity: 'warning', message }, index);
  }
  return [...all.values()].sort((a, b) => gravity(a) - gravity(b));
}

/** What makes a score worthless comes first. */
function gravity({ severity, finding }: Remark): number {
  const worthless = finding && trustOf({ preflight: [finding] }).verdict === 'untrusted';
  return worthless ? -1 : ORDER.indexOf(severity);
}

export function findingsSection(encodes: Encodes): Section {
  const any = () => remarks(encodes.list).length > 0;
  return section(words.findings.heading, 'findings-heading', any, () => {
    const all = remarks(encodes.list);
    const item = ({ severity, message, finding, of }: Remark) => {
      const [tone, sign] = SIGNS[severity];
      const which = of.length < encodes.list.length ? of.map((i) => encodes.list[i]?.name).join(', ') : '';
      const value = (side: Finding['reference']) => (side === null ? words.findings.unknown : String(side));
      const values =
        finding?.reference !== undefined &&
        finding.distorted !== undefined &&
        words.findings.values(value(finding.reference), value(finding.distorted));
      return h(
        'li',
        { class: 'finding', style: `--tone:var(--${tone})` },
        h('span', { class: 'sign', role: 'img', 'aria-label': words.findings.severity[severity] }, sign),
        h(
          'div',
          {},
          which !== '' && h('b', {}, `${which}: `),
          message,
          values && h('div', { class: 'small soft' }, values),
        ),
      );
    };
    const grave = all.filter(({ severity }) => severity !== 'info');
    const notes = all.filter(({ severity }) => severity === 'info');
    return [
      grave.length > 0 && h('ul', { class: 'findings' }, ...grave.map(item)),
      notes.length > 0 &&
        h(
          'details',
          { open: grave.length === 0 && notes.length < 3 },
          h('summary', {}, words.findings.notes(notes.length)),
          h('ul', { class: 'findings' }, ...notes.map(item)),
        ),
    ];
  });
}

// --- pooled values ---

export function pooledSection(encodes: Encodes): Section {
  const any = () => encodes.metrics.length > 0;
  return section(words.pooled.heading, 'pooled-heading', any, () => {
    const { metrics, list } = encodes;
    const main = encodes.ranking?.metric;
    const ordered = [...metrics].sort((a, b) => Number(b === main) - Number(a === main));
    const [only, ...others] = list;
    if (!only) return [];
    if (others.length === 0) return [pooledTable(encodes, only, ordered, main), aggregates(only)];
    const means = h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.pooled.mean },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, words.pooled.mean),
            ...list.map(({ name, index }) =>
              h(
                'th',
                { scope: 'col', class: 'name', title: name, style: `--c:var(--s${index % 8})` },
                h('span', { class: 'swatch' }),
                name,
              ),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          ...ordered.map((metric) =>
            h(
              'tr',
              { class: metric === main ? 'main' : undefined },
              h('th', { scope: 'row' }, metric),
              ...list.map((encode) => h('td', {}, cellText(encodes.pooled(encode, metric)?.mean))),
            ),
          ),
        ),
      ),
    );
    return [
      means,
      ...list.map((encode) =>
        h(
          'details',
          {},
          h(
            'summary',
            { style: `--c:var(--s${encode.index % 8})` },
            h('span', { class: 'swatch' }),
            h('span', {}, encode.name),
          ),
          pooledTable(encodes, encode, ordered, main),
          aggregates(encode),
        ),
      ),
    ];
  });
}

function pooledTable(
  encodes: Encodes,
  encode: Encode,
  metrics: readonly string[],
  main: string | undefined,
): HTMLElement {
  const rows = metrics.map((metric) => {
    const pooled = encodes.pooled(encode, metric);
    const [p1, p5, , , p50] = PERCENTS.map((percent) => pooled?.percentile(percent));
    const values = [
      pooled?.mean,
      pooled?.harmonic_mean,
      pooled?.min,
      p1,
      p5,
      p50,
      pooled?.max,
      pooled?.stddev,
    ];
    return h(
      'tr',
      { class: metric === main ? 'main' : undefined },
      h('th', { scope: 'row' }, metric),
      ...values.map((value) => h('td', {}, cellText(value))),
    );
  });
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': words.pooled.of(encode.name) },
    h(
      'table',
      {},
      h('caption', { class: 'unseen' }, words.pooled.of(encode.name)),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, words.pooled.metric),
          ...words.pooled.columns.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h('tbody', {}, ...rows),
    ),
  );
}

function aggregates({ facts }: Encode): HTMLElement | undefined {
  const entries = Object.entries(facts.aggregate_metrics ?? {});
  if (entries.length === 0) return undefined;
  return h(
    'p',
    { class: 'small soft' },
    `${words.pooled.wholeRun} ${entries.map(([name, value]) => `${name} ${cellText(value)}`).join(', ')}`,
  );
}

// --- how it was run ---

type Row = readonly [name: string, value: string | undefined];

export function detailsSection(encodes: Encodes): Section {
  const body = h('div', { class: 'run' });
  const element = h(
    'details',
    { class: 'card details' },
    h('summary', {}, h('h2', {}, words.details.heading)),
    body,
  );
  return {
    element,
    update() {
      const [first] = encodes.list;
      const several = encodes.list.length > 1;
      const groups = [
        first && group(words.details.reference, inputRows(first, 'reference')),
        ...encodes.list.map((encode) =>
          group(several ? `${words.details.distorted} ${encode.index + 1}` : words.details.distorted, [
            ...inputRows(encode, 'distorted'),
            ...(encodes.apart ? apartRows(encode) : []),
          ]),
        ),
        // Said of each encode where they differ in it.
        first &&
          group(
            words.details.comparison,
            comparisonRows(first).filter(([name]) => !encodes.apart || name !== words.details.offset),
          ),
        first && group(words.details.engine, engineRows(first)),
      ];
      const known = groups.filter((child) => child !== undefined);
      element.hidden = known.length === 0;
      patch(body, ...known);
    },
    hasContent: () => encodes.list.some(({ facts }) => facts.reference || facts.distorted || facts.models),
    close: () => {},
  };
}

function group(title: string, rows: readonly Row[]): HTMLElement | undefined {
  const known = rows.filter(([, value]) => value !== undefined && value !== '');
  if (known.length === 0) return undefined;
  return h(
    'div',
    {},
    h('h3', {}, title),
    h('dl', {}, ...known.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
  );
}

function joined(parts: readonly (string | undefined)[], separator = ', '): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator);
}

function chromaText(chroma: Report['reference']['chroma']): string {
  return chroma === '400' ? 'luma only' : [...chroma].join(':');
}

function inputRows({ facts }: Encode, side: 'reference' | 'distorted'): Row[] {
  const input = facts[side];
  const pairing = facts.pairing?.[side];
  const { details } = words;
  return [
    [details.file, input?.name],
    [details.video, input && inputFacts(input).join(', ')],
    [details.codec, joined([pairing?.codec, pairing?.pixelFormat])],
    [details.bitrate, joined([bitrateText(pairing?.bitrate), sizeText(pairing?.fileSize)])],
    [details.decoded, pairing?.decodedBy],
    [details.scaled, pairing?.scaledBy && `${pairing.scaledBy}, ${pairing.width}×${pairing.height}`],
    [details.converted, pairing?.conversions.join('; ')],
  ];
}

/** How an encode goes with the reference, where others go otherwise. */
function apartRows({ facts }: Encode): Row[] {
  const { reference, distorted } = facts;
  return [
    [
      words.details.skipped,
      reference && words.table.skippedFrames(reference.skipped, distorted?.skipped ?? 0),
    ],
    offsetRow(facts),
  ];
}

function offsetRow({ pairing }: Encode['facts']): Row {
  const { details } = words;
  const frames = pairing?.frames;
  if (!frames || (frames.offset === 0 && frames.offsetRequested !== 'auto'))
    return [details.offset, undefined];
  const offset = details.offsetFrames(frames.offset);
  const { offsetConfidence: confidence, offsetState: state = 'found' } = frames;
  const found = state === 'found' ? details.offsetFound : details.offsetGuessed;
  return [details.offset, confidence === undefined ? offset : found(offset, confidence.toFixed(2))];
}

function comparisonRows({ facts }: Encode): Row[] {
  const { details } = words;
  const { pairing, subsample = 1, frameCount, models } = facts;
  const frames = pairing?.frames;
  const range = pairing?.range;
  return [
    [
      details.scoredAs,
      pairing && `${pairing.width}×${pairing.height}, ${chromaText(pairing.chroma)}, ${pairing.bitDepth} bit`,
    ],
    [
      details.pairs,
      frameCount === undefined
        ? undefined
        : subsample > 1
          ? details.oneIn(whole(frameCount), subsample)
          : whole(frameCount),
    ],
    [
      details.pairedBy,
      frames && (frames.policy === 'number' ? details.byNumber : details.byTime(frames.policy)),
    ],
    offsetRow(facts),
    [
      details.range,
      range &&
        details.rangeOf(
          String(range.start),
          range.end === undefined ? details.toEnd : String(range.end),
          range.unit,
        ),
    ],
    [
      details.unpaired,
      frames &&
        joined([
          frames.missing.count > 0 ? details.missing(frames.missing.count) : '',
          frames.repeated.count > 0 ? details.repeated(frames.repeated.count) : '',
          frames.dropped.count > 0 ? details.dropped(frames.dropped.count) : '',
        ]),
    ],
    ...(models ?? []).map(
      ({ name, source, chosen, options, collection }): Row => [
        details.model,
        joined([
          name === source || name === 'vmaf' ? source : `${name} = ${source}`,
          options.disableClip ? 'disable_clip' : '',
          options.enableTransform ? 'enable_transform' : '',
          collection && details.members(collection.members),
          chosen,
        ]),
      ],
    ),
  ];
}

function engineRows({ facts, result }: Encode): Row[] {
  const { details } = words;
  const { backend_used: used, backend_requested: asked = used, threads, fps, version } = facts;
  const libvmaf = result.saved !== undefined && used === undefined;
  return [
    [libvmaf ? details.writtenBy : 'anyvmaf', version],
    [
      details.backend,
      used && joined([asked === used ? used : details.from(used, asked ?? ''), facts.implementation]),
    ],
    ...(facts.tiny ?? []).map(
      ({ name, device, runtime, adapter, quantisation }): Row => [
        details.tiny,
        joined([
          `${name} ${details.on(device ?? '')}`,
          adapter,
          runtime ?? undefined,
          quantisation === 'fp32' ? undefined : details.eightBit,
        ]),
      ],
    ),
    [details.workers, threads === 0 ? details.callingThread : threads?.toString()],
    [details.speed, fps !== undefined && Number.isFinite(fps) ? details.fps(fps.toFixed(2)) : undefined],
    [details.arithmetic, facts.compat],
  ];
}
