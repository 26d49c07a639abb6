/**
 * @module web/setup/fields
 * Labelled form fields: checkboxes, inputs, selects.
 */
import { h } from '../dom.js';

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
export function typed<T>(
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
