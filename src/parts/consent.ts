/**
 * @module parts/consent
 * Fetches a part on first use with the user's consent: on the command line, in `ANYVMAF_INSTALL`, or interactively.
 */
import { type SharedWorks, serializeCalls, shareWork, unlessAborted } from '../core/abort.js';
import type { PartName } from '../core/choices.js';
import { AnyvmafError, backendError, type InstallHint, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import type { Part, PinnedPackage } from './table.js';

export interface PartsDoor {
  /** Asks whether to fetch a part; absent if there is no user to ask. */
  ask?(part: Part, signal: AbortSignal): Promise<boolean>;
  /** Announces a package before it is fetched. */
  say(pinned: PinnedPackage): void;
}

let door: PartsDoor | undefined;
let agreed = false;

/** Sets the interface to the user. */
export function openPartsDoor(opened: PartsDoor | undefined): void {
  door = opened;
}

export function agreeToParts(): void {
  agreed = true;
}

/** Parts that are being fetched, or that the user declined, to ask and fetch once. */
const requests: SharedWorks<void> = new Map();

/** Asks one question at a time: one line of input must not answer two. */
const inTurn = serializeCalls();

/**
 * Fetches a part unless it is installed.
 * @throws {AnyvmafError} `backend` without consent, with a hint how to install it; `usage` for a wrong
 * `ANYVMAF_INSTALL`; those of `installPart`; the signal's reason
 */
export async function obtainPart(name: PartName, signal?: AbortSignal): Promise<void> {
  const { isHere, PARTS } = await import('./table.js');
  const part = PARTS[name];
  if (isHere(part)) return;
  const isRefused = (error: unknown) => error instanceof Refused;
  await shareWork(requests, name, signal, (stop) => obtain(part, stop), isRefused);
  requests.delete(name);
}

class Refused extends AnyvmafError {}

async function obtain(part: Part, signal: AbortSignal): Promise<void> {
  await requireConsent(part, signal);
  const { installPart } = await import('./install.js');
  await installPart(part.name, { signal, onPackage: door && ((pinned) => door?.say(pinned)) });
}

async function requireConsent(part: Part, signal: AbortSignal): Promise<void> {
  const policy = policyOf(process.env.ANYVMAF_INSTALL);
  if (agreed || policy === 'auto') return;
  const ask = policy === 'never' ? undefined : door?.ask;
  if (!ask) throw backendError(...(await refusal(part)));
  const answer = inTurn(() => {
    signal.throwIfAborted();
    return ask(part, signal);
  });
  if (!(await unlessAborted(signal, answer))) throw new Refused('backend', ...(await refusal(part)));
}

function policyOf(value: string | undefined): 'auto' | 'never' | undefined {
  if (value === undefined || value === '') return undefined;
  if (value === 'auto' || value === 'never') return value;
  throw usageError(`ANYVMAF_INSTALL is ${quoted(value)}, but it must be auto or never.`);
}

/** Message and hint of the error for a part that is not installed. */
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
