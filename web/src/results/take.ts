/**
 * @module web/results/take
 * Files to take away: libvmaf's formats, ours, and the report as a page of its own.
 */
import type { HtmlOptions, HtmlPictures, Report, ReportFormat } from 'anyvmaf';
import { baseName, curveNames } from 'anyvmaf/view';
import { h } from '../dom.js';
import { download } from '../frames/save.js';
import type { Thumb } from '../frames/thumbs.js';
import { writeSaved } from '../saved/client.js';
import type { WriteFormat } from '../saved/functions.js';
import type { Session } from '../session.js';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { MomentPictures } from './pictures.js';
import { comparisonOf } from './rates.js';
import type { Section } from './section.js';
import { html, made, render } from './templates.js';

const words = text.results.take;
/** Of all encodes in one file. */
const COMPARISONS = ['csv', 'json'] as const;
const FORMATS = ['json', 'csv', 'xml', 'sub', 'ndjson'] as const satisfies readonly ReportFormat[];

const labels: Readonly<Record<WriteFormat, string>> = {
  ...words.formats,
  html: words.all,
  'all.csv': `${words.comparison} ${words.formats.csv}`,
  'all.json': `${words.comparison} ${words.formats.json}`,
};

/** Why nothing can be taken away. */
const REASONS = [words.unfinished, words.incomplete, words.stopped];

/** What the buttons do. */
interface Actions {
  /** Writes the encode that is chosen. */
  save(format: (typeof FORMATS)[number]): void;
  /** Writes all encodes in one file. */
  together(format: `all.${(typeof COMPARISONS)[number]}`): void;
  /** Writes the report as a page. */
  all(): void;
}

function card(act: Actions) {
  const said = made(html`<p class="small soft" role="status"></p>`);
  const which = h('select', { 'aria-label': words.which });
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
  )}<button type="button" class="tool strong" title="${words.allHint}" @click=${() => act.all()}>${words.all}</button></span>${together}</div>
${said}</section>`);
  return { said, which, precise, together, element };
}

/** @param onTaken called when a file was saved */
export function takeSection(
  encodes: Encodes,
  session: Session,
  pictures: MomentPictures,
  onTaken: () => void,
): Section {
  const { said, which, precise, together, element } = card({
    save(format) {
      const report = reports()[Number(which.value)];
      if (report) take([report], format);
    },
    together: (format) => take(present(), format),
    all: () => take(present(), 'html'),
  });
  const buttons = element.querySelectorAll('button');

  const reports = () => encodes.list.map(({ result }) => result.report);
  /** Of the encodes that are not left out. */
  const present = () => encodes.taken.flatMap(({ result }) => result.report ?? []);

  async function take(of: readonly Report[], format: WriteFormat): Promise<void> {
    said.textContent = words.making(labels[format]);
    try {
      const plain = precise.checked ? ({ precision: 'max' } as const) : {};
      const page = { ...shownAs(encodes, session), written: new Date().toISOString().slice(0, 10) };
      const options =
        format === 'html' ? { ...page, pictures: await picturesOf(of, reports(), pictures) } : plain;
      const blob = await writeSaved(of, format, options);
      const name = fileName(of, format);
      download(blob, name);
      onTaken();
      said.textContent = words.made(name);
    } catch (error) {
      said.textContent = words.failed(error instanceof Error ? error.message : String(error));
    }
  }

  function update(): void {
    const all = reports();
    const ready = all.filter((report) => report);
    render(
      encodes.list.map(({ name, index }) =>
        all[index] ? html`<option value="${index}">${name}</option>` : '',
      ),
      which,
    );
    which.hidden = ready.length < 2;
    together.hidden = ready.length < 2;
    for (const button of buttons) button.disabled = ready.length === 0;
    const saved = encodes.list.some(({ result }) => result.saved);
    const why = encodes.running ? words.unfinished : saved ? words.incomplete : words.stopped;
    if (ready.length === 0) said.textContent = why;
    else if (REASONS.some((is) => is === said.textContent)) said.textContent = '';
  }

  return { element, update, close: () => {} };
}

/** How the page shows encodes, for the report. */
function shownAs(encodes: Encodes, session: Session): Pick<HtmlOptions, 'looks' | 'curves'> {
  // Names of curves depend on all encodes, also on those that are left out.
  const curves = curveNames(encodes.list);
  const looks = encodes.taken.flatMap(({ result, index }) =>
    result.report ? [{ colour: result.colour ?? index, series: curves[index] }] : [],
  );
  return { curves: comparisonOf(encodes, session), looks };
}

function fileName([first, ...others]: readonly Report[], format: WriteFormat): string {
  const one = first && others.length === 0;
  const stem = one ? baseName(first.distorted.name).replace(/\.[^.]*$/, '') : 'comparison';
  return `${stem}.vmaf.${format.replace('all.', '')}`;
}

/** The pictures that were made of reports to be written, in files. @param all reports by encode */
function picturesOf(
  of: readonly Report[],
  all: readonly (Report | undefined)[],
  pictures: MomentPictures,
): Promise<HtmlPictures[]> {
  const made = of.flatMap((report, index) =>
    pictures.of(all.indexOf(report)).map((pair) => ({ index, pair })),
  );
  return Promise.all(
    made.map(async ({ index, pair }) => ({
      report: index,
      frame: pair.index,
      reference: await jpeg(pair.reference),
      distorted: await jpeg(pair.distorted),
      map: await jpeg(pair.map),
    })),
  );
}

/** A small picture as a file. */
async function jpeg({ width, height, aspect, data }: Thumb): Promise<Uint8Array> {
  const image = await createImageBitmap(new ImageData(data, width, height));
  // Square pixels: the file says nothing of others.
  const canvas = h('canvas', { width: Math.max(1, Math.round(height * aspect)), height });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.8));
  return new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0));
}
