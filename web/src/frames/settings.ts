/**
 * @module web/frames/settings
 * Settings of the views, with controls: amplification, quality map, and flicker at a safe rate by default.
 */
import { HEATMAP_FULLS } from 'anyvmaf';
import { Cell, h } from '../dom.js';
import { html, render, type TemplateResult } from '../templates.js';
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

export function modeButtons({ mode: chosen }: ViewSettings): HTMLElement {
  const element = h('div', { class: 'frames-modes', role: 'group', 'aria-label': words.view });
  const choice = (mode: Mode, i: number) =>
    html`<button type="button" class="frames-mode frames-mode-${mode}" aria-keyshortcuts=${i + 1} title="${words.modes[mode]} (${i + 1})" aria-pressed=${chosen.value === mode} @click=${() => put(chosen, mode)}><span class="frames-long">${words.modes[mode]}</span><span class="frames-short">${words.short[mode]}</span></button>`;
  chosen.watch(() => render(MODES.map(choice), element));
  return element;
}

function put<T>(cell: Cell<T>, value: T): void {
  cell.value = value;
}

export function viewControls(settings: ViewSettings, flicker: Flicker, onSwitch: () => void) {
  const rate = flickerControls(flicker, onSwitch);
  const gain = gainControls(settings);
  const map = mapControls(settings);
  const wide = matchMedia('(min-width: 761px) and (min-height: 600px)');
  // Folded where room is short.
  const element = h('details', { class: 'frames-options', open: wide.matches });
  element.append(
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
  const findings: Findings = { gain: gain.found, map: map.found };
  return { element, findings, refreshFlicker: rate.refresh };
}

function flickerControls(flicker: Flicker, onSwitch: () => void) {
  const element = h('div', { class: 'frames-set' });
  const toggle = () => {
    flicker.running = !flicker.running;
    refresh();
  };
  const setRate = ({ currentTarget }: InputOf) => {
    flicker.rate = Number(currentTarget.value);
    refresh();
  };
  const setFast = ({ currentTarget }: InputOf) => {
    flicker.fast = currentTarget.checked;
    refresh();
  };
  function refresh() {
    const value = words.rateValue(flicker.rate);
    render(
      html`<button type="button" class="tool" @click=${toggle}>${flicker.running ? words.pause : words.play}</button><button type="button" class="tool" aria-keyshortcuts="Space" @click=${onSwitch}>${words.swap}</button><label class="frames-field">${words.rate}<input type="range" min=${RATES.least} max=${flicker.largest} step="0.5" aria-label=${words.rate} aria-valuetext=${value} .value=${String(flicker.rate)} @input=${setRate}><output class="frames-value">${value}</output></label><label class="frames-field" title=${words.fastWhy}><input type="checkbox" @change=${setFast}>${words.fast}</label>`,
      element,
    );
  }
  refresh();
  return { element, refresh };
}

type InputOf = Event & { readonly currentTarget: HTMLInputElement };

/** A labelled list of choices; `''` stands for `null`. */
function dropdown<T extends string | number | null>(
  label: string,
  cell: Cell<T>,
  options: readonly (readonly [value: T, name: string])[],
): TemplateResult {
  const onchange = ({ currentTarget }: Event & { readonly currentTarget: HTMLSelectElement }) => {
    const chosen = options[currentTarget.selectedIndex];
    if (chosen) cell.value = chosen[0];
  };
  return html`<label class="frames-field">${label}<select @change=${onchange}>${options.map(([value, name]) => html`<option value=${value ?? ''} .selected=${value === cell.value}>${name}</option>`)}</select></label>`;
}

function gainControls({ gain: chosen }: ViewSettings) {
  const element = h('div', { class: 'frames-set' });
  let now = 1;
  const show = () => {
    const levels = words.levels((255 / now).toFixed(now > 16 ? 1 : 0));
    const automatic = words.gainAuto(chosen.value === null ? now : null);
    const options = [
      [null, automatic] as const,
      ...GAINS.map((gain) => [gain, words.gainValue(gain)] as const),
    ];
    render(
      html`${dropdown<number | null>(words.gain, chosen, options)}<div class="frames-legend"><span>${words.darker}, ${levels}</span><div class="frames-scale frames-signed" aria-hidden="true"></div><span>${words.brighter}, ${levels}</span></div>`,
      element,
    );
  };
  const found = (gain: number) => {
    now = gain;
    show();
  };
  chosen.watch(show);
  return { element, found };
}

/** Keeps elements of equal options, as the list may be open. */
export function setOptions(
  select: HTMLSelectElement,
  options: readonly (readonly [value: number | '', name: string])[],
): void {
  render(
    options.map(([value, name]) => html`<option value=${value}>${name}</option>`),
    select,
  );
}

function mapControls({ grid, full, base, opacity }: ViewSettings) {
  const element = h('div', { class: 'frames-set frames-map-set' });
  let now: Parameters<Findings['map']>[0] | undefined;
  const setOpacity = ({ currentTarget }: InputOf) => {
    opacity.value = Number(currentTarget.value);
  };
  const show = () => {
    const automatic = words.fullAuto(now && full.value === null ? lossText(now.full) : '…');
    const { legend, total } = words.mapped[now?.kind ?? 'loss'];
    const said = now ? [legend, total(lossText(now.total)), now.where].filter(Boolean).join(' ') : '';
    render(
      html`${dropdown(
        words.measure,
        grid,
        GRIDS.map((name) => [name, measureName(name)] as const),
      )}${dropdown<number | null>(words.full, full, [
        [null, automatic],
        ...HEATMAP_FULLS.map((loss) => [loss, String(loss)] as const),
      ])}${dropdown<Role>(
        words.under,
        base,
        ROLES.map((role) => [role, words[role]] as const),
      )}<label class="frames-field">${words.opacity}<input type="range" min="0" max="1" step="0.05" aria-valuetext="${Math.round(100 * opacity.value)} %" .value=${String(opacity.value)} @input=${setOpacity}></label><div class="frames-legend"><span>0</span><div class="frames-scale frames-loss" aria-hidden="true" .style=${`--colours:${gradient()}`}></div><span>${now?.full}</span></div><p class="frames-summary">${said}</p>`,
      element,
    );
  };
  const found: Findings['map'] = (findings) => {
    now = findings;
    show();
  };
  for (const cell of [grid, full, base, opacity]) cell.watch(show);
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
