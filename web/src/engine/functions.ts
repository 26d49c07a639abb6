/**
 * @module web/engine/functions
 * What the page asks of the library: look at a pair, find its offset, score, and fetch frames; and what a tiny model is made
 * of. Runs in the worker.
 */
import {
  type AlignOptions,
  type AlignResult,
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
  type TinyModelDescription,
} from 'anyvmaf';
import { frameFunctions } from '../frames/serve.js';
import { newsAfter } from '../turns.js';
import { scoreAll } from './alone.js';
import { type CallContext, type Failure, failureOf } from './calls.js';

/** Options as they cross the border: no callbacks, no signal. */
type Plain<T> = Omit<T, 'signal' | 'gate' | 'onStart' | 'onProgress' | 'onFrame' | 'onReport' | 'onFailure'>;

export interface ScoreCall {
  /** `null` where tiny models look at the distorted videos alone. */
  readonly reference: File | null;
  readonly distorted: readonly File[];
  readonly options: Plain<ScoreManyOptions>;
}

/** What is new of an encode. */
export interface News {
  readonly progress?: Progress;
  readonly frames: readonly FrameMetrics[];
}

/**
 * What a run tells while it works; all encodes' news come at once, now and then. A report comes without the frames, which
 * were told by then. Of several encodes, one may fail and the others go on; one alone fails with the call.
 */
export type ScoreEvent =
  /** Before an encode's first frame: where in the reference it begins. */
  | { readonly kind: 'start'; readonly index: number; readonly skipped: number }
  | { readonly kind: 'news'; readonly encodes: readonly News[] }
  | { readonly kind: 'report'; readonly index: number; readonly report: Report }
  | { readonly kind: 'failure'; readonly index: number; readonly failure: Failure };

/** What a run that is held up waits at. */
let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

/** Holds the run up, or lets it go on. */
function hold(held: boolean): void {
  gate?.open();
  gate = undefined;
  if (!held) return;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { opened, open };
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

  describeTiny({
    model,
    files,
  }: {
    readonly model: string;
    readonly files: Readonly<Record<string, File>>;
  }): Promise<TinyModelDescription> {
    return describeTinyModel(model, { files });
  },

  /** Fetches a model that is not part of the page and keeps it in the browser's storage. */
  async pull({ name, from }: { name: string; from: string }): Promise<void> {
    await pullModel(name, { from });
  },

  /** Pauses the run, or lets it go on. Frames in hand are finished first. */
  async pause(held: boolean): Promise<void> {
    hold(held);
  },

  async score(
    { reference, distorted, options }: ScoreCall,
    { signal, emit }: CallContext<ScoreEvent>,
  ): Promise<void> {
    const waiting = distorted.map((): { frames: FrameMetrics[]; progress?: Progress } => ({ frames: [] }));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let told = Number.NEGATIVE_INFINITY;
    const begun = performance.now();
    // All that is new at once: the page then draws once.
    const tell = () => {
      clearTimeout(timer);
      timer = undefined;
      told = performance.now();
      const encodes = waiting.map((news): News => ({ ...news, frames: news.frames.splice(0) }));
      for (const news of waiting) delete news.progress;
      if (encodes.some(({ progress, frames }) => progress || frames.length > 0))
        emit({ kind: 'news', encodes });
    };
    const tellSoon = () => {
      const now = performance.now();
      timer ??= setTimeout(tell, Math.max(0, told + newsAfter(now - begun) - now));
    };
    hold(false);
    // A run that was given up while it was held up must get to its end.
    signal.addEventListener('abort', () => hold(false));
    try {
      await scoreAll(reference, distorted, {
        ...options,
        signal,
        gate: () => gate?.opened,
        onStart({ reference: { skipped } }, index) {
          emit({ kind: 'start', index, skipped });
        },
        onProgress(progress, index) {
          const news = waiting[index];
          if (news) news.progress = progress;
          tellSoon();
        },
        onFrame(frame, index) {
          waiting[index]?.frames.push(frame);
          tellSoon();
        },
        onReport(report, index) {
          tell();
          // Frames cross the border once, in batches: many at a time would hold the page up.
          emit({ kind: 'report', index, report: { ...report, frames: [] } });
        },
        ...(distorted.length > 1 && {
          onFailure(error, index) {
            tell();
            emit({ kind: 'failure', index, failure: failureOf(error) });
          },
        }),
      });
    } finally {
      tell();
    }
  },
};

export type Engine = typeof engine;
