/**
 * @module web/results
 * The results of a run: scores, charts, worst moments, files. Drawn hidden before the first run: loading fonts and
 * compiling code would block the page during it.
 */
import './results.css';
import './print.css';
import { Cell, numberedColour } from 'anyvmaf/view';
import { h } from '../dom.js';
import { oneByOne, type Sequence } from '../schedule.js';
import { type EncodeResult, Session } from '../session.js';
import { Changes, type Earlier } from './changes.js';
import { chartSection } from './chart.js';
import { distributionSection } from './distribution.js';
import { Encodes } from './encodes.js';
import { featureSection } from './features.js';
import { headlineSection } from './headline.js';
import { MomentPictures } from './pictures.js';
import { ratesSection } from './rates.js';
import { detailsSection, pooledSection } from './tables.js';
import { takeSection } from './take.js';
import { NO_REMEDIES, type Remedies } from './verdict.js';
import { type Follower, following, type Section, View } from './view.js';
import { worstSection } from './worst.js';

/** Milliseconds between building sections during a run, which takes all cores. */
const APART = 80;

/** Shows results from the first frame on. @returns removes them; the session must not change afterwards */
export function mountResults(element: HTMLElement, session: Session, remedies = NO_REMEDIES): () => void {
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

class Results {
  readonly #element: HTMLElement;
  readonly #encodes: Encodes;
  readonly #session: Session;
  readonly #remedies: Remedies;
  readonly #view: View;
  #pictures: MomentPictures;
  /** Kept while any of these encodes stays or is scored again: other videos have other earlier runs. */
  #earlier = new Cell<Earlier>({});
  #names: readonly string[] = [];
  #parts: Follower[] = [];
  #making: Sequence | undefined;
  #coloured = '';
  /** Generation: tasks of an earlier build stop. */
  #built = 0;

  constructor(element: HTMLElement, encodes: Encodes, session: Session, remedies: Remedies) {
    this.#element = element;
    this.#encodes = encodes;
    this.#session = session;
    this.#remedies = remedies;
    this.#view = new View(encodes, session);
    this.#pictures = new MomentPictures(encodes, session);
  }

  /** Rebuilds all sections for other encodes; growing encodes keep theirs. */
  build(): void {
    const [element, encodes] = [this.#element, this.#encodes];
    this.#coloured = '';
    for (const part of this.#parts) part.close();
    this.#view.reset();
    const names = encodes.list.map(({ result }) => result.name);
    // A run that scores all encodes begins without results.
    if (names.length > 0) {
      if (!names.some((name) => this.#names.includes(name))) this.#earlier = new Cell<Earlier>({});
      this.#names = names;
    }
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

  /** The answer comes first, the rest one by one. Milliseconds: least time between redraws. */
  #sections(): readonly Part[] {
    const [session, encodes, view] = [this.#session, this.#encodes, this.#view];
    const [pictures, remedies] = [this.#pictures, this.#remedies];
    // Side by side: chart and distribution, and folded cards.
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
      [() => new Changes(encodes, view, this.#earlier), 1000],
      [() => takeSection(encodes, session, onTaken), 500],
      [() => pooledSection(encodes, view), 2000, folds],
      [() => detailsSection(encodes), 500, folds],
    ];
  }

  grow(): void {
    this.#colour();
    for (const part of this.#parts) part.update();
    if (!this.#encodes.coming) this.#making?.finish();
  }

  /** Encodes of a run keep their colours; saved reports get theirs by position. */
  #colour(): void {
    const colours = this.#encodes.list.map(({ result }, i) => result.colour ?? i);
    if (colours.join() === this.#coloured) return;
    this.#coloured = colours.join();
    // On the root, so that the viewer has them too.
    for (const [name, value] of colours.flatMap(numberedColour))
      document.documentElement.style.setProperty(name, value);
  }

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
 * Prints results whole: as wide as the sheet, in light colours. @param complete draws everything at its present width
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
    // Back to the screen's width.
    complete();
  };
  addEventListener('beforeprint', before);
  addEventListener('afterprint', after);
  return () => {
    removeEventListener('beforeprint', before);
    removeEventListener('afterprint', after);
  };
}

/** Milliseconds until all parts are drawn on an idle machine. */
const LASTS = 2000;

/** With the default model's features, and enough frames for curves. */
const RESULT: EncodeResult = {
  name: 'rehearsal',
  frames: Array.from({ length: 24 }, (_, frameNum) => {
    const value = 0.9 + 0.05 * Math.sin(frameNum);
    const scales = [0, 1, 2, 3].map((scale) => [`integer_vif_scale${scale}`, value] as const);
    return {
      frameNum,
      metrics: {
        integer_adm2: value,
        ...Object.fromEntries(scales),
        integer_motion2: value,
        vmaf: 100 * value,
      },
    };
  }),
};

export function rehearse(): () => void {
  const session = new Session();
  session.results.value = [RESULT];
  const stage = h('section', {});
  // Loads the font of the word for a score: the made-up result has no picture size, so no word.
  const word = h('span', { class: 'pill' }, 'good');
  const host = h('div', { class: 'rehearsal', inert: true, 'aria-hidden': 'true' }, stage, word);
  document.querySelector('main')?.append(host);
  const unmount = mountResults(stage, session);
  const end = () => {
    clearTimeout(timer);
    unmount();
    host.remove();
  };
  const timer = setTimeout(end, LASTS);
  return end;
}
