/**
 * @module report/html/viewer
 * The page's script: charts that can be hovered and zoomed. It runs in the page, as `report/html/viewer-script` holds it.
 */
import { nearestFrame, pinchFactor, searchFrame, zoomedBy, zoomedTo } from '../view/frames.js';
import { timeText, shortText as valueText } from '../view/numbers.js';
import { extentOf, frameTicks, ticks, valueRange } from '../view/scales.js';

/** What the script element `data` holds, as JSON. */
interface ViewerData {
  /** Frames per second of the reference, for times; `null` where unknown. */
  readonly rate: number | null;
  /** Reference frames before 0 on the frame axis. */
  readonly skipped: number;
  /** The metric that is a score. */
  readonly score: string | null;
  /** Whether encodes begin on different frames of the reference, so that frame numbers are the reference's. */
  readonly apart: boolean;
  readonly runs: readonly ViewerRun[];
}

/** One encode. */
export interface ViewerRun {
  readonly name: string;
  readonly frames:
    | { readonly first: number; readonly step: number; readonly count: number }
    | { readonly gaps: readonly number[] };
  /** As `pack.ts` packs them, by metric. */
  readonly metrics: Readonly<
    Record<
      string,
      { readonly low: number; readonly high: number; readonly bytes: 2 | 3; readonly data: string }
    >
  >;
}

const { rate, skipped, score, apart, runs }: ViewerData = JSON.parse(
  document.getElementById('data')?.textContent ?? '',
);

// --- data ---

interface Line {
  readonly frames: ArrayLike<number>;
  readonly values: Float64Array;
}

const frameNumbers = runs.map(({ frames }) => {
  if ('gaps' in frames) {
    let at = -1;
    return Float64Array.from(frames.gaps, (gap) => {
      at += gap;
      return at;
    });
  }
  return Float64Array.from({ length: frames.count }, (_, i) => frames.first + i * frames.step);
});
const unpacked = new Map<string, (Line | undefined)[]>();

/** The values of a metric for every run, unpacked when first asked for. */
function linesOf(metric: string): (Line | undefined)[] {
  const known = unpacked.get(metric);
  if (known) return known;
  const lines = runs.map(({ metrics }, run): Line | undefined => {
    const packed = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
    const frames = frameNumbers[run];
    if (!packed || !frames) return undefined;
    const { low, high, bytes, data } = packed;
    const text = atob(data);
    const top = 2 ** (8 * bytes) - 2;
    const values = new Float64Array(text.length / bytes);
    for (let i = 0, at = 0; i < values.length; i++) {
      let code = 0;
      for (let b = 0; b < bytes; b++) code = code * 256 + text.charCodeAt(at++);
      values[i] = code > top ? Number.NaN : low + (code * (high - low)) / top;
    }
    return { frames, values };
  });
  unpacked.set(metric, lines);
  return lines;
}

const firstFrame = Math.min(...frameNumbers.map((frames) => frames[0] ?? 0));
const lastFrame = Math.max(firstFrame + 1, ...frameNumbers.map((frames) => frames.at(-1) ?? 0));
const longest = Math.max(...frameNumbers.map((frames) => frames.length));
// --- state, shared by all charts ---

const shown = runs.map(() => true);
let view: [number, number] = [firstFrame, lastFrame];
let cursor: number | undefined;
let selection: [number, number] | undefined;

function zoomTo(from: number, to: number): void {
  view = zoomedTo([from, to], [firstFrame, lastFrame], longest);
  redraw();
}

function zoomBy(factor: number, around = (view[0] + view[1]) / 2): void {
  zoomTo(...zoomedBy(view, factor, around));
}

// --- charts ---

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Chart {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly metric: string;
  readonly kind: 'big' | 'tiny' | 'map';
  /** Where the values are drawn, in CSS pixels. */
  box: Box;
  seen: boolean;
}

const charts: Chart[] = [];
const style = getComputedStyle(document.documentElement);
const colour = (name: string): string => style.getPropertyValue(name).trim();
const seriesColour = (run: number): string => colour(`--s${run % 8}`);

/** What a chart spans upwards: all its values in every run that is shown. */
function rangeOf({ metric, kind }: Chart): [number, number] {
  const packed = runs.map(({ metrics }, run) =>
    shown[run] && Object.hasOwn(metrics, metric) ? metrics[metric] : undefined,
  );
  const extent = extentOf(packed.map((one) => (one ? [one.low, one.high] : [])));
  const isScore = metric === score;
  const least = isScore ? 2 : Math.max(Math.abs(extent?.high ?? 0) / 1000, 1e-6);
  return valueRange(extent, least, isScore && kind === 'big');
}

function draw(chart: Chart): void {
  const { canvas, kind, element } = chart;
  const [width, height] = [element.clientWidth, element.clientHeight];
  if (width === 0 || height === 0) return;
  const density = Math.min(3, window.devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
  }
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  const [low, high] = rangeOf(chart);
  const [from, to] = kind === 'map' ? [firstFrame, lastFrame] : view;
  pen.font = '12px ui-sans-serif, system-ui, sans-serif';
  const box: Box =
    kind === 'map'
      ? { left: 0, top: 4, width, height: height - 8 }
      : kind === 'tiny'
        ? { left: 0, top: 4, width, height: height - 8 }
        : { left: 40, top: 8, width: width - 44, height: height - 34 };
  chart.box = box;
  const x = (frame: number): number => box.left + ((frame - from) / (to - from)) * box.width;
  const y = (value: number): number => box.top + ((high - value) / (high - low)) * box.height;

  if (kind === 'big') grid(pen, box, [from, to], [low, high], x, y);
  if (kind === 'tiny') {
    pen.fillStyle = colour('--grid');
    pen.fillRect(0, height - 1, width, 1);
  }
  pen.save();
  pen.beginPath();
  pen.rect(box.left - 1, 0, box.width + 2, box.top + box.height + 2);
  pen.clip();
  linesOf(chart.metric).forEach((line, run) => {
    if (line && shown[run]) trace(pen, line, run, box, from, to, x, y, kind);
  });
  pen.restore();
  if (kind === 'map') mapWindow(pen, x, width, height);
  else overlay(pen, chart, x, y);
}

function grid(
  pen: CanvasRenderingContext2D,
  box: Box,
  [from, to]: readonly [number, number],
  [low, high]: readonly [number, number],
  x: (frame: number) => number,
  y: (value: number) => number,
): void {
  pen.lineWidth = 1;
  pen.strokeStyle = colour('--grid');
  pen.fillStyle = colour('--faint');
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const value of ticks(low, high, Math.max(2, box.height / 44))) {
    const at = Math.round(y(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(box.left, at);
    pen.lineTo(box.left + box.width, at);
    pen.stroke();
    pen.fillText(String(value), box.left - 8, at);
  }
  pen.textBaseline = 'top';
  pen.textAlign = 'center';
  for (const { frame, label } of frameTicks(
    [from, to],
    Math.max(2, box.width / 90),
    rate ?? undefined,
    skipped,
  )) {
    const half = pen.measureText(label).width / 2;
    const at = x(frame);
    pen.fillRect(Math.round(at), box.top + box.height, 1, 4);
    pen.fillText(
      label,
      Math.min(box.left + box.width + 4 - half, Math.max(half, at)),
      box.top + box.height + 8,
    );
  }
}

/** One line: point by point, or least and greatest of each pixel column where points are denser than pixels. */
function trace(
  pen: CanvasRenderingContext2D,
  { frames, values }: Line,
  run: number,
  box: Box,
  from: number,
  to: number,
  x: (frame: number) => number,
  y: (value: number) => number,
  kind: Chart['kind'],
): void {
  const start = Math.max(0, searchFrame(frames, from) - 1);
  const end = Math.min(frames.length, searchFrame(frames, to) + 2);
  pen.strokeStyle = pen.fillStyle = seriesColour(run);
  pen.lineWidth = kind === 'big' ? 1.6 : 1.2;
  pen.lineJoin = 'round';
  pen.globalAlpha = kind === 'map' ? 0.75 : 1;
  pen.beginPath();
  let down = false;
  const point = (at: number, value: number): void => {
    if (down) pen.lineTo(at, y(value));
    else pen.moveTo(at, y(value));
    down = true;
  };
  if (end - start <= box.width * 2) {
    for (let i = start; i < end; i++) {
      const value = values[i] ?? Number.NaN;
      if (Number.isFinite(value)) point(x(frames[i] ?? 0), value);
      else down = false;
    }
    pen.stroke();
    if (kind === 'big' && end - start < box.width / 7) {
      for (let i = start; i < end; i++) {
        const value = values[i] ?? Number.NaN;
        if (!Number.isFinite(value)) continue;
        pen.beginPath();
        pen.arc(x(frames[i] ?? 0), y(value), 2.4, 0, 7);
        pen.fill();
      }
    }
  } else {
    for (let i = start; i < end; ) {
      const column = Math.floor(x(frames[i] ?? 0));
      let [low, high, lowAt, highAt] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
      for (; i < end && Math.floor(x(frames[i] ?? 0)) === column; i++) {
        const value = values[i] ?? Number.NaN;
        if (value < low) [low, lowAt] = [value, i];
        if (value > high) [high, highAt] = [value, i];
      }
      if (low > high) down = false;
      else for (const value of lowAt <= highAt ? [low, high] : [high, low]) point(column + 0.5, value);
    }
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

/** The part of the map that the charts show. */
function mapWindow(
  pen: CanvasRenderingContext2D,
  x: (frame: number) => number,
  width: number,
  height: number,
): void {
  const [left, right] = [x(view[0]), Math.max(x(view[0]) + 3, x(view[1]))];
  pen.fillStyle = colour('--bg');
  pen.globalAlpha = 0.72;
  pen.fillRect(0, 0, left, height);
  pen.fillRect(right, 0, width - right, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = colour('--faint');
  pen.strokeRect(Math.max(0.5, left), 0.5, Math.min(width - 1, right) - Math.max(0.5, left), height - 1);
}

/** The cursor, and the range that is being dragged. */
function overlay(
  pen: CanvasRenderingContext2D,
  { box, metric }: Chart,
  x: (frame: number) => number,
  y: (value: number) => number,
): void {
  if (selection) {
    const [left, right] = [x(Math.min(...selection)), x(Math.max(...selection))];
    pen.fillStyle = colour('--note');
    pen.globalAlpha = 0.14;
    pen.fillRect(left, box.top, right - left, box.height);
    pen.globalAlpha = 1;
  }
  if (cursor === undefined || cursor < view[0] || cursor > view[1]) return;
  const at = Math.round(x(cursor)) + 0.5;
  pen.strokeStyle = colour('--faint');
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(at, box.top);
  pen.lineTo(at, box.top + box.height);
  pen.stroke();
  linesOf(metric).forEach((line, run) => {
    const value = line && shown[run] ? valueAt(line, cursor ?? 0) : Number.NaN;
    if (!Number.isFinite(value)) return;
    pen.beginPath();
    pen.arc(x(cursor ?? 0), y(value), 4, 0, 7);
    pen.fillStyle = seriesColour(run);
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = colour('--card');
    pen.stroke();
  });
}

function valueAt({ frames, values }: Line, frame: number): number {
  const i = searchFrame(frames, frame);
  return frames[i] === frame ? (values[i] ?? Number.NaN) : Number.NaN;
}

function nearest(position: number): number {
  return nearestFrame(frameNumbers, position) ?? firstFrame;
}

// --- drawing all, at most once per frame of the screen ---

let waiting = false;
function redraw(): void {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const chart of charts) if (chart.seen) draw(chart);
    label();
  });
}

/** Says in words what the cursor is on. */
function label(): void {
  for (const { element, metric, kind } of charts) {
    if (kind !== 'tiny') continue;
    const now = element.parentElement?.querySelector('.now');
    if (!(now instanceof HTMLElement)) continue;
    const values = linesOf(metric).flatMap((line, run) =>
      line && shown[run] && cursor !== undefined ? [valueText(valueAt(line, cursor))] : [],
    );
    now.textContent = cursor === undefined ? (now.dataset.mean ?? '') : values.slice(0, 3).join('  ');
  }
  const reset = document.querySelector('[data-zoom="0"]');
  if (reset instanceof HTMLButtonElement) reset.disabled = view[0] <= firstFrame && view[1] >= lastFrame;
}

const tip = document.createElement('div');
tip.className = 'tip';

function showTip(chart: Chart): void {
  if (cursor === undefined || chart.kind === 'map') {
    tip.style.display = 'none';
    return;
  }
  const head = document.createElement('div');
  const time = rate === null ? '' : `  ·  ${timeText((cursor + skipped) / rate)}`;
  head.textContent = `${apart ? 'reference frame' : 'frame'} ${cursor}${time}`;
  head.className = 'soft';
  const rows = linesOf(chart.metric).flatMap((line, run) => {
    if (!line || !shown[run]) return [];
    const row = document.createElement('div');
    const swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.setProperty('--c', seriesColour(run));
    const name = document.createElement('span');
    name.textContent = runs.length > 1 ? (runs[run]?.name ?? '') : chart.metric;
    const value = document.createElement('b');
    value.textContent = valueText(valueAt(line, cursor ?? 0));
    row.append(swatch, name, value);
    return [row];
  });
  tip.replaceChildren(head, ...rows);
  chart.element.append(tip);
  tip.style.display = 'block';
  const { left, width } = chart.box;
  const at = left + ((cursor - view[0]) / (view[1] - view[0])) * width;
  const beyond = at + 16 + tip.offsetWidth > chart.element.clientWidth;
  tip.style.left = `${Math.max(0, beyond ? at - 14 - tip.offsetWidth : at + 14)}px`;
  tip.style.top = chart.kind === 'big' ? '14px' : '-8px';
}

// --- what people do ---

function frameAt(chart: Chart, clientX: number): number {
  const { left, width } = chart.box;
  const [from, to] = chart.kind === 'map' ? [firstFrame, lastFrame] : view;
  const share = (clientX - chart.element.getBoundingClientRect().left - left) / width;
  return from + Math.min(1, Math.max(0, share)) * (to - from);
}

function setCursor(frame: number | undefined, chart?: Chart): void {
  cursor = frame;
  redraw();
  if (chart && frame !== undefined) showTip(chart);
  else tip.style.display = 'none';
}

function listen(chart: Chart): void {
  const { element, kind } = chart;
  const touching = new Map<number, number>();
  let dragFrom: number | undefined;

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    touching.set(event.pointerId, event.clientX);
    if (kind === 'map') {
      const width = view[1] - view[0];
      const at = frameAt(chart, event.clientX);
      dragFrom = at >= view[0] && at <= view[1] ? at - view[0] : width / 2;
      zoomTo(at - dragFrom, at - dragFrom + width);
    } else if (event.pointerType === 'mouse') dragFrom = frameAt(chart, event.clientX);
    if (touching.size > 1) dragFrom = undefined;
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', (event) => {
    const before = touching.get(event.pointerId);
    if (touching.size === 2 && before !== undefined && kind !== 'map') {
      pinch(chart, touching, event);
      return;
    }
    const at = frameAt(chart, event.clientX);
    if (kind === 'map') {
      if (dragFrom !== undefined) zoomTo(at - dragFrom, at - dragFrom + view[1] - view[0]);
      return;
    }
    if (dragFrom !== undefined && before !== undefined && Math.abs(event.clientX - before) > 4)
      selection = [dragFrom, at];
    setCursor(nearest(at), chart);
  });
  const end = (event: PointerEvent): void => {
    touching.delete(event.pointerId);
    dragFrom = undefined;
    if (!selection) return;
    const [a, b] = selection;
    selection = undefined;
    zoomTo(Math.min(a, b), Math.max(a, b));
  };
  element.addEventListener('pointerup', end);
  element.addEventListener('pointercancel', end);
  element.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse' && !selection) setCursor(undefined);
  });
  element.addEventListener('dblclick', () => zoomTo(firstFrame, lastFrame));
  element.addEventListener(
    'wheel',
    (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!(event.ctrlKey || event.metaKey || sideways)) return;
      event.preventDefault();
      const width = view[1] - view[0];
      const shift = (event.deltaX / element.clientWidth) * width;
      if (sideways) zoomTo(view[0] + shift, view[1] + shift);
      else zoomBy(2 ** (event.deltaY / 120), frameAt(chart, event.clientX));
    },
    { passive: false },
  );
  if (kind !== 'big') return;
  element.addEventListener('keydown', (event) => {
    const step = event.shiftKey ? 10 : 1;
    const at = cursor ?? nearest((view[0] + view[1]) / 2);
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const stride = Math.max(1, (lastFrame - firstFrame) / Math.max(1, longest - 1)) * step;
      setCursor(nearest(at + (event.key === 'ArrowRight' ? stride : -stride)), chart);
      if (cursor !== undefined && (cursor < view[0] || cursor > view[1])) {
        const half = (view[1] - view[0]) / 2;
        zoomTo(cursor - half, cursor + half);
      }
    } else if (event.key === '+' || event.key === '=') zoomBy(0.5, at);
    else if (event.key === '-') zoomBy(2, at);
    else if (event.key === '0' || event.key === 'Escape') zoomTo(firstFrame, lastFrame);
    else return;
    event.preventDefault();
  });
}

function pinch(chart: Chart, touching: Map<number, number>, event: PointerEvent): void {
  const before = [...touching.values()];
  touching.set(event.pointerId, event.clientX);
  const after = [...touching.values()];
  zoomBy(pinchFactor(before, after), frameAt(chart, ((after[0] ?? 0) + (after[1] ?? 0)) / 2));
}

// --- start ---

document.body.classList.add('live');
for (const element of document.querySelectorAll('.chart')) {
  if (!(element instanceof HTMLElement)) continue;
  const kind = element.classList.contains('big') ? 'big' : element.classList.contains('map') ? 'map' : 'tiny';
  const canvas = document.createElement('canvas');
  element.append(canvas);
  const chart: Chart = {
    element,
    canvas,
    metric: element.dataset.metric ?? '',
    kind,
    box: { left: 0, top: 0, width: 1, height: 1 },
    seen: false,
  };
  charts.push(chart);
  listen(chart);
}
// Charts are drawn from when they come into sight: opening a long report costs one chart.
const sight = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const chart = charts.find(({ element }) => element === target);
      if (chart) chart.seen = isIntersecting;
    }
    redraw();
  },
  { rootMargin: '200px' },
);
for (const { element } of charts) sight.observe(element);
new ResizeObserver(redraw).observe(document.documentElement);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

// Those out of sight follow when there is nothing else to do, for printing and pictures of the whole page.
const rest = [...charts];
function drawRest(): void {
  const chart = rest.shift();
  if (!chart) return;
  if (!chart.seen) draw(chart);
  setTimeout(drawRest);
}
setTimeout(drawRest, 200);
window.addEventListener('beforeprint', () => charts.forEach(draw));

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target.closest('button') : null;
  if (!target) return;
  const { zoom, run, frame, theme } = target.dataset;
  if (theme !== undefined) {
    const { dataset } = document.documentElement;
    const dark = dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    dataset.theme = dark === 'dark' ? 'light' : 'dark';
    redraw();
  } else if (zoom !== undefined) {
    if (zoom === '0') zoomTo(firstFrame, lastFrame);
    else zoomBy(zoom === 'in' ? 0.5 : 2, cursor);
  } else if (frame !== undefined) {
    const at = Number(frame);
    const around = rate === null ? 50 : 2 * rate;
    zoomTo(at - around, at + around);
    const big = charts.find(({ kind }) => kind === 'big');
    big?.element.scrollIntoView({ behavior: 'smooth', block: 'center' });
    if (big) draw(big);
    setCursor(nearest(at), big);
  } else if (run !== undefined) {
    const index = Number(run);
    shown[index] = !shown[index];
    target.setAttribute('aria-pressed', String(shown[index]));
    redraw();
  }
});
