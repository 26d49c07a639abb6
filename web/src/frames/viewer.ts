/**
 * @module web/frames/viewer
 * The frame viewer: a dialog that compares reference and distorted frame by frame. Its parts are in viewer/.
 */

import { distinctNames, labelOf } from 'anyvmaf/view';
import { h, standIn } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { type Coded, codedOf } from '../packets/client.js';
import type { Cursor, EncodeResult, EncodeSource, Session } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import type { Drawable, ShownPair } from './draw.js';
import { type Commands, runKey, tool, viewTools } from './keys.js';
import type { PairSource } from './serve.js';
import { Flicker, tuned, ViewSettings, viewControls } from './settings.js';
import { Stage } from './stage.js';
import { FrameStore } from './store.js';
import { zoomName } from './transform.js';
import { Grid } from './viewer/grid.js';
import { Head } from './viewer/head.js';
import { Overlays } from './viewer/overlays.js';
import { Saver } from './viewer/pictures.js';
import { Message, Readout } from './viewer/readout.js';
import type { Scopes } from './viewer/scopes.js';
import {
  frameText,
  metricsOf,
  Navigation,
  rateOf,
  type Subject,
  shifted,
  subjectOf,
  type Versus,
  versus,
} from './viewer/subject.js';
import { type Played, Transport } from './viewer/transport.js';
import './frames.css';

const words = text.frames;

/** Bytes of cached pictures. */
const BUDGET = 2 ** 20 * ('deviceMemory' in navigator && Number(navigator.deviceMemory) <= 4 ? 128 : 256);
/** Milliseconds until busy shows, until screen readers announce a frame, and until unused pictures are freed. */
const TIMES = { busy: 200, speak: 500, free: 20_000 } as const;

/** Open while the session has a cursor. */
export class FrameViewer {
  readonly #element: HTMLElement;
  readonly #session: Session;
  readonly #settings = new ViewSettings();
  readonly #store: FrameStore;
  readonly #stage: Stage;
  readonly #grid: Grid;
  readonly #flicker: Flicker;
  readonly #controls: ReturnType<typeof viewControls>;
  readonly #overlays: Overlays;
  readonly #head: Head;
  readonly #transport: Transport;
  readonly #readout = new Readout();
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #commands: Commands;
  readonly #navigation: Navigation;
  readonly #saver: Saver;
  readonly #shiftShown = h('output', { class: 'frames-value' }, words.shifted(0));

  readonly #dialog: HTMLDialogElement;
  readonly #zoom = h('output', { class: 'frames-value frames-zoom' });
  readonly #fit: HTMLButtonElement;
  readonly #message = new Message(() => this.#want());
  readonly #spoken = h('p', { class: 'unseen', role: 'status' });

  #subject: Subject | undefined;
  #coded: Coded | undefined;
  #names: readonly string[] = [];
  #sources: readonly (EncodeSource | undefined)[] = [];
  /** Focused when the viewer opened. */
  #opener: Element | null = null;
  #frame = 0;
  /** Differs from the wanted frame while that is fetched. */
  #shown = -1;
  #shownEncode = -1;
  #shownOther: number | null = null;
  /** The encode shown as reference; `null`: the reference itself. */
  #other: number | null = null;
  #versus: Versus | undefined;
  #pair: ShownPair | undefined;
  /** The wanted pair, while the grid's other pictures are loading. */
  #waiting: ShownPair | undefined;
  /** Frames by which the reference is shown later than scored. */
  #shift = 0;
  #scopes: Scopes | undefined;
  #busy: ReturnType<typeof setTimeout> | undefined;
  #speaking: ReturnType<typeof setTimeout> | undefined;
  #freeing: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, session: Session) {
    this.#element = element;
    this.#session = session;
    this.#store = new FrameStore(
      (call, options) => engine.call('frames', call, options),
      { ready: (pair) => this.#take(pair), failed: (error) => this.#fail(error) },
      BUDGET,
    );
    this.#stage = new Stage({
      moved: (zoom, fits) => {
        this.#zoom.textContent = zoomName(zoom);
        this.#fit.setAttribute('aria-pressed', String(fits));
      },
      hovered: (at) => {
        const isMap = this.#settings.mode.value === 'map';
        this.#readout.show(at, this.#pair, isMap ? this.#overlays.grid : undefined, this.#pictures());
      },
    });
    this.#grid = new Grid(
      this.#stage.further,
      BUDGET,
      () => this.#want(),
      () => this.#waiting && this.#take(this.#waiting),
    );
    this.#flicker = new Flicker(() => this.#switch());
    this.#controls = viewControls(this.#settings, this.#flicker, () => this.#hold());
    this.#overlays = new Overlays(this.#settings, this.#stage, this.#controls.findings);
    this.#navigation = new Navigation(
      session,
      () => ({ subject: this.#subject, coded: this.#coded, frame: this.#frame }),
      () => this.#describe(),
    );
    this.#commands = this.#makeCommands();
    this.#transport = new Transport(
      (frame) => this.#navigation.go(frame),
      () => this.#played(),
      (playing) => {
        this.#dialog.toggleAttribute('data-playing', playing);
        // Fetch the exact picture of the last frame, as rough ones may still arrive; not while the viewer closes.
        if (!playing && this.#session.cursor.value) this.#want();
      },
      this.#commands,
    );
    this.#saver = this.#makeSaver();
    this.#head = this.#makeHead();
    this.#fit = tool(words.fit, 'F', () => this.#stage.fit());
    this.#dialog = this.#build();
    element.append(this.#dialog);
    this.#watch();
  }

  #build(): HTMLDialogElement {
    const close = () => {
      // The viewer may be open again by the time of the event.
      if (!this.#dialog.open) this.#session.cursor.value = null;
    };
    const cancel = (event: Event) => this.#head.closeMenus() && event.preventDefault();
    const press = (event: KeyboardEvent) => runKey(event, this.#commands) && event.preventDefault();
    const tools = viewTools(this.#settings, this.#commands, {
      fit: this.#fit,
      zoom: this.#zoom,
      shift: this.#shiftShown,
      zoomTo: (scale) => this.#stage.zoomTo(scale),
    });
    const theatre = [this.#stage, this.#controls, this.#readout, this.#message];
    return made(
      html`<dialog class="frames" aria-labelledby="frames-title" @close=${close} @cancel=${cancel} @pointerdown=${(event: Event) => this.#head.closeMenus(event.target as Node)} @keydown=${press}>${[this.#head.element, tools]}<div class="frames-theatre">${theatre.map(({ element }) => element)}</div>${[this.#transport.element, this.#spoken]}</dialog>`,
    );
  }

  #makeHead(): Head {
    return new Head({
      choose: (encode) => this.#navigation.choose(encode),
      chooseAgainst: (encode) => {
        this.#other = encode;
        this.#want();
      },
      savable: () => this.#saver.list,
      save: (picture) => this.#saver.save(picture),
      fullScreen: () => this.#toggleFullScreen(),
      close: () => this.#dialog.close(),
    });
  }

  #makeSaver(): Saver {
    return new Saver(this.#stage, this.#settings, {
      now: () => ({
        name: this.#subject?.result.name,
        frame: this.#shown,
        rough: this.#pair?.rough === true,
        isMade: this.#isMade(this.#shown),
      }),
      stopFilm: () => this.#transport.stop(),
      map: async () => {
        const [pair, source] = [this.#pair, this.#source];
        if (pair && source) await this.#overlays.map(source, pair);
      },
      said: (sentence) => {
        this.#spoken.textContent = sentence;
      },
      failed: (error) => this.#say(messageOf(error)),
    });
  }

  #makeCommands(): Commands {
    const to = this.#navigation;
    return {
      step: (frames) => {
        this.#transport.stop();
        to.go(this.#frame + frames);
      },
      leap: (direction) => to.leap(direction),
      goTo: (end) => to.goTo(end),
      worst: () => to.worst(),
      besideWorst: (direction) => to.besideWorst(direction),
      key: (direction) => to.key(direction),
      whole: () => to.whole(),
      nextEncode: () => to.nextEncode(),
      further: (place) => this.#grid.next(place),
      mode: (mode) => {
        if (mode !== 'grid' || this.#sources.length > 1) this.#settings.mode.value = mode;
      },
      other: () => (this.#settings.mode.value === 'flicker' ? this.#hold() : to.nextEncode()),
      tune: (direction) => this.#tune(direction),
      zoom: (direction) => this.#stage.zoomStep(direction),
      exact: () => this.#stage.zoomCycle(),
      fit: () => this.#stage.fit(),
      pan: (across, down) => this.#stage.pan(across, down),
      play: () => this.#transport.toggle(),
      save: () => this.#saver.save(),
      shift: (direction) => this.#shiftBy(direction),
      scopes: () => this.#showScopes(),
      fullScreen: () => this.#toggleFullScreen(),
      nextAgainst: () => this.#head.nextAgainst(),
      help: () => this.#head.toggleHelp(),
    };
  }

  #watch(): void {
    const { mode, gain, grid, full, opacity, base } = this.#settings;
    mode.watch((chosen) => {
      this.#stage.mode = chosen;
      this.#flicker.running = chosen === 'flicker' && this.#dialog.open && !this.#still.matches;
      this.#controls.refreshFlicker();
      this.#grid.on = chosen === 'grid';
      // The grid's pictures are requested with the pair.
      if (chosen === 'grid' || this.#waiting) this.#want();
      this.#make();
    });
    gain.watch(() => this.#make());
    grid.watch(() => (this.#overlays.grid ? this.#overlays.paintMap() : this.#make()));
    full.watch(() => this.#overlays.paintMap());
    opacity.watch((share) => this.#stage.element.style.setProperty('--cover', String(share)));
    base.watch((role) => this.#stage.change({ base: role }));
    this.#still.addEventListener('change', () => {
      if (this.#still.matches) this.#flicker.running = false;
      this.#controls.refreshFlicker();
    });
    this.#session.results.watch(() => this.#refresh());
    this.#session.cursor.watch((cursor) => (cursor ? this.#open(cursor) : this.#close()));
  }

  #open({ encode, frame }: Cursor): void {
    clearTimeout(this.#freeing);
    this.#frame = frame;
    if (this.#other === encode) this.#other = null;
    this.#refresh();
    if (!this.#dialog.open) {
      this.#element.hidden = false;
      this.#opener = document.activeElement;
      this.#dialog.showModal();
      this.#stage.element.focus();
      document.documentElement.classList.add('frames-open');
      this.#flicker.running = this.#settings.mode.value === 'flicker' && !this.#still.matches;
      this.#controls.refreshFlicker();
    }
    this.#want();
  }

  #close(): void {
    this.#transport.stop();
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    if (this.#dialog.open) this.#dialog.close();
    this.#element.hidden = true;
    this.#returnFocus();
    document.documentElement.classList.remove('frames-open');
    this.#flicker.running = false;
    this.#overlays.stop();
    this.#grid.rest();
    clearTimeout(this.#busy);
    clearTimeout(this.#freeing);
    if (this.#subject === undefined) return;
    // Later, so that reopening is fast.
    this.#freeing = setTimeout(() => {
      this.#store.close();
      this.#grid.close();
      this.#stage.empty();
      delete this.#dialog.dataset.frame;
      this.#shown = -1;
      this.#subject = undefined;
      this.#pair = undefined;
      this.#overlays.forget();
      engine.call('closeFrames', undefined).catch(() => {});
    }, TIMES.free);
  }

  #returnFocus(): void {
    const opener = this.#opener;
    this.#opener = null;
    if (!(opener instanceof HTMLElement) || opener === document.body) return;
    const target = standIn(opener) ?? document.getElementById('results');
    target?.focus({ preventScroll: true });
  }

  /** Follows results, which grow during the run. */
  #refresh(): void {
    const cursor = this.#session.cursor.value;
    const results = this.#session.results.value;
    const result = cursor && results[cursor.encode];
    if (!result) {
      if (cursor) this.#session.cursor.value = null;
      return;
    }
    const known = this.#subject;
    if (known?.result !== result || known.scored !== result.frames.length) {
      this.#subject = subjectOf(result, cursor.frame);
      if (known?.result !== result) this.#readCoded(result);
    }
    if (this.#subject) this.#transport.list(this.#subject, cursor.span);
    const { encode } = cursor;
    const moved = this.#takeSources(results);
    this.#names = distinctNames(results.map(({ name }) => name));
    const others = this.#names.flatMap((name, i) => (this.#versusOf(encode, i) ? [{ name, i }] : []));
    this.#head.list(this.#names, encode, others, this.#other);
    this.#dialog.dataset.encodes = String(results.length);
    if (moved && this.#dialog.open) this.#want();
    else if (this.#shown < 0 || this.#isShown) this.#describe();
  }

  /** Follows encodes that moved. @returns true if any came, went or moved */
  #takeSources(results: readonly EncodeResult[]): boolean {
    const before = this.#sources;
    this.#sources = results.map(({ source }) => source);
    if (before.length === results.length && before.every((old, i) => old === this.#sources[i])) return false;
    const other = this.#other === null ? undefined : before[this.#other];
    this.#other = other && this.#sources.includes(other) ? this.#sources.indexOf(other) : null;
    if (results.length < 2 && this.#settings.mode.value === 'grid') this.#settings.mode.value = 'side';
    return true;
  }

  #readCoded(result: EncodeResult): void {
    this.#coded = undefined;
    const take = (coded: Coded | undefined) => {
      if (this.#subject?.result !== result) return;
      this.#coded = coded;
      this.#describe();
    };
    // Pictures also show without container facts.
    codedOf(result).then(take, () => take(undefined));
  }

  #nameOf(encode: number | null): string {
    return encode === null ? '' : (this.#names[encode] ?? '');
  }

  #versusOf(encode: number, other: number): Versus | undefined {
    const [result, against] = [this.#session.results.value[encode], this.#session.results.value[other]];
    const source = this.#subject?.source;
    if (!result || !against || !source || encode === other) return undefined;
    return versus(result, against, source);
  }

  /** Requests the wanted frame; texts about it change with its picture. */
  #want(): void {
    const subject = this.#subject;
    if (!subject) return;
    this.#message.hide();
    this.#waiting = undefined;
    this.#transport.show(this.#frame);
    if (!subject.source) {
      this.#describe();
      this.#say(words.saved);
      return;
    }
    const encode = this.#session.cursor.value?.encode ?? 0;
    const own = this.#shift === 0 ? undefined : shifted(subject.result, subject.source, this.#shift);
    this.#versus = this.#other === null ? own : this.#versusOf(encode, this.#other);
    if (this.#versus && !this.#versus.has(this.#frame)) {
      this.#transport.stop();
      this.#store.rest();
      this.#grid.rest();
      this.#describe();
      this.#say(this.#other === null ? words.unpaired : words.apart(this.#nameOf(this.#other)));
      return;
    }
    this.#soonBusy();
    const { value: results } = this.#session.results;
    const beside = { results, names: this.#names, encode, other: this.#other, frame: this.#frame };
    this.#grid.want(beside, this.#transport.step);
    const frame = this.#frame + (this.#versus?.shift ?? 0);
    this.#store.want(this.#source ?? subject.source, frame, this.#transport.step);
  }

  get #isShown(): boolean {
    const encode = this.#session.cursor.value?.encode;
    return this.#shown === this.#frame && this.#shownEncode === encode && this.#shownOther === this.#other;
  }

  get #source(): PairSource | undefined {
    return this.#versus?.source ?? this.#subject?.source;
  }

  #soonBusy(): void {
    clearTimeout(this.#busy);
    this.#busy = setTimeout(() => this.#wait(true), TIMES.busy);
  }

  #wait(waits: boolean): void {
    clearTimeout(this.#busy);
    this.#dialog.toggleAttribute('data-busy', waits);
    this.#stage.element.setAttribute('aria-busy', String(waits));
  }

  /** Shows a pair once the grid's pictures are complete. */
  #take(pair: ShownPair): void {
    this.#waiting = this.#grid.isComplete ? undefined : pair;
    if (this.#grid.isComplete) this.#show(pair);
  }

  #pictures(): { readonly name: string; readonly picture: Drawable }[] {
    const { names } = this.#stage.look;
    const pair = (['reference', 'distorted'] as const).flatMap((role) =>
      this.#pair ? [{ name: names[role], picture: this.#pair[role] }] : [],
    );
    return [...pair, ...this.#grid.pictures];
  }

  #show(pair: ShownPair): void {
    this.#wait(false);
    this.#pair = pair;
    this.#overlays.forget();
    this.#message.hide();
    const reference =
      this.#nameOf(this.#other) || (this.#versus ? words.apartBy(this.#shift) : words.reference);
    const distorted = this.#nameOf(this.#session.cursor.value?.encode ?? null) || words.distorted;
    this.#stage.change({ names: { reference, distorted } });
    this.#stage.show(pair);
    this.#grid.draw();
    this.#stage.refresh();
    this.#shown = this.#frame;
    this.#shownEncode = this.#session.cursor.value?.encode ?? -1;
    this.#shownOther = this.#other;
    const { dataset } = this.#dialog;
    dataset.frame = String(this.#frame);
    this.#dialog.toggleAttribute('data-rough', pair.rough === true);
    dataset.against = String(this.#other ?? '');
    dataset.encode = String(this.#session.cursor.value?.encode ?? '');
    dataset.further = this.#grid.encodes.join(' ');
    delete dataset.made;
    this.#describe();
    this.#make();
    this.#scopes?.draw();
  }

  #make(): void {
    const [pair, source] = [this.#pair, this.#source];
    const mode = this.#settings.mode.value;
    this.#overlays.stop();
    if (!pair || !source || !this.#isShown) return;
    this.#wait(false);
    const frame = this.#shown;
    const made = this.#overlays.make(source, pair);
    const complete = () => !this.#pair?.rough && this.#saver.complete();
    if (!made) {
      complete();
      return;
    }
    this.#soonBusy();
    made.then(
      (drawn) => {
        if (!drawn) return;
        this.#dialog.dataset.made = `${mode} ${frame}`;
        this.#wait(false);
        complete();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #describe(): void {
    const subject = this.#subject;
    const frame = this.#frame;
    if (!subject) return;
    const { result, metric } = subject;
    const value = frameText(result, metric, metricsOf(result, frame)?.[metric]) ?? null;
    const name = labelOf(metric);
    const facts = this.#isShown ? this.#pair?.facts : undefined;
    const against = this.#versus && this.#otherScore(metric, frame);
    this.#stage.change({ scores: { reference: against ?? '', distorted: value ?? '' } });
    this.#grid.describe(metric);
    this.#head.describe({
      frame,
      name: this.#nameOf(this.#session.cursor.value?.encode ?? null) || result.name,
      metric: name,
      value,
      against,
      facts,
      coded: facts && this.#coded?.at(facts.distorted.frame),
      versus: this.#other !== null,
    });
    const spoken = words.spoken(frame, name, value);
    this.#transport.show(frame, spoken);
    clearTimeout(this.#speaking);
    if (this.#dialog.open)
      this.#speaking = setTimeout(() => (this.#spoken.textContent = spoken), TIMES.speak);
  }

  #otherScore(metric: string, frame: number): string | undefined {
    const other = this.#other === null ? undefined : this.#session.results.value[this.#other];
    const [own, its] = [this.#subject?.result.report, other?.report];
    if (!other || !own || !its) return undefined;
    const at = frame + own.reference.skipped - its.reference.skipped;
    return frameText(other, metric, metricsOf(other, at)?.[metric]);
  }

  #toggleFullScreen(): void {
    // Browsers refuse full screen for dialogs; the pictures keep focus and keys.
    const theatre = this.#stage.element.parentElement ?? this.#stage.element;
    const change = document.fullscreenElement ? document.exitFullscreen() : theatre.requestFullscreen();
    // If the browser refuses, the viewer still fills its window.
    change.catch(() => {});
  }

  /** Whether the overlay of a frame is on show, if the view has one. */
  #isMade(frame: number): boolean {
    const mode = this.#settings.mode.value;
    return (mode !== 'difference' && mode !== 'map') || this.#dialog.dataset.made === `${mode} ${frame}`;
  }

  #played(): Played {
    return {
      rate: rateOf(this.#subject) * this.#transport.speed,
      frame: this.#frame,
      last: this.#navigation.ends[1],
      shown: this.#isShown && this.#isMade(this.#frame),
      upcoming: (frame) => {
        const [source, shift] = [this.#source, this.#versus?.shift ?? 0];
        return source ? this.#store.upcoming(source, frame + shift) - shift : frame;
      },
    };
  }

  /** `0` restores the scored pairing. */
  #shiftBy(direction: 1 | -1 | 0): void {
    this.#shift = direction === 0 || this.#other !== null ? 0 : this.#shift + direction;
    this.#shiftShown.textContent = words.shifted(this.#shift);
    // The pair on show has the old pairing.
    this.#shown = -1;
    this.#want();
  }

  async #showScopes(): Promise<void> {
    if (!this.#scopes) {
      const { Scopes } = await import('./viewer/scopes.js');
      this.#scopes = new Scopes(this.#stage);
      this.#stage.element.after(this.#scopes.element);
    }
    this.#scopes.next();
  }

  #switch(): void {
    this.#stage.change({ shown: this.#stage.look.shown === 'reference' ? 'distorted' : 'reference' });
  }

  #hold(): void {
    this.#flicker.running = false;
    this.#switch();
    this.#controls.refreshFlicker();
    this.#spoken.textContent = words[this.#stage.look.shown];
  }

  #tune(direction: 1 | -1): void {
    const mode = this.#settings.mode.value;
    if (mode === 'flicker') {
      this.#flicker.rate = Math.min(this.#flicker.largest, this.#flicker.rate + direction * 0.5);
      this.#controls.refreshFlicker();
    } else if (mode === 'split') {
      this.#stage.split += direction * 0.05;
    } else {
      tuned(this.#settings, direction, this.#overlays.gain);
    }
  }

  #fail(error: unknown): void {
    this.#transport.stop();
    this.#describe();
    this.#wait(false);
    this.#message.fail(error, this.#subject?.source);
  }

  #say(why: string): void {
    this.#wait(false);
    this.#message.say(why);
  }
}
