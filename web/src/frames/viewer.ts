/**
 * @module web/frames/viewer
 * The frame viewer: a dialog in which reference and distorted are compared, frame by frame. Its parts are in viewer/.
 */
import { distinctNames, labelOf } from 'anyvmaf/view';
import { fill, h } from '../dom.js';
import { EngineError } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { standIn } from '../focus.js';
import type { Cursor, Session } from '../session.js';
import { text } from '../text.js';
import type { ShownPair } from './draw.js';
import { Flicker } from './flicker.js';
import { type Commands, runKey } from './keys.js';
import type { Played } from './player.js';
import { type Savable, savePng } from './save.js';
import type { PairSource } from './serve.js';
import { modeButtons, tuned, ViewSettings, viewControls } from './settings.js';
import { Stage } from './stage.js';
import { FrameStore } from './store.js';
import { zoomName } from './transform.js';
import { type Versus, versus } from './versus.js';
import { Head } from './viewer/head.js';
import { Overlays } from './viewer/overlays.js';
import { pictureName, savablePictures } from './viewer/pictures.js';
import { Readout } from './viewer/readout.js';
import { metricsOf, rateOf, type Subject, sameMoment, subjectOf } from './viewer/subject.js';
import { tool } from './viewer/tool.js';
import { Transport } from './viewer/transport.js';
import './frames.css';
import { besideMoment } from './worst.js';

const words = text.frames;

/** Bytes of cached pictures; less on devices with little memory. */
const BUDGET = 2 ** 20 * ('deviceMemory' in navigator && Number(navigator.deviceMemory) <= 4 ? 128 : 256);
/** Milliseconds until the busy state shows, until screen readers announce a frame, and until unused pictures are freed. */
const TIMES = { busy: 200, speak: 500, free: 20_000 } as const;

/** Shows the frame at the session's cursor, while there is one. */
export class FrameViewer {
  readonly #element: HTMLElement;
  readonly #session: Session;
  readonly #settings = new ViewSettings();
  readonly #store: FrameStore;
  readonly #stage: Stage;
  readonly #flicker: Flicker;
  readonly #controls: ReturnType<typeof viewControls>;
  readonly #overlays: Overlays;
  readonly #head: Head;
  readonly #transport: Transport;
  readonly #readout = new Readout();
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #commands: Commands;

  readonly #dialog: HTMLDialogElement;
  readonly #zoom = h('output', { class: 'frames-value frames-zoom' });
  readonly #fit: HTMLButtonElement;
  readonly #message = h('div', { class: 'frames-message', hidden: true });
  readonly #spoken = h('p', { class: 'unseen', role: 'status' });

  #subject: Subject | undefined;
  /** Of all encodes. */
  #names: readonly string[] = [];
  /** The focused element when the viewer opened. */
  #opener: Element | null = null;
  #frame = 0;
  /** The frame on show, which is another one while the wanted one is fetched. */
  #shown = -1;
  #shownEncode = -1;
  #shownOther: number | null = null;
  /** The encode in the place of the reference; `null`: the reference itself. */
  #other: number | null = null;
  #versus: Versus | undefined;
  #pair: ShownPair | undefined;
  /** What waits for the exact picture, and for what the view lays over it. */
  #whenExact: (() => void) | undefined;
  #busy: ReturnType<typeof setTimeout> | undefined;
  #speaking: ReturnType<typeof setTimeout> | undefined;
  #freeing: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, session: Session) {
    this.#element = element;
    this.#session = session;
    this.#store = new FrameStore(
      (call, options) => engine.call('frames', call, options),
      { ready: (pair) => this.#show(pair), failed: (error) => this.#fail(error) },
      BUDGET,
    );
    this.#stage = new Stage({
      moved: (zoom, fits) => {
        this.#zoom.textContent = zoomName(zoom);
        this.#fit.setAttribute('aria-pressed', String(fits));
      },
      hovered: (at) => {
        const mapped = this.#settings.mode.value === 'map';
        this.#readout.show(at, this.#pair, mapped ? this.#overlays.grid : undefined, this.#stage.names);
      },
    });
    this.#flicker = new Flicker(() => this.#switch());
    this.#controls = viewControls(this.#settings, this.#flicker, () => this.#hold());
    this.#overlays = new Overlays(this.#settings, this.#stage, this.#controls.findings);
    this.#commands = this.#makeCommands();
    this.#transport = new Transport(
      (frame) => this.#go(frame),
      () => this.#played(),
      (playing) => {
        this.#dialog.toggleAttribute('data-playing', playing);
        // The exact picture of what the film stops at, unless the viewer closes.
        if (!playing && this.#pair?.rough && this.#session.cursor.value) this.#want();
      },
      this.#commands,
    );
    this.#head = new Head({
      choose: (encode) => this.#choose(encode),
      chooseAgainst: (encode) => {
        this.#other = encode;
        this.#want();
      },
      savable: () => savablePictures(this.#stage, this.#settings),
      save: (one) => this.#save(one),
      fullScreen: () => this.#toggleFullScreen(),
      close: () => this.#dialog.close(),
    });
    this.#fit = tool(words.fit, 'F', () => this.#stage.fit());
    this.#dialog = this.#build();
    element.append(this.#dialog);
    this.#watch();
  }

  #build(): HTMLDialogElement {
    return h(
      'dialog',
      {
        class: 'frames',
        'aria-labelledby': 'frames-title',
        onclose: () => {
          this.#session.cursor.value = null;
        },
        oncancel: (event) => {
          // Escape closes an open menu first.
          if (this.#head.closeMenus()) event.preventDefault();
        },
        onpointerdown: (event) => this.#head.closeMenus(event.target as Node),
        onkeydown: (event) => {
          if (runKey(event as KeyboardEvent, this.#commands)) event.preventDefault();
        },
      },
      this.#head.element,
      this.#tools(),
      h('div', { class: 'frames-theatre' }, this.#stage.element, this.#message, this.#readout.element),
      this.#transport.element,
      this.#spoken,
    );
  }

  #tools(): HTMLElement {
    const { zoom } = this.#commands;
    const exact = ([1, 2, 4] as const).map((scale) =>
      tool(`${scale}:1`, 'Z', () => this.#stage.zoomTo(scale)),
    );
    return h(
      'div',
      { class: 'frames-tools' },
      modeButtons(this.#settings),
      h(
        'div',
        { class: 'frames-zooms', role: 'group', 'aria-label': words.zoom },
        this.#fit,
        ...exact,
        tool('−', '-', () => zoom(-1), words.zoomOut),
        this.#zoom,
        tool('+', '+', () => zoom(1), words.zoomIn),
      ),
      this.#controls.element,
    );
  }

  #makeCommands(): Commands {
    const moment = (frame: number | undefined) => {
      if (frame !== undefined) this.#go(frame);
    };
    return {
      step: (frames) => {
        this.#transport.stop();
        this.#go(this.#frame + frames);
      },
      leap: (direction) => {
        this.#go(this.#frame + direction * Math.max(1, Math.round(rateOf(this.#subject))));
      },
      goTo: (end) => this.#go(end === 'first' ? 0 : (this.#subject?.total ?? 1) - 1),
      worst: () => moment(this.#subject?.moments[0]),
      besideWorst: (direction) => moment(besideMoment(this.#subject?.moments ?? [], this.#frame, direction)),
      mode: (mode) => {
        this.#settings.mode.value = mode;
      },
      other: () => (this.#settings.mode.value === 'flicker' ? this.#hold() : this.#nextEncode()),
      nextEncode: () => this.#nextEncode(),
      tune: (direction) => this.#tune(direction),
      zoom: (direction) => this.#stage.zoomStep(direction),
      exact: () => this.#stage.zoomCycle(),
      fit: () => this.#stage.fit(),
      pan: (across, down) => this.#stage.pan(across, down),
      play: () => this.#transport.toggle(),
      save: () => {
        const [first] = savablePictures(this.#stage, this.#settings);
        if (first) this.#save(first);
      },
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
      this.#make();
    });
    gain.watch(() => this.#make());
    grid.watch(() => (this.#overlays.grid ? this.#overlays.paintMap() : this.#make()));
    full.watch(() => this.#overlays.paintMap());
    opacity.watch((share) => this.#stage.element.style.setProperty('--cover', String(share)));
    base.watch((role) => {
      this.#stage.base = role;
    });
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
    clearTimeout(this.#busy);
    clearTimeout(this.#freeing);
    if (this.#subject === undefined) return;
    // Keep pictures for a while, so that reopening the viewer is fast.
    this.#freeing = setTimeout(() => {
      this.#store.close();
      this.#stage.empty();
      delete this.#dialog.dataset.frame;
      this.#shown = -1;
      this.#subject = undefined;
      this.#pair = undefined;
      this.#overlays.forget();
      engine.call('closeFrames', undefined).catch(() => {});
    }, TIMES.free);
  }

  /** Returns the focus to the opener, its replacement, or the results. */
  #returnFocus(): void {
    const opener = this.#opener;
    this.#opener = null;
    if (!(opener instanceof HTMLElement) || opener === document.body) return;
    const target = standIn(opener) ?? document.getElementById('results');
    target?.focus({ preventScroll: true });
  }

  /** Updates the encode on show; scores arrive during the run. */
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
      this.#transport.subject = this.#subject;
    }
    const { encode } = cursor;
    this.#names = distinctNames(results.map(({ name }) => name));
    const others = this.#names.flatMap((name, i) => (this.#versusOf(encode, i) ? [{ name, i }] : []));
    this.#head.list(this.#names, encode, others, this.#other);
    if (this.#shown < 0 || this.#isShown) this.#describe();
  }

  /** The name of an encode, told apart from those of the others. */
  #nameOf(encode: number | null): string {
    return encode === null ? '' : (this.#names[encode] ?? '');
  }

  /** The pairing of one encode with another. */
  #versusOf(encode: number, other: number): Versus | undefined {
    const [result, against] = [this.#session.results.value[encode], this.#session.results.value[other]];
    const source = this.#subject?.source;
    if (!result || !against || !source || encode === other) return undefined;
    return versus(result, against, source);
  }

  /** Asks for the wanted frame; what is said of a frame changes with its picture. */
  #want(): void {
    const subject = this.#subject;
    if (!subject) return;
    this.#message.hidden = true;
    this.#transport.show(this.#frame);
    if (!subject.source) {
      this.#describe();
      this.#say(words.saved, false);
      return;
    }
    const encode = this.#session.cursor.value?.encode ?? 0;
    this.#versus = this.#other === null ? undefined : this.#versusOf(encode, this.#other);
    if (this.#versus && !this.#versus.has(this.#frame)) {
      this.#transport.stop();
      this.#store.rest();
      this.#describe();
      this.#say(words.apart(this.#nameOf(this.#other)), false);
      return;
    }
    this.#soonBusy();
    const frame = this.#frame + (this.#versus?.shift ?? 0);
    this.#store.want(this.#source ?? subject.source, frame, this.#transport.step);
  }

  /** Whether the picture on show is the wanted one. */
  get #isShown(): boolean {
    const encode = this.#session.cursor.value?.encode;
    return this.#shown === this.#frame && this.#shownEncode === encode && this.#shownOther === this.#other;
  }

  /** The files whose frames are on show. */
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

  #show(pair: ShownPair): void {
    this.#wait(false);
    this.#pair = pair;
    this.#overlays.forget();
    this.#message.hidden = true;
    this.#stage.names = {
      reference: this.#versus ? this.#nameOf(this.#other) : words.reference,
      distorted: this.#nameOf(this.#session.cursor.value?.encode ?? null) || words.distorted,
    };
    this.#stage.show(pair);
    this.#shown = this.#frame;
    this.#shownEncode = this.#session.cursor.value?.encode ?? -1;
    this.#shownOther = this.#other;
    const { dataset } = this.#dialog;
    dataset.frame = String(this.#frame);
    this.#dialog.toggleAttribute('data-rough', pair.rough === true);
    dataset.against = String(this.#versus ? this.#other : '');
    dataset.encode = String(this.#session.cursor.value?.encode ?? '');
    delete dataset.made;
    this.#describe();
    this.#make();
  }

  /** Requests the difference or map that the view needs. */
  #make(): void {
    const [pair, source] = [this.#pair, this.#source];
    const mode = this.#settings.mode.value;
    this.#overlays.stop();
    if (!pair || !source || !this.#isShown) return;
    this.#wait(false);
    const frame = this.#shown;
    const made = this.#overlays.make(source, pair);
    if (!made) {
      this.#complete();
      return;
    }
    this.#soonBusy();
    made.then(
      (drawn) => {
        if (!drawn) return;
        this.#dialog.dataset.made = `${mode} ${frame}`;
        this.#wait(false);
        this.#complete();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** The picture is on show with all that belongs to it. */
  #complete(): void {
    if (this.#pair?.rough) return;
    const waiting = this.#whenExact;
    this.#whenExact = undefined;
    waiting?.();
  }

  /** Updates the texts: frame number, time and scores. */
  #describe(): void {
    const subject = this.#subject;
    const frame = this.#frame;
    if (!subject) return;
    const { result, metric } = subject;
    const score = metricsOf(result, frame)?.[metric];
    const value = score === undefined ? null : score.toFixed(2);
    const name = labelOf(metric);
    this.#head.describe({
      frame,
      name: this.#nameOf(this.#session.cursor.value?.encode ?? null) || result.name,
      metric: name,
      value,
      against: this.#versus && this.#otherScore(metric, frame),
      facts: this.#isShown ? this.#pair?.facts : undefined,
      versus: this.#versus !== undefined,
    });
    const spoken = words.spoken(frame, name, value);
    this.#transport.show(frame, spoken);
    clearTimeout(this.#speaking);
    if (this.#dialog.open)
      this.#speaking = setTimeout(() => (this.#spoken.textContent = spoken), TIMES.speak);
  }

  /** The other encode's score of the same reference frame. */
  #otherScore(metric: string, frame: number): number | undefined {
    const other = this.#other === null ? undefined : this.#session.results.value[this.#other];
    const [own, its] = [this.#subject?.result.report, other?.report];
    if (!other || !own || !its) return undefined;
    return metricsOf(other, frame + own.reference.skipped - its.reference.skipped)?.[metric];
  }

  #toggleFullScreen(): void {
    // Not the dialog, which browsers refuse: the pictures, which keep the focus and the keys.
    const theatre = this.#stage.element.parentElement ?? this.#stage.element;
    const change = document.fullscreenElement ? document.exitFullscreen() : theatre.requestFullscreen();
    // A browser may refuse; the viewer fills its window anyway.
    change.catch(() => {});
  }

  #played(): Played {
    const mode = this.#settings.mode.value;
    const made =
      (mode !== 'difference' && mode !== 'map') || this.#dialog.dataset.made === `${mode} ${this.#frame}`;
    return {
      rate: rateOf(this.#subject),
      frame: this.#frame,
      last: (this.#subject?.total ?? 1) - 1,
      shown: this.#isShown && made,
      upcoming: (frame) => {
        const [source, shift] = [this.#source, this.#versus?.shift ?? 0];
        return source ? this.#store.upcoming(source, frame + shift) - shift : frame;
      },
    };
  }

  #save(one: Savable): void {
    if (this.#pair?.rough) {
      // What is saved is exact: it comes when the film stops.
      const frame = this.#frame;
      this.#whenExact = () => {
        const exact = savablePictures(this.#stage, this.#settings).find(({ kind }) => kind === one.kind);
        if (exact && this.#shown === frame) this.#save(exact);
      };
      this.#transport.stop();
      return;
    }
    const name = pictureName(this.#subject?.result.name, this.#shown, one);
    savePng(one.canvas, name).then(
      () => {
        this.#spoken.textContent = words.save.saved(name);
      },
      (error: unknown) => this.#say(error instanceof Error ? error.message : String(error), false),
    );
  }

  #go(frame: number): void {
    const cursor = this.#session.cursor.value;
    const subject = this.#subject;
    if (!cursor || !subject || !Number.isFinite(frame)) return;
    const within = Math.max(0, Math.min(subject.total - 1, Math.round(frame)));
    if (within === cursor.frame) this.#describe();
    else this.#session.cursor.value = { ...cursor, frame: within };
  }

  #choose(encode: number): void {
    const { cursor, results } = this.#session;
    const { value: now } = cursor;
    const [from, to] = [now && results.value[now.encode], results.value[encode]];
    if (now && from && to) cursor.value = { encode, frame: sameMoment(from, to, now.frame) };
  }

  #nextEncode(): void {
    const { cursor, results } = this.#session;
    const count = results.value.length;
    if (cursor.value && count > 1) this.#choose((cursor.value.encode + 1) % count);
  }

  #switch(): void {
    this.#stage.shown = this.#stage.shown === 'reference' ? 'distorted' : 'reference';
  }

  /** Stops flickering and shows the other picture. */
  #hold(): void {
    this.#flicker.running = false;
    this.#switch();
    this.#controls.refreshFlicker();
    this.#spoken.textContent = words[this.#stage.shown];
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
    const name = error instanceof Error ? error.name : '';
    const message = error instanceof Error ? error.message : String(error);
    const source = this.#subject?.source;
    const gone = source && (name.startsWith('Not') || (error instanceof EngineError && error.code === 'io'));
    const names = source ? `${source.reference.name} or ${source.distorted.name}` : '';
    this.#say(gone ? words.gone(names) : message, true);
  }

  #say(why: string, again: boolean): void {
    this.#wait(false);
    this.#message.hidden = false;
    fill(
      this.#message,
      h('div', { role: 'alert' }, again && h('strong', {}, words.failed), h('p', {}, why)),
      again && h('button', { type: 'button', class: 'tool', onclick: () => this.#want() }, words.retry),
    );
  }
}
