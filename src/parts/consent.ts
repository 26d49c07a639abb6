/**
 * @module parts/consent
 * Fetches a part when it is needed, if the user agrees: by the command line, by `ANYVMAF_INSTALL`, or by a yes.
 */
import { unlessAborted } from '../core/abort.js';
import type { PartName } from '../core/choices.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import type { InstallHint } from '../core/hint.js';
import { quoted } from '../core/printable.js';
import { isHere } from './store.js';
import { megabytes, PARTS, type Part, type PinnedPackage, packedSize, specOf } from './table.js';

/** Who speaks with the user, if somebody does. */
export interface PartsDoor {
  /** Asks whether to fetch a part. Absent where there is nobody to ask. */
  ask?(part: Part, signal: AbortSignal): Promise<boolean>;
  /** Hears of each package that is fetched. */
  say(one: PinnedPackage): void;
}

let door: PartsDoor | undefined;
let agreed = false;

/** Says who speaks with the user; without one, only `ANYVMAF_INSTALL=auto` lets anything be fetched. */
export function openPartsDoor(opened: PartsDoor | undefined): void {
  door = opened;
}

/** Tells that the user has agreed to whatever is needed. */
export function agreeToParts(): void {
  agreed = true;
}

/** A part that is being fetched, or that the user refused. */
interface Asked {
  readonly work: Promise<void>;
  readonly stop: AbortController;
  /** Callers that wait for it. */
  waiting: number;
}

/** By part: nobody is asked twice, and nothing is fetched twice. */
const asked = new Map<PartName, Asked>();

/** The last question: two at once would be answered by one line. */
let questions: Promise<unknown> = Promise.resolve();

/**
 * Fetches a part unless it is here.
 * @throws {AnyvmafError} `backend` where nobody agreed to it, with what to do; `usage` for a wrong `ANYVMAF_INSTALL`; as
 * `installPart`; the signal's reason
 */
export async function obtainPart(name: PartName, signal?: AbortSignal): Promise<void> {
  if (isHere(PARTS[name])) return;
  const known = asked.get(name) ?? begin(name);
  known.waiting++;
  try {
    await unlessAborted(signal, known.work);
  } finally {
    known.waiting--;
    if (signal?.aborted && known.waiting === 0) {
      forget(name, known);
      known.stop.abort(signal.reason);
      await known.work.catch(() => {});
    }
  }
}

function begin(name: PartName): Asked {
  const stop = new AbortController();
  const one: Asked = { work: obtain(PARTS[name], stop.signal), stop, waiting: 0 };
  asked.set(name, one);
  // Only a no is remembered.
  one.work.then(
    () => forget(name, one),
    (error) => error instanceof Refused || forget(name, one),
  );
  return one;
}

function forget(name: PartName, one: Asked): void {
  if (asked.get(name) === one) asked.delete(name);
}

class Refused extends AnyvmafError {}

async function obtain(part: Part, signal: AbortSignal): Promise<void> {
  await requireConsent(part, signal);
  const { installPart } = await import('./install.js');
  await installPart(part.name, { signal, onPackage: door && ((one) => door?.say(one)) });
}

async function requireConsent(part: Part, signal: AbortSignal): Promise<void> {
  const policy = policyOf(process.env.ANYVMAF_INSTALL);
  if (agreed || policy === 'auto') return;
  const ask = policy === 'never' ? undefined : door?.ask;
  if (!ask) throw new AnyvmafError('backend', notHere(part), remedy(part));
  const answer = questions.then(() => {
    signal.throwIfAborted();
    return ask(part, signal);
  });
  questions = answer.catch(() => {});
  if (!(await unlessAborted(signal, answer))) throw new Refused('backend', notHere(part), remedy(part));
}

/** What the variable says; nothing where it is not set. */
function policyOf(value: string | undefined): 'auto' | 'never' | undefined {
  if (value === undefined || value === '') return undefined;
  if (value === 'auto' || value === 'never') return value;
  throw usageError(`ANYVMAF_INSTALL is ${quoted(value)}, but it must be auto or never.`);
}

function notHere(part: Part): string {
  const [{ name, version }] = part.packages;
  return `the package ${name} ${version} (${megabytes(packedSize(part))} to fetch), which ${part.use}, is not installed`;
}

function remedy({ name, packages }: Part): { readonly hints: readonly [InstallHint] } {
  return { hints: [{ purpose: 'install', part: name, packages: specOf(packages[0]) }] };
}
