/**
 * @module scripts/lib/bench-viewer
 * Cost of viewing a long video on the page: opening the viewer, seeking, playing, and panning the chart.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { loadBuilt } from './project.mjs';

const SECONDS = 1000;
/** Time limit for page states, for busy machines. */
export const PATIENCE = 300 * SECONDS;
/** Pairs of a long film that are scored before its viewer is opened. */
const SCORED = 48;
/** Milliseconds after which a closed viewer has released its files. */
const LET_GO = 21 * SECONDS;
/** Times the viewer is opened with closed files. */
const OPENINGS = 3;
/** Jumps; the first does not count. */
const JUMPS = 13;
/** Seconds of playing and of panning the chart. */
const PLAYED = 6;
const MOVED = 4;

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
export const spread = (values, digits = 0) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} - ${Math.max(...values).toFixed(digits)})`;

/**
 * In the page: makes its engine score only the first pairs and report all. Scoring an hour would take hours, and does
 * not change the viewer.
 */
function shorten({ scored, total }) {
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url, options) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        if (data?.event?.kind === 'report') data.event.report.frameCount = total;
      });
    }
    postMessage(message, transfer) {
      const range = { start: 0, end: scored - 1, unit: 'frames' };
      if (message?.name === 'score')
        message.argument.options = message.argument.options.map((one) => ({ ...one, range }));
      super.postMessage(message, transfer ?? []);
    }
  };
}

/** In the page: measures milliseconds until a frame is shown. */
function watchFrames() {
  window.untilShown = (act, wanted) =>
    new Promise((resolve) => {
      const begun = performance.now();
      const look = () => {
        const { frame } = document.querySelector('dialog[open]')?.dataset ?? {};
        if (frame === undefined || (wanted !== undefined && frame !== String(wanted))) return;
        observer.disconnect();
        // Including the paint of its picture.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { subtree: true, childList: true, attributes: true });
      act();
    });
  window.jumpTo = (frame) =>
    window.untilShown(() => {
      const input = document.querySelector('dialog input[type=number]');
      input.value = String(frame);
      input.dispatchEvent(new Event('change'));
    }, frame);
}

/** Calls back with the served page in its own window. */
export async function withPage({ browser, url }, prepare, use) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.addInitScript(watchFrames);
    await prepare(page);
    await page.goto(url);
    return await use(page, context);
  } finally {
    await context.close();
  }
}

/** Chooses files by path, which no protocol has to transfer. */
export async function choose(page, context, selector, ...files) {
  const session = await context.newCDPSession(page);
  const { root } = await session.send('DOM.getDocument');
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector });
  await session.send('DOM.setFileInputFiles', { nodeId, files });
  await session.detach();
}

async function scored(page, context, files) {
  await choose(page, context, '#pick-reference', files.reference);
  await choose(page, context, '#pick-distorted', files.distorted);
  await page.waitForSelector('#findings .fine, #findings .finding');
  await page.locator('button.primary').click();
  await page.getByText(/^Done in/).waitFor();
  // Pictures of moments read the same files, after the run.
  await page.locator('.moments:not([aria-busy]) .shot canvas').first().waitFor();
  await pause(3 * SECONDS);
}

/** Opens the viewer of a film of `total` frames, and seeks. */
function lookAround(place, files, total) {
  return withPage(
    place,
    (page) => page.addInitScript(shorten, { scored: SCORED, total }),
    async (page, context) => {
      await scored(page, context, files);
      const openings = [];
      for (let i = 0; i < OPENINGS; i++) {
        openings.push(
          await page.evaluate(
            (n) =>
              window.untilShown(() => {
                const moments = document.querySelectorAll('.moments li button');
                moments[n % moments.length].click();
              }),
            i,
          ),
        );
        if (i === OPENINGS - 1) break;
        await page.keyboard.press('Escape');
        await pause(LET_GO);
      }
      const jumps = [];
      for (let i = 0; i < JUMPS; i++) {
        // Scattered, never twice near the same place.
        const frame = Math.floor(total * ((0.381966 * (i + 1) + 0.05) % 1));
        jumps.push(await page.evaluate((at) => window.jumpTo(at), frame));
        // Meanwhile, neighbours are prefetched.
        await pause(1.5 * SECONDS);
      }
      return { openings, first: jumps[0], jumps: jumps.slice(1) };
    },
  );
}

/** Pictures per second while a film plays from its start, and film frames that passed. */
function play(place, files) {
  return withPage(
    place,
    async () => {},
    async (page, context) => {
      await scored(page, context, files);
      await page.evaluate(() =>
        window.untilShown(() => document.querySelector('.moments li button').click()),
      );
      await page.evaluate(() => window.jumpTo(0));
      await pause(2 * SECONDS);
      return page.evaluate(async (seconds) => {
        const dialog = document.querySelector('dialog[open]');
        let [pictures, last] = [0, 0];
        const observer = new MutationObserver(() => {
          if (Number(dialog.dataset.frame) === last) return;
          last = Number(dialog.dataset.frame);
          pictures++;
        });
        observer.observe(dialog, { attributeFilter: ['data-frame'] });
        const begun = performance.now();
        document.querySelector('.frames-steps button').click();
        await new Promise((resolve) => {
          const look = () =>
            performance.now() - begun > 1000 * seconds || (last > 0 && !('playing' in dialog.dataset))
              ? resolve()
              : requestAnimationFrame(look);
          look();
        });
        const took = (performance.now() - begun) / 1000;
        return { pictures: pictures / took, frames: last / took };
      }, PLAYED);
    },
  );
}

/**
 * Writes a report with the features of the default model.
 * @param score of each frame
 * @param parts other parts of the report
 */
export async function longReport(path, score, { name = 'encode.mp4', ...parts } = {}) {
  const { buildReport } = await loadBuilt('report/build.js');
  const { formatReport } = await loadBuilt('report/write.js');
  const total = score.length;
  const features = ['adm2', 'motion2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3'];
  const input = {
    container: 'mp4',
    width: 1920,
    height: 1080,
    bitDepth: 8,
    chroma: '420',
    frameCount: total,
    frameRate: { num: 25, den: 1 },
    skipped: 0,
  };
  const options = { disableClip: false, enableTransform: false };
  const names = features.map((name) => `integer_${name}`);
  const report = buildReport({
    version: '0',
    fps: 1,
    reference: { ...input, name: 'master.mp4' },
    distorted: { ...input, name },
    models: [{ name: 'vmaf', source: 'vmaf_v0.6.1', features: names, options }],
    frameNumbers: Array.from(score, (_, i) => i),
    series: [
      ...names.map((name, i) => ({ name, values: score.map((value) => value / (100 + i)) })),
      { name: 'vmaf', values: score },
    ],
    compat: 'libvmaf-3.2',
    backend_requested: 'wasm',
    backend_used: 'wasm',
    implementation: 'simd128',
    threads: 1,
    subsample: 1,
    frameCount: total,
    warnings: [],
    ...parts,
  });
  writeFileSync(path, formatReport(report, 'json'));
}

/** Frames per second while the zoomed chart is panned, with all small charts open below it. */
function moveChart(place, path) {
  return withPage(
    place,
    async () => {},
    async (page) => {
      await page.setInputFiles('#pick-reports', path);
      await page.locator('.moments:not([aria-busy]) button').first().waitFor();
      await page.locator('.inner > summary').click();
      await page.locator('.plot.large[data-last]:not([data-last="0"])').waitFor();
      const slider = page.getByRole('slider', { name: /of every frame/ });
      await slider.scrollIntoViewIfNeeded();
      await slider.focus();
      await page.keyboard.press('Home');
      for (let i = 0; i < 4; i++) await page.keyboard.press('+');
      await pause(SECONDS);
      const map = page.locator('.plot.map');
      // Elements between the chart and its map may push it out of the window.
      await map.scrollIntoViewIfNeeded();
      const place = () => map.locator('.window').evaluate(({ style }) => style.left);
      const before = await place();
      const box = await map.boundingBox();
      const [x, y] = [box.x + 20, box.y + box.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      const times = await page.evaluate(
        async ([left, top, width, seconds]) => {
          const element = document.querySelector('.plot.map');
          const seen = [];
          const begun = performance.now();
          await new Promise((resolve) => {
            const step = (time) => {
              seen.push(time);
              const share = (performance.now() - begun) / (1000 * seconds);
              if (share >= 1) return resolve();
              const clientX = left + share * width * 0.9;
              element.dispatchEvent(
                new PointerEvent('pointermove', { clientX, clientY: top, pointerId: 1, bubbles: true }),
              );
              return requestAnimationFrame(step);
            };
            requestAnimationFrame(step);
          });
          return seen;
        },
        [x, y, box.width, MOVED],
      );
      if ((await place()) === before) throw new Error('the chart did not move');
      await page.mouse.up();
      const gaps = times.slice(1).map((time, i) => time - times[i]);
      return {
        rate: (gaps.length * SECONDS) / (times.at(-1) - times[0]),
        late: gaps.filter((gap) => gap > 25).length,
        longest: Math.max(...gaps),
        count: gaps.length,
      };
    },
  );
}

/**
 * @param place the served page and its browser
 * @param files `film`: a pair of `total` frames; `short`: a 1080p pair of some seconds; `report`: where to write a report
 * @returns rows of a table: what, measured, target
 */
export async function viewerRows(place, { film, short, report, total }) {
  const { openings, first, jumps } = await lookAround(place, film, total);
  console.error(
    `viewer: openings ${openings.map(Math.round)}, jumps ${[first, ...jumps].map(Math.round)} ms`,
  );
  const played = await play(place, short);
  const wave = Float64Array.from({ length: total }, (_, i) => 80 + 12 * Math.sin(i / 999) + (i % 7));
  await longReport(report, wave);
  const moved = await moveChart(place, report);
  return [
    [`opening a frame of ${total}, files closed before, ms`, spread(openings), 'below 1000'],
    ['first jump in these files, ms', first.toFixed(0), ''],
    ['every further jump, ms', spread(jumps), 'below 300'],
    [
      'playing 1080p at 25 frames a second: pictures a second, frames of the film a second',
      `${played.pictures.toFixed(1)}, ${played.frames.toFixed(1)}`,
      '',
    ],
    [
      `moving the chart of ${total} frames: frames a second`,
      `${moved.rate.toFixed(1)}; ${moved.late} of ${moved.count} late, the longest took ${moved.longest.toFixed(0)} ms`,
      '60',
    ],
  ];
}
