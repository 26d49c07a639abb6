/**
 * @module web/results
 * What came of a run: scores, charts, worst moments, and what to take away.
 */
import { numberedColour } from 'anyvmaf/view';
import type { Session } from '../session.js';
import { changesSection } from './changes.js';
import { chartSection } from './chart.js';
import { distributionSection } from './distribution.js';
import { Encodes } from './encodes.js';
import { featureSection } from './features.js';
import { headlineSection } from './headline.js';
import { MomentPictures } from './pictures.js';
import { ratesSection } from './rates.js';
import { type Follower, following, type Section } from './section.js';
import { detailsSection, pooledSection } from './tables.js';
import { takeSection } from './take.js';
import { NO_REMEDIES, type Remedies } from './verdict.js';
import { View } from './view.js';
import { worstSection } from './worst.js';
import './results.css';
import './print.css';
import { h } from '../dom.js';
import { oneByOne, type Sequence } from '../schedule.js';

/** Milliseconds between two parts that are made while a run begins: one at a time, for it takes all cores then. */
const APART = 80;

/**
 * Shows the session's results in an element, from the first frame on.
 * @param remedies what can be done about a result
 * @returns takes them away again; the session is not to change after that
 */
export function mountResults(
  element: HTMLElement,
  session: Session,
  remedies: Remedies = NO_REMEDIES,
): () => void {
  const encodes = new Encodes(session);
  const results = new Results(element, encodes, session, remedies);
  encodes.onReplaced = () => results.build();
  encodes.onGrown = () => results.grow();
  results.build();
  results.grow();
  const stopOutdated = session.outdated.watch(() => results.grow());
  const stopPaper = onPaper(() => results.complete());
  return () => {
    results.close();
    stopOutdated();
    stopPaper();
    element.replaceChildren();
  };
}

/** The parts of a session's results, in an element. */
class Results {
  readonly #element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #session: Session;
  readonly #remedies: Remedies;
  readonly #view: View;
  #pictures: MomentPictures;
  #parts: Follower[] = [];
  /** Makes the parts that are not there yet. */
  #making: Sequence | undefined;
  #coloured = '';
  /** How often the parts were made: what is left of an earlier time stops. */
  #built = 0;

  constructor(element: HTMLElement, encodes: Encodes, session: Session, remedies: Remedies) {
    this.#element = element;
    this.#encodes = encodes;
    this.#session = session;
    this.#remedies = remedies;
    this.#view = new View(encodes, session);
    this.#pictures = new MomentPictures(encodes, session);
  }

  /** Makes the parts anew: for other encodes. Growing ones keep theirs. */
  build(): void {
    const [element, encodes] = [this.#element, this.#encodes];
    this.#coloured = '';
    for (const part of this.#parts) part.close();
    this.#view.reset();
    this.#pictures.close();
    this.#pictures = new MomentPictures(encodes, this.#session);
    element.hidden = encodes.list.length === 0;
    this.#parts = [];
    const generation = ++this.#built;
    this.#making?.stop();
    element.replaceChildren();
    if (encodes.list.length === 0) return;
    const [first, ...others] = this.#sections().map(([make, milliseconds, into = element], i) => () => {
      if (generation !== this.#built) return;
      const section = make();
      if (into !== element && !into.isConnected) element.append(into);
      into.append(section.element);
      this.#parts.push(following(section, milliseconds, () => encodes.coming));
      if (i === 0) section.update();
    });
    first?.();
    this.#making = oneByOne(others, APART);
    if (!encodes.coming) this.#making.finish();
  }

  /** The answer at once, the rest one by one; and how often each is drawn again at most. */
  #sections(): readonly Part[] {
    const [session, encodes, view] = [this.#session, this.#encodes, this.#view];
    const [pictures, remedies] = [this.#pictures, this.#remedies];
    // Side by side: the values over the frames and their distribution, and what is folded.
    const [charts, folds] = [h('div', { class: 'charts' }), h('div', { class: 'folds' })];
    const onTaken = () => {
      session.unsaved.value = false;
    };
    return [
      [() => headlineSection(encodes, view, remedies), 500],
      [() => ratesSection(encodes, view, session), 500],
      [() => chartSection(encodes, view, pictures), 500, charts],
      [() => distributionSection(encodes, view), 1000, charts],
      [() => worstSection(encodes, view, pictures), 1000],
      [() => featureSection(encodes, view), 1000],
      [() => changesSection(encodes, view), 1000],
      [() => takeSection(encodes, session, onTaken), 500],
      [() => pooledSection(encodes, view), 2000, folds],
      [() => detailsSection(encodes), 500, folds],
    ];
  }

  /** There may be more to show. */
  grow(): void {
    this.#colour();
    for (const part of this.#parts) part.update();
    if (!this.#encodes.coming) this.#making?.finish();
  }

  /** Encodes of a run keep their colours; those of saved reports have them in their order. */
  #colour(): void {
    const colours = this.#encodes.list.map(({ result }, i) => result.colour ?? i);
    if (colours.join() === this.#coloured) return;
    this.#coloured = colours.join();
    // Of the whole page, for the viewer too.
    for (const [name, value] of colours.flatMap(numberedColour))
      document.documentElement.style.setProperty(name, value);
  }

  /** Shows all there is. */
  complete(): void {
    for (const part of this.#parts) part.complete();
  }

  close(): void {
    this.#built++;
    this.#making?.stop();
    for (const part of this.#parts) part.close();
    this.#pictures.close();
  }
}

type Part = readonly [make: () => Section, milliseconds: number, into?: HTMLElement];

/**
 * Has the results be printed whole: charts of a sheet's width, in colours for white, and all of them, for nothing there is out
 * of sight.
 * @param complete draws all there is, as wide as it is now
 * @returns lets it be
 */
function onPaper(complete: () => void): () => void {
  const { documentElement: root } = document;
  let theme: string | undefined;
  const before = () => {
    theme ??= root.dataset.theme;
    root.dataset.theme = 'light';
    root.classList.add('paper');
    complete();
  };
  const after = () => {
    root.classList.remove('paper');
    if (theme !== undefined) root.dataset.theme = theme;
    theme = undefined;
    // For the screen again.
    complete();
  };
  addEventListener('beforeprint', before);
  addEventListener('afterprint', after);
  return () => {
    removeEventListener('beforeprint', before);
    removeEventListener('afterprint', after);
  };
}
