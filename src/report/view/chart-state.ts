/**
 * @module report/view/chart-state
 * State shared by all frame charts: the shown part of the axis, the frame pointed at, the encodes shown.
 */
import { nearestFrame, type Span, searchFrame, zoomedBy, zoomedTo } from './scales.js';

/** Values of one encode; frame numbers are those of the shared axis. */
export interface FrameColumns {
  /** Ascending. */
  readonly numbers: Float64Array;
  /** One value per frame; `undefined` if no frame has the metric. */
  values(metric: string): Float64Array | undefined;
  /** Least and greatest finite value. */
  extent(metric: string): readonly [low: number, high: number] | undefined;
}

export interface FrameEncodes {
  readonly list: readonly { readonly index: number; readonly name: string; readonly columns: FrameColumns }[];
  /** First and last frame of all. */
  readonly span: Span;
  /** Frames per second, if known. */
  readonly rate: number | undefined;
  /** Reference frame at 0 of the frame axis. */
  readonly origin: number;
  /** True while more frames arrive. */
  readonly coming: boolean;
  isScore(metric: string): boolean;
  said(frame: number): string;
  valueText(metric: string, value: number): string;
  /** Mean of a metric; `undefined` if it has no values. */
  meanOf(index: number, metric: string): number | undefined;
}

export interface Moment {
  readonly encode: number;
  /** On the frame axis. */
  readonly frame: number;
}

/** NaN if the frame has no value. */
export function valueAt({ columns }: FrameEncodes['list'][number], metric: string, frame: number): number {
  const i = searchFrame(columns.numbers, frame);
  return columns.numbers[i] === frame ? (columns.values(metric)?.[i] ?? Number.NaN) : Number.NaN;
}

/** Milliseconds without a change after which the shown part counts as at rest. */
const REST = 200;

export class ChartState<E extends FrameEncodes = FrameEncodes> {
  /** First and last frame shown; `null`: all. */
  readonly zoom: Cell<Span | null>;
  /** `zoom` at rest, for work that is too slow to follow every step. */
  readonly rest: Cell<Span | null>;
  readonly pointed: Cell<number | null>;
  /** By encode. */
  readonly shown: Cell<readonly boolean[]>;
  /** Frames that large charts mark. */
  readonly moments = new Cell<readonly Moment[]>([]);
  /** First frames of shots, if known; large charts mark them. */
  readonly shots = new Cell<readonly number[]>([]);
  /** The encode that keys act on. */
  readonly lead = new Cell(0);
  /** The highlighted encode, whose name is hovered; `null`: none. */
  readonly lit = new Cell<number | null>(null);
  /** The hovered chart, which shows the readout; `null`: the large one does. */
  over: HTMLElement | null = null;
  readonly #pieces: (() => void)[] = [];
  /** True if a key or button pointed last; the frame stays until the pointer moves. */
  pinned = false;

  /** @param axis state of charts over the same frames, to show the same part of them */
  constructor(
    readonly encodes: E,
    axis?: Pick<ChartState, 'zoom' | 'rest' | 'pointed'>,
  ) {
    this.zoom = axis?.zoom ?? new Cell<Span | null>(null);
    this.rest = axis?.rest ?? restOf(this.zoom);
    this.pointed = axis?.pointed ?? new Cell<number | null>(null);
    this.shown = new Cell<readonly boolean[]>(encodes.list.map(() => true));
  }

  /** True while the shown part changes. */
  get moving(): boolean {
    return this.rest.value !== this.zoom.value;
  }

  get span(): Span {
    return this.zoom.value ?? this.encodes.span;
  }

  get visible(): readonly E['list'][number][] {
    return this.encodes.list.filter(({ index }) => this.shown.value[index]);
  }

  /** Runs one piece of work per animation frame, because drawing many curves may take most of one. */
  eachFrame(work: () => void): void {
    this.#pieces.push(work);
    if (this.#pieces.length === 1) requestAnimationFrame(() => this.#next());
  }

  #next(): void {
    try {
      this.#pieces[0]?.();
    } finally {
      this.#pieces.shift();
      if (this.#pieces.length > 0) requestAnimationFrame(() => this.#next());
    }
  }

  /** Shows or hides an encode; the last one shown stays. */
  toggle(index: number): void {
    const shown = this.shown.value.map((is, i) => (i === index ? !is : is));
    if (shown.includes(true)) this.shown.value = shown;
  }

  /** Shows an encode alone, or all if it already is. */
  isolate(index: number): void {
    const { value } = this.shown;
    const alone = value[index] === true && value.filter((is) => is).length === 1;
    this.shown.value = value.map((_, i) => alone || i === index);
    if (!alone) this.lead.value = index;
  }

  /** Shows a part, clamped to all frames and to a minimum of a few frames. */
  zoomTo(from: number, to: number): void {
    const { span, list } = this.encodes;
    const part = zoomedTo([from, to], span, Math.max(...list.map(({ columns }) => columns.numbers.length)));
    this.zoom.value = part[1] - part[0] >= span[1] - span[0] ? null : part;
  }

  zoomBy(factor: number, around?: number): void {
    const [from, to] = this.span;
    const pointed = this.pointed.value;
    const centre =
      around ?? (pointed !== null && pointed >= from && pointed <= to ? pointed : (from + to) / 2);
    this.zoomTo(...zoomedBy([from, to], factor, centre));
  }

  nearest(position: number): number | null {
    const numbers = this.visible.map(({ columns }) => columns.numbers);
    return nearestFrame(numbers, position) ?? null;
  }

  /** Points at the frame `by` scored frames further on, and keeps it in view. */
  step(by: number): void {
    const numbers = this.encodes.list[this.lead.value]?.columns.numbers;
    if (!numbers || numbers.length === 0) return;
    const [from, to] = this.span;
    const at = this.pointed.value;
    const i = at === null ? searchFrame(numbers, (from + to) / 2) : searchFrame(numbers, at) + by;
    this.pointAt(numbers[Math.min(numbers.length - 1, Math.max(0, i))] ?? null);
  }

  /** Makes keys act on the next shown encode. */
  stepEncode(by: number): void {
    const count = this.encodes.list.length;
    for (let n = 1; n <= count; n++) {
      const index = (this.lead.value + by * n + count * n) % count;
      if (!this.shown.value[index]) continue;
      this.lead.value = index;
      break;
    }
    this.step(0);
  }

  /** Points at a frame by pointer. `over` is the chart below the pointer. */
  hover(over: HTMLElement | null, frame: number | null): void {
    this.pinned = false;
    this.over = over;
    this.pointed.value = frame;
  }

  /** Points at a frame by key or button, and keeps it in view. */
  pointAt(frame: number | null): void {
    this.pinned = true;
    this.over = null;
    this.pointed.value = frame;
    if (frame === null) return;
    const [from, to] = this.span;
    if (frame < from || frame > to) this.zoomTo(frame - (to - from) / 2, frame + (to - from) / 2);
  }

  open(encode: number, frame: number): void {
    this.lead.value = encode;
    this.pointAt(frame);
  }
}

/** Follows a cell once it has not changed for {@link REST}. */
function restOf<T>(cell: Cell<T>): Cell<T> {
  const rest = new Cell(cell.value);
  let timer: ReturnType<typeof setTimeout> | undefined;
  cell.watch((value) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      rest.value = value;
    }, REST);
  });
  return rest;
}

/** An observable value. */
export class Cell<T> {
  #value: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set value(value: T) {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) {
      // A watcher that set another value has told that to all.
      if (!Object.is(value, this.#value)) return;
      watcher(value);
    }
  }

  /** Calls back now and after every change, until the returned function is called. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#value);
    return () => this.#watchers.delete(watcher);
  }
}
