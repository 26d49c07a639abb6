/**
 * @module web/setup/settings
 * The settings form: folded, with a one-line summary. Tiny ONNX models are built in, or checked when the user picks files.
 */

import type { TinyModelDescription } from 'anyvmaf';
import { announce, button, fill, h } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { type ChosenTiny, DEFAULT_SETTINGS, isActive, type Session } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import {
  type Change,
  check,
  field,
  fieldGroup,
  labelled,
  type Part,
  pairingFields,
  pictureFields,
  rangeField,
  runningFields,
  whole,
} from './fields.js';
import { rawFiles } from './files.js';
import { setForAll } from './fixes.js';
import {
  FURTHER_KEYS,
  METRIC_KEYS,
  MODEL_KEYS,
  MODELS,
  type ModelKey,
  summary,
  TINY_NO_REFERENCE,
  typedMetrics,
  withMetric,
  withModel,
} from './models.js';
import { missing } from './score.js';

export function settingsForm(session: Session): HTMLElement {
  const { settings } = session;
  const set: Change = (change) => setForAll(session, change);
  const state = h('span', { class: 'faint small state' });
  const models = modelBoxes(session, set);
  const metrics = metricFields(session, set);
  const offset = searchedOffset(session, set);
  const range = rangeField(set);
  const sizes = pairingFields(set);
  const pictures = pictureFields(set);
  const running = runningFields(set);
  const reset = button(
    {
      onclick: () => {
        set(DEFAULT_SETTINGS);
        session.tiny.value = session.tiny.value.filter(({ files }) => files);
      },
    },
    text.settings.reset,
  );
  const pairing = [offset, range, sizes].flatMap(({ elements }) => elements);
  const element = made(
    html`<details class="card fold settings"><summary><h2>${text.settings.heading}</h2>${state}</summary>${[
      fieldGroup(text.settings.models, models.elements, 'ticks'),
      fieldGroup(text.settings.features, metrics.elements, 'fields stacked'),
      fieldGroup(text.tiny.heading, tinyModels(session), 'fields two'),
      fieldGroup(text.settings.pairing, pairing),
      fieldGroup(text.settings.pictures, pictures.elements),
    ]}<p class="faint small">${text.setup.ownForm.beyond}</p>${fieldGroup(text.settings.running, running.elements)}<div class="tools end">${reset}</div></details>`,
  );
  settings.watch((now) => {
    fill(state, summary(now).join(' · '));
    for (const part of [models, metrics, offset, range, sizes, pictures, running]) part.show(now);
  });
  const updateReset = () => {
    reset.disabled =
      JSON.stringify(settings.value) === JSON.stringify(DEFAULT_SETTINGS) &&
      session.distorted.value.every(({ own }) => !own) &&
      session.tiny.value.every(({ files }) => files);
  };
  for (const cell of [settings, session.distorted, session.tiny]) cell.watch(updateReset);
  session.watchPhase(() => {
    element.inert = isActive(session.run.value);
  });
  return element;
}

function ticks<K extends string>(
  kind: string,
  keys: readonly K[],
  labels: Readonly<Record<K, readonly string[]>>,
  change: (key: K, on: boolean) => void,
) {
  return keys.map((key) => {
    const [name = '', hint = ''] = labels[key];
    return { key, ...check(`${kind}-${key}`, name, hint, (on) => change(key, on)) };
  });
}

function modelBoxes({ settings }: Session, set: Change): Part {
  const boxes = ticks('model', MODEL_KEYS, text.settings.model, (key, on) =>
    set({ models: withModel(settings.value.models, key, on) }),
  );
  const isFurther = (key: ModelKey) => FURTHER_KEYS.includes(key);
  const elementsOf = (some: typeof boxes) => some.map(({ element }) => element);
  const others = elementsOf(boxes.filter(({ key }) => isFurther(key)));
  const further = made<HTMLDetailsElement>(
    html`<details class="further"><summary>${text.settings.furtherModels}</summary><div class="ticks">${others}</div></details>`,
  );
  return {
    elements: [...elementsOf(boxes.filter(({ key }) => !isFurther(key))), further],
    show({ models }) {
      for (const { key, input } of boxes) input.checked = models.includes(MODELS[key]);
      if (FURTHER_KEYS.some((key) => models.includes(MODELS[key]))) further.open = true;
    },
  };
}

function metricFields({ settings }: Session, set: Change): Part {
  const boxes = ticks('feature', METRIC_KEYS, text.settings.metrics, (key, on) =>
    set({ features: withMetric(settings.value.features, key, on) }),
  );
  const others = field('features', text.settings.otherFeatures, {
    type: 'text',
    placeholder: text.settings.otherExample,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  others.input.addEventListener('change', () => {
    const typed = others.input.value.split(/[\s,|]+/).filter((name) => name !== '');
    const ticked = METRIC_KEYS.filter((key) => settings.value.features.includes(key) || typed.includes(key));
    set({ features: [...ticked, ...typedMetrics(typed)] });
  });
  return {
    elements: [h('div', { class: 'ticks wide' }, ...boxes.map(({ element }) => element)), others.element],
    show({ features }) {
      for (const { key, input } of boxes) input.checked = features.includes(key);
      others.input.value = typedMetrics(features).join(', ');
    },
  };
}

/** Typed, detected by a button, or detected for each encode when scoring. */
function searchedOffset(session: Session, set: Change): Part {
  const { input, element } = field('offset', text.settings.offset, { type: 'number', step: 1 });
  const status = h('p', { class: 'faint small', id: 'offset-said', role: 'status' });
  fill(status, text.settings.offsetHint);
  input.setAttribute('aria-describedby', 'offset-said');
  const detect = button({ onclick: () => find() }, text.settings.detect);
  const auto = check('offset-auto', text.settings.offsetAuto, '', (on) => set({ offset: on ? 'auto' : 0 }));
  whole(input, -1e6, 1e6, (offset) => set({ offset: offset ?? 0 }));
  const row = h('div', { class: 'with-button' });
  element.append(row, status, auto.element);
  row.append(input, detect);

  async function find(): Promise<void> {
    const reference = session.reference.value;
    const raw = rawFiles(session).length > 0 ? session.raw.value : null;
    if (!reference || missing(session) !== null) return;
    const distorted = session.distorted.value;
    const stale = () => session.reference.value !== reference || session.distorted.value !== distorted;
    detect.disabled = true;
    fill(detect, text.settings.detecting);
    try {
      const found = [];
      for (const { file } of distorted) {
        const request = { reference: reference.file, distorted: file, ...(raw && { raw }) };
        found.push(
          await engine.call('align', { request, options: { decoder: session.settings.value.decoder } }),
        );
      }
      const [first] = found;
      // Other files were chosen meanwhile.
      if (!first || stale()) return;
      const agree = found.every(({ offset }) => offset === first.offset);
      set({ offset: agree ? first.offset : 'auto' });
      fill(status, first.explanation);
    } catch (error) {
      const why = messageOf(error);
      fill(status, why);
      announce(why);
    } finally {
      fill(detect, text.settings.detect);
      ready();
    }
  }
  const ready = () => {
    detect.disabled = missing(session) !== null;
  };
  for (const cell of [session.reference, session.distorted, session.raw]) cell.watch(ready);
  return {
    elements: [element],
    show({ offset }) {
      auto.input.checked = offset === 'auto';
      input.disabled = offset === 'auto';
      input.value = offset === 'auto' ? '' : String(offset);
    },
  };
}

function tinyModels(session: Session): readonly HTMLElement[] {
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
  const input = made<HTMLInputElement>(
    html`<input id="pick-tiny" type="file" multiple accept=".onnx,.json,.data,.bin" aria-describedby="tiny-said" @change=${() => choose([...(input.files ?? [])])}>`,
  );
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
