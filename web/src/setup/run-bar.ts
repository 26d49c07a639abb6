/**
 * @module web/setup/run-bar
 * The button that starts a run, its progress and its outcome.
 */
import type { Progress } from 'anyvmaf';
import { timeText } from 'anyvmaf/view';
import { announce, button, fill, h } from '../dom.js';
import { BEAT, spaced } from '../schedule.js';
import { type ActiveRun, isActive, type Run, type Session } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import { fetched } from './decoder.js';
import { failureView, failureWords, sentence } from './failure.js';
import { keptResults, missing, type Runner, unreadable } from './score.js';

export function runBar(session: Session, runner: Runner): HTMLElement {
  const start = () => runner.start();
  const idle = startButton(session, start);
  const busy = progressBar(session, runner);
  const outcome = h('div', { class: 'outcome' });
  let before: Run = session.run.value;
  const show = (run: Run) => {
    const wasActive = isActive(before);
    before = run;
    busy.element.hidden = !isActive(run);
    idle.update();
    if (isActive(run)) {
      if (!wasActive) busy.begin();
      busy.show(run);
      if (wasActive) return;
      // Move the focus from the start button to the button that replaces it.
      const focused = document.activeElement;
      if (focused === document.body || focused === idle.button) busy.pause.focus();
      fill(outcome);
      return;
    }
    document.title = text.title;
    if (!wasActive) return;
    const inside = busy.element.contains(document.activeElement);
    fill(outcome, ...outcomeOf(run, session, busy.end(), start));
    if (inside || document.activeElement === document.body) idle.button.focus({ preventScroll: true });
    if (run.phase === 'done') announce(text.run.finished);
  };
  const showSoon = spaced(
    () => show(session.run.value),
    BEAT,
    () => true,
  );
  session.run.watch((run) => {
    if (run.phase === 'running' && before.phase === 'running') showSoon();
    else show(run);
  });
  fetched.watch(() => {
    if (isActive(session.run.value)) show(session.run.value);
  });
  session.runsAsked.watch((asked) => {
    if (asked > 0) start();
  });
  const ask = (event: Event) => event.preventDefault();
  const guard = () => {
    const loses = isActive(session.run.value) || session.unsaved.value;
    (loses ? addEventListener : removeEventListener)('beforeunload', ask);
  };
  for (const cell of [session.run, session.unsaved]) cell.watch(guard);
  return made(
    html`<section class="runner" aria-label=${text.run.section}>${[outcome, idle.element, busy.element]}</section>`,
  );
}

function startButton(session: Session, start: () => void) {
  const go = h('button', { class: 'primary', type: 'button', onclick: start });
  const hint = h('p', { class: 'soft small', id: 'run-hint' });
  const element = h('div', { class: 'go' }, go, hint);
  const update = () => {
    const lacks = missing(session);
    const failure = lacks ? null : unreadable(session);
    go.disabled = lacks !== null || failure !== null || session.reading.value;
    const { need, needReference, needDistorted, needRaw } = text.run;
    const needs = { both: need, reference: needReference, distorted: needDistorted, raw: needRaw };
    fill(hint, lacks ? needs[lacks] : failure && text.run.unreadable(sentence(failureWords(failure))));
    hint.hidden = lacks === null && failure === null;
    fill(go, startText(session));
    element.hidden = isActive(session.run.value) || lacks === 'both';
  };
  const { reference, distorted, raw, tiny, inspections, reading, settings, kept } = session;
  for (const cell of [reference, distorted, raw, tiny, inspections, reading, settings, kept])
    cell.watch(update);
  return { element, button: go, update };
}

/** The label: scores all, all again, or encodes without a result. */
function startText(session: Session): string {
  const { score, scoreAgain, scoreSome } = text.run;
  const all = keptResults(session);
  const count = all.filter((result) => !result).length;
  const shown = session.results.value.map(({ scored }) => scored?.distorted);
  if (count > 0 && count < all.length) {
    return scoreSome(
      count,
      session.distorted.value.every(({ file }, i) => all[i] || !shown.includes(file)),
    );
  }
  // Other videos than those of the results.
  if (count > 0 && shown.length > 0 && !session.distorted.value.some(({ file }) => shown.includes(file)))
    return score;
  return session.kept.value.length > 0 || session.run.value.phase !== 'idle' ? scoreAgain : score;
}

function progressBar(session: Session, runner: Runner) {
  const filled = h('i');
  const meter = made(
    html`<div class="meter" role="progressbar" aria-label=${text.run.progress} aria-valuemin="0" aria-valuemax="100">${filled}</div>`,
  );
  const figures = h('p', { class: 'figures' });
  const pause = button({ onclick: () => runner.pause(session.run.value.phase === 'running') });
  const cancel = button({ onclick: () => runner.cancel() }, text.run.cancel);
  const line = h('div', { class: 'busy-line' }, figures, h('div', { class: 'tools' }, pause, cancel));
  let watch = new Stopwatch();
  let speed = new Speed();
  let announced = 0;
  return {
    element: h('div', { class: 'busy-bar' }, line, meter),
    pause,
    begin() {
      watch = new Stopwatch();
      speed = new Speed();
      announced = 0;
      announce(text.run.started);
    },
    /** @returns seconds of the run */
    end(): number {
      const now = performance.now();
      watch.run(false, now);
      return watch.seconds(now);
    },
    show(run: ActiveRun) {
      const now = performance.now();
      watch.run(run.phase === 'running', now);
      const sum = sumProgress(run.progress);
      const part = sum.total ? Math.min(1, sum.done / sum.total) : null;
      const percent = part === null ? null : Math.floor(part * 100);
      meter.classList.toggle('unknown', part === null && run.phase === 'running');
      filled.style.transform = `scaleX(${part ?? 0})`;
      if (percent === null) meter.removeAttribute('aria-valuenow');
      else meter.setAttribute('aria-valuenow', String(percent));
      fill(figures, ...figuresOf(run, sum, speed.at(sum.done, watch.seconds(now))));
      fill(pause, run.phase === 'paused' ? text.run.resume : text.run.pause);
      if (percent !== null && percent >= announced + 25 && percent < 100) {
        announced = percent - (percent % 25);
        announce(text.run.announce(announced));
      }
      document.title = percent === null ? text.title : `${percent} % – ${text.title}`;
    },
  };
}

function figuresOf({ phase }: ActiveRun, { done, total }: Sum, rate: number | undefined): HTMLElement[] {
  const { paused, preparing, frames, fps, left } = text.run;
  const opening = fetched.value ? text.setup.fetchingDecoder(fetched.value.megabytes) : preparing;
  const texts = [done === 0 ? opening : frames(done, total)];
  if (rate && phase === 'running') {
    texts.push(fps(rate.toFixed(rate >= 10 ? 0 : 1)));
    if (total !== null) texts.push(left(timeText((total - done) / rate, 0)));
  }
  return [...(phase === 'paused' ? [h('b', {}, paused)] : []), ...texts.map((words) => h('span', {}, words))];
}

function outcomeOf(run: Run, session: Session, seconds: number, retry: () => void): HTMLElement[] {
  switch (run.phase) {
    case 'failed':
      return [failureView(run.failure, session, retry)];
    case 'done': {
      const took = text.run.done(seconds < 10 ? `${seconds.toFixed(1)} s` : timeText(seconds, 0));
      return [
        ...run.failures.map((failure) => failureView(failure, session, retry)),
        h('p', { class: 'soft small' }, took),
      ];
    }
    case 'cancelled': {
      // Earlier results of the same videos and settings return.
      const isWhole = !keptResults(session).includes(undefined);
      const some = session.results.value.some(({ frames }) => frames.length > 0);
      const { cancelled, cancelledAgain, cancelledEarly } = text.run;
      const message = isWhole ? cancelledAgain : some ? cancelled : cancelledEarly;
      return [h('p', { class: 'soft small', role: 'status' }, message)];
    }
    default:
      return [];
  }
}

// --- progress and speed, without pauses ---

/** Frames over all encodes of a run. */
export interface Sum {
  readonly done: number;
  /** `null` while an encode's length is unknown. */
  readonly total: number | null;
}

export function sumProgress(progress: readonly (Progress | null)[]): Sum {
  let done = 0;
  let total: number | null = 0;
  for (const part of progress) {
    done += part?.framesDone ?? 0;
    total = total === null || part === null || part.framesTotal === null ? null : total + part.framesTotal;
  }
  return { done, total };
}

/** Seconds of measuring before the speed is shown. */
const MIN_SECONDS = 1;

/** Frames per second since the first frames, without the time to open files and start workers. */
export class Speed {
  #first: { readonly done: number; readonly seconds: number } | undefined;

  /** @param seconds of the run so far, without pauses @returns `undefined` until enough was measured */
  at(done: number, seconds: number): number | undefined {
    if (done > 0) this.#first ??= { done, seconds };
    if (!this.#first || seconds - this.#first.seconds < MIN_SECONDS) return undefined;
    return (done - this.#first.done) / (seconds - this.#first.seconds);
  }
}

/** Excludes pauses. */
export class Stopwatch {
  #active = 0;
  #since: number | null = null;

  /** @param now in milliseconds */
  run(running: boolean, now: number): void {
    if (running) this.#since ??= now;
    else if (this.#since !== null) {
      this.#active += now - this.#since;
      this.#since = null;
    }
  }

  seconds(now: number): number {
    return (this.#active + (this.#since === null ? 0 : now - this.#since)) / 1000;
  }
}
