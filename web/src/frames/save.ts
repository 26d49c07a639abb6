/**
 * @module web/frames/save
 * Saves pictures on show as PNG files, sample by sample.
 */
import { h } from '../dom.js';
import { text } from '../text.js';

const words = text.frames.save;

/** A picture that can be saved. */
export interface Savable {
  /** Part of the file's name. */
  readonly kind: string;
  readonly label: string;
  draw(): HTMLCanvasElement | Promise<HTMLCanvasElement>;
}

/** A menu with a button for each picture there is. */
export function saveMenu(list: () => readonly Savable[], save: (one: Savable) => void): HTMLDetailsElement {
  const sheet = h('div', { class: 'frames-sheet frames-saves' });
  const opener = h('summary', { class: 'tool', title: words.title }, words.heading);
  const menu = h(
    'details',
    {
      class: 'frames-help',
      ontoggle: () => {
        if (!menu.open) return;
        sheet.replaceChildren(
          ...list().map((one) =>
            h(
              'button',
              {
                type: 'button',
                class: 'tool',
                onclick: () => {
                  menu.open = false;
                  // Keys go on working.
                  opener.focus();
                  save(one);
                },
              },
              one.label,
            ),
          ),
        );
      },
    },
    opener,
    sheet,
  );
  return menu;
}

/** Saves a canvas; resolves once the browser has the file. */
export async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error(words.failed);
  download(blob, name);
}

/** Has the browser save a file. */
export function download(blob: Blob, name: string): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
