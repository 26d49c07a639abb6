/**
 * @module web/frames/viewer/head
 * The head of the viewer: which frame of which encode is on show and its scores, the choice of both sides, and the menus.
 */
import { fill, h } from '../../dom.js';
import { type CodedFrame, codedText } from '../../packets/client.js';
import { icon } from '../../setup/icons.js';
import { text } from '../../text.js';
import type { ShownPair } from '../draw.js';
import { keyList } from '../keys.js';
import { type Savable, saveMenu } from '../save.js';
import { clock } from './subject.js';
import { tool } from './tool.js';

const words = text.frames;

/** What the head asks for. */
export interface HeadActions {
  choose(encode: number): void;
  /** `null`: the reference. */
  chooseAgainst(encode: number | null): void;
  savable(): readonly Savable[];
  save(one: Savable): void;
  fullScreen(): void;
  close(): void;
}

/** What is said of a frame. */
export interface Described {
  readonly frame: number;
  readonly name: string;
  readonly metric: string;
  /** `null` where the frame was not scored. */
  readonly value: string | null;
  /** The score of the encode in the place of the reference. */
  readonly against: number | undefined;
  readonly facts: ShownPair['facts'] | undefined;
  /** How the encode stores it, where that is known. */
  readonly coded: CodedFrame | undefined;
  /** Whether another encode stands in the place of the reference. */
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
    this.#help = h('details', { class: 'frames-help' }, h('summary', { class: 'tool' }, words.keys));
    // It scrolls on small screens, for which keys need it to have the focus.
    const sheet = { class: 'frames-sheet', tabindex: 0, role: 'region', 'aria-label': words.keys };
    this.#help.append(h('div', sheet, keyList(), h('p', {}, words.pointer)));
    this.#save = saveMenu(actions.savable, actions.save);
    const fullScreen = tool('', 'X', actions.fullScreen, words.fullScreen);
    fill(fullScreen, icon('full'));
    this.element = h(
      'header',
      { class: 'frames-head' },
      h('div', { class: 'frames-name' }, this.#title, this.#meta),
      this.#score,
      h(
        'div',
        { class: 'frames-corner' },
        this.#encodes,
        this.#against,
        this.#save,
        fullScreen,
        this.#help,
        tool('✕', 'Esc', actions.close, words.close),
      ),
    );
  }

  /** Lists the encodes, and those that can stand in the place of the reference. */
  list(
    names: readonly string[],
    encode: number,
    others: readonly { readonly name: string; readonly i: number }[],
    other: number | null,
  ): void {
    const all = JSON.stringify(names);
    if (this.#encodes.dataset.listed !== all) {
      this.#encodes.dataset.listed = all;
      fill(this.#encodes, ...names.map((name, i) => h('option', { value: i }, name)));
    }
    this.#encodes.hidden = names.length < 2;
    this.#encodes.value = String(encode);
    const listed = JSON.stringify(others);
    if (this.#against.dataset.listed !== listed) {
      this.#against.dataset.listed = listed;
      fill(
        this.#against,
        h('option', { value: '' }, words.reference),
        ...others.map(({ name, i }) => h('option', { value: i }, name)),
      );
    }
    this.#against.hidden = others.length === 0;
    this.#against.value = others.some(({ i }) => i === other) ? String(other) : '';
  }

  /** Chooses the next one to compare with. */
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
    fill(
      this.#score,
      ...(value === null ? [] : [h('span', {}, metric), h('strong', {}, value)]),
      against !== undefined && h('span', {}, `${words.against.toLowerCase()} ${against.toFixed(2)}`),
    );
    const time = facts?.reference.time ?? null;
    const about =
      facts && words.colours(facts.distorted.matrix, facts.distorted.range, facts.distorted.guessed);
    const mapped = facts?.distorted.toneMapped;
    const bits = facts ? words.bits(facts.distorted.bitDepth) : '';
    // Charts count frames of the reference where encodes begin apart.
    const shown = versus ? undefined : facts?.reference.frame;
    const reference = shown === undefined || shown === frame ? '' : text.results.chart.referenceFrame(shown);
    const stored = coded && codedText(coded);
    const when = time === null ? '' : clock(time);
    const parts = [reference, when, stored, name, bits, about, mapped && words.toneMapped(mapped)];
    const all = parts.filter(Boolean).join(' · ');
    fill(this.#meta, all);
    this.#meta.title = all;
  }

  toggleHelp(): void {
    this.#help.open = !this.#help.open;
  }

  /** Closes open menus. @param but not the one that has this element @returns whether one was open */
  closeMenus(but?: Node): boolean {
    const open = [this.#help, this.#save].filter((menu) => menu.open && !(but && menu.contains(but)));
    for (const menu of open) menu.open = false;
    return open.length > 0;
  }
}
