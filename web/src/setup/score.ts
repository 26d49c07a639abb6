/**
 * @module web/setup/score
 * Starts, pauses and ends runs.
 */
import type { Progress, Report } from 'anyvmaf';
import { type Failure, failureOf } from '../engine/calls.js';
import { engine } from '../engine/client.js';
import type { ScoreEvent } from '../engine/functions.js';
import {
  type ChosenFile,
  coloursOf,
  type EncodeResult,
  identityOf,
  isActive,
  type RunOptions,
  type Scored,
  type Session,
  settingsOf,
} from '../session.js';
import { decoderReady, pauseFetching } from './decoder.js';
import { type FailureKind, kindOfFailure } from './failure.js';
import { rawFiles } from './files.js';
import { deciding, noReferenceOptions, runOptions } from './options.js';

export type Missing = 'both' | 'reference' | 'distorted' | 'raw';

/** What the user must still choose; `null` if a run can start. Tiny models can score without a reference. */
export function missing(session: Session): Missing | null {
  const { reference, distorted, raw, tiny } = session;
  if (!reference.value && distorted.value.length === 0) return 'both';
  if (!reference.value && tiny.value.length === 0) return 'reference';
  if (distorted.value.length === 0) return 'distorted';
  return rawFiles(session).length > 0 && !raw.value ? 'raw' : null;
}

/** Failures of single files, which a run cannot resolve. */
const OF_FILES: readonly FailureKind[] = ['undecodable', 'media', 'io'];

/** The failure if every pair has a file that is known to be unreadable. */
export function unreadable({ distorted, inspections, settings }: Session): Failure | null {
  const pairs = distorted.value.map(({ id }) => inspections.value.get(id));
  const failures = pairs.flatMap((pair) =>
    pair?.phase === 'failed' && OF_FILES.includes(kindOfFailure(pair.failure, settings.value))
      ? [pair.failure]
      : [],
  );
  return failures.length === pairs.length ? (failures[0] ?? null) : null;
}

/** What an encode would be scored with now. */
export function scoredWith(session: Session, chosen: ChosenFile): Scored {
  const { reference, raw, tiny } = session;
  const isRaw = [reference.value, chosen].some((side) => side?.kind === 'raw');
  return {
    reference: reference.value?.file ?? null,
    distorted: chosen.file,
    settings: settingsOf(session, chosen),
    raw: isRaw ? raw.value : null,
    tiny: tiny.value,
  };
}

/** A key of what affects a pair's numbers. @param alike see {@link deciding} */
function decidingText({ settings, raw, tiny }: Scored, alike: boolean): string {
  return JSON.stringify([
    deciding(settings, alike),
    raw,
    tiny.map(({ model, files }) => [model, files && identityOf(files)]),
  ]);
}

/** Whether a result has the numbers of these files and settings. */
function fits({ scored, report }: EncodeResult, wanted: Scored): boolean {
  if (scored?.distorted !== wanted.distorted || scored.reference !== wanted.reference) return false;
  const [to, from] = [report?.reference, report?.pairing?.distorted];
  const alike = from !== undefined && to?.width === from.width && to.height === from.height;
  return decidingText(scored, alike) === decidingText(wanted, alike);
}

/** `undefined` for encodes still to be scored. */
export function keptResults(session: Session): readonly (EncodeResult | undefined)[] {
  return session.distorted.value.map((chosen) => {
    const wanted = scoredWith(session, chosen);
    return session.kept.value.find((result) => fits(result, wanted));
  });
}

/** Shows finished results once all chosen encodes have one; keeps `session.outdated` up to date. */
export function watchChosen(session: Session): void {
  const { reference, distorted, raw, settings, tiny, results, kept, outdated, run, cursor } = session;
  const update = () => {
    const shown = results.value;
    const own = shown.every(({ scored }) => scored) && !isActive(run.value);
    const known = keptResults(session).filter((result) => result !== undefined);
    if (own && known.length > 0 && known.length === distorted.value.length) {
      const same =
        known.length === shown.length && known.every(({ frames }, i) => frames === shown[i]?.frames);
      if (!same) {
        const colours = coloursOf(session);
        cursor.value = null;
        results.value = known.map((result, i) => ({ ...result, colour: colours[i] }));
      }
    }
    const wanted = distorted.value.map((chosen) => scoredWith(session, chosen));
    const isCurrent = (result: EncodeResult) => wanted.some((pair) => fits(result, pair));
    outdated.value = results.value.some((result) => result.scored && !isCurrent(result));
  };
  for (const cell of [reference, distorted, raw, settings, tiny, results, kept]) cell.watch(update);
}

/** Progress of an encode that is not scored again. */
const NONE: Progress = { framesDone: 0, framesTotal: 0, fps: 0, secondsLeft: 0 };

/** Milliseconds after Cancel in which finished encodes still count; the engine mostly stops within a few. */
const GRACE = 1000;

/** Most results kept beside those that the chosen encodes have now: about five for each of a dozen encodes. */
const MOST_KEPT = 64;

/** The kept results with a new one, in place of that of the same pair and settings. */
export function keeping(session: Session, result: EncodeResult): readonly EncodeResult[] {
  const { scored } = result;
  const all = [...session.kept.value.filter((other) => !scored || !fits(other, scored)), result];
  const wanted = session.distorted.value.map((chosen) => scoredWith(session, chosen));
  const isWanted = (other: EncodeResult) => wanted.some((pair) => fits(other, pair));
  const spare = new Set(all.filter((other) => !isWanted(other)).slice(-MOST_KEPT));
  return all.filter((other) => spare.has(other) || isWanted(other));
}

function optionsOf({ reference, settings, raw, tiny }: Scored): RunOptions {
  return (reference ? runOptions : noReferenceOptions)(settings, raw, tiny);
}

/** The result before its first frame. @param index among the chosen encodes */
function pendingResult(session: Session, chosen: ChosenFile, index: number): EncodeResult {
  const scored = scoredWith(session, chosen);
  const { reference, distorted } = scored;
  const pair = session.inspections.value.get(chosen.id);
  return {
    name: distorted.name,
    colour: coloursOf(session)[index],
    found: pair?.phase === 'found' ? pair.inspection : undefined,
    frames: [],
    scored,
    ...(reference && { source: { reference, distorted, options: optionsOf(scored) } }),
  };
}

/** Keeps encodes in their series when they are scored again. */
function keepSeries({ series, results, kept }: Session, encodes: readonly EncodeResult[]): void {
  const known = [...results.value, ...kept.value];
  const entries = encodes.flatMap(({ frames, scored }) => {
    const names = known.flatMap((result) =>
      scored && result.scored?.distorted === scored.distorted ? (series.value.get(result.frames) ?? []) : [],
    );
    return names[0] === undefined ? [] : [[frames, names[0]] as const];
  });
  if (entries.length > 0) series.value = new Map([...series.value, ...entries]);
}

export class Runner {
  readonly #session: Session;
  #stop: AbortController | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Scores encodes without a result, or all again. Resolves when the run has ended, successfully or not. */
  async start(): Promise<void> {
    const session = this.#session;
    if (missing(session) !== null || this.#stop || session.reading.value) return;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const kept = keptResults(session);
    const scoresAll = !kept.includes(undefined);
    const encodes = session.distorted.value.map(
      (chosen, i) => (!scoresAll && kept[i]) || pendingResult(session, chosen, i),
    );
    const places = encodes.flatMap(({ report }, i) => (report ? [] : [i]));
    keepSeries(session, encodes);
    session.cursor.value = null;
    session.run.value = { phase: 'running', progress: encodes.map(({ report }) => (report ? NONE : null)) };
    session.results.value = encodes.some(({ report }) => report) ? encodes : [];
    /** By index of the encode. */
    const failures = new Map<number, Failure>();
    const scored = places.flatMap((i) => encodes[i]?.scored ?? []);
    try {
      // An earlier run may have left the engine paused; a pause of this run follows this call.
      await Promise.all([engine.call('pause', false), decoderReady(session.settings.value, signal)]);
      await engine.call(
        'score',
        {
          reference: session.reference.value?.file ?? null,
          distorted: scored.map(({ distorted }) => distorted),
          options: scored.map(optionsOf),
        },
        { signal, grace: GRACE, onEvent: this.#collect(encodes, places, failures) },
      );
      const [first] = failures.values();
      session.run.value =
        first && failures.size === encodes.length
          ? { phase: 'failed', failure: first }
          : { phase: 'done', failures: [...failures.values()] };
    } catch (error) {
      const progress = isActive(session.run.value) ? session.run.value.progress : [];
      session.run.value = signal.aborted
        ? { phase: 'cancelled' }
        : { phase: 'failed', failure: failureOf(error) };
      const shown = session.results.value;
      // A file that failed before its first frame has nothing to show.
      session.results.value = signal.aborted
        ? shown.map((result, i) => ({ ...result, total: progress[i]?.framesTotal ?? undefined }))
        : shown.filter(({ frames }) => frames.length > 0);
    } finally {
      this.#stop = undefined;
      // Shows earlier results if this run has none.
      if (session.results.value.length === 0) session.results.value = [];
    }
  }

  /** Applies events of a run to the session and `failures`. @param places indices in `encodes` of what is scored */
  #collect(encodes: EncodeResult[], places: readonly number[], failures: Map<number, Failure>) {
    const { run, results } = this.#session;
    let progress = encodes.map(({ report }): Progress | null => (report ? NONE : null));
    return (event: ScoreEvent) => {
      if (event.kind === 'news') {
        for (const [place, news] of event.encodes.entries()) {
          const index = places[place] ?? -1;
          for (const frame of news.frames) encodes[index]?.frames.push(frame);
          if (news.progress) progress = progress.with(index, news.progress);
        }
      } else {
        const index = places[event.index] ?? -1;
        const encode = encodes[index];
        if (!encode) return;
        if (event.kind === 'failure') this.#fail(index, event.failure, failures);
        else if (event.kind === 'start') encodes[index] = { ...encode, skipped: event.skipped };
        else encodes[index] = this.#finish(encode, event.report);
      }
      if (isActive(run.value))
        run.value = { ...run.value, progress: progress.filter((_, index) => !failures.has(index)) };
      // A failed encode is shown as a failure only.
      results.value = encodes.filter((_, index) => !failures.has(index));
    };
  }

  #finish(encode: EncodeResult, report: Report): EncodeResult {
    const { kept, unsaved } = this.#session;
    // Shares the array of frames, so that the report has all of them.
    const whole = { ...report, frames: encode.frames };
    const result = { ...encode, report: this.#withFindings(whole, encode) };
    kept.value = keeping(this.#session, result);
    unsaved.value = true;
    return result;
  }

  /** Removes a failed encode from the results; an open frame stays with its encode. */
  #fail(index: number, failure: Failure, failures: Map<number, Failure>): void {
    const { cursor } = this.#session;
    const place = index - [...failures.keys()].filter((i) => i < index).length;
    failures.set(index, failure);
    if (!cursor.value || cursor.value.encode < place) return;
    cursor.value =
      cursor.value.encode === place ? null : { ...cursor.value, encode: cursor.value.encode - 1 };
  }

  /** Adds earlier findings to reports of stored videos: short runs do not inspect their pictures. */
  #withFindings(report: Report, { scored }: EncodeResult): Report {
    const { reference, distorted, inspections } = this.#session;
    const chosen = distorted.value.find(({ file }) => file === scored?.distorted);
    const pair = chosen && inspections.value.get(chosen.id);
    if (pair?.phase !== 'found' || !report.preflight) return report;
    if ([reference.value, chosen].some((side) => side?.kind === 'encoded')) return report;
    const known = new Set(report.preflight.map(({ code }) => code));
    const further = pair.inspection.findings.filter(({ code }) => !known.has(code));
    return { ...report, preflight: [...report.preflight, ...further] };
  }

  async pause(paused: boolean): Promise<void> {
    const { run } = this.#session;
    if (!isActive(run.value)) return;
    run.value = { phase: paused ? 'paused' : 'running', progress: run.value.progress };
    pauseFetching(paused);
    await engine.call('pause', paused);
  }

  /** Scored frames stay visible. */
  cancel(): void {
    this.#stop?.abort(new DOMException('The run was cancelled.', 'AbortError'));
  }
}
