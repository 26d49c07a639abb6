/**
 * @module scripts/lib/bench-curves
 * Cost of the curves of many long encodes on the page: opening their reports, then moving, zooming and pointing, alone and with
 * additional lanes below the curve.
 */
import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { choose, longReport, PATIENCE, withPage } from './bench-viewer.mjs';

const SECONDS = 1000;
/** Frames of each encode. */
export const CURVE_FRAMES = 20_000;
/** Seconds of each gesture. */
const MOVED = 4;
/** Milliseconds from which on a task is long. */
const LONG = 50;
/** Seconds of processor time per second below which Chromium counts as quiet. */
const QUIET = 0.15;

/** Gestures by their names in the table: the last one on the whole axis, the others on a quarter of it. */
const GESTURES = {
  drag: 'moving by dragging the map',
  wheel: 'moving by wheel',
  keys: 'moving by Page Up and Page Down',
  point: 'pointing',
  zoom: 'zooming by wheel, sixteenfold and back',
};

/** Scores of an encode: scenes of some seconds, noise that differs by encode, and a few bad frames. */
function scores(encode, encodes) {
  // Park-Miller generator.
  let state = 48_271 * (encode + 1);
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const level = 60 + (36 * encode) / encodes;
  let scene = 0;
  return Float64Array.from({ length: CURVE_FRAMES }, (_, i) => {
    if (i % 120 === 0) scene = 8 * (random() - 0.5);
    const bad = random() < 0.001 ? 20 : 0;
    return Math.min(100, level + scene + 3 * (random() - 0.5) - bad);
  });
}

/** Pairing facts of a report. */
function pairing() {
  const side = {
    decoder: 'mediabunny',
    decodedBy: 'WebCodecs',
    codec: 'h264',
    bitDepth: 8,
    chroma: '420',
    width: 320,
    height: 180,
    conversions: [],
  };
  const none = { count: 0, frames: [] };
  const frames = { policy: 'number', offset: 0, offsetRequested: 0, pairs: CURVE_FRAMES };
  const format = { width: 320, height: 180, bitDepth: 8, chroma: '420', scale: 'bicubic' };
  return {
    reference: side,
    distorted: side,
    ...format,
    frames: { ...frames, missing: none, repeated: none, dropped: none },
  };
}

/** In the page: `gesture` does one step of a gesture per animation frame, and measures. */
function watchGestures() {
  const tasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  window.tasksSince = (since) =>
    tasks.filter(({ startTime }) => startTime >= since).map(({ duration }) => Math.round(duration));

  const plot = document.getElementsByClassName('plot large');
  const map = document.getElementsByClassName('plot map');
  const to = (element, share) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const [x, y] = [left + 40 + share * (width - 60), top + height / 2];
    return { clientX: x, clientY: y, screenX: x, screenY: y, pointerId: 1, bubbles: true };
  };
  const wheel = (deltaX, deltaY) =>
    plot[0].dispatchEvent(
      new WheelEvent('wheel', { ...to(plot[0], 0.4), deltaX, deltaY, bubbles: true, cancelable: true }),
    );
  /** Positions by share of the way, there and back, and by direction. */
  const steps = {
    drag: (share) => map[0].dispatchEvent(new PointerEvent('pointermove', to(map[0], share))),
    point: (share) => plot[0].dispatchEvent(new PointerEvent('pointermove', to(plot[0], share))),
    wheel: (_, forth) => wheel(forth ? 24 : -24, 0),
    zoom: (_, forth) => wheel(0, forth ? -8 : 8),
    keys: (_, forth) =>
      plot[0].dispatchEvent(
        new KeyboardEvent('keydown', { key: forth ? 'PageDown' : 'PageUp', bubbles: true }),
      ),
  };
  window.gesture = async (name, seconds) => {
    const begun = performance.now();
    const times = [];
    await new Promise((resolve) => {
      const step = (time) => {
        times.push(time);
        // There and back, twice.
        const part = ((performance.now() - begun) / (1000 * seconds)) * 4;
        if (part >= 4) return resolve();
        const forth = Math.floor(part) % 2 === 0;
        steps[name](forth ? part % 1 : 1 - (part % 1), forth);
        return requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    });
    // Work that is deferred until the gesture rests counts as part of it.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return { gaps: times.slice(1).map((time, i) => time - times[i]), tasks: window.tasksSince(begun) };
  };
}

/** Waits until Chromium is idle. */
async function quiet({ used }) {
  for (let still = 0; still < 2; ) {
    const before = used();
    await pause(SECONDS);
    still = used() - before < QUIET ? still + 1 : 0;
  }
}

/** Seconds that the page's thread was busy so far, by kind. */
async function busy(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { script: of('ScriptDuration'), all: of('TaskDuration') };
}

const tasksText = (tasks) =>
  tasks.length > 0 ? `${tasks.length}, the longest ${Math.max(...tasks)} ms` : 'none';

/** Performs a gesture, and describes its cost in words. */
async function measure(page, session, name) {
  // Statistics of many encodes stand between the chart and the map.
  await page.locator(name === 'drag' ? '.plot.map' : '.plot.large').scrollIntoViewIfNeeded();
  const held = name === 'drag' && (await page.locator('.plot.map').boundingBox());
  if (held) {
    await page.mouse.move(held.x + 40, held.y + held.height / 2);
    await page.mouse.down();
  }
  const before = await busy(session);
  const { gaps, tasks } = await page.evaluate(
    ([name, seconds]) => window.gesture(name, seconds),
    [name, MOVED],
  );
  const after = await busy(session);
  if (held) await page.mouse.up();
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  const sorted = gaps.toSorted((a, b) => a - b);
  const each = (kind) => (((after[kind] - before[kind]) * SECONDS) / gaps.length).toFixed(1);
  return [
    ((gaps.length * SECONDS) / total).toFixed(1),
    `95 % within ${sorted[Math.floor(0.95 * (gaps.length - 1))].toFixed(0)} ms, the longest ${sorted.at(-1).toFixed(0)} ms`,
    `script ${each('script')} ms of ${each('all')} ms a frame`,
    `tasks over ${LONG} ms: ${tasksText(tasks)}`,
  ].join('; ');
}

/** All gestures, each from the same zoomed part. */
async function gestures(page, session, what) {
  const rows = [];
  const slider = page.getByRole('slider', { name: /of every frame/ });
  for (const [name, words] of Object.entries(GESTURES)) {
    await slider.focus();
    await page.keyboard.press('0');
    await page.keyboard.press('Home');
    if (name !== 'zoom') for (let i = 0; i < 2; i++) await page.keyboard.press('+');
    await pause(SECONDS);
    const measured = await measure(page, session, name);
    console.error(`${what}, ${words}: ${measured}`);
    rows.push([`${what}, ${words}: frames a second`, measured, '60']);
  }
  return rows;
}

/** Opens the reports, and the given videos of one of them. */
async function opened(place, page, context, reports, files) {
  const begun = await page.evaluate(() => performance.now());
  await choose(page, context, '#pick-reports', ...reports);
  await page
    .locator('.legend button')
    .nth(reports.length - 1)
    .waitFor({ state: 'attached' });
  await page.locator('.moments:not([aria-busy]) button').first().waitFor();
  await quiet(place);
  const tasks = await page.evaluate((since) => window.tasksSince(since), begun);
  if (files) {
    await choose(page, context, '#pick-reference', files.reference);
    await choose(page, context, '#pick-distorted', files.distorted);
    await page.locator('.coded .kind').first().waitFor();
    await quiet(place);
  }
  await page.locator('.legend').evaluate((legend) => legend.scrollIntoView({ block: 'start' }));
  const session = await context.newCDPSession(page);
  // Thread time: other load on the machine does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return { session, tasks };
}

/** Adds two metrics below the curve. */
async function addLanes(page) {
  for (const metric of ['integer_adm2', 'integer_motion2'])
    await page.locator('.lane-add select').selectOption(metric);
}

/**
 * @param place the served page and its browser; `used`: seconds of processor time so far
 * @param film a pair of files with as many frames, the videos of the first encode
 * @returns rows of a table: what, measured, target
 */
export async function curveRows(place, { encodes, film, folder }) {
  const names = Array.from({ length: encodes }, (_, i) => `encode-${i + 1}.mp4`);
  const reports = names.map((name) => join(folder, `${name}.json`));
  for (const [i, name] of names.entries())
    await longReport(reports[i], scores(i, encodes), { name, pairing: pairing() });
  // Named as in the reports. The lane of coded frames shows one encode at a time.
  const files = { reference: join(folder, 'master.mp4'), distorted: join(folder, names[0]) };
  for (const side of ['reference', 'distorted']) {
    rmSync(files[side], { force: true });
    linkSync(film[side], files[side]);
  }
  const all = `${encodes} encodes of ${CURVE_FRAMES} frames`;
  const prepare = (page) => {
    page.setDefaultTimeout(PATIENCE);
    return page.addInitScript(watchGestures);
  };
  const saved = await withPage(place, prepare, async (page, context) => {
    const { session, tasks } = await opened(place, page, context, reports);
    console.error(`${all}: tasks of opening ${tasks}`);
    const rows = [[`${all}, opening: tasks over ${LONG} ms`, tasksText(tasks), 'none']];
    rows.push(...(await gestures(page, session, all)));
    await addLanes(page);
    rows.push(...(await gestures(page, session, 'with two lanes')));
    return rows;
  });
  const coded = await withPage(place, prepare, async (page, context) => {
    const { session } = await opened(place, page, context, reports, files);
    await addLanes(page);
    return gestures(page, session, 'with these and coded frames');
  });
  return [...saved, ...coded];
}
