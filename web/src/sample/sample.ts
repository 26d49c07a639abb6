/**
 * @module web/sample
 * A sample pair made in the browser, chosen and scored with one click, and four steps through its result in a floating
 * card, shown until left once.
 */
import './tour.css';
import { button, fill, h, storedText, storeText } from '../dom.js';
import { Remote } from '../engine/calls.js';
import type { Session } from '../session.js';
import { addFiles, samples } from '../setup/files.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import type { Sampler } from './worker.js';

const NAMES = { reference: 'sample-reference.y4m', distorted: 'sample-encode.y4m' } as const;

/** @returns false if the user chose files meanwhile, which stay @throws {Error} with a sentence for people */
export async function chooseSample(session: Session): Promise<boolean> {
  const worker = new Remote<Sampler>(
    () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf sample' }),
    text.setup.sampleDied,
  );
  try {
    const { reference, distorted } = await worker.call('make', null);
    if (session.reference.value || session.distorted.value.length > 0) return false;
    const files = {
      reference: new File([reference], NAMES.reference, { lastModified: 0 }),
      distorted: new File([distorted], NAMES.distorted, { lastModified: 0 }),
    };
    for (const file of Object.values(files)) samples.add(file);
    await addFiles(session, [files.reference], 'reference');
    await addFiles(session, [files.distorted], 'distorted');
    return true;
  } finally {
    worker.close();
  }
}

/** `localStorage` key, set when the user leaves the tour. */
const SEEN = 'anyvmaf-tour';

const STEPS = [
  {
    about: '.headline',
    heading: 'The score',
    says:
      'VMAF predicts how viewers would rate the encode: 100 looks like the original. The word below the number sums it up. ' +
      'An average hides short drops, so look further down.',
  },
  {
    about: '[aria-labelledby="chart-heading"]',
    heading: 'Every frame',
    says:
      'The curve falls in the second half: there the encode lacks bits for 0.4 seconds. Point at the curve to read it, and ' +
      'click to see a frame.',
  },
  {
    about: '.worst',
    heading: 'The worst moments',
    says:
      'The original, the encode and where quality is lost. Press a moment to compare both frames side by side; Esc brings you ' +
      'back here.',
  },
  {
    about: '.take',
    heading: 'Share it, then try your own videos',
    says:
      'The HTML report is one file that anyone can open. For your own videos, press Change at the top, or drop them ' +
      'anywhere on this page.',
  },
] as const;

function mark(before: Element | null, at: Element | null): void {
  before?.classList.remove('toured');
  at?.classList.add('toured');
  at?.scrollIntoView({ block: 'start' });
}

/** Does nothing if the user left it before. */
export function tour(session: Session): void {
  if (storedText(SEEN) !== null) return;
  let step = 0;
  let shown: Element | null = null;
  const heading = h('h2', { id: 'tour-heading' });
  const count = h('p', { class: 'faint small' });
  const says = h('p', { id: 'tour-says' });
  const back = button({ onclick: () => go(step - 1) }, 'Back');
  const onward = () => (skip.hidden ? end() : go(step + 1));
  const next = h('button', { class: 'primary', type: 'button', onclick: onward });
  const skip = button({ class: 'tool bare', onclick: () => end() }, 'Skip the tour');
  const onkeydown = ({ key }: KeyboardEvent) => key === 'Escape' && end();
  const card = made(
    html`<div class="card tour" role="dialog" tabindex="-1" aria-labelledby="tour-heading" aria-describedby="tour-says" @keydown=${onkeydown}>${[count, heading, says]}<div class="tools">${[skip, back, next]}</div></div>`,
  );

  function go(to: number): void {
    const target = STEPS[to];
    if (!target) return;
    step = to;
    count.textContent = `Tour: ${to + 1} of ${STEPS.length}`;
    heading.textContent = target.heading;
    says.textContent = target.says;
    back.hidden = to === 0;
    skip.hidden = to === STEPS.length - 1;
    fill(next, skip.hidden ? 'Done' : 'Next');
    const at = document.querySelector(target.about);
    mark(shown, at);
    shown = at;
    // Screen readers then read its heading and text.
    card.focus({ preventScroll: true });
  }

  /** @param byUser move the focus to the marked part */
  function end(byUser = true): void {
    stop();
    mark(shown, null);
    card.remove();
    if (byUser)
      shown?.querySelector<HTMLElement>('button, a, [tabindex="0"]')?.focus({ preventScroll: true });
    storeText(SEEN, '1');
  }

  // Ends with other results.
  const results = session.results.value;
  let stop = () => {};
  document.body.append(card);
  go(0);
  stop = session.results.watch((now) => {
    if (now[0]?.frames !== results[0]?.frames) end(false);
  });
}
