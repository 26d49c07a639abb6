/**
 * @module web/main
 * Builds the page: the setup at once, results and the frame viewer once there is something to show.
 */

import { announce, announcer, button, fill, h, icon, setBusy, storedText } from './dom.js';
import { messageOf } from './engine/calls.js';
import { keepOffline, OfflineNote } from './offline.js';
import type { Remedies } from './results/verdict.js';
import { type EncodeResult, isActive, LAST, Session } from './session.js';
import { findings } from './setup/findings.js';
import { applyFixes, fixOf } from './setup/fixes.js';
import { foldedSetup } from './setup/fold.js';
import { inspectPairs } from './setup/inspect.js';
import { fromHash, type Linked, toHash } from './setup/link.js';
import { TINY_NO_REFERENCE } from './setup/models.js';
import { rawForm } from './setup/raw-form.js';
import { runBar } from './setup/run-bar.js';
import { sampleOffer } from './setup/sample-offer.js';
import { Runner, watchChosen } from './setup/score.js';
import { settingsForm } from './setup/settings.js';
import { slots } from './setup/slots.js';
import { html, made, render } from './templates.js';
import { text } from './text.js';
import { themeSwitch } from './theme.js';

const session = new Session();
const linked = fromHash(location.hash);
session.settings.value = linked.settings;
session.raw.value = linked.raw;
restoreTiny(linked);

/** Hidden until there is something to show. */
const section = (id: string, label: string) => h('section', { id, 'aria-label': label, hidden: true });
const results = section('results', text.page.resultsLabel);
results.tabIndex = -1;
const curves = section('curves', text.curves.label);
session.curves.watch(async (shown) => {
  curves.hidden = true;
  if (!shown) return;
  const { showCurves } = await import('./results/curves.js');
  showCurves(curves, shown, () => history.back());
});
const frames = section('frames', text.page.frameLabel);
const toResults = h('a', { class: 'skip', href: '#results', hidden: true, onclick: skip }, text.page.skip);
const trouble = h('p', { class: 'slot-error', role: 'alert', hidden: true });

const offer = h('section', { class: 'card offer', 'aria-label': text.page.offer, hidden: true });
const notice = h('p', { class: 'soft small notice', role: 'status', hidden: true });

/** Shows a lasting sentence at the top; an empty one hides it. */
function say(sentence: string): void {
  notice.textContent = sentence;
  notice.hidden = sentence === '';
}

/** The results that saved reports replaced. */
let covered: readonly EncodeResult[] | undefined;
let opening: Promise<void> = Promise.resolve();

/** Replaces the results on show; calls are serialized. */
function openReports(files: readonly File[]): Promise<void> {
  opening = opening.then(() => readReports(files));
  return opening;
}

async function readReports(files: readonly File[]): Promise<void> {
  trouble.hidden = true;
  session.reading.value = true;
  const before = session.results.value;
  try {
    const { openReports } = await import('./results/open.js');
    await openReports(files, session);
    // Back restores the earlier results, also from the entry of an earlier report.
    covered ??= before;
    if (!history.state?.report) history.pushState({ ...history.state, report: true }, '');
    attach();
    (curves.hidden ? results : curves).scrollIntoView({ block: 'start' });
  } catch (error) {
    trouble.textContent = messageOf(error);
    trouble.hidden = false;
  } finally {
    session.reading.value = false;
  }
}

/** Keeps picked model files; asks for one if the link needs it. */
function restoreTiny({ guess, ownTiny }: Linked): void {
  const picked = session.tiny.value.filter(({ files }) => files);
  session.tiny.value = [...(guess ? [{ model: TINY_NO_REFERENCE, resizes: false }] : []), ...picked];
  session.tinyToPick.value = ownTiny && picked.length === 0;
}

const offline = new OfflineNote();
const runner = new Runner(session);
const last = h('p', { class: 'sample last', hidden: true });
const setup = foldedSetup(session, [
  slots(session, openReports, say),
  made(
    html`<p class="faint small formats">${text.setup.formats} <button type="button" class="tool bare" @click=${typeAddresses}>${text.setup.addresses}</button></p>`,
  ),
  sampleOffer(session, runner),
  last,
  rawForm(session),
  settingsForm(session),
  findings(session),
]);
const { heading, lead, privacy, tagline, foot, licences } = text.page;
render(
  html`${toResults}<header class="top"><div class="mark">any<i>vmaf</i></div><span class="faint kind">${tagline}</span>${toolbar()}</header><main>${offline.note}<div class="hero"><h1>${heading}</h1><p class="lead">${lead} <b>${privacy}</b></p></div>${[trouble, notice, offer, setup, runBar(session, runner), curves, results, frames]}</main><footer class="foot faint small">${foot} ${offline.foot} <a href="./licences.txt">${licences}</a></footer>${announcer()}`,
  document.body,
);

/** Following the link would replace the settings after `#`. */
function skip(event: Event): void {
  event.preventDefault();
  results.focus();
  results.scrollIntoView();
}

function toolbar(): HTMLElement {
  const take = () => {
    const files = [...(reports.files ?? [])];
    reports.value = '';
    if (files.length > 0) openReports(files);
  };
  const reports = made<HTMLInputElement>(
    html`<input type="file" id="pick-reports" class="unseen" accept=".json,.ndjson,.xml,.csv,.sub" multiple tabindex="-1" aria-label=${text.page.openReport} @change=${take}>`,
  );
  const open = button(
    { title: text.page.openReport, 'aria-label': text.page.openReport, onclick: () => reports.click() },
    icon('open'),
    h('span', {}, text.page.openReport),
  );
  session.watchPhase(() => {
    open.disabled = isActive(session.run.value);
  });
  return h('div', { class: 'tools' }, reports, open, copyLinkButton(), themeSwitch());
}

/** The hash of videos by URL; set once such videos may be loaded. */
let linkedVideos: (() => string) | undefined;

async function followLink(): Promise<void> {
  offer.hidden = true;
  if (location.hash.length < 2) return;
  const { linkOf, offerVideos } = await import('./linked.js');
  linkedVideos ??= linkOf(session);
  offerVideos(offer, session, location.hash, say);
}

async function typeAddresses(): Promise<void> {
  const { askAddresses, linkOf } = await import('./linked.js');
  linkedVideos ??= linkOf(session);
  askAddresses(offer, session);
}

/** Puts the settings, and videos with a URL, into the address and copies it. */
function copyLinkButton(): HTMLElement {
  const label = h('span', {}, text.page.copyLink);
  let timer: ReturnType<typeof setTimeout> | undefined;
  async function copyLink(): Promise<void> {
    const settings = toHash({
      settings: session.settings.value,
      raw: session.raw.value,
      guess: session.tiny.value.some(({ files }) => !files),
      ownTiny: session.tiny.value.some(({ files }) => files),
    });
    const hash = [settings, linkedVideos?.()].filter(Boolean).join('&');
    const link = `${location.href.split('#', 1)[0]}${hash ? `#${hash}` : ''}`;
    history.replaceState(history.state, '', link);
    // Plain `http:` pages have no clipboard.
    const outcome = await (navigator.clipboard?.writeText(link) ?? Promise.reject()).then(
      () => text.page.linkCopied,
      () => text.page.linkNotCopied,
    );
    fill(label, outcome);
    announce(outcome);
    clearTimeout(timer);
    timer = setTimeout(() => fill(label, text.page.copyLink), 4000);
  }
  return button(
    { title: text.page.copyLink, 'aria-label': text.page.copyLink, onclick: copyLink },
    icon('link'),
    label,
  );
}

const arrange = () => {
  const chosen = session.reference.value !== null || session.distorted.value.length > 0;
  const { body } = document;
  body.classList.toggle('chosen', chosen);
  toResults.hidden = session.results.value.length === 0;
  body.classList.toggle('reading', !chosen && session.results.value.length > 0);
};
for (const cell of [session.reference, session.distorted, session.results]) cell.watch(arrange);

session.reading.watch((reading) => setBusy(results, reading));

const attach = async () => {
  if (!session.reference.value || session.results.value.every(({ source }) => source)) return;
  const { attachVideos } = await import('./results/open.js');
  const outcome = isActive(session.run.value) ? '' : attachVideos(session);
  if (outcome) say(outcome);
};
for (const cell of [session.reference, session.distorted]) cell.watch(attach);

inspectPairs(session);
watchChosen(session);

/** Loads a part of the page once; shows a message if that fails. */
function once(load: () => Promise<void>): () => Promise<void> {
  let loading: Promise<void> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      trouble.textContent = text.page.partFailed(messageOf(error));
      trouble.hidden = false;
    });
    return loading;
  };
}

/** Offers fixes only for results of the page's own files, and not during a run. */
function remedies(): Remedies {
  return {
    canMend: (finding) =>
      session.results.value.every(({ scored }) => scored) &&
      !session.outdated.value &&
      !isActive(session.run.value) &&
      finding.hint?.purpose === 'fix' &&
      fixOf(finding) !== undefined,
    mend(all) {
      applyFixes(session, all);
      session.runsAsked.value++;
    },
    get outdated() {
      return session.outdated.value && !isActive(session.run.value);
    },
  };
}

const showResults = once(async () => {
  const { mountResults } = await import('./results/index.js');
  mountResults(results, session, remedies());
});
const showFrames = once(async () => {
  const { FrameViewer } = await import('./frames/viewer.js');
  new FrameViewer(frames, session);
});
session.results.watch((shown) => {
  if (shown.length > 0) showResults();
});
session.watchPhase((phase, before) => {
  if (phase !== 'running' || before === 'paused') return;
  covered = undefined;
  showResults();
  // Brings progress and the result below it into view; the setup is folded.
  scrollTo({ top: 0 });
});
// Drop entries from before a reload.
markEntry();
/** True from `history.back()` until the browser has left the viewer's entry. */
let leaving = false;
session.cursor.watch((cursor) => {
  if (cursor) showFrames();
  if (leaving) return;
  const hasEntry = history.state?.viewer !== undefined;
  if (cursor && !hasEntry) history.pushState({ ...history.state, viewer: cursor }, '');
  leaving = !cursor && hasEntry;
  if (leaving) history.back();
});
addEventListener('popstate', () => {
  const { viewer, report } = history.state ?? {};
  const { cursor, results, curves } = session;
  const left = leaving;
  leaving = false;
  // The viewer was reopened meanwhile.
  if (left && cursor.value) history.pushState({ ...history.state, viewer: cursor.value }, '');
  else cursor.value = results.value[viewer?.encode] ? viewer : null;
  if (report) return;
  curves.value = null;
  if (covered) results.value = covered;
  covered = undefined;
});
rehearseResults();
keepLast();

/** Offers the last session on the empty page; stores this one once it has a result. */
function keepLast(): void {
  const load = () => import('./last.js');
  const offered = storedText(LAST) !== null;
  const empty = () => session.reference.value === null && session.distorted.value.length === 0;
  const show = () => {
    last.hidden = !offered || !empty() || session.results.value.length > 0;
  };
  for (const cell of [session.reference, session.distorted, session.results]) cell.watch(show);
  let stores = false;
  if (offered)
    load()
      .then(({ offerLast }) =>
        offerLast(last, session, () => {
          stores = true;
        }),
      )
      .catch(() => {});
  session.kept.watch(async (done) => {
    if (stores || done.length === 0) return;
    stores = true;
    await load().then(
      ({ keepSession }) => keepSession(session),
      () => {},
    );
  });
}

/** Warms up the result views once a pair was inspected, before its run. */
function rehearseResults(): void {
  let begun = false;
  let over = false;
  let stop = () => {};
  const prepare = async () => {
    const { rehearse } = await import('./results/index.js');
    if (!over) stop = rehearse();
  };
  session.inspections.watch((pairs) => {
    if (begun || over || ![...pairs.values()].some(({ phase }) => phase === 'found')) return;
    begun = true;
    // Results also show without it.
    prepare().catch(() => {});
  });
  const end = (begins: boolean) => {
    if (over || !begins) return;
    over = true;
    stop();
  };
  session.results.watch((shown) => end(shown.length > 0));
  session.watchPhase((phase) => end(phase === 'running'));
}

/** Marks the entry of the history as the page's own. */
function markEntry(): void {
  history.replaceState({ own: true }, '');
}

addEventListener('hashchange', () => {
  // Only an entry without a state is a link that was followed: Back and Forward discard nothing.
  if (history.state) return;
  markEntry();
  const now = fromHash(location.hash);
  const { settings, raw } = now;
  session.settings.value = { ...settings, decoder: session.settings.value.decoder };
  if (raw) session.raw.value = raw;
  restoreTiny(now);
  followLink();
});
followLink();

keepOffline(session, offline);
