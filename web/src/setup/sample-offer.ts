/**
 * @module web/setup/sample-offer
 * The button of the empty page that scores a sample pair.
 */
import { button, fill, h } from '../dom.js';
import type { Session } from '../session.js';
import { text } from '../text.js';
import { announce } from './announce.js';
import type { Runner } from './score.js';

/** There until a file is chosen. */
export function sampleOffer(session: Session, runner: Runner): HTMLElement {
  const said = h('span', { class: 'faint small', role: 'status' }, text.setup.sampleHint);
  const go = button({ onclick: () => begin() }, text.setup.sample);
  const element = h('p', { class: 'sample' }, go, said);

  async function begin(): Promise<void> {
    go.disabled = true;
    fill(go, text.setup.sampleMaking);
    announce(text.setup.sampleMaking);
    try {
      const { chooseSample } = await import('../sample/sample.js');
      if (await chooseSample(session)) runner.start();
      fill(said, text.setup.sampleHint);
    } catch (error) {
      fill(said, text.setup.sampleFailed(error instanceof Error ? error.message : String(error)));
    } finally {
      fill(go, text.setup.sample);
      go.disabled = false;
    }
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
