/**
 * @module report/html/viewer
 * The page's script: charts with hover and zoom. It runs in the page, from `report/html/viewer-script`.
 */
import { FrameChart } from '../view/chart.js';
import { ChartState, type FrameColumns, type FrameEncodes, valueAt } from '../view/chart-state.js';
import { listen, onKey } from '../view/gestures.js';
import { scoreText, shortText, timeText } from '../view/numbers.js';
import type { PackedFrames, PackedMetric } from './page.js';

/** JSON in the script element `data`. */
interface ViewerData {
  /** Frames per second of the reference; `null` if unknown. */
  readonly rate: number | null;
  /** Reference frames before 0 on the frame axis. */
  readonly skipped: number;
  /** The metric that is a score. */
  readonly score: string | null;
  /** Whether encodes begin on different reference frames, so that frame numbers are the reference's. */
  readonly apart: boolean;
  readonly runs: readonly ViewerRun[];
}

export interface ViewerRun {
  readonly name: string;
  readonly frames: PackedFrames;
  readonly metrics: Readonly<Record<string, PackedMetric>>;
}

const json = document.getElementById('data')?.textContent ?? '';
const { rate, skipped, score, apart, runs }: ViewerData = JSON.parse(json);

function packedIn({ metrics }: ViewerRun, metric: string): PackedMetric | undefined {
  return Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
}

function columnsOf(run: ViewerRun): FrameColumns {
  const { frames } = run;
  const unpacked = new Map<string, Float64Array>();
  const packedOf = (metric: string) => packedIn(run, metric);
  return {
    numbers: numbersOf(frames),
    values(metric) {
      const packed = packedOf(metric);
      const values = unpacked.get(metric) ?? (packed && valuesOf(packed));
      if (values) unpacked.set(metric, values);
      return values;
    },
    extent(metric) {
      const packed = packedOf(metric);
      return packed && [packed.low, packed.high];
    },
  };
}

function numbersOf(frames: PackedFrames): Float64Array {
  if (!('gaps' in frames))
    return Float64Array.from({ length: frames.count }, (_, i) => frames.first + i * frames.step);
  let at = -1;
  return Float64Array.from(frames.gaps, (gap) => {
    at += gap;
    return at;
  });
}

function valuesOf({ low, high, bytes, data }: PackedMetric): Float64Array {
  const text = atob(data);
  const top = 2 ** (8 * bytes) - 2;
  const values = new Float64Array(text.length / bytes);
  for (let i = 0, at = 0; i < values.length; i++) {
    let code = 0;
    for (let b = 0; b < bytes; b++) code = code * 256 + text.charCodeAt(at++);
    values[i] = code > top ? Number.NaN : low + (code * (high - low)) / top;
  }
  return values;
}

const list = runs.map((run, index) => ({ index, name: run.name, columns: columnsOf(run) }));
const first = Math.min(...list.map(({ columns }) => columns.numbers[0] ?? 0));
const encodes: FrameEncodes = {
  list,
  span: [first, Math.max(first + 1, ...list.map(({ columns }) => columns.numbers.at(-1) ?? 0))],
  rate: rate ?? undefined,
  origin: skipped,
  coming: false,
  isScore: (metric) => metric === score,
  said(frame) {
    const time = rate === null ? '' : `  ·  ${timeText((frame + skipped) / rate)}`;
    return `${apart ? 'reference frame' : 'frame'} ${frame}${time}`;
  },
  meanOf: (index, metric) => {
    const run = runs[index];
    return (run && packedIn(run, metric)?.mean) ?? undefined;
  },
  valueText: (metric, value) => (metric === score ? scoreText(value) : shortText(value)),
};
const state = new ChartState(encodes);

state.moments.value = [...document.querySelectorAll<HTMLElement>('[data-frame]')].map(({ dataset }) => ({
  encode: Number(dataset.of),
  frame: Number(dataset.frame),
}));

const soon = (work: () => void) => requestAnimationFrame(work);
const CLASSES = { big: 'large', map: 'map', tiny: 'small' } as const;

document.body.classList.add('live');
const charts = Object.entries(CLASSES).flatMap(([name, kind]) =>
  [...document.querySelectorAll<HTMLElement>(`.chart.${name}`)].map((element) => {
    const chart = new FrameChart(element, state, kind, element.dataset.metric ?? '', soon);
    listen(chart);
    return chart;
  }),
);
const [big] = charts;
if (big?.kind === 'large') big.element.addEventListener('keydown', (event) => onKey(event, state));

/** Shows values of the frame pointed at beside the name of each small chart. */
state.pointed.watch((frame) => {
  for (const { element, metric } of charts) {
    const now = element.parentElement?.querySelector<HTMLElement>('.now');
    if (!now) continue;
    const values = state.visible.filter(({ columns }) => columns.values(metric)).slice(0, 3);
    now.textContent =
      frame === null
        ? (now.dataset.mean ?? '')
        : values.map((encode) => shortText(valueAt(encode, metric, frame))).join('  ');
  }
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const chart of charts) chart.update();
});
const folds = [...document.querySelectorAll<HTMLDetailsElement>('.fold > details, .found')];
for (const fold of folds) fold.open = false;
const root = document.documentElement;
let theme: string | undefined;
addEventListener('beforeprint', () => {
  theme = root.dataset.theme;
  root.dataset.theme = 'light';
  root.classList.add('paper');
  for (const fold of folds) fold.open = true;
  for (const chart of charts) chart.complete();
});
addEventListener('afterprint', () => {
  root.classList.remove('paper');
  if (theme === undefined) delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const chart of charts) chart.complete();
});

const stage = document.querySelector<HTMLElement>('.split');

/** Updates the caption; starts or stops blinking. */
function updateStage(): void {
  if (!stage) return;
  const pressed = stage.querySelector<HTMLElement>('[data-view][aria-pressed=true]');
  const { view, moment } = stage.dataset;
  stage.classList.toggle('other', false);
  const caption = stage.querySelector('figcaption');
  if (caption) caption.textContent = `${moment}: ${pressed?.dataset.hint}`;
  clearInterval(blinking);
  // With reduced motion, each press of Blink shows the other picture.
  if (view === 'blink' && !matchMedia('(prefers-reduced-motion: reduce)').matches)
    blinking = setInterval(() => stage.classList.toggle('other'), BLINK);
}

/** Milliseconds per picture. */
const BLINK = 600;
let blinking: ReturnType<typeof setInterval> | undefined;

/** Switches the view; Blink again shows the other picture. */
function showAs(button: HTMLElement): void {
  const { view } = button.dataset;
  if (!stage || view === undefined) return;
  if (view === 'blink' && stage.dataset.view === view) {
    stage.classList.toggle('other');
    return;
  }
  stage.dataset.view = view;
  for (const other of stage.querySelectorAll<HTMLElement>('button'))
    other.setAttribute('aria-pressed', String(other === button));
  updateStage();
}

function showMoment(moment: Element | null): void {
  const shots = [...(moment?.querySelectorAll<HTMLImageElement>('.shot img') ?? [])];
  if (!stage || shots.length < 2) return;
  const { frame, of } = (moment as HTMLElement).dataset;
  const name = list.length > 1 ? `${list[Number(of)]?.name}, ` : '';
  stage.querySelector('.pictures')?.replaceChildren(...shots.map((shot) => shot.cloneNode()));
  stage.dataset.moment = `${name}${encodes.said(Number(frame))}`;
  updateStage();
}
showMoment(document.querySelector('[data-frame]:has(.shot)'));
stage?.querySelector('input')?.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement) stage.style.setProperty('--at', `${target.value}%`);
});

const reset = document.querySelector<HTMLButtonElement>('[data-zoom="0"]');
state.zoom.watch((zoom) => {
  if (reset) reset.disabled = zoom === null;
});
state.shown.watch((shown) => {
  for (const button of document.querySelectorAll<HTMLElement>('[data-run]'))
    button.setAttribute('aria-pressed', String(shown[Number(button.dataset.run)]));
});

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target.closest('button') : null;
  if (!target) return;
  const { zoom, run, frame, theme, view } = target.dataset;
  if (theme !== undefined) {
    const { dataset } = root;
    const dark = dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    dataset.theme = dark === 'dark' ? 'light' : 'dark';
  } else if (view !== undefined) showAs(target);
  else if (zoom === '0') state.zoom.value = null;
  else if (zoom !== undefined) state.zoomBy(zoom === 'in' ? 0.5 : 2);
  else if (run !== undefined) state.toggle(Number(run));
  else if (frame !== undefined) {
    showMoment(target);
    // A click on pictures does not scroll to the chart.
    if ((event.target as Element).closest('.shots')) return stage?.scrollIntoView({ block: 'nearest' });
    const at = Number(frame);
    const around = rate === null ? 50 : 2 * rate;
    state.zoomTo(at - around, at + around);
    big?.element.scrollIntoView({ behavior: 'smooth', block: 'center' });
    state.pointAt(state.nearest(at));
  }
});
