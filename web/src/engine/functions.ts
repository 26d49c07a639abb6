/**
 * @module web/engine/functions
 * The page's calls into the library: inspect, align, score, fetch frames, describe tiny models. Runs in the worker.
 */
import {
  type AlignOptions,
  type AlignResult,
  AnyvmafError,
  align,
  describeTinyModel,
  type FrameMetrics,
  type Inspection,
  type InspectOptions,
  inspect,
  type Progress,
  pullModel,
  type Report,
  type ScoreManyOptions,
  type ScoreRequest,
  score,
  scoreMany,
  type TinyModelDescription,
} from 'anyvmaf';
import { onAbort } from 'anyvmaf/core/abort';
import { frameFunctions } from '../frames/serve.js';
import { newsAfter } from '../schedule.js';
import type { ChosenTiny } from '../session.js';
import { alike } from '../setup/options.js';
import { type CallContext, type Failure, failureOf } from './calls.js';

/** Options that can be sent to a worker: no callbacks, no signal. */
type Plain<T> = Omit<T, 'signal' | 'gate' | 'onStart' | 'onProgress' | 'onFrame' | 'onReport' | 'onFailure'>;

export interface ScoreCall {
  /** `null`: tiny models score without a reference. */
  readonly reference: File | null;
  readonly distorted: readonly File[];
  /** One per distorted video; those with equal options are scored together. */
  readonly options: readonly Plain<ScoreManyOptions>[];
}

export interface News {
  readonly progress?: Progress;
  readonly frames: readonly FrameMetrics[];
}

/**
 * Events of a run. News of all encodes come together, at intervals, with the frames; reports come without
 * frames. With several encodes one may fail while the others go on; a single one fails the call.
 */
export type ScoreEvent =
  /** Before an encode's first frame; `skipped` reference frames come before it. */
  | { readonly kind: 'start'; readonly index: number; readonly skipped: number }
  | { readonly kind: 'news'; readonly encodes: readonly News[] }
  | { readonly kind: 'report'; readonly index: number; readonly report: Report }
  | { readonly kind: 'failure'; readonly index: number; readonly failure: Failure };

let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

function pause(paused: boolean): void {
  gate?.open();
  gate = undefined;
  if (!paused) return;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { opened, open };
}

async function scoreAll(
  reference: File | null,
  distorted: readonly File[],
  options: ScoreManyOptions,
): Promise<void> {
  if (reference) {
    await scoreMany(reference, distorted, options);
    return;
  }
  const { raw, onProgress, onFrame, onStart, onReport, onFailure, ...shared } = options;
  for (const [index, file] of distorted.entries()) {
    try {
      const report = await score(
        { distorted: file, ...(raw && { raw }) },
        {
          ...shared,
          onProgress: (progress) => onProgress?.(progress, index),
          onFrame: (frame) => onFrame?.(frame, index),
          onStart: (head) => onStart?.(head, index),
        },
      );
      onReport?.(report, index);
    } catch (error) {
      if (!onFailure || !(error instanceof AnyvmafError)) throw error;
      onFailure(error, index);
    }
  }
}

/** Collects news, so that the page draws once. */
class NewsBatch {
  readonly #waiting: { frames: FrameMetrics[]; progress?: Progress }[];
  readonly #emit: (event: ScoreEvent) => void;
  readonly #begun = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sent = Number.NEGATIVE_INFINITY;

  constructor(encodes: number, emit: (event: ScoreEvent) => void) {
    this.#waiting = Array.from({ length: encodes }, () => ({ frames: [] }));
    this.#emit = emit;
  }

  progress(encode: number, progress: Progress): void {
    const news = this.#waiting[encode];
    if (news) news.progress = progress;
    this.#flushSoon();
  }

  frame(encode: number, frame: FrameMetrics): void {
    this.#waiting[encode]?.frames.push(frame);
    this.#flushSoon();
  }

  #flushSoon(): void {
    const now = performance.now();
    const due = this.#sent + newsAfter(now - this.#begun);
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, due - now));
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sent = performance.now();
    const encodes = this.#waiting.map((news): News => ({ ...news, frames: news.frames.splice(0) }));
    for (const news of this.#waiting) delete news.progress;
    if (encodes.some(({ progress, frames }) => progress || frames.length > 0))
      this.#emit({ kind: 'news', encodes });
  }
}

export const engine = {
  ...frameFunctions,

  inspect(
    { request, options }: { request: ScoreRequest; options: Plain<InspectOptions> },
    { signal }: CallContext<never>,
  ): Promise<Inspection> {
    return inspect(request, { ...options, signal });
  },

  align(
    { request, options }: { request: ScoreRequest; options: Plain<AlignOptions> },
    { signal }: CallContext<never>,
  ): Promise<AlignResult> {
    return align(request, { ...options, signal });
  },

  describeTiny({ model, files }: Required<Omit<ChosenTiny, 'resizes'>>): Promise<TinyModelDescription> {
    return describeTinyModel(model, { files });
  },

  /** Fetches a model that the page does not contain into the browser's storage. */
  async pull({ name, from }: { name: string; from: string }): Promise<void> {
    await pullModel(name, { from });
  },

  /** Frames in progress are finished first. */
  async pause(paused: boolean): Promise<void> {
    pause(paused);
  },

  async score(
    { reference, distorted, options }: ScoreCall,
    { signal, emit }: CallContext<ScoreEvent>,
  ): Promise<void> {
    const news = new NewsBatch(distorted.length, emit);
    // An aborted run must not stay paused.
    onAbort(signal, () => pause(false));
    try {
      for (const [shared, of] of alike(options)) {
        const at = (place: number) => of[place] ?? 0;
        const files = of.flatMap((index) => distorted[index] ?? []);
        await scoreAll(reference, files, {
          ...shared,
          signal,
          gate: () => gate?.opened,
          onStart({ reference: { skipped } }, place) {
            emit({ kind: 'start', index: at(place), skipped });
          },
          onProgress(progress, place) {
            news.progress(at(place), progress);
          },
          onFrame(frame, place) {
            news.frame(at(place), frame);
          },
          onReport(report, place) {
            news.flush();
            // The frames were sent as news; all at once would block the page.
            emit({ kind: 'report', index: at(place), report: { ...report, frames: [] } });
          },
          ...(distorted.length > 1 && {
            onFailure(error, place) {
              news.flush();
              emit({ kind: 'failure', index: at(place), failure: failureOf(error) });
            },
          }),
        });
      }
    } finally {
      news.flush();
    }
  },
};

export type Engine = typeof engine;
