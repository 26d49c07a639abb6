/**
 * @module web/setup/run-bar
 * The button that starts it all, and how far it is.
 */
import { fill, h } from '../dom.js';
import type { Run, Session } from '../session.js';
import { text } from '../text.js';
import { BEAT, spaced } from '../turns.js';
import { announce } from './announce.js';
import { formatTime } from './facts.js';
import { failureView } from './failure.js';
import { Stopwatch, sumProgress } from './progress.js';
import { missing, type Runner } from './score.js';

/** The bar: a button before and after, progress in between. */
export function runBar(session: Session, runner: Runner): HTMLElement {
  const start = () => {
    runner.start();
  };
  const go = h('button', { class: 'primary', type: 'button', onclick: start }, text.run.score);
  const hint = h('p', { class: 'soft small', id: 'run-hint' });
  const idle = h('div', { class: 'go' }, go, hint);

  const meter = h('div', {
    class: 'meter',
    role: 'progressbar',
    'aria-label': text.run.progress,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
  });
  const filled = h('i');
  meter.append(filled);
  const figures = h('p', { class: 'figures' });
  const hold = h('button', {
    class: 'tool',
    type: 'button',
    onclick: () => runner.hold(session.run.value.phase === 'running'),
  });
  const cancel = h(
    'button',
    { class: 'tool', type: 'button', onclick: () => runner.cancel() },
    text.run.cancel,
  );
  const busy = h(
    'div',
    { class: 'busy-bar' },
    h('div', { class: 'busy-line' }, figures, h('div', { class: 'tools' }, hold, cancel)),
    meter,
  );
  const outcome = h('div', { class: 'outcome' });
  const element = h('section', { class: 'runner', 'aria-label': text.run.section }, outcome, idle, busy);

  let watch = new Stopwatch();
  let told = 0;
  let before: Run['phase'] = 'idle';
  const ready = () => {
    const lacks = missing(session);
    go.disabled = lacks !== null;
    const { need, needReference, needDistorted, needRaw } = text.run;
    const needs = { both: need, reference: needReference, distorted: needDistorted, raw: needRaw };
    fill(hint, lacks ? needs[lacks] : null);
    hint.hidden = lacks === null;
    idle.hidden =
      session.run.value.phase === 'running' || session.run.value.phase === 'paused' || lacks === 'both';
  };
  for (const cell of [session.reference, session.distorted, session.raw, session.tiny]) cell.watch(ready);

  const show = (run: Run) => {
    const now = performance.now();
    const active = run.phase === 'running' || run.phase === 'paused';
    busy.hidden = !active;
    ready();
    if (active) {
      if (before !== 'running' && before !== 'paused') {
        watch = new Stopwatch();
        told = 0;
        announce(text.run.started);
      }
      watch.run(run.phase === 'running', now);
      const { done, total } = sumProgress(run.progress);
      const seconds = watch.seconds(now);
      const fps = seconds > 0 ? done / seconds : 0;
      const part = total === null || total === 0 ? null : Math.min(1, done / total);
      const percent = part === null ? null : Math.floor(part * 100);
      meter.classList.toggle('unknown', part === null && run.phase === 'running');
      filled.style.transform = `scaleX(${part ?? 0})`;
      if (percent === null) meter.removeAttribute('aria-valuenow');
      else meter.setAttribute('aria-valuenow', String(percent));
      fill(
        figures,
        run.phase === 'paused' && h('b', {}, text.run.paused),
        done === 0
          ? h('span', {}, text.run.preparing)
          : h(
              'span',
              {},
              text.run.frames(done.toLocaleString('en'), total === null ? null : total.toLocaleString('en')),
            ),
        done > 0 &&
          run.phase === 'running' &&
          h('span', {}, text.run.fps(fps >= 10 ? fps.toFixed(0) : fps.toFixed(1))),
        done > 0 &&
          total !== null &&
          fps > 0 &&
          run.phase === 'running' &&
          h('span', {}, text.run.left(formatTime((total - done) / fps))),
      );
      fill(hold, run.phase === 'paused' ? text.run.resume : text.run.pause);
      if (percent !== null && percent >= told + 25 && percent < 100) {
        told = percent - (percent % 25);
        announce(text.run.announce(told));
      }
      document.title = percent === null ? text.title : `${percent} % – ${text.title}`;
    } else document.title = text.title;

    if (active && before !== 'running' && before !== 'paused') {
      // Whoever pressed the button finds its successor in its place.
      if (document.activeElement === document.body || document.activeElement === go) hold.focus();
      fill(outcome);
    }
    if (!active && (before === 'running' || before === 'paused')) {
      watch.run(false, now);
      const held = busy.contains(document.activeElement);
      fill(outcome, ...end(run, session, watch.seconds(now), start));
      fill(go, text.run.scoreAgain);
      if (held || document.activeElement === document.body) go.focus({ preventScroll: true });
      if (run.phase === 'done') announce(text.run.finished);
    }
    before = run.phase;
  };
  const showSoon = spaced(
    () => show(session.run.value),
    BEAT,
    () => true,
  );
  session.run.watch((run) => {
    if (run.phase === 'running' && before === 'running') showSoon();
    else show(run);
  });
  addEventListener('beforeunload', (event) => {
    const { phase } = session.run.value;
    if (phase === 'running' || phase === 'paused') event.preventDefault();
  });
  return element;
}

/** What is said of a run that ended. */
function end(run: Run, session: Session, seconds: number, again: () => void): HTMLElement[] {
  switch (run.phase) {
    case 'failed':
      return [failureView(run.failure, session, again)];
    case 'done': {
      const took = text.run.done(seconds < 10 ? `${seconds.toFixed(1)} s` : formatTime(seconds));
      return [
        ...run.failures.map((failure) => failureView(failure, session, again)),
        h('p', { class: 'soft small' }, took),
      ];
    }
    case 'cancelled': {
      const some = session.results.value.some(({ frames }) => frames.length > 0);
      const said = some ? text.run.cancelled : text.run.cancelledEarly;
      return [h('p', { class: 'soft small', role: 'status' }, said)];
    }
    default:
      return [];
  }
}
