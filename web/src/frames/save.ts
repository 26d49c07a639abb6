/**
 * @module web/frames/save
 * Saves the pictures on show as PNG, one pixel per sample.
 */
import { button, fill, h } from '../dom.js';
import { text } from '../text.js';

const words = text.frames.save;

export interface Savable {
  /** Part of the file's name. */
  readonly kind: string;
  readonly label: string;
  draw(): HTMLCanvasElement | Promise<HTMLCanvasElement>;
}

export function saveMenu(list: () => readonly Savable[], save: (picture: Savable) => void) {
  const sheet = h('div', { class: 'frames-sheet frames-saves' });
  const opener = h('summary', { class: 'tool', title: words.title }, words.heading);
  const choose = (picture: Savable) => {
    menu.open = false;
    // Keeps the viewer's keys working.
    opener.focus();
    save(picture);
  };
  const ontoggle = () => {
    if (menu.open)
      fill(sheet, ...list().map((picture) => button({ onclick: () => choose(picture) }, picture.label)));
  };
  const menu = h('details', { class: 'frames-help', ontoggle }, opener, sheet);
  return menu;
}

/** Resolves once the file is handed to the browser. */
export async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error(words.failed);
  download(blob, name);
}

export function download(blob: Blob, name: string): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
