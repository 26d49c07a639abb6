/**
 * @module web/setup/fields
 * Labelled form fields: checkboxes, inputs, selects, and those for pairing frames and for pictures, in the form for all
 * encodes and in that of a single one.
 */

import { formatSize, parseSize } from 'anyvmaf/core/size';
import { h } from '../dom.js';
import type { Settings } from '../session.js';
import { text } from '../text.js';
import { formatRange, parseArea, parseOffset, parseRange } from './fixes.js';

export function labelled(id: string, label: string, ...children: readonly HTMLElement[]): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: id }, label), ...children);
}

export function check(id: string, name: string, hint: string, change: (on: boolean) => void) {
  const input = h('input', { id, type: 'checkbox', onchange: () => change(input.checked) });
  const element = h(
    'label',
    { class: 'check', for: id },
    input,
    h('span', {}, name, hint !== '' && h('span', { class: 'faint small' }, ` ${hint}`)),
  );
  return { input, element };
}

export function field(id: string, label: string, attributes: Readonly<Record<string, string | number>>) {
  const input = h('input', { id: `setting-${id}`, ...attributes });
  return { input, element: labelled(`setting-${id}`, label, input) };
}

export function choice<K extends string>(
  id: string,
  label: string,
  choices: Readonly<Record<K, string>>,
  change: (value: K) => void,
) {
  const entries = Object.entries(choices) as [K, string][];
  const input = h(
    'select',
    {
      id: `setting-${id}`,
      onchange: () => change(input.value as K),
    },
    ...entries.map(([value, shown]) => h('option', { value }, shown)),
  );
  return { input, element: labelled(`setting-${id}`, label, input) };
}

/** A text field with a message while `parse` returns `undefined`; empty text is `null`. */
function typed<T>(
  id: string,
  label: string,
  placeholder: string,
  parse: (text: string) => T | undefined,
  wrong: (text: string) => string,
  change: (value: T | null) => void,
) {
  const { input, element } = field(id, label, {
    type: 'text',
    placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': `setting-${id}-wrong`,
  });
  const said = h('p', { class: 'wrong small', id: `setting-${id}-wrong`, role: 'alert' });
  element.append(said);
  let shown = '';
  const refuse = (why: string) => {
    said.textContent = why;
    input.setAttribute('aria-invalid', String(why !== ''));
  };
  input.addEventListener('change', () => {
    const text = input.value.trim();
    const parsed = text === '' ? null : parse(text);
    refuse(parsed === undefined ? wrong(text) : '');
    if (parsed !== undefined) change(parsed);
  });
  return {
    element,
    /** Invalid text stays until there is another value. */
    show(text: string): void {
      if (text === shown && said.textContent !== '') return;
      shown = text;
      input.value = text;
      refuse('');
    },
  };
}

/** Calls `change` with an integer clamped to the bounds, or `null` for an empty field. */
export function whole(
  input: HTMLInputElement,
  min: number,
  max: number,
  change: (value: number | null) => void,
): void {
  input.addEventListener('change', () => {
    if (input.value === '') return change(null);
    const value = Math.round(Number(input.value));
    if (Number.isFinite(value)) change(Math.min(max, Math.max(min, value)));
  });
}

export type Change = (change: Partial<Settings>) => void;

export interface Part {
  readonly elements: readonly HTMLElement[];
  show(settings: Settings): void;
}

const words = text.settings;

/** @param prefix of the ids of fields, as in the others */
export function offsetField(set: Change, prefix: string): Part {
  const { element, show } = typed(
    `${prefix}offset`,
    words.offset,
    words.offsetExample,
    parseOffset,
    words.offsetWrong,
    (offset) => set({ offset: offset ?? 0 }),
  );
  element.append(h('p', { class: 'faint small' }, words.offsetHint));
  return { elements: [element], show: ({ offset }) => show(String(offset)) };
}

export function rangeField(set: Change, prefix = ''): Part {
  const { element, show } = typed(
    `${prefix}range`,
    words.range,
    words.rangeExample,
    parseRange,
    words.rangeWrong,
    (range) => set({ range }),
  );
  return { elements: [element], show: ({ range }) => show(formatRange(range)) };
}

export function pairingFields(set: Change, prefix = ''): Part {
  const { choices } = words;
  const scale = choice(`${prefix}scale`, words.scale, choices.scale, (scale) => set({ scale }));
  const scaleTo = choice(
    `${prefix}scale-to`,
    words.scaleTo,
    {
      ...choices.scaleTo,
      '1920x1080': '1920 × 1080',
      '3840x2160': '3840 × 2160',
    },
    (size) => {
      set({ scaleTo: parseSize(size) ?? (size === 'dis' ? 'dis' : 'ref') });
    },
  );
  const rate = choice(`${prefix}rate`, words.rate, choices.frameRatePolicy, (frameRatePolicy) =>
    set({ frameRatePolicy }),
  );
  const pairBy = choice(`${prefix}pair-by`, words.pairBy, choices.pairBy, (by) => set({ pairBy: by }));
  return {
    elements: [scale.element, scaleTo.element, rate.element, pairBy.element],
    show(now) {
      scale.input.value = now.scale;
      const size = formatSize(now.scaleTo);
      if (!scaleTo.input.querySelector(`[value="${size}"]`))
        scaleTo.input.append(h('option', { value: size }, size.replace('x', ' × ')));
      scaleTo.input.value = size;
      rate.input.value = now.frameRatePolicy;
      pairBy.input.value = now.pairBy;
    },
  };
}

/** Empty for the default track. */
function trackField(set: Change, name: 'trackReference' | 'trackDistorted', id: string) {
  const made = field(id, words[name], {
    type: 'number',
    min: 0,
    max: 999,
    step: 1,
    placeholder: words.trackUsual,
  });
  whole(made.input, 0, 999, (number) => set({ [name]: number ?? undefined }));
  return made;
}

/** Picture processing that the library does without ffmpeg, tracks, and damage. */
export function pictureFields(set: Change, prefix = ''): Part {
  const { choices } = words;
  const area = (name: 'cropReference' | 'cropDistorted', id: string) =>
    typed(`${prefix}${id}`, words[name], words.cropExample, parseArea, words.cropWrong, (part) =>
      // Automatic and explicit cropping exclude each other.
      set({ [name]: part ?? undefined, ...(part !== null && { crop: undefined }) }),
    );
  const [ofReference, ofDistorted] = [area('cropReference', 'crop-ref'), area('cropDistorted', 'crop-dis')];
  const crop = choice(`${prefix}crop`, words.crop, { '': words.cropNot, ...choices.crop }, (how) =>
    set(
      how === 'auto'
        ? { crop: how, cropReference: undefined, cropDistorted: undefined }
        : { crop: undefined },
    ),
  );
  const range = choice(
    `${prefix}color-range`,
    words.colorRange,
    { '': words.asIs, ...choices.colorRange },
    (to) => set({ colorRange: to || undefined }),
  );
  const format = choice(
    `${prefix}pix-fmt`,
    words.pixelFormat,
    { '': words.asIs, ...choices.pixelFormat },
    (to) => set({ pixelFormat: to || undefined }),
  );
  const tracks = [
    trackField(set, 'trackReference', `${prefix}track-ref`),
    trackField(set, 'trackDistorted', `${prefix}track-dis`),
  ] as const;
  const damaged = check(`setting-${prefix}damaged`, words.allowDamaged, '', (on) =>
    set({ allowDamaged: on }),
  );
  return {
    elements: [
      ...[crop, ofReference, ofDistorted, range, format, ...tracks].map(({ element }) => element),
      damaged.element,
    ],
    show(now) {
      crop.input.value = now.crop ?? '';
      ofReference.show(now.cropReference ?? '');
      ofDistorted.show(now.cropDistorted ?? '');
      range.input.value = now.colorRange ?? '';
      const { pixelFormat = '' } = now;
      if (!format.input.querySelector(`[value="${pixelFormat}"]`))
        format.input.append(h('option', { value: pixelFormat }, pixelFormat));
      format.input.value = pixelFormat;
      tracks[0].input.value = String(now.trackReference ?? '');
      tracks[1].input.value = String(now.trackDistorted ?? '');
      damaged.input.checked = now.allowDamaged;
    },
  };
}
