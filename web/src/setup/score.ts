/**
 * @module web/setup/score
 * Starts, pauses and ends the run.
 */
import type { Progress, Report } from 'anyvmaf';
import { type Failure, failureOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { ScoreEvent } from '../engine/functions.js';
import { identityOf } from '../identity.js';
import { type EncodeResult, isActive, type Session, settingsOf } from '../session.js';
import { coloursOf } from './colours.js';
import { decoderReady } from './decoder.js';
import { type FailureKind, kindOfFailure } from './failure-kind.js';
import { rawFiles } from './files.js';
import { noReferenceOptions, runOptions } from './options.js';

/** What is missing before a run can start. */
export type Missing = 'both' | 'reference' | 'distorted' | 'raw';

/** What the user must still choose; `null` if a run can start. Tiny models alone need no reference. */
export function missing(session: Session): Missing | null {
  const { reference, distorted, raw, tiny } = session;
  if (!reference.value && distorted.value.length === 0) return 'both';
  if (!reference.value && tiny.value.length === 0) return 'reference';
  if (distorted.value.length === 0) return 'distorted';
  return rawFiles(session).length > 0 && !raw.value ? 'raw' : null;
}

/** Failures of files themselves, which no other file and no run can help. */
const OF_FILES: readonly FailureKind[] = ['undecodable', 'media', 'io'];

/** Why no encode can be scored, as far as is known: each pair that was looked at has a file that cannot be read. */
export function unreadable({ distorted, inspections, settings }: Session): Failure | null {
  const pairs = distorted.value.map(({ id }) => inspections.value.get(id));
  const failures = pairs.flatMap((pair) =>
    pair?.phase === 'failed' && OF_FILES.includes(kindOfFailure(pair.failure, settings.value))
      ? [pair.failure]
      : [],
  );
  return failures.length === pairs.length ? (failures[0] ?? null) : null;
}

/** The files and settings that decide on a run's numbers, as text. */
export function runKey({ reference, distorted, raw, settings, tiny }: Session): string {
  // The same numbers come of any number of threads, and of a GPU.
  const { threads, backend, ...deciding } = settings.value;
  return JSON.stringify([
    reference.value?.id,
    distorted.value.map(({ id, own }) => [id, own]),
    raw.value,
    deciding,
    tiny.value.map(({ model, files }) => [model, files && identityOf(files)]),
  ]);
}

/** Keeps `session.outdated` up to date. */
export function watchOutdated(session: Session): void {
  const { reference, distorted, raw, settings, tiny, scored, outdated } = session;
  const update = () => {
    outdated.value = scored.value !== null && scored.value !== runKey(session);
  };
  for (const cell of [reference, distorted, raw, settings, tiny, scored]) cell.watch(update);
}

/** The run of a session. */
export class Runner {
  readonly #session: Session;
  #stop: AbortController | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Scores all encodes. Settles when the run has ended, with success or without. */
  async start(): Promise<void> {
    const session = this.#session;
    const reference = session.reference.value;
    if (missing(session) !== null || this.#stop || session.reading.value) return;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const chosen = session.distorted.value;
    const distorted = chosen.map(({ file }) => file);
    const raw = rawFiles(session).length > 0 ? session.raw.value : null;
    const makeOptions = reference ? runOptions : noReferenceOptions;
    const options = chosen.map((one) => makeOptions(settingsOf(session, one), raw, session.tiny.value));
    const colours = coloursOf(session);
    const found = chosen.map(({ id }) => {
      const pair = session.inspections.value.get(id);
      return pair?.phase === 'found' ? pair.inspection : undefined;
    });
    const encodes = distorted.map(
      (file, i): EncodeResult => ({
        name: file.name,
        colour: colours[i],
        found: found[i],
        frames: [],
        ...(reference && {
          source: { reference: reference.file, distorted: file, options: options[i] ?? {} },
        }),
      }),
    );
    session.cursor.value = null;
    session.results.value = [];
    session.unsaved.value = false;
    session.scored.value = runKey(session);
    session.run.value = { phase: 'running', progress: distorted.map(() => null) };
    /** By encode. */
    const failures = new Map<number, Failure>();
    try {
      await decoderReady(session.settings.value);
      await engine.call(
        'score',
        { reference: reference?.file ?? null, distorted, options },
        { signal, onEvent: this.#collect(encodes, failures, signal) },
      );
      const [first] = failures.values();
      session.run.value =
        first && failures.size === distorted.length
          ? { phase: 'failed', failure: first }
          : { phase: 'done', failures: [...failures.values()] };
    } catch (error) {
      session.run.value = signal.aborted
        ? { phase: 'cancelled' }
        : { phase: 'failed', failure: failureOf(error) };
      // Of a file that failed before its first frame there is nothing to show.
      if (!signal.aborted)
        session.results.value = session.results.value.filter(({ frames }) => frames.length > 0);
    } finally {
      session.unsaved.value = session.results.value.some(({ report }) => report);
      this.#stop = undefined;
    }
  }

  /** A listener that writes the events of a run to the session and to `failures`. */
  #collect(encodes: EncodeResult[], failures: Map<number, Failure>, signal: AbortSignal) {
    const { run, results, distorted } = this.#session;
    const ids = distorted.value.map(({ id }) => id);
    let progress: readonly (Progress | null)[] = encodes.map(() => null);
    return (event: ScoreEvent) => {
      if (signal.aborted) return;
      if (event.kind === 'news') {
        for (const [index, { frames }] of event.encodes.entries())
          for (const frame of frames) encodes[index]?.frames.push(frame);
        progress = progress.map((known, index) => event.encodes[index]?.progress ?? known);
      } else if (event.kind === 'failure') this.#giveUp(event, encodes, failures);
      else {
        const { index } = event;
        const encode = encodes[index];
        if (!encode) return;
        if (event.kind === 'start') encodes[index] = { ...encode, skipped: event.skipped };
        else {
          // The report shares the array of frames, so that it has them all.
          const report = { ...event.report, frames: encode.frames };
          encodes[index] = { ...encode, report: this.#withFindings(report, ids[index]) };
        }
      }
      if (isActive(run.value))
        run.value = { ...run.value, progress: progress.filter((_, index) => !failures.has(index)) };
      // A failed file stands among the failures and nowhere else.
      results.value = encodes.filter((_, index) => !failures.has(index));
    };
  }

  /** Takes a failed encode off the results; the open frame stays that of its encode. */
  #giveUp(
    { index, failure }: Extract<ScoreEvent, { kind: 'failure' }>,
    encodes: readonly EncodeResult[],
    failures: Map<number, Failure>,
  ): void {
    const { cursor } = this.#session;
    const place = encodes.slice(0, index).filter((_, i) => !failures.has(i)).length;
    failures.set(index, failure);
    if (!cursor.value || cursor.value.encode < place) return;
    cursor.value =
      cursor.value.encode === place ? null : { ...cursor.value, encode: cursor.value.encode - 1 };
  }

  /**
   * Adds what was found before the run to the report of stored frames. A run of encoded ones looks at their pictures itself; a
   * short run of stored ones does not.
   */
  #withFindings(report: Report, id: number | undefined): Report {
    const { reference, distorted, inspections } = this.#session;
    const pair = id === undefined ? undefined : inspections.value.get(id);
    const files = [reference.value, distorted.value.find((one) => one.id === id)];
    if (pair?.phase !== 'found' || !report.preflight || files.some((one) => one?.kind === 'encoded'))
      return report;
    const known = new Set(report.preflight.map(({ code }) => code));
    const further = pair.inspection.findings.filter(({ code }) => !known.has(code));
    return { ...report, preflight: [...report.preflight, ...further] };
  }

  /** Pauses or resumes the run. */
  async pause(paused: boolean): Promise<void> {
    const { run } = this.#session;
    if (!isActive(run.value)) return;
    run.value = { phase: paused ? 'paused' : 'running', progress: run.value.progress };
    await engine.call('pause', paused);
  }

  /** Cancels the run; scored frames stay visible. */
  cancel(): void {
    this.#stop?.abort(new DOMException('The run was cancelled.', 'AbortError'));
  }
}
