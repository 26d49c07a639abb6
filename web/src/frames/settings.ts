/**
 * @module web/frames/settings
 * Settings of the views, with controls: amplification, quality map, and flicker at a safe rate by default.
 */
import { HEATMAP_FULLS } from 'anyvmaf';
import { button, Cell, fill, h } from '../dom.js';
import { text } from '../text.js';
import { gradient } from './colours.js';
import type { GridName } from './draw.js';
import { MODES, type Mode, type Role } from './stage.js';

const words = text.frames;

const GAINS = [1, 2, 4, 8, 16, 32, 64] as const;
const ROLES = ['distorted', 'reference'] as const satisfies readonly Role[];
const SCALES = [0, 1, 2, 3] as const;
const GRIDS: readonly GridName[] = [
  'both',
  'vif',
  'adm',
  ...SCALES.map((scale) => `vif${scale}` as const),
  ...SCALES.map((scale) => `adm${scale}` as const),
  'butteraugli',
];

export class ViewSettings {
  readonly mode = new Cell<Mode>('side');
  /** `null`: automatic. */
  readonly gain = new Cell<number | null>(null);
  readonly grid = new Cell<GridName>('both');
  /** Loss of the strongest colour; `null`: automatic. */
  readonly full = new Cell<number | null>(null);
  /** 0..1. */
  readonly opacity = new Cell(0.85);
  readonly base = new Cell<Role>('distorted');
}

export interface Findings {
  gain(gain: number): void;
  /** `full`: the strongest colour's value; `total`: the frame's own; `where`: the place of most loss. */
  map(found: {
    readonly kind: 'loss' | 'difference';
    readonly full: number;
    readonly total: number;
    readonly where: string;
  }): void;
}

function measureName(grid: GridName): string {
  if (Object.hasOwn(words.measures, grid)) return words.measures[grid as keyof typeof words.measures];
  return words.scale(grid.slice(0, 3).toUpperCase(), Number(grid.at(3)));
}

export function lossText(loss: number): string {
  return Math.abs(loss) >= 0.1 ? loss.toFixed(2) : loss.toFixed(3);
}

export function modeButtons(settings: ViewSettings): HTMLElement {
  const buttons = MODES.map((mode, i) => {
    const choice = button(
      {
        class: `frames-mode frames-mode-${mode}`,
        'aria-keyshortcuts': i + 1,
        title: `${words.modes[mode]} (${i + 1})`,
        onclick: () => {
          settings.mode.value = mode;
        },
      },
      h('span', { class: 'frames-long' }, words.modes[mode]),
      h('span', { class: 'frames-short' }, words.short[mode]),
    );
    settings.mode.watch((chosen) => choice.setAttribute('aria-pressed', String(chosen === mode)));
    return choice;
  });
  return h('div', { class: 'frames-modes', role: 'group', 'aria-label': words.view }, ...buttons);
}

export function viewControls(
  settings: ViewSettings,
  flicker: Flicker,
  onSwitch: () => void,
): { readonly element: HTMLElement; readonly findings: Findings; refreshFlicker(): void } {
  const rate = flickerControls(flicker, onSwitch);
  const gain = gainControls(settings);
  const map = mapControls(settings);
  const wide = matchMedia('(min-width: 761px) and (min-height: 600px)');
  // Folded where room is short.
  const element = h(
    'details',
    { class: 'frames-options', open: wide.matches },
    h('summary', { class: 'frames-fold' }, words.settings),
    ...[rate, gain, map].map((set) => set.element),
  );
  wide.addEventListener('change', () => {
    element.open = wide.matches;
  });
  settings.mode.watch((mode) => {
    rate.element.hidden = mode !== 'flicker';
    gain.element.hidden = mode !== 'difference';
    map.element.hidden = mode !== 'map';
    element.hidden = mode === 'side' || mode === 'split' || mode === 'grid';
  });
  return { element, findings: { gain: gain.found, map: map.found }, refreshFlicker: rate.refresh };
}

function flickerControls(flicker: Flicker, onSwitch: () => void) {
  const value = h('output', { class: 'frames-value' });
  const range = h('input', {
    type: 'range',
    min: RATES.least,
    max: flicker.largest,
    step: 0.5,
    'aria-label': words.rate,
    oninput: () => {
      flicker.rate = Number(range.value);
      refresh();
    },
  });
  const play = button({ onclick: toggle });
  const other = button({ 'aria-keyshortcuts': 'Space', onclick: onSwitch }, words.swap);
  const fast = h('input', {
    type: 'checkbox',
    onchange: () => {
      flicker.fast = fast.checked;
      refresh();
    },
  });
  function toggle() {
    flicker.running = !flicker.running;
    refresh();
  }
  function refresh() {
    range.max = String(flicker.largest);
    range.value = String(flicker.rate);
    value.textContent = words.rateValue(flicker.rate);
    range.setAttribute('aria-valuetext', value.textContent);
    play.textContent = flicker.running ? words.pause : words.play;
  }
  refresh();
  const element = h(
    'div',
    { class: 'frames-set' },
    play,
    other,
    h('label', { class: 'frames-field' }, words.rate, range, value),
    h('label', { class: 'frames-field', title: words.fastWhy }, fast, words.fast),
  );
  return { element, refresh };
}

function gainControls(settings: ViewSettings) {
  const automatic = h('option', { value: '' }, words.gainAuto(null));
  const select = dropdown(
    [automatic, ...GAINS.map((gain) => h('option', { value: gain }, words.gainValue(gain)))],
    (value) => {
      settings.gain.value = value === '' ? null : Number(value);
    },
  );
  settings.gain.watch((gain) => {
    select.value = gain === null ? '' : String(gain);
  });
  const least = h('span');
  const most = h('span');
  const element = h(
    'div',
    { class: 'frames-set' },
    h('label', { class: 'frames-field' }, words.gain, select),
    h(
      'div',
      { class: 'frames-legend' },
      least,
      h('div', { class: 'frames-scale frames-signed', 'aria-hidden': 'true' }),
      most,
    ),
  );
  const found = (gain: number) => {
    automatic.textContent = words.gainAuto(settings.gain.value === null ? gain : null);
    const levels = words.levels((255 / gain).toFixed(gain > 16 ? 1 : 0));
    least.textContent = `${words.darker}, ${levels}`;
    most.textContent = `${words.brighter}, ${levels}`;
  };
  found(1);
  return { element, found };
}

/** Leaves equal options alone: a list may be open. */
export function setOptions(
  select: HTMLSelectElement,
  options: readonly (readonly [value: number | '', name: string])[],
): void {
  const listed = JSON.stringify(options);
  if (select.dataset.listed === listed) return;
  select.dataset.listed = listed;
  fill(select, ...options.map(([value, name]) => h('option', { value }, name)));
}

function dropdown(options: readonly HTMLOptionElement[], onchange: (value: string) => void) {
  const select = h('select', { onchange: () => onchange(select.value) }, ...options);
  return select;
}

function mapControls(settings: ViewSettings) {
  const grid = dropdown(
    GRIDS.map((name) => h('option', { value: name }, measureName(name))),
    (value) => {
      settings.grid.value = GRIDS.find((name) => name === value) ?? 'both';
    },
  );
  const automatic = h('option', { value: '' }, words.fullAuto('…'));
  const full = dropdown(
    [automatic, ...HEATMAP_FULLS.map((loss) => h('option', { value: loss }, String(loss)))],
    (value) => {
      settings.full.value = value === '' ? null : Number(value);
    },
  );
  const opacity = h('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 0.05,
    oninput: () => {
      settings.opacity.value = Number(opacity.value);
    },
  });
  const base = dropdown(
    ROLES.map((role) => h('option', { value: role }, words[role])),
    (value) => {
      settings.base.value = value === 'reference' ? 'reference' : 'distorted';
    },
  );
  settings.grid.watch((name) => {
    grid.value = name;
  });
  settings.opacity.watch((share) => {
    opacity.value = String(share);
    opacity.setAttribute('aria-valuetext', `${Math.round(100 * share)} %`);
  });
  const most = h('span');
  const bar = h('div', { class: 'frames-scale frames-loss', 'aria-hidden': 'true' });
  bar.style.setProperty('--colours', gradient());
  const summary = h('p', { class: 'frames-summary' });
  const element = h(
    'div',
    { class: 'frames-set frames-map-set' },
    h('label', { class: 'frames-field' }, words.measure, grid),
    h('label', { class: 'frames-field' }, words.full, full),
    h('label', { class: 'frames-field' }, words.under, base),
    h('label', { class: 'frames-field' }, words.opacity, opacity),
    h('div', { class: 'frames-legend' }, h('span', {}, '0'), bar, most),
    summary,
  );
  const found: Findings['map'] = ({ kind, full: loss, total, where }) => {
    automatic.textContent = words.fullAuto(settings.full.value === null ? lossText(loss) : '…');
    full.value = settings.full.value === null ? '' : String(settings.full.value);
    most.textContent = `${loss}`;
    const { legend, total: said } = words.mapped[kind];
    summary.textContent = [legend, said(lossText(total)), where].filter(Boolean).join(' ');
  };
  return { element, found };
}

export function tuned(settings: ViewSettings, direction: 1 | -1, gainOnShow: number): void {
  if (settings.mode.value === 'difference') {
    const now = settings.gain.value ?? gainOnShow;
    const next =
      direction > 0 ? GAINS.find((gain) => gain > now) : [...GAINS].reverse().find((gain) => gain < now);
    if (next) settings.gain.value = next;
  } else if (settings.mode.value === 'map') {
    settings.opacity.value = Math.min(1, Math.max(0, settings.opacity.value + direction * 0.1));
  }
}

/** Switches per second. WCAG 2.3.1 allows three flashes, or six switches. */
export const RATES = { least: 0.5, safe: 3, most: 12, default: 1.5 } as const;

export class Flicker {
  readonly #switch: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #rate: number = RATES.default;
  #fast = false;

  constructor(onSwitch: () => void) {
    this.#switch = onSwitch;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  set running(running: boolean) {
    clearInterval(this.#timer);
    this.#timer = running ? setInterval(this.#switch, 1000 / this.rate) : undefined;
  }

  /** At most {@link RATES.safe} unless {@link fast}. */
  get rate(): number {
    return Math.min(this.#rate, this.largest);
  }

  set rate(rate: number) {
    this.#rate = Math.max(RATES.least, rate);
    if (this.running) this.running = true;
  }

  /** Allows unsafe rates. */
  get fast(): boolean {
    return this.#fast;
  }

  set fast(fast: boolean) {
    this.#fast = fast;
    if (this.running) this.running = true;
  }

  get largest(): number {
    return this.#fast ? RATES.most : RATES.safe;
  }
}
