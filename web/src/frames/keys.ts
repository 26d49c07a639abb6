/**
 * @module web/frames/keys
 * Keyboard shortcuts of the viewer, their help, and its buttons, whose titles name their keys.
 */
import { button } from '../dom.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import { modeButtons, type ViewSettings } from './settings.js';
import { MODES, type Mode } from './stage.js';

const keyWords = text.frames.keyList;

export interface Commands {
  step(frames: number): void;
  leap(direction: 1 | -1): void;
  goTo(end: 'first' | 'last'): void;
  worst(): void;
  besideWorst(direction: 1 | -1): void;
  /** To the previous or next key frame. */
  key(direction: 1 | -1): void;
  /** Leaves the span that the viewer is limited to. */
  whole(): void;
  /** Shifts the reference by a frame. */
  shift(direction: 1 | -1): void;
  /** Cycles through the scopes and none. */
  scopes(): void;
  /** Cycles the encode in the grid's third or fourth pane. */
  further(place: number): void;
  mode(mode: Mode): void;
  other(): void;
  nextEncode(): void;
  tune(direction: 1 | -1): void;
  zoom(direction: 1 | -1): void;
  exact(): void;
  fit(): void;
  pan(across: number, down: number): void;
  play(): void;
  save(): void;
  fullScreen(): void;
  nextAgainst(): void;
  help(): void;
}

/** Keys without modifiers; digits choose views. */
const PLAIN: Readonly<Record<string, (commands: Commands) => void>> = {
  ArrowLeft: (commands) => commands.step(-1),
  ArrowRight: (commands) => commands.step(1),
  ',': (commands) => commands.step(-1),
  '.': (commands) => commands.step(1),
  PageUp: (commands) => commands.leap(-1),
  PageDown: (commands) => commands.leap(1),
  Home: (commands) => commands.goTo('first'),
  End: (commands) => commands.goTo('last'),
  w: (commands) => commands.worst(),
  n: (commands) => commands.besideWorst(1),
  p: (commands) => commands.besideWorst(-1),
  i: (commands) => commands.key(-1),
  o: (commands) => commands.key(1),
  a: (commands) => commands.whole(),
  d: (commands) => commands.shift(-1),
  g: (commands) => commands.shift(1),
  h: (commands) => commands.scopes(),
  c: (commands) => commands.further(0),
  v: (commands) => commands.further(1),
  ' ': (commands) => commands.other(),
  e: (commands) => commands.nextEncode(),
  '[': (commands) => commands.tune(-1),
  ']': (commands) => commands.tune(1),
  '+': (commands) => commands.zoom(1),
  '=': (commands) => commands.zoom(1),
  '-': (commands) => commands.zoom(-1),
  z: (commands) => commands.exact(),
  f: (commands) => commands.fit(),
  '0': (commands) => commands.fit(),
  k: (commands) => commands.play(),
  s: (commands) => commands.save(),
  x: (commands) => commands.fullScreen(),
  b: (commands) => commands.nextAgainst(),
  '?': (commands) => commands.help(),
};

const PANS: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns false for other keys, and for keys that the focused field needs. */
export function runKey(event: KeyboardEvent, commands: Commands): boolean {
  if (event.altKey || event.ctrlKey || event.metaKey) return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('input, select, textarea')) return false;
  if (event.key === ' ' && target?.closest('button, summary')) return false;
  const pan = event.shiftKey ? PANS[event.key] : undefined;
  if (pan) {
    commands.pan(...pan);
    return true;
  }
  const mode = MODES[Number(event.key) - 1];
  if (mode) {
    commands.mode(mode);
    return true;
  }
  const run = PLAIN[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  run?.(commands);
  return run !== undefined;
}

export function keyList(): HTMLElement {
  const rows: readonly (readonly [keys: readonly string[], does: string])[] = [
    [['K'], keyWords.play],
    [['←', '→'], keyWords.step],
    [['Page Up', 'Page Down'], keyWords.leap],
    [['Home', 'End'], keyWords.ends],
    [['W'], keyWords.worst],
    [['N', 'P'], keyWords.nextWorst],
    [['I', 'O'], keyWords.key],
    [['A'], keyWords.whole],
    [['D', 'G'], keyWords.shift],
    [['H'], keyWords.scopes],
    [MODES.map((_, i) => String(i + 1)), keyWords.modes],
    [['Space'], keyWords.other],
    [['E'], keyWords.encode],
    [['B'], keyWords.against],
    [['C', 'V'], keyWords.further],
    [['S'], keyWords.save],
    [['X'], keyWords.fullScreen],
    [['[', ']'], keyWords.tune],
    [['+', '−'], keyWords.zoom],
    [['Z'], keyWords.exact],
    [['F', '0'], keyWords.fit],
    [['Shift', '←', '↑', '↓', '→'], keyWords.pan],
    [['Esc'], keyWords.close],
  ];
  return made(
    html`<dl class="frames-keys">${rows.map(([keys, does]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${does}</dd></div>`)}</dl>`,
  );
}

const words = text.frames;

const SIGNS: Readonly<Record<string, string>> = { ArrowLeft: '←', ArrowRight: '→' };

/** @param name for buttons whose label is a sign */
export function tool(label: string, key: string, run: () => void, name = label): HTMLButtonElement {
  const title = `${name} (${SIGNS[key] ?? key})`;
  return button({ 'aria-label': name === label ? undefined : name, title, onclick: run }, label);
}

export interface ViewTools {
  readonly fit: HTMLButtonElement;
  readonly zoom: HTMLElement;
  readonly shift: HTMLElement;
  zoomTo(scale: number): void;
}

export function viewTools(
  settings: ViewSettings,
  { zoom, shift, scopes }: Commands,
  { fit, zoomTo, ...shown }: ViewTools,
): HTMLElement {
  const scales = [1, 2, 4].map((scale) => tool(`${scale}:1`, 'Z', () => zoomTo(scale)));
  const back = tool('‹', 'D', () => shift(-1), words.shiftBack);
  const on = tool('›', 'G', () => shift(1), words.shiftOn);
  const out = tool('−', '-', () => zoom(-1), words.zoomOut);
  const closer = tool('+', '+', () => zoom(1), words.zoomIn);
  return made(
    html`<div class="frames-tools">${modeButtons(settings)}${tool(words.scopes.name, 'H', scopes, words.scopes.title)}<div class="frames-zooms" role="group" aria-label=${words.shift}>${[back, shown.shift, on]}</div><div class="frames-zooms" role="group" aria-label=${words.zoom}>${[fit, ...scales, out, shown.zoom, closer]}</div></div>`,
  );
}
