/**
 * @module web/setup/raw-form
 * Asks for the geometry of raw YUV and says at once whether the files are whole frames of it.
 */
import type { ChromaFormat } from 'anyvmaf';
import { fill, h } from '../dom.js';
import type { Session } from '../session.js';
import { text } from '../text.js';
import { rawFiles } from './files.js';
import { formatInName, frameBytes, guessRaw } from './raw-guess.js';

const DEPTHS = [8, 9, 10, 12, 14, 16];
const CHROMAS = ['420', '422', '444', '400'] as const satisfies readonly ChromaFormat[];

/** The form, shown while a raw file is chosen. */
export function rawForm(session: Session): HTMLElement {
  const width = number('raw-width', text.raw.width);
  const height = number('raw-height', text.raw.height);
  const depth = select(
    'raw-depth',
    text.raw.bitDepth,
    DEPTHS.map((bits) => [String(bits), text.setup.bits(bits)]),
  );
  const chroma = select(
    'raw-chroma',
    text.raw.chroma,
    CHROMAS.map((one) => [one, text.raw.chromas[one]]),
  );
  const explain = h('p', { class: 'soft small' });
  const checks = h('ul', { class: 'checks small', 'aria-live': 'polite' });
  const form = h(
    'section',
    { class: 'card raw', 'aria-labelledby': 'raw-heading', hidden: true },
    h('h2', { id: 'raw-heading' }, text.raw.heading),
    explain,
    h('div', { class: 'fields four' }, width.element, height.element, depth.element, chroma.element),
    checks,
  );

  const write = () => {
    const format = {
      width: Math.trunc(Number(width.input.value)),
      height: Math.trunc(Number(height.input.value)),
      bitDepth: Number(depth.input.value),
      chroma: CHROMAS.find((one) => one === chroma.input.value) ?? '420',
    };
    session.raw.value = format.width > 0 && format.height > 0 ? format : null;
  };
  for (const { input } of [width, height, depth, chroma]) input.addEventListener('change', write);
  for (const { input } of [width, height]) input.addEventListener('input', write);

  const show = () => {
    const files = rawFiles(session);
    form.hidden = files.length === 0;
    if (files.length === 0) return;
    const guess = guessRaw(files.map(({ file }) => ({ name: file.name, size: file.size })));
    const format = session.raw.value ?? guess.format;
    const same = JSON.stringify(format) === JSON.stringify(guess.format);
    const names = files.map(({ file }) => file.name).join(', ');
    fill(explain, `${text.raw.explain(names)}${same ? ` ${text.raw.guessed[guess.from]}` : ''}`);
    for (const [field, value] of [
      [width, format.width],
      [height, format.height],
      [depth, format.bitDepth],
      [chroma, format.chroma],
    ] as const) {
      const typed = document.activeElement === field.input;
      if (!typed && (session.raw.value || guess.from !== 'none' || field.input.value === ''))
        field.input.value =
          guess.from === 'none' && !session.raw.value && 'min' in field.input ? '' : String(value);
    }
    const packed = files
      .map(({ file }) => formatInName(file.name).packed)
      .find((layout) => layout !== undefined);
    const bytes = frameBytes(format);
    fill(
      checks,
      packed !== undefined && h('li', { class: 'misfit' }, text.raw.packed(packed)),
      ...(session.raw.value
        ? files.map(({ file }) => {
            const frames = text.setup.frames(Math.floor(file.size / bytes));
            const rest = file.size % bytes;
            return h(
              'li',
              { class: rest === 0 ? 'fit' : 'misfit' },
              rest === 0 ? text.raw.fits(file.name, frames) : text.raw.misfits(file.name, frames, rest),
            );
          })
        : []),
    );
  };
  for (const cell of [session.reference, session.distorted, session.raw]) cell.watch(show);
  return form;
}

function number(id: string, label: string) {
  const input = h('input', { id, type: 'number', min: 1, max: 16384, step: 1, inputmode: 'numeric' });
  return { input, element: h('div', { class: 'field' }, h('label', { for: id }, label), input) };
}

function select(id: string, label: string, choices: readonly (readonly [string, string])[]) {
  const input = h('select', { id }, ...choices.map(([value, shown]) => h('option', { value }, shown)));
  return { input, element: h('div', { class: 'field' }, h('label', { for: id }, label), input) };
}
