/**
 * @module parts/consent
 * Fetches a part on first use, if the user agrees: on the command line, through `ANYVMAF_INSTALL`, or by a yes.
 */
import { unlessAborted } from '../core/abort.js';
import type { PartName } from '../core/choices.js';
import { AnyvmafError, type InstallHint, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { Part, PinnedPackage } from './table.js';

export interface PartsDoor {
  /** Asks whether to fetch a part; absent if there is no user to ask. */
  ask?(part: Part, signal: AbortSignal): Promise<boolean>;
  /** Called for each package before it is fetched. */
  say(one: PinnedPackage): void;
}

let door: PartsDoor | undefined;
let agreed = false;

/** Sets the interface to the user; without one, only `ANYVMAF_INSTALL=auto` allows fetching. */
export function openPartsDoor(opened: PartsDoor | undefined): void {
  door = opened;
}

/** Records that the user agreed to every part. */
export function agreeToParts(): void {
  agreed = true;
}

/** A part that is being fetched, or that the user declined. */
interface Asked {
  readonly work: Promise<void>;
  readonly stop: AbortController;
  waiting: number;
}

/** Requests by part, so that nothing is asked or fetched twice. */
const asked = new Map<PartName, Asked>();

/** The last question; they run in turn, since one line of input would answer two at once. */
let questions: Promise<unknown> = Promise.resolve();

/**
 * Fetches a part unless it is installed.
 * @throws {AnyvmafError} `backend` without consent, with a hint how to install it; `usage` for a wrong
 * `ANYVMAF_INSTALL`; those of `installPart`; the signal's reason
 */
export async function obtainPart(name: PartName, signal?: AbortSignal): Promise<void> {
  const { isHere, PARTS } = await import('./table.js');
  const part = PARTS[name];
  if (isHere(part)) return;
  const known = asked.get(name) ?? begin(part);
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

function begin(part: Part): Asked {
  const { name } = part;
  const stop = new AbortController();
  const one: Asked = { work: obtain(part, stop.signal), stop, waiting: 0 };
  asked.set(name, one);
  // Remember only a refusal.
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
  if (!ask) throw new AnyvmafError('backend', ...(await refusal(part)));
  const answer = questions.then(() => {
    signal.throwIfAborted();
    return ask(part, signal);
  });
  questions = answer.catch(() => {});
  if (!(await unlessAborted(signal, answer))) throw new Refused('backend', ...(await refusal(part)));
}

function policyOf(value: string | undefined): 'auto' | 'never' | undefined {
  if (value === undefined || value === '') return undefined;
  if (value === 'auto' || value === 'never') return value;
  throw usageError(`ANYVMAF_INSTALL is ${quoted(value)}, but it must be auto or never.`);
}

/** What an error says of a part that is not installed, and how to install it. */
async function refusal(part: Part): Promise<[message: string, { readonly hints: readonly [InstallHint] }]> {
  const { packedSize, specOf } = await import('./table.js');
  const { name, version } = part.packages[0];
  return [
    `the package ${name} ${version} (${megabytes(packedSize(part))} to fetch), which ${part.use}, is not installed`,
    { hints: [{ purpose: 'install', part: part.name, packages: specOf(part.packages[0]) }] },
  ];
}

/** `32.2 MB`, of 1,000,000 bytes each. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
