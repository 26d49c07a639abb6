/**
 * @module web/setup/settings
 * The settings form: folded, with a one-line summary.
 */

import { announce, button, fill, h } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { DEFAULT_SETTINGS, isActive, MOST_THREADS, type Session } from '../session.js';
import { text } from '../text.js';
import { check, choice, field, whole } from './fields.js';
import { rawFiles } from './files.js';
import { setForAll } from './fixes.js';
import {
  FURTHER_KEYS,
  METRIC_KEYS,
  MODEL_KEYS,
  MODELS,
  type ModelKey,
  summary,
  typedMetrics,
  withMetric,
  withModel,
} from './models.js';
import { type Change, type Part, pairingFields, pictureFields, rangeField } from './pairing-fields.js';
import { missing } from './score.js';
import { tinyModels } from './tiny.js';

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
  const group = (name: string, body: string, elements: readonly HTMLElement[]) =>
    h('fieldset', { class: 'group' }, h('legend', {}, name), h('div', { class: body }, ...elements));
  const element = h(
    'details',
    { class: 'card fold settings' },
    h('summary', {}, h('h2', {}, text.settings.heading), state),
    group(text.settings.models, 'ticks', models.elements),
    group(text.settings.features, 'fields stacked', metrics.elements),
    group(text.tiny.heading, 'fields two', tinyModels(session)),
    group(
      text.settings.pairing,
      'fields',
      [offset, range, sizes].flatMap(({ elements }) => elements),
    ),
    group(text.settings.pictures, 'fields', pictures.elements),
    h('p', { class: 'faint small' }, text.setup.ownForm.beyond),
    group(text.settings.running, 'fields', running.elements),
    h('div', { class: 'tools end' }, reset),
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
  settings.watch(updateReset);
  session.distorted.watch(updateReset);
  session.tiny.watch(updateReset);
  session.watchPhase(() => {
    element.inert = isActive(session.run.value);
  });
  return element;
}

function modelBoxes({ settings }: Session, set: Change): Part {
  const boxes = MODEL_KEYS.map((key) => {
    const [name = '', hint = ''] = text.settings.model[key];
    const box = check(`model-${key}`, name, hint, (on) => {
      set({ models: withModel(settings.value.models, key, on) });
    });
    return { key, ...box };
  });
  const isFurther = (key: ModelKey) => FURTHER_KEYS.includes(key);
  const further = h(
    'details',
    { class: 'further' },
    h('summary', {}, text.settings.furtherModels),
    h('div', { class: 'ticks' }, ...boxes.filter(({ key }) => isFurther(key)).map(({ element }) => element)),
  );
  return {
    elements: [...boxes.filter(({ key }) => !isFurther(key)).map(({ element }) => element), further],
    show({ models }) {
      for (const { key, input } of boxes) input.checked = models.includes(MODELS[key]);
      if (FURTHER_KEYS.some((key) => models.includes(MODELS[key]))) further.open = true;
    },
  };
}

function metricFields({ settings }: Session, set: Change): Part {
  const boxes = METRIC_KEYS.map((key) => {
    const [name = '', hint = ''] = text.settings.metrics[key];
    const box = check(`feature-${key}`, name, hint, (on) => {
      set({ features: withMetric(settings.value.features, key, on) });
    });
    return { key, ...box };
  });
  const others = field('features', text.settings.otherFeatures, {
    type: 'text',
    placeholder: text.settings.otherExample,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  others.input.addEventListener('change', () => {
    const typed = others.input.value.split(/[\s,|]+/).filter((one) => one !== '');
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

function runningFields(set: Change): Part {
  const subsample = field('subsample', text.settings.subsample, { type: 'number', min: 1, step: 1 });
  whole(subsample.input, 1, 1e6, (n) => set({ subsample: n ?? 1 }));
  const threads = field('threads', text.settings.threads, {
    type: 'number',
    min: 1,
    max: MOST_THREADS,
    step: 1,
    placeholder: text.settings.threadsAuto(navigator.hardwareConcurrency || 4),
  });
  whole(threads.input, 1, MOST_THREADS, (threads) => set({ threads }));
  const backend = choice('backend', text.settings.backend, text.settings.backends, (backend) =>
    set({ backend }),
  );
  const decoder = choice('decoder', text.settings.decoder, text.settings.decoders, (decoder) =>
    set({ decoder }),
  );
  return {
    elements: [subsample.element, threads.element, backend.element, decoder.element],
    show(now) {
      subsample.input.value = String(now.subsample);
      threads.input.value = now.threads === null ? '' : String(now.threads);
      backend.input.value = now.backend ?? 'cpu';
      decoder.input.value = now.decoder;
    },
  };
}

/** Typed, detected by a button, or detected for each encode when scoring. */
function searchedOffset(session: Session, set: Change): Part {
  const { input, element } = field('offset', text.settings.offset, { type: 'number', step: 1 });
  const status = h(
    'p',
    { class: 'faint small', id: 'offset-said', role: 'status' },
    text.settings.offsetHint,
  );
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
