/**
 * @module web/results/view
 * The state that all charts share, with the main metric and the way to the frame viewer; and sections of the results,
 * which are updated until closed.
 */
import { Cell, ChartState } from 'anyvmaf/view';
import { inTurn, spaced } from '../schedule.js';
import type { Session } from '../session.js';
import type { Encodes } from './encodes.js';

export class View extends ChartState<Encodes> {
  /** Metric of the large chart; `null`: the ranking's. */
  readonly chosen = new Cell<string | null>(null);
  readonly #session: Session;

  constructor(encodes: Encodes, session: Session) {
    super(encodes);
    this.#session = session;
    this.shown.value = this.#taken();
    this.shown.watch((shown) => {
      const { leftOut, results, kept } = session;
      const living = [...results.value, ...kept.value].map(({ frames }) => frames);
      const left = new Set(living.filter((frames) => leftOut.value.has(frames)));
      for (const encode of encodes.list) {
        encode.left = shown[encode.index] === false;
        left[encode.left ? 'add' : 'delete'](encode.result.frames);
      }
      leftOut.value = left;
    });
  }

  reset(): void {
    this.zoom.value = null;
    this.pointed.value = null;
    this.chosen.value = null;
    this.moments.value = [];
    this.shots.value = [];
    this.lead.value = 0;
    this.lit.value = null;
    this.shown.value = this.#taken();
  }

  /** All, if none would be left. */
  #taken(): readonly boolean[] {
    const taken = this.encodes.list.map(({ result }) => !this.#session.leftOut.value.has(result.frames));
    return taken.includes(true) ? taken : taken.map(() => true);
  }

  get metric(): string | undefined {
    return this.chosen.value ?? this.encodes.ranking?.metric;
  }

  /** False for saved reports without videos. */
  canOpen(encode: number): boolean {
    return this.encodes.list[encode]?.result.source !== undefined;
  }

  light(encode: number, on: boolean): void {
    if (on && this.visible.length > 1 && this.shown.value[encode]) this.lit.value = encode;
    else if (this.lit.value === encode) this.lit.value = null;
  }

  /** The worst frame of an encode, within the visible span by default. */
  worstWithin(encode: number, [from, to] = this.span): number | undefined {
    const { metric = '', worse } = this.encodes.ranking ?? {};
    const columns = this.encodes.list[encode]?.columns;
    let found: { readonly frame: number; readonly value: number } | undefined;
    columns?.values(metric)?.forEach((value, i) => {
      const frame = columns.numbers[i] ?? 0;
      if (frame < from || frame > to || !Number.isFinite(value)) return;
      if (!found || (worse === 'high' ? value > found.value : value < found.value)) found = { frame, value };
    });
    return found?.frame;
  }

  /** Opens the worst of all frames. */
  openWorst(encode: number): void {
    const frame = this.worstWithin(encode, this.encodes.span);
    if (frame === undefined) return;
    if (!this.canOpen(encode)) document.getElementById('chart-heading')?.scrollIntoView({ block: 'start' });
    this.open(encode, frame);
  }

  /** Opens a frame of the axis in the viewer, or shows it in the chart if there is no video. */
  override open(encode: number, frame: number): void {
    super.open(encode, frame);
    const columns = this.encodes.list[encode]?.columns;
    if (!columns || !this.canOpen(encode)) return;
    // The axis also covers frames of other encodes.
    const within = Math.min(columns.last, Math.max(columns.first, frame));
    const own = (at: number) => at - columns.shift;
    const [from, to] = this.span.map(own) as [number, number];
    const span = this.zoom.value && ([Math.ceil(from), Math.floor(to)] as const);
    this.#session.cursor.value = { encode, frame: own(within), ...(span && { span }) };
  }
}

export interface Section {
  readonly element: HTMLElement;
  update(): void;
  /** Called even while hidden; absent: always true. */
  hasContent?(): boolean;
  /** Shows everything, for printing. Absent: as `update`. */
  complete?(): void;
  close(): void;
}

export interface Follower {
  update(): void;
  /** Shows everything at once, wherever it is. */
  complete(): void;
  close(): void;
}

/**
 * Keeps a section up to date; while frames arrive, only near the screen, as drawing shares the cores with scoring.
 * @param milliseconds least time between updates
 */
export function following(section: Section, milliseconds: number, growing: () => boolean): Follower {
  let seen = false;
  let stale = false;
  let closed = false;
  const show = () => {
    if (closed) return;
    // A hidden section never comes into view, so draw it once when it appears.
    const content = section.hasContent?.();
    const appears = content === true && section.element.hidden;
    if (content !== undefined) section.element.hidden = !content;
    stale = growing() && !seen && !appears;
    if (!stale) section.update();
  };
  const update = spaced(show, milliseconds, growing);
  const sight = new IntersectionObserver(
    (entries) => {
      seen = entries.at(-1)?.isIntersecting ?? true;
      if (seen && stale) inTurn(show);
    },
    { rootMargin: '25%' },
  );
  sight.observe(section.element);
  inTurn(show);
  return {
    update,
    complete() {
      stale = false;
      section.update();
      section.complete?.();
    },
    close() {
      closed = true;
      update.stop();
      sight.disconnect();
      section.close();
    },
  };
}
