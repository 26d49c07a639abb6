/**
 * @module web/setup/sample-offer
 * The button on the empty page that scores a sample pair.
 */

import { announce, button, fill, h } from '../dom.js';
import { messageOf } from '../engine/calls.js';
import type { Session } from '../session.js';
import { text } from '../text.js';
import type { Runner } from './score.js';

/** Shown until a file is chosen. */
export function sampleOffer(session: Session, runner: Runner): HTMLElement {
  const status = h('span', { class: 'faint small', role: 'status' }, text.setup.sampleHint);
  const go = button({ onclick: () => begin() }, text.setup.sample);
  const element = h('p', { class: 'sample' }, go, status);

  async function begin(): Promise<void> {
    go.disabled = true;
    fill(go, text.setup.sampleMaking);
    announce(text.setup.sampleMaking);
    try {
      const { chooseSample } = await import('../sample/sample.js');
      // The page works without the tour.
      if (await chooseSample(session)) showTour(runner.start()).catch(() => {});
      fill(status, text.setup.sampleHint);
    } catch (error) {
      fill(status, text.setup.sampleFailed(messageOf(error)));
    } finally {
      fill(go, text.setup.sample);
      go.disabled = false;
    }
  }

  /** Shows the tour after a successful run. */
  async function showTour(run: Promise<void>): Promise<void> {
    const { tour } = await import('../sample/sample.js');
    await run;
    if (session.run.value.phase === 'done') tour(session);
  }

  const show = () => {
    element.hidden =
      session.reference.value !== null ||
      session.distorted.value.length > 0 ||
      session.results.value.length > 0;
  };
  for (const cell of [session.reference, session.distorted, session.results]) cell.watch(show);
  return element;
}
