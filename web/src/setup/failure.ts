/**
 * @module web/setup/failure
 * Classifies a failure by its data, and shows it: the library's message, advice, and buttons that resolve it.
 */

import type { Remedy } from 'anyvmaf';
import { capital } from 'anyvmaf/core/errors';
import { button, fill, h } from '../dom.js';
import { type Failure, messageOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { ChosenFile, Session, Settings } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import { treatAsRaw } from './files.js';
import { setForAll } from './fixes.js';

/**
 * @param retry runs after a button changed settings; inspections restart by themselves
 * @param of names of the encodes, if not all are affected
 */
export function failureView(failure: Failure, session: Session, retry?: () => void, of = ''): HTMLElement {
  const kind = kindOfFailure(failure, session.settings.value);
  const { failures } = text;
  const advice: Partial<Record<FailureKind, string>> = {
    undecodable: failures.wasmAdvice,
    memory: failures.memoryAdvice,
    died: failures.memoryAdvice,
    io: failures.ioAdvice,
  };
  const absent = kind === 'absent' ? absentModel(failure) : undefined;
  const why =
    absent === undefined ? sentence(failureWords(failure)) : failures.absentWhy(absent, modelServer().host);
  // A model to fetch is not an error.
  const [tone, sign] = absent === undefined ? ['bad', '!'] : ['note', 'i'];
  const tools = [
    absent !== undefined && retry && fetchButton(absent, retry),
    ...remedyButtons(failure, kind, session, retry),
  ].filter(Boolean);
  return made(
    html`<div class="failure" role="alert" .style=${`--tone: var(--${tone})`} data-kind=${kind}><span class="sign" aria-hidden="true">${sign}</span><div class="finding-text"><h2 class="failure-title">${failures[kind]}</h2><p>${of === '' ? '' : html`<b>${of}: </b>`}${why}</p>${advice[kind] === undefined ? '' : html`<p class="soft small">${advice[kind]}</p>`}<div class="tools">${tools}</div></div></div>`,
  );
}

function remedyButtons(failure: Failure, kind: FailureKind, session: Session, retry?: () => void) {
  const { settings } = session;
  const { threads, backend } = settings.value;
  const { failures } = text;
  const offer = (label: string, change: Partial<Settings>) => {
    const onclick = () => {
      setForAll(session, change);
      retry?.();
    };
    return button({ onclick }, label);
  };
  const raw = maybeRaw(failure, session);
  const stopped = kind === 'memory' || kind === 'died';
  return [
    raw.length > 0 && button({ onclick: () => treatAsRaw(session, raw) }, failures.isRaw),
    kind === 'undecodable' && offer(failures.wasm, { decoder: 'wasm' }),
    stopped && retry && threads !== 1 && offer(failures.oneThread, { threads: 1 }),
    ...advisedSettings(failure, settings.value).map(([label, change]) => offer(label, change)),
    kind === 'backend' && (backend ?? 'cpu') !== 'cpu' && offer(failures.processor, { backend: 'cpu' }),
    (stopped || kind === 'other') && retry && button({ onclick: retry }, failures.again),
  ];
}

/** Netflix's repository, as in the library. */
const DEFAULT_SERVER = 'https://raw.githubusercontent.com';

/** `<meta name="anyvmaf-models-from">` of index.html, relative to the page, or GitHub. */
function modelServer(): URL {
  const named = document.querySelector<HTMLMetaElement>('meta[name="anyvmaf-models-from"]')?.content;
  return new URL(named || DEFAULT_SERVER, document.baseURI);
}

function fetchButton(name: string, retry: () => void): HTMLElement {
  const status = h('span', { class: 'wrong small', role: 'status' });
  const fetch = button({ onclick: () => start() }, text.failures.fetch);
  async function start(): Promise<void> {
    fetch.disabled = true;
    fill(fetch, text.failures.fetching);
    fill(status);
    try {
      await engine.call('pull', { name, from: modelServer().href });
      retry();
    } catch (error) {
      fill(status, messageOf(error));
      fill(fetch, text.failures.fetch);
      fetch.disabled = false;
    }
  }
  return h('div', { class: 'fetch' }, fetch, status);
}

/** Capitalizes a message, unless it begins with a file's name. */
export function sentence(message: string): string {
  return message.replace(/^[a-z]+(?=[ ,])/, capital);
}

/** Files that may be raw YUV despite their names. */
function maybeRaw(failure: Failure, session: Session): readonly ChosenFile[] {
  if (!resolvedBy(failure, 'raw')) return [];
  const { role, file } = failure;
  const reference = role === 'distorted' ? [] : [session.reference.value];
  const distorted = role === 'reference' ? [] : session.distorted.value;
  return [...reference, ...distorted].filter(
    (chosen): chosen is ChosenFile => chosen?.kind === 'encoded' && chosen.file.name === file,
  );
}

function remediesOf({ objections = [] }: Failure): readonly Remedy[] {
  return objections.flatMap(({ hints = [] }) => hints);
}

function resolvedBy(failure: Failure, option: string): boolean {
  return remediesOf(failure).some((remedy) => typeof remedy === 'object' && remedy.option === option);
}

/** Advised changes of settings that have a label here and are not made yet. */
export function advisedSettings(
  failure: Failure,
  settings: Settings,
): readonly (readonly [label: string, change: Partial<Settings>])[] {
  const { fixes } = text.failures;
  const changes = remediesOf(failure).flatMap((remedy) => {
    if (typeof remedy !== 'object' || remedy.purpose !== 'fix' || !(remedy.option in fixes)) return [];
    const option = remedy.option as keyof typeof fixes;
    return remedy.value === settings[option] ? [] : [[fixes[option], { [option]: remedy.value }] as const];
  });
  return [...new Map(changes)];
}

/** The model to pull, for the first time or again. */
export function absentModel(failure: Failure): string | undefined {
  for (const remedy of remediesOf(failure))
    if (typeof remedy === 'object' && remedy.purpose === 'pull') return remedy.model;
  return undefined;
}

export function kindOfFailure(failure: Failure, settings: Settings): FailureKind {
  const { code = '', name } = failure;
  if (name === 'NotReadableError' || name === 'NotFoundError') return 'io';
  if (code === 'media' && settings.decoder === 'mediabunny' && resolvedBy(failure, 'decoder'))
    return 'undecodable';
  if (code === 'model' && absentModel(failure) !== undefined) return 'absent';
  return Object.hasOwn(KINDS, code) ? KINDS[code as keyof typeof KINDS] : 'other';
}

/** By error code. */
const KINDS = {
  resource: 'memory',
  died: 'died',
  internal: 'died',
  mismatch: 'differs',
  offline: 'offline',
  media: 'media',
  model: 'model',
  io: 'io',
  feature: 'feature',
  backend: 'backend',
  usage: 'usage',
} as const;

/** Decides on heading, advice and buttons. */
export type FailureKind = (typeof KINDS)[keyof typeof KINDS] | 'undecodable' | 'absent' | 'other';

/** Omits hints about options, for which the page has forms and buttons. */
export function failureWords({ message, objections }: Failure): string {
  if (!objections) return message;
  const texts = objections.map(({ message: problem, about, hints = [] }) => {
    const wrong = about === undefined ? problem : `${about} ${problem}`;
    const steps = hints.filter((hint) => typeof hint === 'string').join(', or ');
    if (wrong.endsWith('.')) return wrong;
    return steps === '' ? `${wrong}.` : `${wrong}; ${steps}.`;
  });
  return texts.join(' ');
}
