/**
 * @module web/setup/fields
 * Labelled form fields, and the groups of them that the form for all encodes shares with that of a single one.
 */

import { formatRange } from 'anyvmaf/core/frame';
import { formatSize, parseSize } from 'anyvmaf/core/size';
import { h } from '../dom.js';
import { MOST_THREADS, type Settings } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import { parseArea, parseOffset, parseRange } from './fixes.js';

export function labelled(id: string, label: string, ...children: readonly HTMLElement[]): HTMLElement {
  return made(html`<div class="field"><label for=${id}>${label}</label>${children}</div>`);
}

export function fieldGroup(name: string, fields: readonly HTMLElement[], kind = 'fields'): HTMLElement {
  return made(
    html`<fieldset class="group"><legend>${name}</legend><div class=${kind}>${fields}</div></fieldset>`,
  );
}

export function check(id: string, name: string, hint: string, change: (on: boolean) => void) {
  const input = h('input', { id, type: 'checkbox', onchange: () => change(input.checked) });
  const element = made(
    html`<label class="check" for=${id}>${input}<span>${name}${hint === '' ? '' : html`<span class="faint small"> ${hint}</span>`}</span></label>`,
  );
  return { input, element };
}

export function field(id: string, label: string, attributes: Readonly<Record<string, string | number>>) {
  const input = h('input', { id: `setting-${id}`, ...attributes });
  return { input, element: labelled(`setting-${id}`, label, input) };
}

function choice<K extends string>(
  id: string,
  label: string,
  choices: Readonly<Record<K, string>>,
  change: (value: K) => void,
) {
  const entries = Object.entries(choices) as [K, string][];
  const input = made<HTMLSelectElement>(
    html`<select id="setting-${id}" @change=${() => change(input.value as K)}>${entries.map(([value, shown]) => html`<option value=${value}>${shown}</option>`)}</select>`,
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
  textOf: (settings: Settings) => string,
): Part {
  const error = h('p', { class: 'wrong small', id: `setting-${id}-wrong`, role: 'alert' });
  const about = { placeholder, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': error.id };
  const { input, element } = field(id, label, { type: 'text', ...about });
  element.append(error);
  let shown = '';
  const refuse = (why: string) => {
    error.textContent = why;
    input.setAttribute('aria-invalid', String(why !== ''));
  };
  input.addEventListener('change', () => {
    const text = input.value.trim();
    const parsed = text === '' ? null : parse(text);
    refuse(parsed === undefined ? wrong(text) : '');
    if (parsed !== undefined) change(parsed);
  });
  /** Invalid text stays until there is another value. */
  const show = (settings: Settings) => {
    const text = textOf(settings);
    if (text === shown && error.textContent !== '') return;
    shown = text;
    input.value = text;
    refuse('');
  };
  return { elements: [element], show };
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

/** @param prefix of field ids */
export function offsetField(set: Change, prefix: string): Part {
  const { offset: label, offsetExample, offsetWrong, offsetHint } = words;
  const change = (offset: Settings['offset'] | null) => set({ offset: offset ?? 0 });
  const textOf = ({ offset }: Settings) => String(offset);
  const part = typed(`${prefix}offset`, label, offsetExample, parseOffset, offsetWrong, change, textOf);
  part.elements[0]?.append(h('p', { class: 'faint small' }, offsetHint));
  return part;
}

export function rangeField(set: Change, prefix = ''): Part {
  const { range: label, rangeExample, rangeWrong } = words;
  const change = (range: Settings['range']) => set({ range });
  const textOf = ({ range }: Settings) => formatRange(range);
  return typed(`${prefix}range`, label, rangeExample, parseRange, rangeWrong, change, textOf);
}

/** @param read returns the settings for a choice. Values that are not listed become choices when they are set. */
function chosen<K extends keyof Settings>(
  set: Change,
  key: K,
  id: string,
  label: string,
  choices: Readonly<Record<string, string>>,
  read: (text: string) => Partial<Settings>,
): Part {
  const { input, element } = choice(id, label, choices, (text) => set(read(text)));
  const [usual] = Object.keys(choices);
  const show = (now: Settings) => {
    const isSize = key === 'scaleTo';
    const text = isSize ? formatSize(now.scaleTo) : String(now[key] ?? usual);
    if (![...input.options].some((option) => option.value === text))
      input.append(h('option', { value: text }, isSize ? text.replace('x', ' × ') : text));
    input.value = text;
  };
  return { elements: [element], show };
}

/** A setting whose values are the choices; the first, or `''`, stands for `undefined`. */
function oneOf<K extends keyof Settings>(
  set: Change,
  key: K,
  id: string,
  label: string,
  choices: Readonly<Record<string, string>>,
): Part {
  return chosen(set, key, id, label, choices, (text) => ({ [key]: text || undefined }));
}

function together(...parts: readonly Part[]): Part {
  return {
    elements: parts.flatMap(({ elements }) => elements),
    show(settings) {
      for (const part of parts) part.show(settings);
    },
  };
}

export function pairingFields(set: Change, prefix = ''): Part {
  const { choices, scaleTo } = words;
  const sizes = { ...choices.scaleTo, '1920x1080': '1920 × 1080', '3840x2160': '3840 × 2160' };
  return together(
    oneOf(set, 'scale', `${prefix}scale`, words.scale, choices.scale),
    chosen(set, 'scaleTo', `${prefix}scale-to`, scaleTo, sizes, (size) => ({
      scaleTo: parseSize(size) ?? (size === 'dis' ? 'dis' : 'ref'),
    })),
    oneOf(set, 'frameRatePolicy', `${prefix}rate`, words.rate, choices.frameRatePolicy),
    oneOf(set, 'pairBy', `${prefix}pair-by`, words.pairBy, choices.pairBy),
  );
}

/** A whole number; empty for `absent`. */
function numberField<K extends 'trackReference' | 'trackDistorted' | 'subsample' | 'threads'>(
  set: Change,
  key: K,
  id: string,
  [min, max]: readonly [number, number],
  absent: Settings[K],
  placeholder = '',
): Part {
  const { input, element } = field(id, words[key], { type: 'number', min, max, step: 1, placeholder });
  whole(input, min, max, (number) => set({ [key]: number ?? absent }));
  const show = (now: Settings) => {
    input.value = String(now[key] ?? '');
  };
  return { elements: [element], show };
}

/** Crops, conversions, tracks and damage: settings that need no ffmpeg. */
export function pictureFields(set: Change, prefix = ''): Part {
  const { choices, asIs, trackUsual } = words;
  const area = (key: 'cropReference' | 'cropDistorted', id: string) => {
    // Automatic and explicit cropping exclude each other.
    const change = (part: string | null) =>
      set({ [key]: part ?? undefined, ...(part !== null && { crop: undefined }) });
    const { [key]: label, cropExample, cropWrong } = words;
    return typed(`${prefix}${id}`, label, cropExample, parseArea, cropWrong, change, (now) => now[key] ?? '');
  };
  const none = { cropReference: undefined, cropDistorted: undefined };
  const damaged = check(`setting-${prefix}damaged`, words.allowDamaged, '', (on) =>
    set({ allowDamaged: on }),
  );
  return together(
    chosen(set, 'crop', `${prefix}crop`, words.crop, { '': words.cropNot, ...choices.crop }, (how) =>
      how === 'auto' ? { crop: how, ...none } : { crop: undefined },
    ),
    area('cropReference', 'crop-ref'),
    area('cropDistorted', 'crop-dis'),
    oneOf(set, 'colorRange', `${prefix}color-range`, words.colorRange, { '': asIs, ...choices.colorRange }),
    oneOf(set, 'pixelFormat', `${prefix}pix-fmt`, words.pixelFormat, { '': asIs, ...choices.pixelFormat }),
    numberField(set, 'trackReference', `${prefix}track-ref`, [0, 999], undefined, trackUsual),
    numberField(set, 'trackDistorted', `${prefix}track-dis`, [0, 999], undefined, trackUsual),
    {
      elements: [damaged.element],
      show({ allowDamaged }) {
        damaged.input.checked = allowDamaged;
      },
    },
  );
}

export function runningFields(set: Change): Part {
  const cores = words.threadsAuto(navigator.hardwareConcurrency || 4);
  return together(
    numberField(set, 'subsample', 'subsample', [1, 1e6], 1),
    numberField(set, 'threads', 'threads', [1, MOST_THREADS], null, cores),
    oneOf(set, 'backend', 'backend', words.backend, words.backends),
    oneOf(set, 'decoder', 'decoder', words.decoder, words.decoders),
  );
}
