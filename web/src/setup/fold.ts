/**
 * @module web/setup/fold
 * Folds the setup into one line during a run and while its result is on show.
 */
import { button, h } from '../dom.js';
import { isActive, type Session } from '../session.js';
import { html, render } from '../templates.js';
import { text } from '../text.js';
import { summary } from './models.js';

/** A run folds the setup; other files, a failed or cancelled run, the button and Back unfold it. */
export function foldedSetup(session: Session, parts: readonly HTMLElement[]): HTMLElement {
  const setup = h('div', { class: 'setup', id: 'setup' }, ...parts);
  const label = h('p', { class: 'setup-what' });
  const controls = { 'aria-expanded': 'false', 'aria-controls': 'setup' };
  const change = button({ ...controls, onclick: unfold }, text.setup.change);
  const line = h('div', { class: 'setup-line' }, label, change);
  const fold = (folded: boolean, byHand = false) => {
    setup.hidden = folded;
    line.hidden = !folded;
    document.body.classList.toggle('folded', folded);
    if (!byHand) return;
    const first = setup.querySelector<HTMLElement>('.slot-distorted .pick');
    first?.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  };
  /** The history is at the entry of the results. */
  let atResults = false;
  /** Goes back if the results have an entry in the history. */
  function unfold(): void {
    if (atResults && !history.state?.report) history.back();
    else fold(false, true);
  }
  addEventListener('popstate', () => {
    const before = atResults;
    atResults = Boolean(history.state?.results);
    if (atResults !== before && !isActive(session.run.value))
      fold(atResults && session.results.value.length > 0, !atResults);
  });
  const describe = () => {
    const [only, ...others] = session.distorted.value;
    const encodes = only && others.length === 0 ? only.file.name : text.setup.encodes(others.length + 1);
    const reference = session.reference.value?.file.name;
    const settings = summary(session.settings.value).join(' · ');
    label.title = [session.reference.value, ...session.distorted.value]
      .flatMap((chosen) => chosen?.file.name ?? [])
      .join('\n');
    const pair = reference === undefined ? encodes : `${reference} → ${encodes}`;
    render(html`<b>${pair}</b><span class="soft small">${settings}</span>`, label);
  };
  for (const cell of [session.reference, session.distorted, session.settings]) cell.watch(describe);
  for (const cell of [session.reference, session.distorted]) cell.watch(() => fold(false));
  session.watchPhase((phase, before) => {
    change.disabled = isActive(session.run.value);
    if (phase === 'running' && before !== 'paused') {
      fold(true);
      if (!atResults || history.state?.report) history.pushState({ results: true }, '');
      atResults = true;
    } else if (phase === 'failed' || phase === 'cancelled') fold(false);
  });
  return h('div', { class: 'setting-up' }, setup, line);
}
