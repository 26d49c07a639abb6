/**
 * @module web/frames/viewer
 * The frame viewer: a dialog in which reference and distorted are compared, frame by frame.
 */
import { fill, h } from '../dom.js';
import { EngineError } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { standIn } from '../focus.js';
import type { Cursor, EncodeResult, EncodeSource, Session } from '../session.js';
import { icon } from '../setup/icons.js';
import { text } from '../text.js';
import { fittingFull, paint } from './colours.js';
import type { LossGrid, ShownMap, ShownPair } from './draw.js';
import { Flicker } from './flicker.js';
import { type Commands, keyList, runKey } from './keys.js';
import { Player } from './player.js';
import { type Savable, saveMenu, savePng } from './save.js';
import type { PairSource } from './serve.js';
import { lossText, modeButtons, tuned, ViewSettings, viewControls } from './settings.js';
import { Stage } from './stage.js';
import { FrameStore } from './store.js';
import { Timeline } from './timeline.js';
import { zoomName } from './transform.js';
import { type Versus, versus } from './versus.js';
import './frames.css';
import { besideMoment, rankingOf, worstMoments } from './worst.js';

const words = text.frames;

/** Bytes of cached pictures; less on devices with little memory. */
const BUDGET = 2 ** 20 * ('deviceMemory' in navigator && Number(navigator.deviceMemory) <= 4 ? 128 : 256);
/** Side of a map's square in samples. */
const BLOCK = 16;
/** Milliseconds until the busy state shows, until screen readers announce a frame, and until unused pictures are freed. */
const TIMES = { busy: 200, speak: 500, free: 20_000 } as const;

/** Number of worst moments to mark. */
const MARKS = 10;

/** The encode on show. */
interface Subject {
  readonly result: EncodeResult;
  /** Number of scored frames so far. */
  readonly scored: number;
  readonly source: PairSource | undefined;
  readonly metric: string;
  /** Numbers of the worst frames, the worst first. */
  readonly moments: readonly number[];
  readonly total: number;
}

const keys = new WeakMap<EncodeSource, string>();
let lastKey = 0;

/** One key for the same files and options. */
function keyOf(source: EncodeSource): string {
  const key = keys.get(source) ?? String(++lastKey);
  keys.set(source, key);
  return key;
}

/** Shows the frame at the session's cursor, while there is one. */
export class FrameViewer {
  readonly #element: HTMLElement;
  readonly #session: Session;
  readonly #settings = new ViewSettings();
  readonly #store: FrameStore;
  readonly #stage: Stage;
  readonly #flicker: Flicker;
  readonly #timeline: Timeline;
  readonly #controls: ReturnType<typeof viewControls>;
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #commands: Commands;

  readonly #dialog: HTMLDialogElement;
  readonly #title = h('h2', { id: 'frames-title' });
  readonly #meta = h('p', { class: 'frames-meta' });
  readonly #score = h('p', { class: 'frames-score' });
  readonly #encodes = h('select', { 'aria-label': words.encode, onchange: () => this.#choose() });
  readonly #zoom = h('output', { class: 'frames-value frames-zoom' });
  readonly #fit: HTMLButtonElement;
  readonly #number: HTMLInputElement;
  readonly #message = h('div', { class: 'frames-message', hidden: true });
  readonly #readout = h('p', { class: 'frames-readout', hidden: true, 'aria-hidden': 'true' });
  readonly #spoken = h('p', { class: 'unseen', role: 'status' });
  readonly #help: HTMLDetailsElement;
  readonly #save: HTMLDetailsElement;
  readonly #against = h('select', { 'aria-label': words.against, onchange: () => this.#chooseAgainst() });
  readonly #play: HTMLButtonElement;
  readonly #player: Player;

  #subject: Subject | undefined;
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
  /** Frames from one to the next while playing. */
  #step = 1;
  #pair: ShownPair | undefined;
  #map: ShownMap | undefined;
  #gain = 1;
  /** Cancels a pending difference or map. */
  #making: AbortController | undefined;
  #busy: ReturnType<typeof setTimeout> | undefined;
  #speaking: ReturnType<typeof setTimeout> | undefined;
  #freeing: ReturnType<typeof setTimeout> | undefined;
  #hovering: ReturnType<typeof setTimeout> | undefined;

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
      hovered: (at) => this.#hover(at),
    });
    this.#flicker = new Flicker(() => this.#switch());
    this.#timeline = new Timeline((frame) => this.#go(frame));
    this.#controls = viewControls(this.#settings, this.#flicker, () => this.#hold());
    this.#player = new Player(
      () => this.#played(),
      (frame, step) => {
        this.#step = step;
        this.#go(frame);
      },
      (playing) => this.#tellPlaying(playing),
    );
    this.#commands = this.#makeCommands();
    this.#play = tool(words.playFilm, 'K', () => this.#player.toggle());
    this.#fit = tool(words.fit, 'F', () => this.#stage.fit());
    this.#number = h('input', {
      type: 'number',
      class: 'frames-number',
      min: 0,
      step: 1,
      'aria-label': words.number,
      onchange: () => this.#go(Number(this.#number.value)),
    });
    this.#help = h('details', { class: 'frames-help' }, h('summary', { class: 'tool' }, words.keys));
    // It scrolls on small screens, for which keys need it to have the focus.
    const sheet = { class: 'frames-sheet', tabindex: 0, role: 'region', 'aria-label': words.keys };
    this.#help.append(h('div', sheet, keyList(), h('p', {}, words.pointer)));
    this.#save = saveMenu(
      () => this.#savable(),
      (one) => this.#saveOne(one),
    );
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
          const menus = [this.#help, this.#save].filter(({ open }) => open);
          if (menus.length === 0) return;
          event.preventDefault();
          for (const menu of menus) menu.open = false;
        },
        onpointerdown: (event) => {
          for (const menu of [this.#help, this.#save])
            if (!menu.contains(event.target as Node)) menu.open = false;
        },
        onkeydown: (event) => {
          if (runKey(event as KeyboardEvent, this.#commands)) event.preventDefault();
        },
      },
      this.#head(),
      this.#tools(),
      h('div', { class: 'frames-theatre' }, this.#stage.element, this.#message, this.#readout),
      this.#foot(),
      this.#spoken,
    );
  }

  #head(): HTMLElement {
    const close = h(
      'button',
      {
        type: 'button',
        class: 'tool',
        'aria-label': words.close,
        title: `${words.close} (Esc)`,
        onclick: () => this.#dialog.close(),
      },
      '✕',
    );
    const fullScreen = tool('', 'X', this.#commands.fullScreen, words.fullScreen);
    fill(fullScreen, icon('full'));
    return h(
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
        close,
      ),
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

  #foot(): HTMLElement {
    const { step, worst, besideWorst } = this.#commands;
    return h(
      'footer',
      { class: 'frames-foot' },
      this.#timeline.element,
      h(
        'div',
        { class: 'frames-steps' },
        this.#play,
        tool('‹', 'ArrowLeft', () => step(-1), words.previous),
        this.#number,
        tool('›', 'ArrowRight', () => step(1), words.next),
        tool(words.worst, 'W', worst, words.worstTitle),
        tool(words.nextWorst, 'N', () => besideWorst(1)),
      ),
    );
  }

  #makeCommands(): Commands {
    return {
      step: (frames) => {
        this.#player.stop();
        this.#go(this.#frame + frames);
      },
      leap: (direction) => this.#go(this.#frame + direction * this.#perSecond()),
      goTo: (end) => this.#go(end === 'first' ? 0 : (this.#subject?.total ?? 1) - 1),
      worst: () => this.#goToMoment(this.#subject?.moments[0]),
      besideWorst: (direction) =>
        this.#goToMoment(besideMoment(this.#subject?.moments ?? [], this.#frame, direction)),
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
      play: () => this.#player.toggle(),
      save: () => {
        const [first] = this.#savable();
        if (first) this.#saveOne(first);
      },
      fullScreen: () => this.#toggleFullScreen(),
      nextAgainst: () => this.#nextAgainst(),
      help: () => {
        this.#help.open = !this.#help.open;
      },
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
    grid.watch(() => this.#paintMap());
    full.watch(() => this.#paintMap());
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
    this.#encodes.value = String(encode);
    this.#want();
  }

  #close(): void {
    this.#player.stop();
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    if (this.#dialog.open) this.#dialog.close();
    this.#element.hidden = true;
    this.#returnFocus();
    document.documentElement.classList.remove('frames-open');
    this.#flicker.running = false;
    this.#making?.abort();
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
      this.#map = undefined;
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
      const { frames, report } = result;
      const rank = rankingOf(frames, report);
      const metric = rank?.metric ?? '';
      const total = report?.frameCount ?? (frames.at(-1)?.frameNum ?? cursor.frame) + 1;
      const moments = worstMoments(frames, rank, report);
      const source = result.source && sourceOf(result, result.source, total);
      this.#subject = { result, scored: frames.length, source, metric, moments, total };
      this.#timeline.data = { frames, metric, total, marks: moments.slice(0, MARKS) };
      this.#number.max = String(total - 1);
    }
    this.#listEncodes(cursor.encode);
    if (this.#shown < 0 || this.#isShown) this.#describe();
  }

  /** The encodes to choose from, and those that can stand in the place of the reference. */
  #listEncodes(encode: number): void {
    const results = this.#session.results.value;
    if (this.#encodes.length !== results.length)
      fill(this.#encodes, ...results.map(({ name }, i) => h('option', { value: i }, name)));
    this.#encodes.hidden = results.length < 2;
    this.#encodes.value = String(encode);
    const others = results.flatMap(({ name }, i) => (this.#versusOf(encode, i) ? [{ name, i }] : []));
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
    this.#against.value = this.#other === null ? '' : String(this.#other);
  }

  /** The pairing of one encode with another. */
  #versusOf(encode: number, other: number): Versus | undefined {
    const [result, against] = [this.#session.results.value[encode], this.#session.results.value[other]];
    const source = this.#subject?.source;
    if (!result || !against || !source || encode === other) return undefined;
    return versus(result, against, source);
  }

  #want(): void {
    const subject = this.#subject;
    if (!subject) return;
    this.#message.hidden = true;
    this.#place();
    if (!subject.source) {
      this.#describe();
      this.#say(words.saved, false);
      return;
    }
    const encode = this.#session.cursor.value?.encode ?? 0;
    this.#versus = this.#other === null ? undefined : this.#versusOf(encode, this.#other);
    clearTimeout(this.#busy);
    this.#busy = setTimeout(() => this.#wait(true), TIMES.busy);
    this.#store.want(this.#source ?? subject.source, this.#frame + (this.#versus?.shift ?? 0), this.#step);
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

  #wait(waits: boolean): void {
    clearTimeout(this.#busy);
    this.#dialog.toggleAttribute('data-busy', waits);
    this.#stage.element.setAttribute('aria-busy', String(waits));
  }

  #show(pair: ShownPair): void {
    this.#wait(false);
    this.#pair = pair;
    this.#map = undefined;
    this.#message.hidden = true;
    const results = this.#session.results.value;
    const other = this.#other === null ? undefined : results[this.#other]?.name;
    this.#stage.names = {
      reference: (this.#versus && other) ?? words.reference,
      distorted: this.#subject?.result.name ?? words.distorted,
    };
    this.#stage.show(pair);
    this.#shown = this.#frame;
    this.#shownEncode = this.#session.cursor.value?.encode ?? -1;
    this.#shownOther = this.#other;
    const { dataset } = this.#dialog;
    dataset.frame = String(this.#frame);
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
    this.#making?.abort();
    if (!pair || !source || !this.#isShown) return;
    this.#wait(false);
    if (mode !== 'difference' && mode !== 'map') return;
    if (mode === 'map' && this.#map) {
      this.#paintMap();
      return;
    }
    const making = new AbortController();
    this.#making = making;
    this.#busy = setTimeout(() => this.#wait(true), TIMES.busy);
    const made =
      mode === 'map'
        ? this.#makeMap(source, pair, making.signal)
        : this.#makeDifference(source, pair, making.signal);
    made.then(
      () => this.#wait(false),
      (error: unknown) => {
        if (!making.signal.aborted) this.#fail(error);
      },
    );
  }

  async #makeDifference(source: PairSource, { index }: ShownPair, signal: AbortSignal): Promise<void> {
    const gain = this.#settings.gain.value;
    const asked = { source, index, ...(gain !== null && { gain }) };
    const shown = await engine.call('difference', asked, { signal });
    this.#gain = shown.gain;
    this.#stage.showDifference(shown.bitmap);
    shown.bitmap.close();
    this.#controls.findings.gain(shown.gain);
    this.#dialog.dataset.made = `difference ${this.#shown}`;
  }

  async #makeMap(source: PairSource, { index }: ShownPair, signal: AbortSignal): Promise<void> {
    this.#map = await engine.call('maps', { source, index, blockSize: BLOCK }, { signal });
    this.#paintMap();
    this.#dialog.dataset.made = `map ${this.#shown}`;
  }

  #paintMap(): void {
    const grid = this.#map?.grids[this.#settings.grid.value];
    if (!grid) return;
    const full = this.#settings.full.value ?? fittingFull(grid);
    this.#stage.showMap(paint(grid, full), grid.blockSize);
    this.#controls.findings.map({ full, total: grid.total, where: whereOf(grid) });
  }

  /** Moves the timeline to the wanted frame; what is said of a frame changes with its picture. */
  #place(): void {
    const { total = 1 } = this.#subject ?? {};
    this.#timeline.show(Math.min(this.#frame, total - 1), this.#timeline.spoken);
    this.#number.value = String(this.#frame);
  }

  /** Updates the texts: frame number, time and scores. */
  #describe(): void {
    const subject = this.#subject;
    const frame = this.#frame;
    if (!subject) return;
    const { result, metric, total } = subject;
    const metrics = metricsOf(result, frame);
    const score = metrics?.[metric];
    const value = score === undefined ? null : score.toFixed(2);
    this.#title.textContent = words.title(frame);
    const name = metricName(metric);
    const against = this.#versus && this.#otherScore(metric, frame);
    fill(
      this.#score,
      ...(value === null ? [] : [h('span', {}, name), h('strong', {}, value)]),
      against !== undefined && h('span', {}, `${words.against.toLowerCase()} ${against.toFixed(2)}`),
    );
    const facts = this.#isShown ? this.#pair?.facts : undefined;
    const time = facts?.reference.time ?? null;
    const about =
      facts && words.colours(facts.distorted.matrix, facts.distorted.range, facts.distorted.guessed);
    fill(
      this.#meta,
      [
        time === null ? '' : clock(time),
        result.name,
        facts ? words.bits(facts.distorted.bitDepth) : '',
        about,
      ]
        .filter(Boolean)
        .join(' · '),
    );
    const spoken = words.spoken(frame, name, value);
    this.#timeline.show(Math.min(frame, total - 1), spoken);
    this.#number.value = String(frame);
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

  #chooseAgainst(): void {
    this.#other = this.#against.value === '' ? null : Number(this.#against.value);
    this.#want();
  }

  #nextAgainst(): void {
    const { options, selectedIndex } = this.#against;
    if (this.#against.hidden) return;
    this.#against.selectedIndex = (selectedIndex + 1) % options.length;
    this.#chooseAgainst();
  }

  #toggleFullScreen(): void {
    // Not the dialog, which browsers refuse: the pictures, which keep the focus and the keys.
    const theatre = this.#stage.element.parentElement ?? this.#stage.element;
    const change = document.fullscreenElement ? document.exitFullscreen() : theatre.requestFullscreen();
    // A browser may refuse; the viewer fills its window anyway.
    change.catch(() => {});
  }

  #played() {
    const { total = 1, result } = this.#subject ?? {};
    const rate = result?.report?.reference.frameRate;
    const mode = this.#settings.mode.value;
    const made =
      (mode !== 'difference' && mode !== 'map') || this.#dialog.dataset.made === `${mode} ${this.#frame}`;
    return {
      rate: rate && rate.num > 0 && rate.den > 0 ? rate.num / rate.den : 25,
      frame: this.#frame,
      last: total - 1,
      shown: this.#isShown && made,
    };
  }

  #tellPlaying(playing: boolean): void {
    fill(this.#play, playing ? words.pauseFilm : words.playFilm);
    this.#play.title = `${playing ? words.pauseFilm : words.playFilm} (K)`;
    this.#dialog.toggleAttribute('data-playing', playing);
    if (!playing) this.#step = 1;
  }

  /** Pictures that can be saved, what is on show first. */
  #savable(): readonly Savable[] {
    const mode = this.#settings.mode.value;
    const { reference, distorted } = this.#stage.names;
    const all = [
      {
        kind: 'difference',
        label: words.modes.difference,
        canvas: mode === 'difference' ? this.#stage.canvasOf('difference') : undefined,
      },
      {
        kind: 'map',
        label: words.modes.map,
        canvas: mode === 'map' ? this.#stage.mapCanvas(this.#settings.opacity.value) : undefined,
      },
      { kind: 'encode', label: distorted, canvas: this.#stage.canvasOf('distorted') },
      { kind: 'reference', label: reference, canvas: this.#stage.canvasOf('reference') },
    ] as const;
    const there = all.flatMap(({ canvas, ...one }) => (canvas ? [{ ...one, canvas }] : []));
    const flickering = mode === 'flicker' && this.#stage.shown === 'reference';
    return flickering ? there.toReversed() : there;
  }

  #saveOne({ kind, canvas }: Savable): void {
    const { result } = this.#subject ?? {};
    const base = (result?.name ?? 'frame').replace(/\.[^.]*$/, '');
    const name = `${base}.frame-${this.#shown}.${kind}.png`;
    savePng(canvas, name).then(
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

  #goToMoment(moment: number | undefined): void {
    if (moment !== undefined) this.#go(moment);
  }

  #choose(): void {
    const cursor = this.#session.cursor.value;
    const encode = Number(this.#encodes.value);
    if (cursor) this.#session.cursor.value = { ...cursor, encode };
  }

  #nextEncode(): void {
    const cursor = this.#session.cursor.value;
    const count = this.#session.results.value.length;
    if (cursor && count > 1) this.#session.cursor.value = { ...cursor, encode: (cursor.encode + 1) % count };
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
      tuned(this.#settings, direction, this.#gain);
    }
  }

  /** Frames per second, rounded. */
  #perSecond(): number {
    const rate = this.#subject?.result.report?.reference.frameRate;
    return rate && rate.num > 0 ? Math.max(1, Math.round(rate.num / rate.den)) : 25;
  }

  #hover(at: { readonly x: number; readonly y: number } | null): void {
    clearTimeout(this.#hovering);
    this.#readout.hidden = at === null;
    const pair = this.#pair;
    if (!at || !pair) return;
    const place = h('span', {}, words.at(at.x, at.y));
    if (this.#settings.mode.value === 'map') {
      const grid = this.#map?.grids[this.#settings.grid.value];
      const loss = grid && lossAt(grid, at.x, at.y);
      fill(this.#readout, place, loss !== undefined && h('span', {}, words.here(lossText(loss))));
      return;
    }
    fill(this.#readout, place);
    // Look up samples only if the pointer rests.
    this.#hovering = setTimeout(() => {
      const samples = (['reference', 'distorted'] as const).map((role) =>
        h(
          'span',
          {},
          swatch(sampleOf(pair[role], at.x, at.y)),
          `${this.#stage.names[role]} `,
          sampleOf(pair[role], at.x, at.y).join(' '),
        ),
      );
      fill(this.#readout, place, ...samples);
    }, 40);
  }

  #fail(error: unknown): void {
    this.#player.stop();
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

function tool(label: string, key: string, run: () => void, name = label): HTMLButtonElement {
  const shown = { ArrowLeft: '←', ArrowRight: '→' }[key] ?? key;
  return h(
    'button',
    {
      type: 'button',
      class: 'tool',
      'aria-label': name === label ? undefined : name,
      title: `${name} (${shown})`,
      onclick: run,
    },
    label,
  );
}

/** The files and pairing options for the engine. */
function sourceOf({ report }: EncodeResult, source: EncodeSource, total: number): PairSource {
  const { reference, distorted, options } = source;
  // Reuse the offset of the run instead of searching again.
  const offset = report?.pairing?.frames.offset;
  return {
    key: keyOf(source),
    reference,
    distorted,
    options: offset === undefined ? options : { ...options, offset },
    total,
  };
}

function metricName(metric: string): string {
  return metric === 'vmaf' ? 'VMAF' : metric;
}

/** The values of a frame; `undefined` for frames that were not scored. */
function metricsOf({ frames }: EncodeResult, frame: number): Readonly<Record<string, number>> | undefined {
  const direct = frames[frame];
  return direct?.frameNum === frame
    ? direct.metrics
    : frames.find(({ frameNum }) => frameNum === frame)?.metrics;
}

/** Minutes, seconds and milliseconds. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds / 60);
  return `${whole}:${(seconds - 60 * whole).toFixed(3).padStart(6, '0')}`;
}

function lossAt({ width, height, blockSize, density }: LossGrid, x: number, y: number): number | undefined {
  const column = Math.min(width - 1, Math.floor(x / blockSize));
  const row = Math.min(height - 1, Math.floor(y / blockSize));
  return density[row * width + column];
}

/** Smallest share of the loss, in percent, for naming a ninth of the picture; 11 % would be even. */
const GATHERED = 20;

/** Names the part of the picture with most loss, for users who cannot see colours. */
function whereOf({ width, height, density }: LossGrid): string {
  const sums = new Float64Array(9);
  let all = 0;
  density.forEach((value, i) => {
    const lost = Math.max(0, value);
    const part = 3 * Math.floor((3 * Math.floor(i / width)) / height) + Math.floor((3 * (i % width)) / width);
    sums[part] = (sums[part] ?? 0) + lost;
    all += lost;
  });
  const most = sums.indexOf(Math.max(...sums));
  const share = all === 0 ? 0 : Math.round((100 * (sums[most] ?? 0)) / all);
  const part = words.parts[Math.floor(most / 3)]?.[most % 3];
  return part === undefined || share < GATHERED ? '' : words.mapWhere(part, share);
}

let probe: CanvasRenderingContext2D | null | undefined;

/** Red, green and blue of one sample. */
function sampleOf(bitmap: ImageBitmap, x: number, y: number): readonly number[] {
  probe ??= h('canvas', { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  if (!probe || bitmap.width === 0) return [];
  probe.drawImage(bitmap, x, y, 1, 1, 0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
}

function swatch(rgb: readonly number[]): HTMLElement {
  const element = h('i', { class: 'frames-swatch' });
  element.style.background = `rgb(${rgb.join(' ')})`;
  return element;
}
