/**
 * @module web/setup/findings
 * Findings of preflight, with buttons for fixes. Placed below the settings, so that these never move.
 */
import type { Finding, FindingValue } from 'anyvmaf';
import { remarks, TRUST_OUTLOOK, trustOf } from 'anyvmaf/view';
import { repeat } from 'lit-html/directives/repeat.js';
import { button, fill, h } from '../dom.js';
import type { Failure } from '../engine/calls.js';
import { isActive, type Session, type Settings } from '../session.js';
import { html, render, type TemplateResult } from '../templates.js';
import { text } from '../text.js';
import { fetched, pauseFetching } from './decoder.js';
import { failureView, sentence } from './failure.js';
import { applyFix, applyFixes, type Fix, fixOf, valueText } from './fixes.js';

const TONES = { error: 'var(--bad)', warning: 'var(--warn)', info: 'var(--note)' } as const;
const SIGNS = { error: '!', warning: '!', info: 'i' } as const;
const ORDER = ['error', 'warning', 'info'] as const;

interface Shared {
  readonly finding: Finding;
  /** Makes a score worthless. */
  readonly grave: boolean;
  /** Explained by the finding before it. */
  readonly follows: boolean;
  readonly files: readonly File[];
}

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
  let pending = 0;
  // Makes room for the results.
  session.watchPhase((phase, before) => {
    if (phase === 'running' && before !== 'paused') element.open = false;
  });
  session.inspections.watch((inspections) => {
    element.hidden = inspections.size === 0;
    const before = pending;
    pending = [...inspections.values()].filter(({ phase }) => phase === 'pending').length;
    if (pending > before && !isActive(session.run.value)) element.open = true;
    const encodes = session.distorted.value.filter(({ id }) => inspections.has(id)).length;
    const { shared, failures, waiting } = gather(session);
    const counts = ORDER.flatMap((severity) => {
      const count = shared.filter(({ finding }) => finding.severity === severity).length;
      return count === 0 ? [] : [text.findings.counts[severity](count)];
    });
    // The verdict that scores would get.
    const { verdict } = trustOf({ preflight: shared.map(({ finding }) => finding) });
    fill(state, counts.join(' · '));
    const fine = inspections.size > 0 && !waiting && failures.length === 0 && shared.length === 0;
    const checking = encodes > 1 ? text.setup.lookingAt(waiting ?? '') : text.setup.looking;
    const views = failures.map(({ failure, names }) =>
      failureView(failure, session, undefined, encodes > names.length ? names.join(', ') : ''),
    );
    const untrusted =
      encodes > 1 ? text.findings.untrusted(graveNames(shared)) : `${TRUST_OUTLOOK.untrusted}.`;
    render(
      html`${views}${verdict === 'untrusted' ? html`<p class="wrong">${untrusted}</p>` : ''}${
        shared.length > 0
          ? html`<ul class="findings">${repeat(
              byCause(shared),
              ([cause]) => cause,
              ([, group]) => item(session, group, encodes),
            )}</ul>`
          : ''
      }${waiting === undefined ? '' : html`<p class="soft waiting">${checking} ${loading}</p>`}${fine ? html`<p class="soft fine">${text.findings.fine}</p>` : ''}`,
      body,
    );
  });
  return element;
}

/** Progress of ffmpeg.wasm with a pause button; empty unless it is being fetched. */
function loadingDecoder(): HTMLElement {
  const progress = h('span');
  const pause = button({ class: 'tool bare', onclick: () => pauseFetching(fetched.value?.paused === false) });
  const element = h('span', {}, progress, ' ', pause);
  fetched.watch((now) => {
    element.hidden = !now;
    if (!now) return;
    progress.textContent = text.setup.fetchingDecoder(now.megabytes);
    pause.textContent = now.paused ? text.run.resume : text.run.pause;
  });
  return element;
}

/** Groups findings by cause, in order of first occurrence. */
function byCause(shared: readonly Shared[]): Map<string, Shared[]> {
  const groups = new Map<string, Shared[]>();
  for (const entry of shared) {
    const { code, severity, hint } = entry.finding;
    const key = JSON.stringify([code, severity, entry.grave, entry.follows, hint?.purpose, hint?.option]);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return groups;
}

/** Distinct findings, worst first, distinct failures, and the first encode still being inspected. */
function gather({ distorted, inspections }: Session) {
  const failures = new Map<string, { readonly failure: Failure; readonly names: string[] }>();
  const found: { readonly file: File; readonly preflight: readonly Finding[] }[] = [];
  let waiting: string | undefined;
  for (const { id, file } of distorted.value) {
    const pair = inspections.value.get(id);
    if (pair?.phase === 'pending') waiting ??= file.name;
    if (pair?.phase === 'failed') {
      const { failure } = pair;
      const known = failures.get(failure.message) ?? { failure, names: [] };
      known.names.push(file.name);
      failures.set(failure.message, known);
    }
    if (pair?.phase === 'found') found.push({ file, preflight: pair.inspection.findings });
  }
  const shared = remarks(found).flatMap(({ finding, grave, follows, of }): Shared[] =>
    finding
      ? [{ finding, grave, follows: follows !== undefined, files: of.flatMap((i) => found[i]?.file ?? []) }]
      : [],
  );
  return { shared, failures: [...failures.values()], waiting };
}

/** Encodes whose scores would be worthless. */
const graveNames = (shared: readonly Shared[]) => [
  ...new Set(shared.flatMap(({ grave, files }) => (grave ? files.map(({ name }) => name) : []))),
];

/** With several encodes, has a line and a button for each that can be fixed alone. */
function item(session: Session, group: readonly Shared[], encodes: number): TemplateResult {
  const [{ finding, grave, follows, files }] = group as [Shared];
  const { severity, message, hint, fix } = finding;
  const single = group.length === 1;
  const all = group.flatMap((shared) => shared.files);
  const action = fixOf(finding);
  // A note shared by all needs no lines.
  const each = action?.kind === 'settings' && all.length > 1 && !(single && severity === 'info');
  const lines = group.flatMap((shared) => (each || !single ? linesOf(session, shared, single, each) : []));
  const label = action && (single || !each ? actionText(action) : text.findings.mendAll(all.length));
  const apply = () => (action && !each ? applyFix(session, action, files) : applyFixes(session, group));
  const named = lines.length === 0 && encodes > 1 && all.length < encodes;
  const prepared = hint?.purpose === 'prepare' && fix !== undefined;
  return html`<li class=${follows ? 'finding follows' : 'finding'} .style=${`--tone: ${grave ? TONES.error : TONES[severity]}`}><span class="sign" aria-hidden="true">${SIGNS[severity]}</span><div class="finding-text"><span class="unseen">${text.findings.severity[severity]}: </span>${single ? html`<p>${sentence(message)}</p>` : ''}<div class="more">${named ? html`<span>${all.map(({ name }) => name).join(', ')}</span>` : ''}${single ? sides(finding) : ''}${prepared ? html`<span>${text.findings.prepare} <code>${fix}</code></span>` : ''}</div>${lines.length > 0 ? html`<ul class="each">${lines}</ul>` : ''}</div>${label === undefined ? '' : html`<button type="button" class="tool" @click=${apply}>${label}</button>`}</li>`;
}

function sides({ reference, distorted }: Finding): TemplateResult[] {
  // Both unknown: nothing to show.
  if (reference === null && distorted === null) return [];
  const { findings } = text;
  const values = [
    [findings.reference, reference],
    [findings.distorted, distorted],
  ] as const;
  return values.flatMap(([name, found]) =>
    found === undefined ? [] : [html`<span>${name} <b>${value(found)}</b></span>`],
  );
}

/** @param isShown the message is shown above @param mends each line gets a button for its encode alone */
function linesOf(
  session: Session,
  { finding, files }: Shared,
  isShown: boolean,
  mends: boolean,
): TemplateResult[] {
  const action = mends ? fixOf(finding) : undefined;
  const label = action && actionText(action);
  return files.map(
    (file) =>
      html`<li><span><b>${file.name}</b>${isShown ? '' : `: ${sentence(finding.message)}`}</span>${action ? html`<button type="button" class="tool" aria-label="${label}: ${file.name}" @click=${() => applyFix(session, action, [file])}>${label}</button>` : ''}</li>`,
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
