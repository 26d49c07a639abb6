/**
 * @module web/setup/look
 * Looks at every pair as soon as it is chosen, and again when settings change what there is to find.
 */
import type { Finding } from 'anyvmaf';
import { failureOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { Look, Session, Settings } from '../session.js';
import { rawFiles } from './files.js';
import { fixOf } from './fixes.js';
import { lookOptions } from './options.js';
import { guessRaw } from './raw-guess.js';

/** Milliseconds after the last change before looking: while a number is typed nothing is looked at. */
const PATIENCE = 250;

/** Keeps `session.looks` up to date. */
export function keepLooking(session: Session): void {
  let asked = '';
  let stop: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const consider = () => {
    const { reference, distorted, raw, settings } = session;
    const question = JSON.stringify([
      reference.value?.id,
      distorted.value.map(({ id }) => id),
      raw.value,
      lookOptions(settings.value),
    ]);
    if (question === asked) return;
    asked = question;
    stop?.abort();
    clearTimeout(timer);
    const ready =
      reference.value !== null &&
      distorted.value.length > 0 &&
      (raw.value !== null || rawFiles(session).length === 0);
    session.looks.value = ready
      ? new Map(distorted.value.map(({ id }) => [id, { phase: 'looking' }]))
      : new Map();
    if (!ready) return;
    stop = new AbortController();
    const { signal } = stop;
    timer = setTimeout(() => lookAtAll(session, settings.value, signal), PATIENCE);
  };
  for (const cell of [session.reference, session.distorted, session.raw, session.settings])
    cell.watch(consider);
}

async function lookAtAll(session: Session, settings: Settings, signal: AbortSignal): Promise<void> {
  const reference = session.reference.value;
  const raw = session.raw.value;
  if (!reference) return;
  for (const { id, file } of session.distorted.value) {
    const request = { reference: reference.file, distorted: file, ...(raw && { raw }) };
    let look: Look;
    try {
      const inspection = await engine.call(
        'inspect',
        { request, options: lookOptions(settings) },
        { signal },
      );
      if (!signal.aborted && correctGuess(session, inspection.findings)) return;
      look = { phase: 'found', inspection };
    } catch (error) {
      if (signal.aborted) return;
      look = { phase: 'failed', failure: failureOf(error) };
    }
    if (signal.aborted) return;
    session.looks.value = new Map(session.looks.value).set(id, look);
  }
}

/** Takes the geometry that the pictures show, where the one in use was guessed from nothing but the files' sizes. */
function correctGuess(session: Session, found: readonly Finding[]): boolean {
  const guess = guessRaw(rawFiles(session).map(({ file }) => ({ name: file.name, size: file.size })));
  if (guess.from !== 'size' || JSON.stringify(guess.format) !== JSON.stringify(session.raw.value))
    return false;
  const fix = found.map(fixOf).find((one) => one?.kind === 'raw');
  if (fix?.kind !== 'raw') return false;
  session.raw.value = fix.format;
  return true;
}
