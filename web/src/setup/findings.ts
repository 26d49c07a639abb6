/**
 * @module web/setup/findings
 * What preflight found before scoring, with a button for each fix that the page can make.
 */
import type { Finding, FindingValue } from 'anyvmaf';
import { remarks, TRUST_OUTLOOK, trustOf } from 'anyvmaf/view';
import { button, fill, h } from '../dom.js';
import type { Failure } from '../engine/calls.js';
import { isActive, type Session, type Settings } from '../session.js';
import { text } from '../text.js';
import { fetched, pauseFetching } from './decoder.js';
import { failureView, sentence } from './failure.js';
import { applyFix, type Fix, fixOf, valueText } from './fixes.js';

const TONES = { error: 'var(--bad)', warning: 'var(--warn)', info: 'var(--note)' } as const;
const SIGNS = { error: '!', warning: '!', info: 'i' } as const;
const ORDER = ['error', 'warning', 'info'] as const;

/** A finding and the encodes that it is about. */
interface Shared {
  readonly finding: Finding;
  /** Whether it makes a score worthless. */
  readonly grave: boolean;
  /** Whether the finding before it explains it. */
  readonly follows: boolean;
  readonly files: readonly File[];
}

/** The findings of all pairs. */
export function findings(session: Session): HTMLElement {
  const body = h('div', { class: 'findings-body', 'aria-live': 'polite' });
  const state = h('span', { class: 'faint small state' });
  const loading = loadingDecoder();
  const element = h(
    'details',
    { class: 'card fold', id: 'findings', open: true, hidden: true },
    h('summary', {}, h('h2', {}, text.findings.heading), state),
    body,
  );
  // Make room for the results when a run starts.
  session.watchPhase((phase, before) => {
    if (phase === 'running' && before !== 'paused') element.open = false;
  });
  session.inspections.watch((inspections) => {
    element.hidden = inspections.size === 0;
    const pending = [...inspections.values()].every(({ phase }) => phase === 'pending');
    if (pending && !isActive(session.run.value)) element.open = true;
    const encodes = session.distorted.value.filter(({ id }) => inspections.has(id)).length;
    const { shared, failures, waiting } = gather(session);
    const counts = ORDER.flatMap((severity) => {
      const count = shared.filter(({ finding }) => finding.severity === severity).length;
      return count === 0 ? [] : [text.findings.counts[severity](count)];
    });
    // The judgement that scores get.
    const { verdict } = trustOf({ preflight: shared.map(({ finding }) => finding) });
    fill(state, counts.join(' · '));
    const fine = inspections.size > 0 && !waiting && failures.length === 0 && shared.length === 0;
    const checking = encodes > 1 ? text.setup.lookingAt(waiting ?? '') : text.setup.looking;
    const keepPlaces = holdBelow(element, body);
    fill(
      body,
      ...failures.map((failure) => failureView(failure, session)),
      verdict === 'untrusted' &&
        h(
          'p',
          { class: 'wrong' },
          encodes > 1 ? text.findings.untrusted(graveNames(shared)) : `${TRUST_OUTLOOK[verdict]}.`,
        ),
      shared.length > 0 &&
        h('ul', { class: 'findings' }, ...shared.map((one) => item(session, one, encodes))),
      waiting !== undefined && h('p', { class: 'soft waiting' }, checking, ' ', loading),
      fine && h('p', { class: 'soft fine' }, text.findings.fine),
    );
    keepPlaces();
  });
  return element;
}

/** How far ffmpeg.wasm is, with a button that pauses it; empty unless it is fetched. */
function loadingDecoder(): HTMLElement {
  const far = h('span');
  const pause = button({ class: 'tool bare', onclick: () => pauseFetching(fetched.value?.paused === false) });
  const element = h('span', {}, far, ' ', pause);
  fetched.watch((now) => {
    element.hidden = !now;
    if (!now) return;
    far.textContent = text.setup.fetchingDecoder(now.megabytes);
    pause.textContent = now.paused ? text.run.resume : text.run.pause;
  });
  return element;
}

/**
 * Keeps what is below in its place while a pointer is on it or it has the focus: a settings box that moves between the press and
 * the release of a button is not ticked. The findings keep their height until the pointer has left, and where they grow, the
 * page scrolls along.
 * @returns to be called once the findings are others
 */
function holdBelow(element: HTMLElement, body: HTMLElement): () => void {
  const below = element.nextElementSibling;
  if (!below?.matches(':hover, :focus-within')) {
    body.style.minHeight = '';
    return () => {};
  }
  const top = below.getBoundingClientRect().top;
  const height = body.offsetHeight;
  return () => {
    body.style.minHeight = `${height}px`;
    const release = () => {
      if (below.matches(':hover, :focus-within')) return;
      body.style.minHeight = '';
      for (const name of ['pointerleave', 'focusout']) below.removeEventListener(name, later);
    };
    const later = () => requestAnimationFrame(release);
    for (const name of ['pointerleave', 'focusout']) below.addEventListener(name, later);
    const moved = below.getBoundingClientRect().top - top;
    if (moved !== 0) scrollBy({ top: moved, behavior: 'instant' });
  };
}

/** Distinct findings, the gravest first, distinct failures, and the first encode whose inspection is pending. */
function gather({ distorted, inspections }: Session) {
  const failures = new Map<string, Failure>();
  const found: { readonly file: File; readonly preflight: readonly Finding[] }[] = [];
  let waiting: string | undefined;
  for (const { id, file } of distorted.value) {
    const pair = inspections.value.get(id);
    if (pair?.phase === 'pending') waiting ??= file.name;
    if (pair?.phase === 'failed') failures.set(pair.failure.message, pair.failure);
    if (pair?.phase === 'found') found.push({ file, preflight: pair.inspection.findings });
  }
  const shared = remarks(found).flatMap(({ finding, grave, follows, of }): Shared[] =>
    finding
      ? [{ finding, grave, follows: follows !== undefined, files: of.flatMap((i) => found[i]?.file ?? []) }]
      : [],
  );
  return { shared, failures: [...failures.values()], waiting };
}

/** Names of encodes whose scores would be worthless. */
const graveNames = (shared: readonly Shared[]) => [
  ...new Set(shared.flatMap(({ grave, files }) => (grave ? files.map(({ name }) => name) : []))),
];

function item(session: Session, { finding, grave, follows, files }: Shared, encodes: number): HTMLElement {
  const { severity, message, hint, fix } = finding;
  // Known of neither, which two dashes would not say better.
  const none = finding.reference === null && finding.distorted === null;
  const { reference, distorted } = none ? {} : finding;
  const action = fixOf(finding);
  const apply = () => action && applyFix(session, action, files);
  return h(
    'li',
    {
      class: follows ? 'finding follows' : 'finding',
      style: `--tone: ${grave ? TONES.error : TONES[severity]}`,
    },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[severity]),
    h(
      'div',
      { class: 'finding-text' },
      h('span', { class: 'unseen' }, `${text.findings.severity[severity]}: `),
      h('p', {}, sentence(message)),
      h(
        'div',
        { class: 'more' },
        encodes > 1 && files.length < encodes && h('span', {}, files.map(({ name }) => name).join(', ')),
        reference !== undefined && h('span', {}, `${text.findings.reference} `, h('b', {}, value(reference))),
        distorted !== undefined && h('span', {}, `${text.findings.distorted} `, h('b', {}, value(distorted))),
        hint?.purpose === 'prepare' &&
          fix !== undefined &&
          h('span', {}, `${text.findings.prepare} `, h('code', {}, fix)),
      ),
    ),
    action && button({ onclick: apply }, actionText(action)),
  );
}

function actionText(action: Fix): string {
  const { swap, feature, raw } = text.findings;
  if (action.kind === 'swap') return swap;
  if (action.kind === 'feature') return feature;
  if (action.kind === 'raw') return raw(action.format.width, action.format.height, action.format.bitDepth);
  return fixText(action.change);
}

function fixText(change: Partial<Settings>): string {
  const words: Readonly<Record<string, (value: string) => string>> = text.findings.fixes;
  const [name = '', value = null] = Object.entries(change)[0] ?? [];
  return words[name]?.(valueText(value)) ?? '';
}

function value(found: FindingValue): string {
  if (typeof found === 'number') return String(Math.round(found * 1000) / 1000);
  if (typeof found === 'boolean') return found ? 'yes' : 'no';
  return found ?? '–';
}
