/**
 * @module web/frames/viewer/head
 * The viewer's head: frame, encode and scores, the choice of both sides, and menus.
 */
import { timeText } from 'anyvmaf/view';
import { fill, h, icon } from '../../dom.js';
import { type CodedFrame, codedText } from '../../packets/client.js';
import { html, made, render } from '../../templates.js';
import { text } from '../../text.js';
import type { ShownPair } from '../draw.js';
import { keyList, tool } from '../keys.js';
import { type Savable, saveMenu } from '../save.js';
import { setOptions } from '../settings.js';

const words = text.frames;

export interface HeadActions {
  choose(encode: number): void;
  /** `null`: the reference. */
  chooseAgainst(encode: number | null): void;
  savable(): readonly Savable[];
  save(picture: Savable): void;
  fullScreen(): void;
  close(): void;
}

export interface Described {
  readonly frame: number;
  readonly name: string;
  readonly metric: string;
  /** `null` if the frame was not scored. */
  readonly value: string | null;
  /** Score of the encode shown as reference. */
  readonly against: string | undefined;
  readonly facts: ShownPair['facts'] | undefined;
  readonly coded: CodedFrame | undefined;
  /** Another encode is shown as reference. */
  readonly versus: boolean;
}

export class Head {
  readonly element: HTMLElement;
  readonly #title = h('h2', { id: 'frames-title' });
  readonly #meta = h('p', { class: 'frames-meta' });
  readonly #score = h('p', { class: 'frames-score' });
  readonly #encodes: HTMLSelectElement;
  readonly #against: HTMLSelectElement;
  readonly #help: HTMLDetailsElement;
  readonly #save: HTMLDetailsElement;
  readonly #actions: HeadActions;

  constructor(actions: HeadActions) {
    this.#actions = actions;
    this.#encodes = h('select', {
      'aria-label': words.encode,
      onchange: () => actions.choose(Number(this.#encodes.value)),
    });
    this.#against = h('select', { 'aria-label': words.against, onchange: () => this.#chooseAgainst() });
    // Focusable, to scroll it by keyboard on small screens.
    this.#help = made<HTMLDetailsElement>(
      html`<details class="frames-help"><summary class="tool">${words.keys}</summary><div class="frames-sheet" tabindex="0" role="region" aria-label=${words.keys}>${keyList()}<p>${words.pointer}</p></div></details>`,
    );
    this.#save = saveMenu(actions.savable, actions.save);
    const fullScreen = tool('', 'X', actions.fullScreen, words.fullScreen);
    fill(fullScreen, icon('full'));
    const close = tool('✕', 'Esc', actions.close, words.close);
    this.element = made(
      html`<header class="frames-head"><div class="frames-name">${this.#title}${this.#meta}</div>${this.#score}<div class="frames-corner">${[this.#encodes, this.#against, this.#save, fullScreen, this.#help, close]}</div></header>`,
    );
  }

  /** @param others encodes that can be shown as reference */
  list(
    names: readonly string[],
    encode: number,
    others: readonly { readonly name: string; readonly i: number }[],
    other: number | null,
  ): void {
    const encodes = names.map((name, i) => [i, name] as const);
    setOptions(this.#encodes, encodes);
    this.#encodes.hidden = names.length < 2;
    this.#encodes.value = String(encode);
    setOptions(this.#against, [['', words.reference], ...others.map(({ name, i }) => [i, name] as const)]);
    this.#against.hidden = others.length === 0;
    this.#against.value = others.some(({ i }) => i === other) ? String(other) : '';
  }

  nextAgainst(): void {
    const { options, selectedIndex } = this.#against;
    if (this.#against.hidden) return;
    this.#against.selectedIndex = (selectedIndex + 1) % options.length;
    this.#chooseAgainst();
  }

  #chooseAgainst(): void {
    const { value } = this.#against;
    this.#actions.chooseAgainst(value === '' ? null : Number(value));
  }

  describe({ frame, name, metric, value, against, facts, coded, versus }: Described): void {
    this.#title.textContent = words.title(frame);
    render(
      html`${value === null ? '' : html`<span>${metric}</span><strong>${value}</strong>`}${against === undefined ? '' : html`<span>${words.against.toLowerCase()} ${against}</span>`}`,
      this.#score,
    );
    const time = facts?.reference.time ?? null;
    const about =
      facts && words.colours(facts.distorted.matrix, facts.distorted.range, facts.distorted.guessed);
    const mapped = facts?.distorted.toneMapped;
    const bits = facts ? words.bits(facts.distorted.bitDepth) : '';
    // Charts number frames of the reference if encodes start at different ones.
    const shown = versus ? undefined : facts?.reference.frame;
    const reference = shown === undefined || shown === frame ? '' : text.results.chart.referenceFrame(shown);
    const stored = coded && codedText(coded);
    const when = time === null ? '' : timeText(time, 3);
    const parts = [reference, when, stored, name, bits, about, mapped && words.toneMapped(mapped)];
    const all = parts.filter(Boolean).join(' · ');
    fill(this.#meta, all);
    this.#meta.title = all;
  }

  toggleHelp(): void {
    this.#help.open = !this.#help.open;
  }

  /** @param except keeps the menu with this element open @returns true if any was open */
  closeMenus(except?: Node): boolean {
    const open = [this.#help, this.#save].filter((menu) => menu.open && !(except && menu.contains(except)));
    for (const menu of open) menu.open = false;
    return open.length > 0;
  }
}
