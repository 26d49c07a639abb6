/**
 * @module report/view/chart-state
 * What all charts over the frames share: the part of the axis on show, the frame pointed at, the encodes shown.
 */
import { nearestFrame, type Span, searchFrame, zoomedBy, zoomedTo } from './scales.js';

/** The values of one encode. Frames have the numbers of the axis that all encodes share. */
export interface FrameColumns {
  /** Ascending. */
  readonly numbers: Float64Array;
  /** Of each frame; `undefined` where no frame has the metric. */
  values(metric: string): Float64Array | undefined;
  /** The least and the greatest finite value. */
  extent(metric: string): readonly [low: number, high: number] | undefined;
}

/** The encodes that charts show. */
export interface FrameEncodes {
  readonly list: readonly { readonly index: number; readonly name: string; readonly columns: FrameColumns }[];
  /** First and last frame of all. */
  readonly span: Span;
  /** Frames per second, where known. */
  readonly rate: number | undefined;
  /** The reference frame that is 0 on the frame axis. */
  readonly origin: number;
  /** Whether more frames come at this time. */
  readonly coming: boolean;
  isScore(metric: string): boolean;
  /** A frame of the axis in words. */
  said(frame: number): string;
  valueText(metric: string, value: number): string;
  /** The mean of a metric; `undefined` where it has none. */
  meanOf(index: number, metric: string): number | undefined;
}

/** A frame to look at. */
export interface Moment {
  readonly encode: number;
  /** On the frame axis. */
  readonly frame: number;
}

/** A metric's value in a frame; NaN where there is none. */
export function valueAt({ columns }: FrameEncodes['list'][number], metric: string, frame: number): number {
  const i = searchFrame(columns.numbers, frame);
  return columns.numbers[i] === frame ? (columns.values(metric)?.[i] ?? Number.NaN) : Number.NaN;
}

/** Milliseconds without another change after which the part on show has come to rest. */
const REST = 200;

export class ChartState<E extends FrameEncodes = FrameEncodes> {
  /** First and last frame on show; `null`: all there are. */
  readonly zoom: Cell<Span | null>;
  /** The same once it has come to rest: for what takes too long to follow every step of a movement. */
  readonly rest: Cell<Span | null>;
  /** The frame pointed at. */
  readonly pointed: Cell<number | null>;
  /** By encode: whether charts show it. */
  readonly shown: Cell<readonly boolean[]>;
  /** Frames that large charts mark. */
  readonly moments = new Cell<readonly Moment[]>([]);
  /** Frames at which shots begin, where that is known; large charts mark them. */
  readonly shots = new Cell<readonly number[]>([]);
  /** The encode that keys are about. */
  readonly lead = new Cell(0);
  /** The encode that stands out, as a pointer is on its name; `null`: none does. */
  readonly lit = new Cell<number | null>(null);
  /** The chart that the pointer is over, which has the readout; `null`: the large one has it. */
  over: HTMLElement | null = null;
  readonly #pieces: (() => void)[] = [];
  /** Whether keys or a button pointed last: their frame stays until the pointer moves. */
  pinned = false;

  /** @param axis charts over the same frames, which show the same part of them */
  constructor(
    readonly encodes: E,
    axis?: Pick<ChartState, 'zoom' | 'rest' | 'pointed'>,
  ) {
    this.zoom = axis?.zoom ?? new Cell<Span | null>(null);
    this.rest = axis?.rest ?? restOf(this.zoom);
    this.pointed = axis?.pointed ?? new Cell<number | null>(null);
    this.shown = new Cell<readonly boolean[]>(encodes.list.map(() => true));
  }

  /** Whether the part on show has just changed, and may go on changing. */
  get moving(): boolean {
    return this.rest.value !== this.zoom.value;
  }

  /** The frames on show. */
  get span(): Span {
    return this.zoom.value ?? this.encodes.span;
  }

  /** The encodes that charts show. */
  get visible(): readonly E['list'][number][] {
    return this.encodes.list.filter(({ index }) => this.shown.value[index]);
  }

  /** Does one piece of work before each time that the screen is drawn: a drawing of many curves may take most of that time. */
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

  /** Shows an encode, or hides it unless it is the only one shown. */
  toggle(index: number): void {
    const shown = this.shown.value.map((is, i) => (i === index ? !is : is));
    if (shown.includes(true)) this.shown.value = shown;
  }

  /** Shows an encode alone, or all of them if it already is alone. */
  isolate(index: number): void {
    const { value } = this.shown;
    const alone = value[index] === true && value.filter((is) => is).length === 1;
    this.shown.value = value.map((_, i) => alone || i === index);
    if (!alone) this.lead.value = index;
  }

  /** Shows a part, kept within what there is and not closer than a few frames. */
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

  /** The scored frame nearest to a position, of the encodes shown. */
  nearest(position: number): number | null {
    return (
      nearestFrame(
        this.visible.map(({ columns }) => columns.numbers),
        position,
      ) ?? null
    );
  }

  /** Points at the frame so many scored frames further on, and keeps it on show. */
  step(by: number): void {
    const numbers = this.encodes.list[this.lead.value]?.columns.numbers;
    if (!numbers || numbers.length === 0) return;
    const [from, to] = this.span;
    const at = this.pointed.value;
    const i = at === null ? searchFrame(numbers, (from + to) / 2) : searchFrame(numbers, at) + by;
    this.pointAt(numbers[Math.min(numbers.length - 1, Math.max(0, i))] ?? null);
  }

  /** Makes the next encode that is shown the one that keys are about. */
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

  /** Points at a frame by pointer. @param over the chart that the pointer is over */
  hover(over: HTMLElement | null, frame: number | null): void {
    this.pinned = false;
    this.over = over;
    this.pointed.value = frame;
  }

  /** Points at a frame by key or button, and keeps it on show. */
  pointAt(frame: number | null): void {
    this.pinned = true;
    this.over = null;
    this.pointed.value = frame;
    if (frame === null) return;
    const [from, to] = this.span;
    if (frame < from || frame > to) this.zoomTo(frame - (to - from) / 2, frame + (to - from) / 2);
  }

  /** Makes a frame of an encode the one that all is about. */
  open(encode: number, frame: number): void {
    this.lead.value = encode;
    this.pointAt(frame);
  }
}

/** What another cell holds once it has not changed for a while. */
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

/** A value that tells its watchers when it changes. */
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
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  /** Calls back now and after every change, until the returned function is called. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#value);
    return () => this.#watchers.delete(watcher);
  }
}
