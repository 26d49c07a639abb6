/**
 * @module web/setup/failure
 * A failure as people read it: what is wrong, in the library's own words, and what can be done by a button.
 */
import { fill, h } from '../dom.js';
import type { Failure } from '../engine/calls.js';
import type { ChosenFile, Session, Settings } from '../session.js';
import { text } from '../text.js';
import { absentModel, failureWords, kindOfFailure, resolvedBy } from './failure-kind.js';
import { fetchModel, modelServer } from './fetch-model.js';
import { treatAsRaw } from './files.js';

/** @param again what to do after a button changed the settings; looks start by themselves */
export function failureView(failure: Failure, session: Session, again?: () => void): HTMLElement {
  const { settings } = session;
  const kind = kindOfFailure(failure, settings.value);
  const { failures } = text;
  const set = (change: Partial<Settings>) => () => {
    settings.value = { ...settings.value, ...change };
    again?.();
  };
  const button = (label: string, onclick: () => void) =>
    h('button', { class: 'tool', type: 'button', onclick }, label);
  const advice = {
    undecodable: failures.wasmAdvice,
    memory: failures.memoryAdvice,
    died: failures.memoryAdvice,
    io: failures.ioAdvice,
  };
  const raw = maybeRaw(failure, session);
  const absent = kind === 'absent' ? absentModel(failure) : undefined;
  return h(
    'div',
    {
      class: 'failure',
      role: 'alert',
      // What only has to be fetched is no fault.
      style: `--tone: var(--${absent === undefined ? 'bad' : 'note'})`,
      'data-kind': kind,
    },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, absent === undefined ? '!' : 'i'),
    h(
      'div',
      { class: 'finding-text' },
      h('h3', {}, failures[kind]),
      h(
        'p',
        {},
        absent === undefined
          ? sentence(failureWords(failure))
          : failures.absentWhy(absent, modelServer().host),
      ),
      kind in advice && h('p', { class: 'soft small' }, advice[kind as keyof typeof advice]),
      h(
        'div',
        { class: 'tools' },
        raw.length > 0 && button(failures.isRaw, () => treatAsRaw(session, raw)),
        absent !== undefined && again && fetchButton(absent, again),
        kind === 'undecodable' && button(failures.wasm, set({ decoder: 'wasm' })),
        (kind === 'memory' || kind === 'died') &&
          again &&
          settings.value.threads !== 1 &&
          button(failures.oneThread, set({ threads: 1 })),
        kind === 'differs' &&
          resolvedBy(failure, 'scale') &&
          settings.value.scale !== 'bicubic' &&
          button(failures.bicubic, set({ scale: 'bicubic' })),
        kind === 'differs' &&
          resolvedBy(failure, 'frameRatePolicy') &&
          button(failures.nearest, set({ frameRatePolicy: 'nearest' })),
        resolvedBy(failure, 'allowDamaged') && button(failures.damaged, set({ allowDamaged: true })),
        (kind === 'memory' || kind === 'died' || kind === 'other') && again && button(failures.again, again),
      ),
    ),
  );
}

/** Fetches a model and goes on, or says beside the button what went wrong. */
function fetchButton(model: string, again: () => void): HTMLElement {
  const said = h('span', { class: 'wrong small', role: 'status' });
  const button = h('button', { class: 'tool', type: 'button', onclick: () => start() }, text.failures.fetch);
  async function start(): Promise<void> {
    button.disabled = true;
    fill(button, text.failures.fetching);
    fill(said);
    try {
      await fetchModel(model);
      again();
    } catch (error) {
      fill(said, error instanceof Error ? error.message : String(error));
      fill(button, text.failures.fetch);
      button.disabled = false;
    }
  }
  return h('div', { class: 'fetch' }, button, said);
}

/** With a capital letter, unless it begins with a file's name: the library's messages go on after a program's name. */
export function sentence(message: string): string {
  return message.replace(/^[a-z]+(?=[ ,])/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** The files that may be raw YUV without saying so by their names. */
function maybeRaw(failure: Failure, session: Session): readonly ChosenFile[] {
  if (!resolvedBy(failure, 'raw')) return [];
  const { role, file } = failure;
  const reference = role === 'distorted' ? [] : [session.reference.value];
  const distorted = role === 'reference' ? [] : session.distorted.value;
  return [...reference, ...distorted].filter(
    (one): one is ChosenFile => one?.kind === 'encoded' && one.file.name === file,
  );
}
