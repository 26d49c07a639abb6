/**
 * @module web/setup/raw-form
 * Asks for the format of raw YUV files, and checks that each file is a whole number of frames.
 */
import type { ChromaFormat, RawVideoFormat } from 'anyvmaf';
import { MAX_SIDE, storedFrameBytes } from 'anyvmaf/core/frame';
import { fill, h } from '../dom.js';
import type { ChosenFile, Session } from '../session.js';
import { html, made, render } from '../templates.js';
import { text } from '../text.js';
import { labelled } from './fields.js';
import { formatInName, guessRaw, rawFiles } from './files.js';

const DEPTHS = [8, 9, 10, 12, 14, 16];
const CHROMAS = ['420', '422', '444', '400'] as const satisfies readonly ChromaFormat[];

/** Hidden unless a raw file is chosen. */
export function rawForm(session: Session): HTMLElement {
  const fields = {
    width: number('raw-width', text.raw.width),
    height: number('raw-height', text.raw.height),
    bitDepth: select('raw-depth', text.raw.bitDepth, DEPTHS, text.setup.bits),
    chroma: select('raw-chroma', text.raw.chroma, CHROMAS, (format) => text.raw.chromas[format]),
  };
  const { width, height, bitDepth, chroma } = fields;
  const explain = h('p', { class: 'soft small' });
  const checks = h('ul', { class: 'checks small', 'aria-live': 'polite' });
  const form = made(
    html`<section class="card raw" aria-labelledby="raw-heading" hidden><h2 id="raw-heading">${text.raw.heading}</h2>${explain}<div class="fields four">${Object.values(fields).map(({ element }) => element)}</div>${checks}</section>`,
  );
  const write = () => {
    const format = {
      width: Math.trunc(Number(width.input.value)),
      height: Math.trunc(Number(height.input.value)),
      bitDepth: Number(bitDepth.input.value),
      chroma: CHROMAS.find((format) => format === chroma.input.value) ?? '420',
    };
    session.raw.value = format.width > 0 && format.height > 0 ? format : null;
  };
  for (const { input } of Object.values(fields)) input.addEventListener('change', write);
  for (const { input } of [width, height]) input.addEventListener('input', write);

  const show = () => {
    const files = rawFiles(session);
    form.hidden = files.length === 0;
    if (files.length === 0) return;
    const guess = guessRaw(files.map(({ file }) => file));
    const known = session.raw.value !== null || guess.from !== 'none';
    const format = session.raw.value ?? guess.format;
    const same = JSON.stringify(format) === JSON.stringify(guess.format);
    const names = files.map(({ file }) => file.name).join(', ');
    fill(explain, `${text.raw.explain(names)}${same ? ` ${text.raw.guessed[guess.from]}` : ''}`);
    for (const key of Object.keys(fields) as (keyof typeof fields)[]) {
      const { input } = fields[key];
      if (document.activeElement === input || (!known && input.value !== '')) continue;
      input.value = !known && 'min' in input ? '' : String(format[key]);
    }
    render(checksOf(files, format, session.raw.value !== null), checks);
  };
  for (const cell of [session.reference, session.distorted, session.raw]) cell.watch(show);
  return form;
}

/** Lists which files are whole frames, and names that state a layout that is not planar. */
function checksOf(files: readonly ChosenFile[], format: RawVideoFormat, chosen: boolean) {
  const packed = files.map(({ file }) => formatInName(file.name).packed).find((layout) => layout);
  const bytes = storedFrameBytes(format);
  const sizes = files.map(({ file: { name, size } }) => {
    const frames = text.setup.frames(Math.floor(size / bytes));
    const rest = size % bytes;
    return rest === 0
      ? html`<li class="fit">${text.raw.fits(name, frames)}</li>`
      : html`<li class="misfit">${text.raw.misfits(name, frames, rest)}</li>`;
  });
  return [
    packed === undefined ? '' : html`<li class="misfit">${text.raw.packed(packed)}</li>`,
    chosen ? sizes : '',
  ];
}

function number(id: string, label: string) {
  const input = h('input', { id, type: 'number', min: 1, max: MAX_SIDE, step: 1, inputmode: 'numeric' });
  return { input, element: labelled(id, label, input) };
}

function select<T extends string | number>(
  id: string,
  label: string,
  choices: readonly T[],
  name: (choice: T) => string,
) {
  const input = h('select', { id }, ...choices.map((value) => h('option', { value }, name(value))));
  return { input, element: labelled(id, label, input) };
}
