/**
 * @module web/frames/keys
 * Keyboard shortcuts of the viewer, and their help.
 */
import { h } from '../dom.js';
import { text } from '../text.js';
import { MODES, type Mode } from './stage.js';

const words = text.frames.keyList;

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
    [['K'], words.play],
    [['←', '→'], words.step],
    [['Page Up', 'Page Down'], words.leap],
    [['Home', 'End'], words.ends],
    [['W'], words.worst],
    [['N', 'P'], words.nextWorst],
    [['I', 'O'], words.key],
    [['A'], words.whole],
    [['D', 'G'], words.shift],
    [['H'], words.scopes],
    [MODES.map((_, i) => String(i + 1)), words.modes],
    [['Space'], words.other],
    [['E'], words.encode],
    [['B'], words.against],
    [['C', 'V'], words.further],
    [['S'], words.save],
    [['X'], words.fullScreen],
    [['[', ']'], words.tune],
    [['+', '−'], words.zoom],
    [['Z'], words.exact],
    [['F', '0'], words.fit],
    [['Shift', '←', '↑', '↓', '→'], words.pan],
    [['Esc'], words.close],
  ];
  return h(
    'dl',
    { class: 'frames-keys' },
    ...rows.map(([keys, does]) =>
      h('div', {}, h('dt', {}, ...keys.map((key) => h('kbd', {}, key))), h('dd', {}, does)),
    ),
  );
}
