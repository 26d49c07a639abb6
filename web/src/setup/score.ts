/**
 * @module web/setup/score
 * Starts, pauses and ends the run.
 */
import type { Progress } from 'anyvmaf';
import { type Failure, failureOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { ScoreEvent } from '../engine/functions.js';
import type { EncodeResult, Session } from '../session.js';
import { rawFiles } from './files.js';
import { aloneOptions, runOptions } from './options.js';

/** What stands against scoring now. */
export type Missing = 'both' | 'reference' | 'distorted' | 'raw';

/** What the user has still to give, `null` when a run can start. Tiny models can do without a reference. */
export function missing(session: Session): Missing | null {
  const { reference, distorted, raw, tiny } = session;
  if (!reference.value && distorted.value.length === 0) return 'both';
  if (!reference.value && tiny.value.length === 0) return 'reference';
  if (distorted.value.length === 0) return 'distorted';
  return rawFiles(session).length > 0 && !raw.value ? 'raw' : null;
}

/** The run of a session. */
export class Runner {
  readonly #session: Session;
  #stop: AbortController | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Scores all encodes. Settles when the run has ended, however it did. */
  async start(): Promise<void> {
    const session = this.#session;
    const reference = session.reference.value;
    if (missing(session) !== null || this.#stop) return;
    const stop = new AbortController();
    this.#stop = stop;
    const distorted = session.distorted.value.map(({ file }) => file);
    const raw = rawFiles(session).length > 0 ? session.raw.value : null;
    const options = (reference ? runOptions : aloneOptions)(session.settings.value, raw, session.tiny.value);
    let results: readonly EncodeResult[] = distorted.map((file) => ({
      name: file.name,
      frames: [],
      ...(reference && { source: { reference: reference.file, distorted: file, options } }),
    }));
    session.cursor.value = null;
    session.results.value = [];
    let progress: readonly (Progress | null)[] = distorted.map(() => null);
    session.run.value = { phase: 'running', progress };
    /** By encode. */
    const failures = new Map<number, Failure>();
    const going = <T>(all: readonly T[]) => all.filter((_, index) => !failures.has(index));

    const onEvent = (event: ScoreEvent) => {
      if (stop.signal.aborted) return;
      if (event.kind === 'start') {
        const result = results[event.index];
        if (result) results = results.with(event.index, { ...result, skipped: event.skipped });
      } else if (event.kind === 'report') {
        const result = results[event.index];
        if (!result) return;
        // One array for both: who reads the report sees all frames.
        const report = { ...event.report, frames: result.frames };
        results = results.with(event.index, { ...result, report });
      } else if (event.kind === 'failure') failures.set(event.index, event.failure);
      else {
        for (const [index, { frames }] of event.encodes.entries())
          for (const frame of frames) results[index]?.frames.push(frame);
        progress = progress.map((known, index) => event.encodes[index]?.progress ?? known);
      }
      const { run } = session;
      if (run.value.phase === 'running' || run.value.phase === 'paused')
        run.value = { phase: run.value.phase, progress: going(progress) };
      session.results.value = [...results];
    };

    try {
      await engine.call(
        'score',
        { reference: reference?.file ?? null, distorted, options },
        { signal: stop.signal, onEvent },
      );
      const [first] = failures.values();
      session.run.value =
        first && failures.size === distorted.length
          ? { phase: 'failed', failure: first }
          : { phase: 'done', failures: [...failures.values()] };
    } catch (error) {
      session.run.value = stop.signal.aborted
        ? { phase: 'cancelled' }
        : { phase: 'failed', failure: failureOf(error) };
    } finally {
      this.#stop = undefined;
    }
  }

  /** Holds the run up, or lets it go on. */
  async hold(held: boolean): Promise<void> {
    const { run } = this.#session;
    if (run.value.phase !== 'running' && run.value.phase !== 'paused') return;
    run.value = { phase: held ? 'paused' : 'running', progress: run.value.progress };
    await engine.call('pause', held);
  }

  /** Gives the run up; frames that are scored stay on show. */
  cancel(): void {
    this.#stop?.abort(new DOMException('The run was cancelled.', 'AbortError'));
  }
}
