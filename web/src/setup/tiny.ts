/**
 * @module web/setup/tiny
 * Tiny ONNX models: those that the page brings, and one from the user's files, looked at as soon as it is picked.
 */
import type { TinyModelDescription } from 'anyvmaf';
import { fill, h } from '../dom.js';
import { engine } from '../engine/client.js';
import type { ChosenTiny, Session } from '../session.js';
import { text } from '../text.js';
import { announce } from './announce.js';
import { TINY_NO_REFERENCE } from './models.js';

/** The boxes and the button, for the form of settings. */
export function tinyModels(session: Session): readonly HTMLElement[] {
  const { tiny, tinyToPick } = session;
  const without = (model: string) => tiny.value.filter((one) => one.model !== model);
  const [name, guess] = text.tiny.noReference;

  const box = h('input', {
    id: 'tiny-nr',
    type: 'checkbox',
    onchange: () => {
      tiny.value = box.checked
        ? [{ model: TINY_NO_REFERENCE, resizes: false }, ...tiny.value]
        : without(TINY_NO_REFERENCE);
    },
  });
  const ready = h(
    'label',
    { class: 'check', for: 'tiny-nr' },
    box,
    h('span', {}, name, h('span', { class: 'faint small' }, ` ${guess}`)),
  );

  const input = h('input', {
    id: 'pick-tiny',
    type: 'file',
    multiple: true,
    accept: '.onnx,.json,.data,.bin',
    'aria-describedby': 'tiny-said',
    onchange: () => take([...(input.files ?? [])]),
  });
  const said = h('p', { class: 'faint small', id: 'tiny-said', role: 'status' }, text.tiny.hint);
  const drop = h('button', { class: 'tool', type: 'button', onclick: () => remove() }, text.tiny.remove);
  const own = h(
    'div',
    { class: 'field' },
    h('label', { for: 'pick-tiny' }, text.tiny.own),
    h('div', { class: 'with-button' }, input, drop),
    said,
  );

  function remove(): void {
    tiny.value = tiny.value.filter(({ files }) => !files);
    input.value = '';
    said.classList.remove('wrong');
    hint();
  }

  function hint(): void {
    fill(said, tinyToPick.value ? text.tiny.pick : text.tiny.hint);
  }

  /** Looks at what was picked, before it stands in the way of a run. */
  async function take(picked: readonly File[]): Promise<void> {
    tiny.value = tiny.value.filter(({ files }) => !files);
    if (picked.length === 0) return remove();
    const found = await look(picked);
    // Meanwhile others may have been picked.
    if (picked.some((file, i) => input.files?.[i] !== file)) return;
    said.classList.toggle('wrong', typeof found === 'string');
    const words = typeof found === 'string' ? found : found.words;
    if (typeof found !== 'string') {
      tiny.value = [...tiny.value, found.chosen];
      tinyToPick.value = false;
    }
    fill(said, words);
    announce(words);
  }

  tiny.watch((chosen) => {
    box.checked = chosen.some(({ model }) => model === TINY_NO_REFERENCE);
    drop.hidden = chosen.every(({ files }) => !files);
  });
  tinyToPick.watch(() => tiny.value.every(({ files }) => !files) && hint());
  return [ready, own];
}

/** What was picked as a model, or a sentence that says why it is none. */
async function look(
  picked: readonly File[],
): Promise<string | { readonly chosen: ChosenTiny; readonly words: string }> {
  const models = picked.filter(({ name }) => /\.onnx$/i.test(name));
  // An 8-bit sibling goes with the model that it was made of.
  const [model, second] =
    models.length > 1 ? models.filter(({ name }) => !/\.int8\.onnx$/i.test(name)) : models;
  if (!model || second) return text.tiny.oneModel(models.length);
  const files = Object.fromEntries(picked.map((file) => [file.name, file]));
  try {
    const description = await engine.call('describeTiny', { model: model.name, files });
    return {
      chosen: { model: model.name, files, resizes: hasSize(description) },
      words: text.tiny.took(description.name ?? model.name, described(description)),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether its pictures are of one size. */
function hasSize({ inputs }: TinyModelDescription): boolean {
  return inputs.some(({ dims }) => dims?.length === 4 && dims[2] !== null && dims[3] !== null);
}

function described({ kind, features, inputs }: TinyModelDescription): string {
  if (features) return text.tiny.reads(features.length);
  return kind === 'nr' && inputs.length === 1 ? text.tiny.distorted : text.tiny.pictures;
}
