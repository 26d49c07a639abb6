/**
 * @module web/results/view
 * What all charts share: the part of the video on show, the frame pointed at, the encodes shown, the main metric.
 */
import { nearestFrame, zoomedBy, zoomedTo } from 'anyvmaf/view';
import { Cell } from '../dom.js';
import type { Session } from '../session.js';
import type { Encodes } from './encodes.js';

export class View {
  /** First and last frame on show; `null`: all there are. */
  readonly zoom = new Cell<readonly [from: number, to: number] | null>(null);
  /** The frame pointed at. */
  readonly pointed = new Cell<number | null>(null);
  /** By encode: whether charts show it. */
  readonly shown = new Cell<readonly boolean[]>([]);
  /** The encode that keys are about. */
  readonly lead = new Cell(0);
  /** The metric of the large chart; `null`: the one that the page is about. */
  readonly chosen = new Cell<string | null>(null);
  readonly #encodes: Encodes;
  readonly #session: Session;

  constructor(encodes: Encodes, session: Session) {
    this.#encodes = encodes;
    this.#session = session;
  }

  reset(): void {
    this.zoom.value = null;
    this.pointed.value = null;
    this.chosen.value = null;
    this.lead.value = 0;
    this.shown.value = this.#encodes.list.map(() => true);
  }

  /** The metric of the large chart. */
  get metric(): string | undefined {
    return this.chosen.value ?? this.#encodes.ranking?.metric;
  }

  /** The frames on show. */
  get span(): readonly [from: number, to: number] {
    return this.zoom.value ?? this.#encodes.span;
  }

  /** Shows a part, kept within what there is and not closer than a few frames. */
  zoomTo(from: number, to: number): void {
    const { span, list } = this.#encodes;
    const part = zoomedTo([from, to], span, Math.max(...list.map(({ count }) => count)));
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
  nearest(position: number): number | undefined {
    const shown = this.#encodes.list.filter(({ index }) => this.shown.value[index]);
    return nearestFrame(
      shown.map(({ columns }) => columns.numbers),
      position,
    );
  }

  /** Points at the frame so many scored frames further on, and keeps it on show. */
  step(by: number): void {
    const columns = this.#encodes.list[this.lead.value]?.columns;
    if (!columns || columns.length === 0) return;
    const [from, to] = this.span;
    const at = this.pointed.value;
    const i = at === null ? columns.search((from + to) / 2) : columns.search(at) + by;
    this.pointAt(columns.numbers[Math.min(columns.length - 1, Math.max(0, i))] ?? null);
  }

  pointAt(frame: number | null): void {
    this.pointed.value = frame;
    if (frame === null) return;
    const [from, to] = this.span;
    if (frame < from || frame > to) this.zoomTo(frame - (to - from) / 2, frame + (to - from) / 2);
  }

  /** Whether the frames of an encode can be shown: not those of a saved report. */
  canOpen(encode: number): boolean {
    return this.#encodes.list[encode]?.result.source !== undefined;
  }

  /** Opens the frame at a place of the axis in the viewer; of a saved report, shows it in the chart. */
  open(encode: number, frame: number): void {
    this.lead.value = encode;
    this.pointAt(frame);
    const columns = this.#encodes.list[encode]?.columns;
    if (!columns || !this.canOpen(encode)) return;
    // Where others have frames, this encode may have none.
    const within = Math.min(columns.last, Math.max(columns.first, frame));
    this.#session.cursor.value = { encode, frame: within - columns.shift };
  }
}
