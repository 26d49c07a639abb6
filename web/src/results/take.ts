/**
 * @module web/results/take
 * Files to save: libvmaf's formats, ours, and the report as a page.
 */

import type { HtmlOptions, Report, ReportFormat } from 'anyvmaf';
import {
  baseName,
  curveNames,
  listedFrames,
  mapsOfMetric,
  noPictures,
  PAGE_MEGABYTES,
  PAGE_MEGABYTES_RANGE,
  type PageLimits,
  type PagePictures,
  referenceOf,
  sizeText,
} from 'anyvmaf/view';
import { h } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { download } from '../frames/save.js';
import type { PicturedEncode } from '../frames/serve.js';
import { writeSaved } from '../saved/client.js';
import type { WriteFormat } from '../saved/functions.js';
import { inTurn } from '../schedule.js';
import { type Session, sourceOf } from '../session.js';
import { html, made, render } from '../templates.js';
import { text } from '../text.js';
import type { Encode, Encodes } from './encodes.js';
import { comparisonOf } from './rates.js';
import type { Section } from './view.js';

const words = text.results.take;
/** Formats with all encodes in one file. */
const COMPARISONS = ['csv', 'json'] as const;
const FORMATS = ['json', 'csv', 'xml', 'sub', 'ndjson'] as const satisfies readonly ReportFormat[];

const labels: Readonly<Record<WriteFormat, string>> = {
  ...words.formats,
  html: words.all,
  'all.csv': `${words.comparison} ${words.formats.csv}`,
  'all.json': `${words.comparison} ${words.formats.json}`,
};

/** Messages if there is nothing to save. */
const REASONS = [words.unfinished, words.incomplete, words.stopped];

interface Actions {
  /** Writes the chosen encode. */
  save(format: (typeof FORMATS)[number]): void;
  together(format: `all.${(typeof COMPARISONS)[number]}`): void;
  /** Writes the report as a page. */
  all(): void;
  cancel(): void;
}

function card(act: Actions) {
  const status = made(html`<p class="small soft" role="status"></p>`);
  const which = h('select', { 'aria-label': words.which });
  const [least, most] = PAGE_MEGABYTES_RANGE;
  const size = h('input', { type: 'number', id: 'take-size', min: least, max: most, step: 'any' });
  const bar = h('progress', { 'aria-label': words.picturing });
  const making = made(
    html`<p class="making small soft" hidden>${bar}<button type="button" class="tool" @click=${() => act.cancel()}>${words.cancel}</button></p>`,
  );
  const precise = h('input', { type: 'checkbox', id: 'take-precise' });
  const together = made(
    html`<span class="together" hidden><h3>${words.comparison}</h3><span class="tools">${COMPARISONS.map(
      (format) =>
        html`<button type="button" class="tool" title="${words.comparisonHints[format]}" aria-label="${words.download(`${words.comparison} ${words.formats[format]}`)}" @click=${() => act.together(`all.${format}`)}>${words.formats[format]}</button>`,
    )}</span></span>`,
  );
  const element = made(html`<section class="card take" aria-labelledby="take-heading">
<div class="bar"><h2 id="take-heading">${words.heading}</h2><label class="check small" for="take-precise" title="${words.preciseHint}">${precise}<span>${words.precise}<span class="faint"> ${words.preciseHint}</span></span></label><span class="tools">${which}${FORMATS.map(
    (format) =>
      html`<button type="button" class="tool" title="${words.hints[format]}" aria-label="${words.download(words.formats[format])}" @click=${() => act.save(format)}>${words.formats[format]}</button>`,
  )}<button type="button" class="tool strong" title="${words.allHint}" @click=${() => act.all()}>${words.all}</button><label class="size small soft" for="take-size" title="${words.sizeHint}">${words.size[0]} ${size} ${words.size[1]}</label></span>${together}</div>
${making}${status}</section>`);
  return { status, which, precise, together, element, size, making, bar };
}

/** @param onTaken called when a file was saved */
export function takeSection(encodes: Encodes, session: Session, onTaken: () => void): Section {
  const parts = card({
    save(format) {
      const report = encodes.list[Number(which.value)]?.result.report;
      if (report) take([report], format);
    },
    together: (format) => take(includedReports(), format),
    all: () => takePage(),
    cancel: () => stop?.abort(),
  });
  const { status, which, precise, element, size, making, bar } = parts;
  size.value = String(session.pageMegabytes.value ?? PAGE_MEGABYTES);
  size.onchange = () => {
    if (size.reportValidity()) session.pageMegabytes.value = size.valueAsNumber;
  };
  /** Set while a page is made. */
  let stop: AbortController | undefined;

  /** Without encodes that were left out. */
  const includedReports = () => encodes.taken.flatMap(({ result }) => result.report ?? []);

  /** @param make returns the file and sentences about it */
  async function take(
    reports: readonly Report[],
    format: WriteFormat,
    make: (reports: readonly Report[]) => Promise<Made> = (reports) =>
      plain(reports, format, precise.checked),
  ): Promise<void> {
    status.textContent = words.making(labels[format]);
    try {
      const { blob, more } = await make(reports);
      const name = fileName(reports, format);
      download(blob, name);
      onTaken();
      status.textContent = [words.made(name), ...more].join(' ');
    } catch (error) {
      status.textContent = stop?.signal.aborted ? words.cancelled : words.failed(messageOf(error));
    }
  }

  async function takePage(): Promise<void> {
    if (stop || !size.reportValidity()) return;
    stop = new AbortController();
    const { signal } = stop;
    bar.removeAttribute('value');
    making.hidden = false;
    // Others may be left out meanwhile.
    const [{ taken }, shown] = [encodes, shownAs(encodes, session)];
    await take(includedReports(), 'html', (reports) =>
      pageOf(reports, taken, shown, size.valueAsNumber, signal, (done, of) => {
        bar.max = of;
        bar.value = done;
      }),
    );
    making.hidden = true;
    stop = undefined;
  }

  return { element, update: () => showReady(encodes, parts), close: () => stop?.abort() };
}

function showReady(encodes: Encodes, { status, which, together, element }: ReturnType<typeof card>): void {
  const all = encodes.list.map(({ result }) => result.report);
  const ready = all.filter((report) => report);
  render(
    encodes.list.map(({ name, index }) =>
      all[index] ? html`<option value="${index}">${name}</option>` : '',
    ),
    which,
  );
  which.hidden = ready.length < 2;
  together.hidden = ready.length < 2;
  for (const button of element.querySelectorAll<HTMLButtonElement>('.bar button'))
    button.disabled = ready.length === 0;
  const saved = encodes.list.some(({ result }) => result.saved);
  const why = encodes.running ? words.unfinished : saved ? words.incomplete : words.stopped;
  if (ready.length === 0) status.textContent = why;
  else if (REASONS.some((reason) => reason === status.textContent)) status.textContent = '';
}

/** `more`: sentences about the file. */
interface Made {
  readonly blob: Blob;
  readonly more: readonly string[];
}

async function plain(reports: readonly Report[], format: WriteFormat, precise: boolean): Promise<Made> {
  return { blob: await writeSaved(reports, format, precise ? { precision: 'max' } : {}), more: [] };
}

/** The report as a page, with pictures as large as its size allows. @throws the signal's reason */
async function pageOf(
  reports: readonly Report[],
  taken: readonly Encode[],
  shown: Pick<HtmlOptions, 'looks' | 'curves'>,
  megabytes: number,
  signal: AbortSignal,
  onMoment: (done: number, of: number) => void,
): Promise<Made> {
  const look = { ...shown, written: new Date().toISOString().slice(0, 10) };
  const limits = { megabytes, bytes: (await writeSaved(reports, 'html', look)).size };
  const { pictures, lacking } = await picturesOf(taken, limits, signal, onMoment);
  const blob = await writeSaved(reports, 'html', { ...look, pictures, picturesLacking: lacking });
  signal.throwIfAborted();
  return { blob, more: [words.pictures(pictures.length, sizeText(blob.size) ?? ''), ...lacking] };
}

function shownAs(encodes: Encodes, session: Session): Pick<HtmlOptions, 'looks' | 'curves'> {
  // Names of curves depend on all encodes, including those left out.
  const curves = curveNames(encodes.list);
  const looks = encodes.taken.flatMap(({ result, index }) =>
    result.report ? [{ colour: result.colour ?? index, series: curves[index] }] : [],
  );
  return { curves: comparisonOf(encodes, session), looks };
}

function fileName([first, ...others]: readonly Report[], format: WriteFormat): string {
  const isSingle = first && others.length === 0;
  const stem = isSingle ? baseName(first.distorted.name).replace(/\.[^.]*$/, '') : 'comparison';
  return `${stem}.vmaf.${format.replace('all.', '')}`;
}

/** Pictures of the worst moments, and why some are missing. @throws the signal's reason */
async function picturesOf(
  encodes: readonly Encode[],
  limits: PageLimits,
  signal: AbortSignal,
  onMoment: (done: number, of: number) => void,
): Promise<PagePictures> {
  const reported = encodes.flatMap(({ name, result }) =>
    result.report ? [{ name, report: result.report, source: sourceOf(result) }] : [],
  );
  const listed: (PicturedEncode & { readonly of: number })[] = [];
  const withoutVideo: string[] = [];
  for (const [of, { name, report, source }] of reported.entries()) {
    if (!referenceOf(report)) continue;
    if (!source) {
      withoutVideo.push(name);
      continue;
    }
    // One report per task: this reads all its frames.
    await new Promise<void>(inTurn);
    const frames = listedFrames(report, reported.length);
    const maps = mapsOfMetric(report);
    listed.push({ of, name, frames, source, maps });
  }
  const made = await engine.call(
    'reportPictures',
    { encodes: listed, limits, remedy: words.remedy },
    { signal, onEvent: (done) => onMoment(...done) },
  );
  return {
    pictures: made.pictures.map((picture) => ({ ...picture, report: listed[picture.report]?.of ?? 0 })),
    lacking: [
      ...(withoutVideo.length > 0 ? [noPictures(withoutVideo, words.away(withoutVideo.length))] : []),
      ...made.lacking,
    ],
  };
}
