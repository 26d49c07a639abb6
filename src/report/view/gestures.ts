/**
 * @module report/view/gestures
 * Gestures on frame charts: pointer, touch, wheel and keys.
 */
import type { FrameChart } from './chart.js';
import type { ChartState } from './chart-state.js';
import { pinchFactor } from './scales.js';

/** Milliseconds after scrolling elsewhere during which the wheel scrolls the page past a chart. */
const SCROLLING = 300;

/** @returns removes the listeners on `window` */
export function listen(chart: FrameChart): () => void {
  if (chart.kind === 'map') {
    dragWindow(chart);
    return () => {};
  }
  select(chart);
  chart.element.addEventListener('dblclick', () => {
    chart.state.zoom.value = null;
  });
  const stops = [point(chart), zoomByWheel(chart)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Points at frames; two fingers zoom. */
function point(chart: FrameChart): () => void {
  const { element, state } = chart;
  const touches = new Map<number, number>();
  let last: readonly [x: number, y: number] | undefined;
  const remember = ({ screenX, screenY }: PointerEvent) => {
    last = [screenX, screenY];
  };
  // Runs after the chart's own listeners, which compare with the previous event.
  window.addEventListener('pointermove', remember);
  // Browsers also report a pointer at rest when a chart moves below it; such events must not move the pinned frame.
  const rests = ({ type, screenX, screenY }: PointerEvent) =>
    state.pinned && (last ? screenX === last[0] && screenY === last[1] : type === 'pointerleave');
  element.addEventListener('pointerdown', ({ pointerType, pointerId, clientX }) => {
    if (pointerType !== 'mouse') touches.set(pointerId, clientX);
  });
  element.addEventListener('pointermove', (event) => {
    const { pointerId, clientX } = event;
    if (touches.has(pointerId)) {
      const before = [...touches.values()];
      touches.set(pointerId, clientX);
      const after = [...touches.values()];
      if (touches.size === 2) {
        state.zoomBy(pinchFactor(before, after), chart.frameAt(((after[0] ?? 0) + (after[1] ?? 0)) / 2));
        return;
      }
    }
    if (!rests(event)) state.hover(element, state.nearest(chart.frameAt(clientX)));
  });
  const leave = (event: PointerEvent) => {
    touches.delete(event.pointerId);
    if (event.type !== 'pointerleave' || event.pointerType !== 'mouse' || chart.selection) return;
    if (!rests(event)) state.hover(null, null);
  };
  for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const)
    element.addEventListener(name, leave);
  return () => window.removeEventListener('pointermove', remember);
}

/** Zooms to the span that the mouse drags over, and opens the clicked frame. */
function select(chart: FrameChart): void {
  const { element, state } = chart;
  let pressed: { readonly x: number; readonly frame: number } | undefined;
  let held = false;
  element.addEventListener('pointerdown', ({ clientX, button, pointerType }) => {
    pressed = { x: clientX, frame: chart.frameAt(clientX) };
    held = button === 0 && pointerType === 'mouse';
  });
  element.addEventListener('pointermove', ({ clientX, pointerId }) => {
    if (!held || !pressed || (!chart.selection && Math.abs(clientX - pressed.x) <= 4)) return;
    element.setPointerCapture(pointerId);
    const frame = chart.frameAt(clientX);
    chart.selection = [Math.min(pressed.frame, frame), Math.max(pressed.frame, frame)];
  });
  const end = () => {
    held = false;
    const { selection } = chart;
    chart.selection = undefined;
    if (selection) state.zoomTo(...selection);
  };
  for (const name of ['pointerup', 'pointercancel'] as const) element.addEventListener(name, end);
  element.addEventListener('click', ({ clientX, clientY, detail }) => {
    // A drag also ends with a click.
    if (Math.abs(clientX - (pressed?.x ?? clientX)) > 4 || detail > 1) return;
    const frame = state.nearest(chart.frameAt(clientX));
    if (frame !== null) state.open(chart.encodeAt(frame, clientY), frame);
  });
}

/** Drags the window over the map; a press outside centres it on the pointer. */
function dragWindow(chart: FrameChart): void {
  const { element, state } = chart;
  let grip: number | undefined;
  const move = ({ clientX }: PointerEvent) => {
    if (grip === undefined) return;
    const [from, to] = state.span;
    const start = chart.frameAt(clientX) - grip;
    state.zoomTo(start, start + to - from);
  };
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !state.zoom.value) return;
    const [from, to] = state.span;
    const at = chart.frameAt(event.clientX);
    grip = at >= from && at <= to ? at - from : (to - from) / 2;
    move(event);
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', move);
  const end = () => {
    grip = undefined;
  };
  for (const name of ['pointerup', 'pointercancel'] as const) element.addEventListener(name, end);
}

/** Zooms and pans by wheel, unless the page is being scrolled past the chart. */
function zoomByWheel(chart: FrameChart): () => void {
  const { element, state } = chart;
  let last = Number.NEGATIVE_INFINITY;
  const scrolled = ({ target }: WheelEvent) => {
    if (!(target instanceof Node && element.contains(target))) last = performance.now();
  };
  window.addEventListener('wheel', scrolled, { passive: true });
  element.addEventListener(
    'wheel',
    (event) => {
      const { deltaX, deltaY, ctrlKey, metaKey } = event;
      const sideways = Math.abs(deltaX) > Math.abs(deltaY);
      const now = performance.now();
      const scrolling = now - last < SCROLLING;
      if (scrolling) last = now;
      if (!(ctrlKey || metaKey) && (scrolling || (chart.kind !== 'large' && !sideways))) return;
      if (!state.zoom.value && (sideways || deltaY > 0)) return;
      event.preventDefault();
      const [from, to] = state.span;
      const shift = (deltaX / element.clientWidth) * (to - from);
      const factor = 2 ** (Math.sign(deltaY) * Math.min(1, Math.abs(deltaY) / 120));
      if (sideways) state.zoomTo(from + shift, to + shift);
      else state.zoomBy(factor, chart.frameAt(event.clientX));
    },
    { passive: false },
  );
  return () => window.removeEventListener('wheel', scrolled);
}

export function onKey(event: KeyboardEvent, state: ChartState): void {
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  const step = event.shiftKey ? 10 : 1;
  const [from, to] = state.encodes.span;
  const all = () => {
    state.zoom.value = null;
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => state.step(step),
    ArrowLeft: () => state.step(-step),
    ArrowUp: () => state.stepEncode(-1),
    ArrowDown: () => state.stepEncode(1),
    PageUp: () => state.step(-100),
    PageDown: () => state.step(100),
    Home: () => state.pointAt(state.nearest(from)),
    End: () => state.pointAt(state.nearest(to)),
    '+': () => state.zoomBy(0.5),
    '=': () => state.zoomBy(0.5),
    '-': () => state.zoomBy(2),
    '0': all,
    Escape: all,
    Enter: () => {
      if (state.pointed.value !== null) state.open(state.lead.value, state.pointed.value);
    },
  };
  const action = actions[event.key];
  if (!action) return;
  action();
  event.preventDefault();
}
