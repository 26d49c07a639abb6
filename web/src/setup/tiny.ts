/**
 * @module web/setup/tiny
 * Tiny ONNX models: built-in ones, and one from the user's files, checked when picked.
 */

import type { TinyModelDescription } from 'anyvmaf';
import { announce, button, fill, h } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { ChosenTiny, Session } from '../session.js';
import { text } from '../text.js';
import { check, labelled } from './fields.js';
import { TINY_NO_REFERENCE } from './models.js';

export function tinyModels(session: Session): readonly HTMLElement[] {
  const { tiny } = session;
  const [name, hint] = text.tiny.models[TINY_NO_REFERENCE];
  const guess = check('tiny-nr', name, hint, (on) => {
    const rest = tiny.value.filter(({ model }) => model !== TINY_NO_REFERENCE);
    tiny.value = on ? [{ model: TINY_NO_REFERENCE, resizes: false }, ...rest] : rest;
  });
  tiny.watch((chosen) => {
    guess.input.checked = chosen.some(({ model }) => model === TINY_NO_REFERENCE);
  });
  return [guess.element, ownModel(session)];
}

function ownModel({ tiny, tinyToPick }: Session): HTMLElement {
  const input = h('input', {
    id: 'pick-tiny',
    type: 'file',
    multiple: true,
    accept: '.onnx,.json,.data,.bin',
    'aria-describedby': 'tiny-said',
    onchange: () => choose([...(input.files ?? [])]),
  });
  const status = h('p', { class: 'faint small', id: 'tiny-said', role: 'status' }, text.tiny.hint);
  const drop = button({ onclick: () => choose([]) }, text.tiny.remove);
  const hint = () => fill(status, tinyToPick.value ? text.tiny.pick : text.tiny.hint);

  async function choose(picked: readonly File[]): Promise<void> {
    tiny.value = tiny.value.filter(({ files }) => !files);
    if (picked.length === 0) {
      input.value = '';
      status.classList.remove('wrong');
      hint();
      return;
    }
    const found = await describe(picked);
    // Other files were picked meanwhile.
    if (picked.some((file, i) => input.files?.[i] !== file)) return;
    const failed = typeof found === 'string';
    status.classList.toggle('wrong', failed);
    const words = failed ? found : found.words;
    if (!failed) {
      tiny.value = [...tiny.value, found.chosen];
      tinyToPick.value = false;
    }
    fill(status, words);
    announce(words);
  }

  tiny.watch((chosen) => {
    drop.hidden = chosen.every(({ files }) => !files);
  });
  tinyToPick.watch(() => tiny.value.every(({ files }) => !files) && hint());
  return labelled('pick-tiny', text.tiny.own, h('div', { class: 'with-button' }, input, drop), status);
}

/** A sentence if the files are not a model. */
async function describe(
  picked: readonly File[],
): Promise<string | { readonly chosen: ChosenTiny; readonly words: string }> {
  const models = picked.filter(({ name }) => /\.onnx$/i.test(name));
  // An 8-bit copy may be picked together with its model.
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
    return messageOf(error);
  }
}

/** Takes pictures of one size only. */
function hasSize({ inputs }: TinyModelDescription): boolean {
  return inputs.some(({ dims }) => dims?.length === 4 && dims[2] !== null && dims[3] !== null);
}

function described({ kind, features, inputs }: TinyModelDescription): string {
  if (features) return text.tiny.reads(features.length);
  return kind === 'nr' && inputs.length === 1 ? text.tiny.distorted : text.tiny.pictures;
}
