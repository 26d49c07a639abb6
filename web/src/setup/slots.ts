/**
 * @module web/setup/slots
 * The two file slots: picking, pasting, dropping on a slot or anywhere on the page, and the chosen files with a small
 * picture of the first frame of each, made while no run needs the worker.
 */
import { numberedColour, sizeText } from 'anyvmaf/view';
import { guard } from 'lit-html/directives/guard.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { announce, button, drawPixels, fill, h, icon, pictogram } from '../dom.js';
import { engine } from '../engine/client.js';
import type { Thumb } from '../frames/draw.js';
import type { ThumbCall } from '../frames/serve.js';
import { type ChosenFile, coloursOf, isActive, type Session } from '../session.js';
import { html, made, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import { addFiles, describeFacts, handles, removeFile, type Side, swapSides } from './files.js';
import { dropOwn } from './fixes.js';
import { changeWords } from './models.js';

/** The picker also allows other files. */
const ACCEPT =
  'video/*,.mp4,.m4v,.mov,.mkv,.webm,.ts,.m2ts,.mts,.y4m,.yuv,.raw,.ivf,.avi,.mxf,.obu,.264,.265,.h264,.h265';

const REPORT_NAME = /\.(json|ndjson|jsonl|xml|csv|sub)$/i;

/** Shows a lasting message. */
export type Say = (sentence: string) => void;

export function slots(session: Session, open: (reports: readonly File[]) => void, say: Say): HTMLElement {
  const error = h('p', { class: 'slot-error', role: 'alert', hidden: true });
  const add = async (picked: readonly File[], side: Side | null) => {
    error.hidden = true;
    const reports = picked.filter(({ name }) => REPORT_NAME.test(name));
    if (reports.length > 0) open(reports);
    const files = picked.filter((file) => !reports.includes(file));
    if (files.length === 0) return;
    const { took, refused } = await addFiles(session, files, side);
    if (took.length > 0) announce(took.join(' '));
    fill(error, ...refused.map((why) => h('span', {}, why)));
    error.hidden = refused.length === 0;
  };
  const label = { 'aria-label': text.setup.swap, title: text.setup.swap };
  const swap = button({ class: 'tool swap', ...label, onclick: () => swapSides(session) }, icon('swap'));
  const thumbs = new FileThumbs(session);
  const element = h(
    'section',
    { class: 'pair', 'aria-label': text.setup.section },
    slot(session, 'reference', add, thumbs),
    swap,
    slot(session, 'distorted', add, thumbs),
    error,
  );
  const showSwap = () => {
    swap.hidden = !session.reference.value || session.distorted.value.length === 0;
  };
  for (const cell of [session.reference, session.distorted]) cell.watch(showSwap);
  session.watchPhase(() => {
    element.inert = isActive(session.run.value);
  });
  const addSoon = queued(session, add, say);
  dropAnywhere(addSoon);
  pasteAnywhere(addSoon, say);
  return element;
}

/** Adds files at once or, with a message, after the run. */
function queued(session: Session, add: Add, say: Say): Add {
  const waiting: Parameters<Add>[] = [];
  session.watchPhase(async () => {
    if (isActive(session.run.value) || waiting.length === 0) return;
    say('');
    for (const [files, side] of waiting.splice(0)) await add(files, side);
  });
  return async (files, side) => {
    say('');
    if (!isActive(session.run.value)) return add(files, side);
    const videos = files.filter(({ name }) => !REPORT_NAME.test(name));
    if (videos.length > 0) waiting.push([videos, side]);
    const names = waiting.flatMap(([some]) => some.map(({ name }) => name)).join(', ');
    const sentences = [
      ...(names === '' ? [] : [text.setup.queued(names)]),
      ...(videos.length < files.length ? [text.setup.reportsLater] : []),
    ];
    say(sentences.join(' '));
  };
}

type Add = (files: readonly File[], side: Side | null) => Promise<void>;

function slot(session: Session, side: Side, add: Add, thumbs: FileThumbs): HTMLElement {
  const many = side === 'distorted';
  const take = () => {
    const files = [...(input.files ?? [])];
    // Allows choosing the same file again.
    input.value = '';
    add(files, side);
  };
  const input = made<HTMLInputElement>(
    html`<input type="file" class="unseen" id="pick-${side}" accept=${ACCEPT} ?multiple=${many} tabindex="-1" aria-label="${text.setup[side]}: ${many ? text.setup.chooseSeveral : text.setup.choose}" @change=${take}>`,
  );
  const onclick = async () => {
    const { showOpenFilePicker } = window as WithHandles;
    if (showOpenFilePicker) add(await pickFiles(showOpenFilePicker, many), side);
    else input.click();
  };
  const pick = button({ class: 'tool pick', onclick });
  const list = h('ul', { class: 'chosen-files' });
  const hint = h('span', { class: 'faint small drop-hint' }, text.setup.drop);
  const element = made(
    html`<div class="slot slot-${side}" role="group" aria-labelledby="label-${side}" data-side=${side}>${pictogram(side)}<div class="slot-head"><h2 id="label-${side}">${text.setup[side]}</h2><p class="faint small">${text.setup[`${side}Hint`]}</p></div>${list}<div class="slot-pick">${[pick, hint, input]}</div></div>`,
  );
  const show = () => {
    const files = many ? session.distorted.value : [session.reference.value].filter((file) => file !== null);
    const empty = files.length === 0;
    element.classList.toggle('filled', !empty);
    const colours = many ? coloursOf(session) : [];
    const rowOf = (chosen: ChosenFile, i: number) => row(session, chosen, thumbs.place(chosen), colours[i]);
    const rows = repeat(files, ({ id }) => id, rowOf);
    putRows(list, rows, pick);
    list.hidden = empty;
    hint.hidden = !empty;
    const label = pickLabel(many, empty);
    fill(pick, label);
    pick.setAttribute('aria-label', `${text.setup[side]}: ${label}`);
  };
  for (const cell of [session[side], session.inspections]) cell.watch(show);
  session.watchPhase((phase) => phase === 'done' && show());
  markDraggedOver(element);
  return element;
}

function pickLabel(many: boolean, empty: boolean): string {
  const { chooseSeveral, choose, add, replace } = text.setup;
  if (many) return empty ? chooseSeveral : add;
  return empty ? choose : replace;
}

/**
 * Renders rows. Rows that stay keep their elements: a button replaced between press and release gets no click. The focus
 * moves from a removed button to the first one of its row, else to `instead`.
 */
function putRows(list: HTMLElement, rows: unknown, instead: HTMLElement): void {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const around = focused?.closest('li');
  render(rows, list);
  if (!focused || focused.isConnected) return;
  const next = around?.isConnected ? around.querySelector('button') : null;
  (next ?? instead).focus({ preventScroll: true });
}

/** Sets the class `over` while something is dragged over an element or its children. */
function markDraggedOver(element: HTMLElement): void {
  let depth = 0;
  const over = (by: number) => {
    depth = Math.max(0, depth + by);
    element.classList.toggle('over', depth > 0);
  };
  element.addEventListener('dragenter', () => over(1));
  element.addEventListener('dragleave', () => over(-1));
  element.addEventListener('drop', () => over(-depth));
}

function row(session: Session, chosen: ChosenFile, thumb: HTMLElement, colour?: number): TemplateResult {
  const { id, file, own } = chosen;
  const [first] = session.inspections.value.values();
  const found = colour === undefined ? first : session.inspections.value.get(id);
  const side = colour === undefined ? 'reference' : 'distorted';
  const facts = found?.phase === 'found' ? describeFacts(found.inspection[side]) : [];
  const swatch =
    colour === undefined
      ? ''
      : html`<span class="swatch" .style=${numberedColour(colour)
          .map((pair) => pair.join(':'))
          .join(';')}></span>`;
  const open = async () => (await import('./own-settings.js')).openOwnSettings(session, chosen);
  // A reference that was an encode keeps its own settings, which do not apply.
  const set =
    colour !== undefined && own
      ? html`<span class="small own">${text.setup.own} ${changeWords(own).join(', ')} <button type="button" class="tool bare" @click=${() => dropOwn(session, id)}>${text.setup.dropOwn}</button></span>`
      : '';
  return html`<li class="file" data-id=${id}>${swatch}${thumb}<div class="file-text"><span class="file-name" title=${file.name}>${file.name}</span><span class="faint small file-facts">${[...facts, sizeText(file.size) ?? ''].map((fact) => html`<span>${fact}</span>`)}</span>${set}</div>${colour === undefined ? '' : bareButton('tune', text.setup.ownForm.open(file.name), open)}${bareButton('close', text.setup.remove(file.name), () => removeFile(session, id))}</li>`;
}

/** The icon stays when the row is rendered again. */
function bareButton(name: 'close' | 'tune', label: string, onclick: () => void): TemplateResult {
  return html`<button type="button" class="tool bare" aria-label=${label} title=${label} @click=${onclick}>${guard([], () => icon(name))}</button>`;
}

/** Files dropped on a slot go there, others where files are missing; keeps the browser from opening them. */
function dropAnywhere(add: Add): void {
  let depth = 0;
  const dragging = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  const show = () => document.body.classList.toggle('dragging', depth > 0);
  document.addEventListener('dragenter', (event) => {
    if (!dragging(event)) return;
    depth++;
    show();
  });
  document.addEventListener('dragleave', (event) => {
    if (!dragging(event)) return;
    depth = Math.max(0, depth - 1);
    show();
  });
  document.addEventListener('dragover', (event) => {
    if (dragging(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    depth = 0;
    show();
    if (!dragging(event)) return;
    event.preventDefault();
    const { target } = event;
    const over =
      target instanceof Element ? target.closest<HTMLElement>('[data-side]')?.dataset.side : undefined;
    const side = over === 'reference' || over === 'distorted' ? over : null;
    const files = [...(event.dataTransfer?.files ?? [])];
    keepHandles(files, [...(event.dataTransfer?.items ?? [])]);
    add(files, side);
  });
}

/** Chromium's members that TypeScript's types lack. */
interface WithHandles {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
  showOpenFilePicker?(options: {
    readonly multiple: boolean;
    readonly types: readonly { readonly accept: Readonly<Record<string, readonly string[]>> }[];
  }): Promise<FileSystemFileHandle[]>;
}

/** Browsers give handles only while the drop is handled. */
function keepHandles(files: readonly File[], items: readonly (DataTransferItem & WithHandles)[]): void {
  const dropped = items.filter(({ kind }) => kind === 'file');
  for (const [i, item] of dropped.entries()) {
    const keep = (handle: FileSystemHandle | null) => {
      const file = files[i];
      if (file && handle instanceof FileSystemFileHandle) handles.set(file, handle);
    };
    // Only files on disk have handles.
    item.getAsFileSystemHandle?.().then(keep, () => {});
  }
}

/** Opens the picker that gives handles. */
async function pickFiles(
  picker: NonNullable<WithHandles['showOpenFilePicker']>,
  many: boolean,
): Promise<File[]> {
  const [mime = '', ...endings] = ACCEPT.split(',');
  const picked = await picker({ multiple: many, types: [{ accept: { [mime]: endings } }] }).catch(() => []);
  return Promise.all(
    picked.map(async (handle) => {
      const file = await handle.getFile();
      handles.set(file, handle);
      return file;
    }),
  );
}

/** Adds pasted files; pasted text outside of fields gets a message. */
function pasteAnywhere(add: Add, say: Say): void {
  document.addEventListener('paste', (event) => {
    const { target, clipboardData } = event;
    if (target instanceof Element && target.closest('input, textarea')) return;
    event.preventDefault();
    const files = [...(clipboardData?.files ?? [])];
    if (files.length > 0) add(files, null);
    else say(text.setup.pasteFiles);
  });
}

/** Longest side in pixels. */
const SIDE = 192;

interface Place {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** True once the picture was requested, even if that failed. */
  isRequested: boolean;
}

class FileThumbs {
  readonly #session: Session;
  /** By file, raw format and decoder. */
  readonly #places = new Map<string, Place>();
  #turn: Promise<void> = Promise.resolve();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Reserves room, so that nothing moves when the picture arrives. */
  place({ id, file, kind }: ChosenFile): HTMLElement {
    const { raw, settings, run, inspections } = this.#session;
    const format = kind === 'raw' ? raw.value : null;
    const readable = kind !== 'raw' || format !== null;
    const { decoder } = settings.value;
    const key = JSON.stringify([id, format, decoder]);
    const place = this.#places.get(key) ?? newPlace(readable);
    this.#places.set(key, place);
    // Inspection comes first; lists are rendered again after it.
    const waits =
      isActive(run.value) || [...inspections.value.values()].some(({ phase }) => phase === 'pending');
    if (!place.isRequested && !waits && readable)
      this.#make(place, { file, raw: format, decoder, side: SIDE });
    return place.element;
  }

  #make(place: Place, call: ThumbCall): void {
    place.isRequested = true;
    this.#turn = this.#turn.then(async () => {
      // Requested again after the run.
      if (isActive(this.#session.run.value)) place.isRequested = false;
      // The inspection reports problems of files.
      else
        await engine.call('thumb', call).then(
          (thumb) => drawThumb(place.canvas, thumb),
          () => {},
        );
    });
  }
}

function newPlace(readable: boolean): Place {
  const canvas = h('canvas', { hidden: true });
  const element = h('span', { class: 'file-thumb', 'aria-hidden': 'true', hidden: !readable }, canvas);
  return { element, canvas, isRequested: false };
}

function drawThumb(canvas: HTMLCanvasElement, thumb: Thumb | undefined): void {
  if (!thumb) return;
  drawPixels(canvas, thumb);
  canvas.style.aspectRatio = String(thumb.aspect);
  canvas.hidden = false;
}
