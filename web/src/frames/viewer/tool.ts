/**
 * @module web/frames/viewer/tool
 * The viewer's buttons, whose titles name their keys, and its row of view tools.
 */
import { h } from '../../dom.js';
import { text } from '../../text.js';
import type { Commands } from '../keys.js';
import { modeButtons, type ViewSettings } from '../settings.js';

const words = text.frames;

const SIGNS: Readonly<Record<string, string>> = { ArrowLeft: '←', ArrowRight: '→' };

/** @param name for buttons whose label is a sign */
export function tool(label: string, key: string, run: () => void, name = label): HTMLButtonElement {
  return h(
    'button',
    {
      type: 'button',
      class: 'tool',
      'aria-label': name === label ? undefined : name,
      title: `${name} (${SIGNS[key] ?? key})`,
      onclick: run,
    },
    label,
  );
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
  const group = (label: string, ...children: HTMLElement[]) =>
    h('div', { class: 'frames-zooms', role: 'group', 'aria-label': label }, ...children);
  return h(
    'div',
    { class: 'frames-tools' },
    modeButtons(settings),
    tool(words.scopes.name, 'H', scopes, words.scopes.title),
    group(
      words.shift,
      tool('‹', 'D', () => shift(-1), words.shiftBack),
      shown.shift,
      tool('›', 'G', () => shift(1), words.shiftOn),
    ),
    group(
      words.zoom,
      fit,
      ...[1, 2, 4].map((scale) => tool(`${scale}:1`, 'Z', () => zoomTo(scale))),
      tool('−', '-', () => zoom(-1), words.zoomOut),
      shown.zoom,
      tool('+', '+', () => zoom(1), words.zoomIn),
    ),
  );
}
