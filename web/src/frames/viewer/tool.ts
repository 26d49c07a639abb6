/**
 * @module web/frames/viewer/tool
 * A button of the viewer, which names its key.
 */
import { h } from '../../dom.js';

const SIGNS: Readonly<Record<string, string>> = { ArrowLeft: '←', ArrowRight: '→' };

/** @param name what it does, where the label is a sign */
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
