/**
 * @module web/setup/slots
 * The two places for files: picking, dropping there or anywhere on the page, and what is in them.
 */
import { fill, h } from '../dom.js';
import type { ChosenFile, Session } from '../session.js';
import { text } from '../text.js';
import { announce } from './announce.js';
import { describeFacts, formatBytes } from './facts.js';
import { dropFile, type Side, swapSides, takeFiles } from './files.js';
import { icon, pictogram } from './icons.js';

/** Files that the picker offers first; any other can be picked too. */
const ACCEPT =
  'video/*,.mp4,.m4v,.mov,.mkv,.webm,.ts,.m2ts,.mts,.y4m,.yuv,.raw,.ivf,.avi,.mxf,.obu,.264,.265,.h264,.h265';

const REPORT_NAME = /\.(json|ndjson|jsonl|xml|csv|sub)$/i;

/**
 * The slots, side by side.
 * @param openReports what to do with saved reports among the files
 */
export function slots(session: Session, openReports: (files: readonly File[]) => void): HTMLElement {
  const error = h('p', { class: 'slot-error', role: 'alert', hidden: true });
  const take = async (given: readonly File[], side: Side | null) => {
    error.hidden = true;
    const reports = given.filter(({ name }) => REPORT_NAME.test(name));
    if (reports.length > 0) openReports(reports);
    const files = given.filter((file) => !reports.includes(file));
    if (files.length === 0) return;
    try {
      announce((await takeFiles(session, files, side)).join(' '));
    } catch (problem) {
      error.textContent = problem instanceof Error ? problem.message : String(problem);
      error.hidden = false;
    }
  };
  const swap = h(
    'button',
    {
      class: 'tool swap',
      type: 'button',
      'aria-label': text.setup.swap,
      title: text.setup.swap,
      onclick: () => swapSides(session),
    },
    icon('swap'),
  );
  const element = h(
    'section',
    { class: 'pair', 'aria-label': text.setup.section },
    slot(session, 'reference', take),
    swap,
    slot(session, 'distorted', take),
    error,
  );
  const both = () => {
    swap.hidden = !session.reference.value || session.distorted.value.length === 0;
  };
  session.reference.watch(both);
  session.distorted.watch(both);
  session.watchPhase((phase) => {
    element.inert = phase === 'running' || phase === 'paused';
  });
  dropAnywhere(session, take);
  return element;
}

type Take = (files: readonly File[], side: Side | null) => Promise<void>;

function slot(session: Session, side: Side, take: Take): HTMLElement {
  const several = side === 'distorted';
  const input = h('input', {
    type: 'file',
    class: 'unseen',
    id: `pick-${side}`,
    accept: ACCEPT,
    multiple: several,
    tabindex: -1,
    'aria-label': `${text.setup[side]}: ${several ? text.setup.chooseSeveral : text.setup.choose}`,
    onchange: () => {
      const files = [...(input.files ?? [])];
      // The same file may be chosen again.
      input.value = '';
      take(files, side);
    },
  });
  const pick = h('button', { class: 'tool pick', type: 'button', onclick: () => input.click() });
  const list = h('ul', { class: 'chosen-files' });
  const hint = h('span', { class: 'faint small drop-hint' }, text.setup.drop);
  const element = h(
    'div',
    { class: `slot slot-${side}`, role: 'group', 'aria-labelledby': `label-${side}`, 'data-side': side },
    pictogram(side),
    h(
      'div',
      { class: 'slot-head' },
      h('h2', { id: `label-${side}` }, text.setup[side]),
      h(
        'p',
        { class: 'faint small' },
        side === 'reference' ? text.setup.referenceHint : text.setup.distortedHint,
      ),
    ),
    list,
    h('div', { class: 'slot-pick' }, pick, hint, input),
  );
  const show = () => {
    const files = several ? session.distorted.value : [session.reference.value].filter((one) => one !== null);
    element.classList.toggle('filled', files.length > 0);
    fill(list, ...files.map((one, index) => row(session, one, several ? index : undefined)));
    list.hidden = files.length === 0;
    hint.hidden = files.length > 0;
    const label =
      files.length === 0
        ? several
          ? text.setup.chooseSeveral
          : text.setup.choose
        : several
          ? text.setup.add
          : text.setup.replace;
    fill(pick, label);
    pick.setAttribute('aria-label', `${text.setup[side]}: ${label}`);
  };
  session[side].watch(show);
  session.looks.watch(show);

  let depth = 0;
  const over = (by: number) => {
    depth = Math.max(0, depth + by);
    element.classList.toggle('over', depth > 0);
  };
  element.addEventListener('dragenter', () => over(1));
  element.addEventListener('dragleave', () => over(-1));
  element.addEventListener('drop', () => over(-depth));
  return element;
}

function row(session: Session, { id, file }: ChosenFile, index: number | undefined): HTMLElement {
  const [firstLook] = session.looks.value.values();
  const look = index === undefined ? firstLook : session.looks.value.get(id);
  const facts =
    look?.phase === 'found' ? look.inspection[index === undefined ? 'reference' : 'distorted'] : undefined;
  const label = text.setup.remove(file.name);
  return h(
    'li',
    { class: 'file' },
    index !== undefined && h('span', { class: 'swatch', style: `--c: var(--s${index % 8})` }),
    h(
      'div',
      { class: 'file-text' },
      h('span', { class: 'file-name', title: file.name }, file.name),
      h(
        'span',
        { class: 'faint small file-facts' },
        ...[...(facts ? describeFacts(facts) : []), formatBytes(file.size)].map((fact) =>
          h('span', {}, fact),
        ),
      ),
    ),
    h(
      'button',
      {
        class: 'tool bare',
        type: 'button',
        'aria-label': label,
        title: label,
        onclick: () => dropFile(session, id),
      },
      icon('close'),
    ),
  );
}

/** Files dropped on a slot go there, elsewhere to where they are missing; the browser never opens them instead. */
function dropAnywhere(session: Session, take: Take): void {
  let depth = 0;
  const dragging = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  const show = () => document.body.classList.toggle('dragging', depth > 0);
  document.addEventListener('dragenter', (event) => {
    if (!dragging(event)) return;
    depth++;
    show();
  });
  document.addEventListener('dragleave', (event) => {
    if (!dragging(event)) return;
    depth = Math.max(0, depth - 1);
    show();
  });
  document.addEventListener('dragover', (event) => {
    if (dragging(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    depth = 0;
    show();
    if (!dragging(event)) return;
    event.preventDefault();
    const { phase } = session.run.value;
    if (phase === 'running' || phase === 'paused') return;
    const { target } = event;
    const over =
      target instanceof Element ? target.closest<HTMLElement>('[data-side]')?.dataset.side : undefined;
    const side = over === 'reference' || over === 'distorted' ? over : null;
    take([...(event.dataTransfer?.files ?? [])], side);
  });
}
