/**
 * @module web/setup/settings
 * The form of settings: folded, with its state in one line.
 */
import { fill, h } from '../dom.js';
import { engine } from '../engine/client.js';
import { DEFAULT_SETTINGS, type Session, type Settings } from '../session.js';
import { text } from '../text.js';
import { announce } from './announce.js';
import { rawFiles } from './files.js';
import { formatRange, parseRange } from './fixes.js';
import { FURTHER_KEYS, MODEL_KEYS, MODELS, type ModelKey, summary, withModel } from './models.js';
import { missing } from './score.js';
import { tinyModels } from './tiny.js';

/** The metric with a box of its own. */
const PSNR = 'psnr';

/** The form. */
export function settingsForm(session: Session): HTMLElement {
  const { settings } = session;
  const set = (change: Partial<Settings>) => {
    settings.value = { ...settings.value, ...change };
  };
  const state = h('span', { class: 'faint small state' });
  const updates: ((settings: Settings) => void)[] = [];

  const tick = (key: ModelKey) => {
    const [name = '', hint = ''] = text.settings.model[key];
    const box = check(`model-${key}`, name, hint, (on) => {
      set({ models: withModel(settings.value.models, key, on) });
    });
    updates.push(({ models }) => {
      box.input.checked = models.includes(MODELS[key]);
    });
    return box.element;
  };
  const further = h(
    'details',
    { class: 'further' },
    h('summary', {}, text.settings.furtherModels),
    h('div', { class: 'ticks' }, ...FURTHER_KEYS.map(tick)),
  );
  const models = [...MODEL_KEYS.filter((key) => !FURTHER_KEYS.includes(key)).map(tick), further];
  updates.push(({ models }) => {
    if (FURTHER_KEYS.some((key) => models.includes(MODELS[key]))) further.open = true;
  });

  const [psnrName = '', psnrHint = ''] = text.settings.psnr;
  const psnr = check('feature-psnr', psnrName, psnrHint, (on) => {
    const rest = settings.value.features.filter((one) => one !== PSNR);
    set({ features: on ? [PSNR, ...rest] : rest });
  });
  const others = field('input', 'features', text.settings.otherFeatures, {
    type: 'text',
    placeholder: text.settings.otherExample,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  others.input.addEventListener('change', () => {
    const typed = others.input.value.split(/[\s,|]+/).filter((one) => one !== '' && one !== PSNR);
    set({ features: [...(settings.value.features.includes(PSNR) ? [PSNR] : []), ...typed] });
  });
  updates.push(({ features }) => {
    psnr.input.checked = features.includes(PSNR);
    others.input.value = features.filter((one) => one !== PSNR).join(', ');
  });

  const scale = choice('scale', text.settings.scale, text.settings.scales, (scale) => set({ scale }));
  const sizes = ['ref', 'dis', '1920x1080', '3840x2160'] as const;
  const scaleTo = choice(
    'scale-to',
    text.settings.scaleTo,
    {
      ref: text.settings.scaleTos.ref,
      dis: text.settings.scaleTos.dis,
      '1920x1080': '1920 × 1080',
      '3840x2160': '3840 × 2160',
    },
    (size) => {
      const [width = 0, height = 0] = size.split('x').map(Number);
      set({ scaleTo: size === 'ref' || size === 'dis' ? size : { width, height } });
    },
  );
  const rate = choice('rate', text.settings.rate, text.settings.rates, (frameRatePolicy) =>
    set({ frameRatePolicy }),
  );
  updates.push((now) => {
    scale.input.value = now.scale;
    const size = typeof now.scaleTo === 'string' ? now.scaleTo : `${now.scaleTo.width}x${now.scaleTo.height}`;
    if (!sizes.some((one) => one === size) && !scaleTo.input.querySelector(`[value="${size}"]`))
      scaleTo.input.append(h('option', { value: size }, size.replace('x', ' × ')));
    scaleTo.input.value = size;
    rate.input.value = now.frameRatePolicy;
  });

  const offset = offsetField(session, set);
  updates.push(offset.show);

  const range = field('input', 'range', text.settings.range, {
    type: 'text',
    placeholder: text.settings.rangeExample,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const rangeWrong = h(
    'p',
    { class: 'wrong small', id: 'range-wrong', role: 'alert', hidden: true },
    text.settings.rangeWrong,
  );
  range.element.append(rangeWrong);
  range.input.setAttribute('aria-describedby', 'range-wrong');
  range.input.addEventListener('change', () => {
    const typed = range.input.value.trim();
    const parsed = typed === '' ? null : parseRange(typed);
    rangeWrong.hidden = parsed !== undefined;
    range.input.setAttribute('aria-invalid', String(parsed === undefined));
    if (parsed !== undefined) set({ range: parsed });
  });
  const subsample = field('input', 'subsample', text.settings.subsample, { type: 'number', min: 1, step: 1 });
  whole(subsample.input, 1, 1e6, (n) => set({ subsample: n ?? 1 }));
  const cores = navigator.hardwareConcurrency || 4;
  const threads = field('input', 'threads', text.settings.threads, {
    type: 'number',
    min: 1,
    max: 64,
    step: 1,
    placeholder: text.settings.threadsAuto(cores),
  });
  whole(threads.input, 1, 64, (threads) => set({ threads }));
  const decoder = choice('decoder', text.settings.decoder, text.settings.decoders, (decoder) =>
    set({ decoder }),
  );
  updates.push((now) => {
    if (document.activeElement !== range.input) range.input.value = formatRange(now.range);
    subsample.input.value = String(now.subsample);
    threads.input.value = now.threads === null ? '' : String(now.threads);
    decoder.input.value = now.decoder;
  });

  const reset = h(
    'button',
    {
      class: 'tool',
      type: 'button',
      onclick: () => {
        set(DEFAULT_SETTINGS);
        session.tiny.value = session.tiny.value.filter(({ files }) => files);
      },
    },
    text.settings.reset,
  );
  const group = (name: string, body: string, ...children: HTMLElement[]) =>
    h('fieldset', { class: 'group' }, h('legend', {}, name), h('div', { class: body }, ...children));
  const element = h(
    'details',
    { class: 'card fold settings' },
    h('summary', {}, h('h2', {}, text.settings.heading), state),
    group(text.settings.models, 'ticks', ...models),
    group(text.settings.features, 'fields two', psnr.element, others.element),
    group(text.tiny.heading, 'fields two', ...tinyModels(session)),
    group(
      text.settings.pairing,
      'fields',
      offset.element,
      range.element,
      scale.element,
      scaleTo.element,
      rate.element,
    ),
    group(text.settings.running, 'fields', subsample.element, threads.element, decoder.element),
    h('div', { class: 'tools end' }, reset),
  );
  settings.watch((now) => {
    fill(state, summary(now).join(' · '));
    for (const update of updates) update(now);
  });
  const touched = () => {
    reset.disabled =
      JSON.stringify(settings.value) === JSON.stringify(DEFAULT_SETTINGS) &&
      session.tiny.value.every(({ files }) => files);
  };
  settings.watch(touched);
  session.tiny.watch(touched);
  session.watchPhase((phase) => {
    element.inert = phase === 'running' || phase === 'paused';
  });
  return element;
}

/** Offset: typed, found by a button, or left to each encode's run. */
function offsetField(session: Session, set: (change: Partial<Settings>) => void) {
  const { input, element } = field('input', 'offset', text.settings.offset, { type: 'number', step: 1 });
  const said = h('p', { class: 'faint small', id: 'offset-said', role: 'status' }, text.settings.offsetHint);
  input.setAttribute('aria-describedby', 'offset-said');
  const detect = h('button', { class: 'tool', type: 'button', onclick: () => find() }, text.settings.detect);
  const auto = check('offset-auto', text.settings.offsetAuto, '', (on) => set({ offset: on ? 'auto' : 0 }));
  whole(input, -1e6, 1e6, (offset) => set({ offset: offset ?? 0 }));
  const row = h('div', { class: 'with-button' });
  element.append(row, said, auto.element);
  row.append(input, detect);

  async function find(): Promise<void> {
    const reference = session.reference.value;
    const raw = rawFiles(session).length > 0 ? session.raw.value : null;
    if (!reference || missing(session) !== null) return;
    detect.disabled = true;
    fill(detect, text.settings.detecting);
    try {
      const found = [];
      for (const { file } of session.distorted.value) {
        const request = { reference: reference.file, distorted: file, ...(raw && { raw }) };
        found.push(
          await engine.call('align', { request, options: { decoder: session.settings.value.decoder } }),
        );
      }
      const [first] = found;
      if (!first) return;
      const agree = found.every(({ offset }) => offset === first.offset);
      set({ offset: agree ? first.offset : 'auto' });
      fill(said, first.explanation);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      fill(said, why);
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
    element,
    show({ offset }: Settings) {
      auto.input.checked = offset === 'auto';
      input.disabled = offset === 'auto';
      input.value = offset === 'auto' ? '' : String(offset);
    },
  };
}

function check(id: string, name: string, hint: string, change: (on: boolean) => void) {
  const input = h('input', { id, type: 'checkbox', onchange: () => change(input.checked) });
  const element = h(
    'label',
    { class: 'check', for: id },
    input,
    h('span', {}, name, hint !== '' && h('span', { class: 'faint small' }, ` ${hint}`)),
  );
  return { input, element };
}

function field(
  tag: 'input',
  id: string,
  label: string,
  attributes: Readonly<Record<string, string | number>>,
) {
  const input = h(tag, { id: `setting-${id}`, ...attributes });
  return { input, element: h('div', { class: 'field' }, h('label', { for: `setting-${id}` }, label), input) };
}

function choice<K extends string>(
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
  return { input, element: h('div', { class: 'field' }, h('label', { for: `setting-${id}` }, label), input) };
}

/** Calls back with a whole number within bounds, or with `null` when the field was emptied. */
function whole(
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
