/**
 * @module engine/inputs/preflight
 * Checks a pair: declared properties before scoring, pictures during scoring.
 */
import { AnyvmafError, type ErrorCode, objectionsText, usageError } from '../../core/errors.js';
import { lumaBytes } from '../../core/frame.js';
import { USUAL_RATE } from '../../core/numbers.js';
import { frameCountOf, type Side } from '../../media/pair.js';
import type { OpenPair } from '../../media/pairing/prepare.js';
import { framePartners } from '../../media/pairing/timeline.js';
import { WIDEST } from '../../media/pairing/types.js';
import type { Finding, PreflightContext, SideFacts } from '../../media/preflight/findings.js';
import { preflight } from '../../media/preflight/index.js';
import { judge } from '../../media/preflight/judge.js';
import { uncheckedFinding } from '../../media/preflight/make.js';
import { measuredPlanes } from '../../media/preflight/measure.js';
import { closeAll } from '../../media/sources.js';
import type { ExtractorInstance } from '../../metrics/metric.js';
import type { InputContext } from '../contract/scope.js';
import type { Inspection } from '../contract/types.js';
import { canReadAgain, type Pair, readPair } from '../pair/pair.js';
import type { RequestedModels } from '../plan/plan.js';
import { findOffset, MEASURED, measureSide, mostFrames } from './few-frames.js';
import { FrameObserver, type Observed } from './frame-observer.js';

/** A pair, as an unsharded run reads it. */
export interface WholePair {
  /** Open from its first pair. */
  readonly pair: OpenPair;
  readonly expected: number | null;
  /** Opens it again from a pair; the caller closes it. */
  part(first: number): Promise<OpenPair>;
}

/** Offsets to try in each direction if no search is requested: a second of most videos. */
const WINDOW = 25;

/** Fewest pairs for a meaningful search. */
const ENOUGH_PAIRS = 100;

/** A feature string with a frame rate, for features that treat frames without a rate as stills. */
function withRate({ spec, options, given }: ExtractorInstance): readonly string[] {
  if (options.fps || !spec.features.some(({ stills }) => stills)) return [];
  const named = [...given].filter((name) => name !== 'fps').map((name) => `${name}=${options[name]}`);
  return [`${spec.name}=${[...named, `fps=${USUAL_RATE}`].join(':')}`];
}

export class Preflight {
  readonly #inputs: InputContext;
  readonly #known: Pair;
  readonly #context: PreflightContext;
  readonly #facts: { readonly reference: SideFacts; readonly distorted: SideFacts };
  readonly #declared: readonly Finding[];
  #inspecting: Promise<Inspection | undefined> | undefined;
  #observer: FrameObserver | undefined;

  constructor(inputs: InputContext, known: Pair, requested: RequestedModels) {
    const { sides, plan, framing } = known;
    const { checked } = inputs;
    const { pairing } = checked;
    this.#inputs = inputs;
    this.#known = known;
    this.#facts = { reference: sideFacts(sides.reference), distorted: sideFacts(sides.distorted) };
    this.#context = {
      ...pairing,
      models: requested.models.map(({ source }) => ({ name: source })),
      ...(requested.extractors && {
        extractors: requested.extractors.map(({ spec }) => spec.name),
        rated: requested.extractors.flatMap(withRate),
      }),
      ...(plan && { comparedSize: { width: plan.format.width, height: plan.format.height } }),
      ...(framing && { framing }),
      ...(checked.colours === 'only' && { light: true }),
      offset: this.#offset,
      skipped: checked.skip,
      offsetSearched: pairing.offset === 'auto',
      partial:
        pairing.range !== undefined ||
        Number.isFinite(checked.frameCount) ||
        checked.skip.reference + checked.skip.distorted > 0,
    };
    const declared = this.#compare(this.#facts.reference, this.#facts.distorted, this.#context);
    this.#declared = judge([...(known.ofBytes ?? []), ...declared]);
  }

  /** @throws {AnyvmafError} `mismatch` for videos that cannot be compared as requested */
  refuseErrors(): void {
    refuseFindings(this.#declared, false);
  }

  /** @throws {AnyvmafError} `mismatch` for errors and warnings, as with `strict` */
  refuse(findings: readonly Finding[]): void {
    refuseFindings(findings, true);
  }

  /** Inspects pictures while scoring in order. @returns the pair to read now; `undefined` if it shows too little */
  observe(pair: OpenPair, expected: number | null): OpenPair | undefined {
    if (!this.#showsEnough(pair, expected)) return undefined;
    this.#observer = this.#observe(pair, expected);
    return this.#observer.pair;
  }

  /** As {@link observe}, for a run that reads only a part: reads frames again. False if they show too little. */
  observeAhead(whole: WholePair): boolean {
    const { pair, expected } = whole;
    if (this.#inputs.signal.aborted || !this.#showsEnough(pair, expected)) return false;
    this.#start(unlessUnreadable(this.#lookAhead(whole), this.#inputs.signal));
    return true;
  }

  /** Opens both videos again to inspect their pictures, if possible. */
  readAgain(): void {
    const { reference, distorted } = this.#known.sides;
    if (this.#inputs.signal.aborted || !canReadAgain(reference) || !canReadAgain(distorted)) return;
    this.#start(this.#inspectAgain());
  }

  #start(inspecting: Promise<Inspection | undefined>): void {
    this.#inspecting = this.#unlessDefect(inspecting);
    this.#inspecting.catch(() => {});
  }

  async #lookAhead({ pair, expected, part }: WholePair): Promise<Inspection> {
    const observer = this.#observe(pair, expected);
    const { signal } = this.#inputs;
    const luma = () => ({ y: new Uint8Array(lumaBytes(pair.reference.info)) });
    const [reference, distorted] = [luma(), luma()];
    for (let index = 0; !observer.settled && (expected === null || index < expected); index++) {
      signal.throwIfAborted();
      if (await readPair(observer.pair, index, reference, distorted)) break;
    }
    const unmeasured = observer.unmeasured();
    const planes = () => measuredPlanes(pair.reference.info);
    const [wholeReference, wholeDistorted] = [planes(), planes()];
    for (const frame of unmeasured) {
      signal.throwIfAborted();
      const opened = await part(frame);
      try {
        if (!(await readPair(opened, 0, wholeReference, wholeDistorted)))
          observer.measure(frame, wholeReference, wholeDistorted);
      } finally {
        await closeAll([opened.reference, opened.distorted]);
      }
    }
    return this.#conclude(await observer.result());
  }

  #showsEnough(pair: OpenPair, expected: number | null): boolean {
    const partial = this.#context.partial && expected !== null && expected < ENOUGH_PAIRS;
    return !(partial || !this.#inPhase || pair.reference === pair.distorted);
  }

  #observe(pair: OpenPair, expected: number | null): FrameObserver {
    const { alignment, plan } = this.#known;
    return new FrameObserver(pair, {
      facts: this.#facts,
      expected,
      measured: MEASURED,
      alignment: alignment ?? {
        offset: this.#offset,
        rateRatio: pair.mapped ? (plan?.ratio ?? 1) : 1,
        partners:
          pair.mapped && plan
            ? framePartners(plan.sides.reference.times, plan.sides.distorted.times, plan.first)
            : undefined,
        window: this.#window,
        maxFrames: mostFrames(this.#window),
      },
    });
  }

  /** All findings, including those of inspected pictures. */
  async inspection(): Promise<Inspection> {
    if (this.#observer)
      return this.#unlessDefect(this.#observer.result().then((seen) => this.#conclude(seen)));
    return (await this.#inspecting) ?? this.#undecoded;
  }

  /** Waits for reading to end, which the run's signal stops. */
  async close(): Promise<void> {
    await this.#inspecting?.catch(() => {});
  }

  get #offset(): number {
    return this.#known.plan?.options.offset ?? 0;
  }

  /** Whether the first frames read show the same moment, from which all others are counted. */
  get #inPhase(): boolean {
    const { plan } = this.#known;
    if (!plan?.paired || plan.paired.consecutive) return true;
    const { offset, skip } = plan.options;
    const fromStart = plan.first.reference === skip.reference + Math.max(0, offset);
    return fromStart && offset >= 0;
  }

  get #window(): number {
    return Math.min(WIDEST, Math.max(WINDOW, 2 * Math.abs(this.#offset)));
  }

  async #inspectAgain(): Promise<Inspection | undefined> {
    const { sides, alignment } = this.#known;
    const inputs = this.#inputs;
    const { checked, shared, signal } = inputs;
    const assumed = this.#offset;
    if (!alignment && Math.abs(assumed) > WIDEST)
      throw usageError(`the offset is ${assumed}, but only offsets of up to ${WIDEST} frames are searched.`);
    const searching = alignment ?? findOffset(inputs, sides, { assumed, window: this.#window });
    const measured = (side: Side, other: Side, until = signal) =>
      measureSide({ ...inputs, signal: until }, side, { length: frameCountOf(side) ?? frameCountOf(other) });
    const found = await unlessUnreadable(
      Promise.all([
        searching,
        shared?.measured(checked, (until) => measured(sides.reference, sides.distorted, until)) ??
          measured(sides.reference, sides.distorted),
        measured(sides.distorted, sides.reference),
      ]),
      signal,
    );
    // The run itself reports unreadable frames.
    if (!found) return undefined;
    const [result, reference, distorted] = found;
    return this.#conclude({ alignment: result, reference, distorted });
  }

  #conclude({ alignment, ...measured }: Observed): Inspection {
    const reference = { ...this.#facts.reference, measured: measured.reference };
    const distorted = { ...this.#facts.distorted, measured: measured.distorted };
    const ofPictures = this.#compare(reference, distorted, { ...this.#context, alignment });
    const findings = judge([...(this.#known.ofBytes ?? []), ...ofPictures], { alignment });
    return { reference, distorted, findings, alignment };
  }

  get #undecoded(): Inspection {
    return { ...this.#facts, findings: this.#declared };
  }

  /** Turns an internal error into a finding instead of ending the run. */
  #compare(reference: SideFacts, distorted: SideFacts, context: PreflightContext): readonly Finding[] {
    try {
      return preflight(reference, distorted, context);
    } catch (error) {
      return [uncheckedFinding('the two videos', error)];
    }
  }

  /** Turns a defect into a finding of an inspection without pictures. @throws the signal's reason */
  async #unlessDefect<T>(inspecting: Promise<Inspection | T>): Promise<Inspection | T> {
    try {
      return await inspecting;
    } catch (error) {
      this.#inputs.signal.throwIfAborted();
      const known = this.#undecoded;
      return { ...known, findings: [uncheckedFinding('the pictures', error), ...known.findings] };
    }
  }
}

/** Returns `undefined` if a video cannot be read. @throws the signal's reason */
async function unlessUnreadable<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AnyvmafError && UNREADABLE.has(error.code)) return undefined;
    throw error;
  }
}

/** Errors that the run itself reports when it reads the same frames. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set(['media', 'io']);

/** @throws {AnyvmafError} `mismatch` for errors, naming all of them; if `strict`, for warnings too */
export function refuseFindings(findings: readonly Finding[], strict: boolean): void {
  const found = findings.filter(({ severity }) => severity === 'error' || (strict && severity === 'warning'));
  if (found.length === 0) return;
  const objections = found.map(({ message, hint }) => ({ message, ...(hint && { hints: [hint] }) }));
  throw new AnyvmafError('mismatch', objectionsText(objections), { objections });
}

function sideFacts(side: Side): SideFacts {
  const timestamps = side.times;
  if (side.kind !== 'encoded') return { ...side.source.info, timestamps };
  const { video, setBacks } = side;
  const { facts, encoderSettings } = video;
  return { ...facts, ...(encoderSettings && { encoderSettings }), timestamps, ...(setBacks && { setBacks }) };
}
