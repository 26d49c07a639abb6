/**
 * @module web/setup/inspect
 * Inspects every pair once it is chosen, and again when settings that affect it change.
 */
import type { Finding } from 'anyvmaf';
import { failureOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import { type PairInspection, type Session, settingsOf } from '../session.js';
import { decoderReady } from './decoder.js';
import { guessRaw, rawFiles } from './files.js';
import { fixOf } from './fixes.js';
import { pairingOptions } from './options.js';

/** Milliseconds from the last change of a setting, so that typing a number starts one inspection. */
const DELAY = 250;

/** Keeps `session.inspections` up to date; inspections of unaffected pairs stay. */
export function inspectPairs(session: Session): void {
  let inspected = '';
  let keys: ReadonlyMap<number, string> = new Map();
  let files = '';
  let stop: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const update = () => {
    const { reference, distorted, raw } = session;
    const pair = [reference.value?.id, raw.value];
    const last = keys;
    keys = new Map(
      distorted.value.map((chosen) => [
        chosen.id,
        JSON.stringify([...pair, pairingOptions(settingsOf(session, chosen))]),
      ]),
    );
    const inputs = JSON.stringify([...pair, ...keys]);
    if (inputs === inspected) return;
    inspected = inputs;
    const before = files;
    files = JSON.stringify([reference.value?.id, distorted.value.map(({ id }) => id)]);
    stop?.abort();
    clearTimeout(timer);
    const ready =
      reference.value !== null &&
      distorted.value.length > 0 &&
      (raw.value !== null || rawFiles(session).length === 0);
    const found = session.inspections.value;
    const known = (id: number) => {
      const earlier = keys.get(id) === last.get(id) ? found.get(id) : undefined;
      return earlier?.phase === 'found' ? earlier : ({ phase: 'pending' } as const);
    };
    session.inspections.value = new Map(ready ? distorted.value.map(({ id }) => [id, known(id)]) : []);
    if (!ready) return;
    stop = new AbortController();
    const { signal } = stop;
    timer = setTimeout(() => inspectAll(session, signal), files === before ? DELAY : 0);
  };
  for (const cell of [session.reference, session.distorted, session.raw, session.settings])
    cell.watch(update);
}

async function inspectAll(session: Session, signal: AbortSignal): Promise<void> {
  const reference = session.reference.value;
  const raw = session.raw.value;
  if (!reference) return;
  await decoderReady(session.settings.value);
  if (signal.aborted) return;
  for (const chosen of session.distorted.value) {
    const { id, file } = chosen;
    if (session.inspections.value.get(id)?.phase !== 'pending') continue;
    const request = { reference: reference.file, distorted: file, ...(raw && { raw }) };
    let pair: PairInspection;
    try {
      const inspection = await engine.call(
        'inspect',
        { request, options: pairingOptions(settingsOf(session, chosen)) },
        { signal },
      );
      if (!signal.aborted && correctGuess(session, inspection.findings)) return;
      pair = { phase: 'found', inspection };
    } catch (error) {
      if (signal.aborted) return;
      pair = { phase: 'failed', failure: failureOf(error) };
    }
    if (signal.aborted) return;
    session.inspections.value = new Map(session.inspections.value).set(id, pair);
  }
}

/** Replaces a format guessed from file sizes alone by the one that the inspection suggests. */
function correctGuess(session: Session, found: readonly Finding[]): boolean {
  const guess = guessRaw(rawFiles(session).map(({ file }) => file));
  if (guess.from !== 'size' || JSON.stringify(guess.format) !== JSON.stringify(session.raw.value))
    return false;
  const fix = found.map(fixOf).find((fix) => fix?.kind === 'raw');
  if (fix?.kind !== 'raw') return false;
  session.raw.value = fix.format;
  return true;
}
