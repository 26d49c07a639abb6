/**
 * @module web/setup/files
 * Adds files to the session: decides on the side, tells the kind, and guesses the format of raw files.
 */
import { baseName } from 'anyvmaf/view';
import type { ChosenFile, FileKind, Session } from '../session.js';
import { text } from '../text.js';
import { guessRaw } from './raw-guess.js';

export type Side = 'reference' | 'distorted';

let nextId = 1;

/** By which the browser finds files again after a reload, where it gives such handles. */
export const handles = new WeakMap<File, FileSystemFileHandle>();

/** Files of the sample, which make room for a user's own. */
export const samples = new WeakSet<File>();

/** Bytes at the start of a file that {@link kindOf} reads. */
const START_BYTES = 16;

const RAW_NAME = /\.(yuv|raw|i420|iyuv|yv12|y8|nv12|nv21|p010|uyvy|yuy2)$/i;

/** Tells Y4M by its content and raw YUV by its name; takes any other file as encoded, which its decoder then checks. */
export function kindOf(name: string, start: Uint8Array): FileKind {
  if (String.fromCharCode(...start.subarray(0, 9)) === 'YUV4MPEG2') return 'y4m';
  return RAW_NAME.test(name) ? 'raw' : 'encoded';
}

/** Tells the kind of a file by its first bytes; of one that is empty or cannot be read, why it is refused. */
export async function chosenFile(file: File): Promise<ChosenFile | string> {
  if (file.size === 0) return text.setup.empty(file.name);
  try {
    const start = await file.slice(0, START_BYTES).arrayBuffer();
    return { id: nextId++, file, kind: kindOf(file.name, new Uint8Array(start)) };
  } catch {
    return text.setup.unreadable(file.name);
  }
}

/** What became of files: sentences for people. */
export interface Added {
  /** Where each that was taken went. */
  readonly took: readonly string[];
  /** Why others were not. */
  readonly refused: readonly string[];
}

/**
 * Adds files to their side. One that is empty or cannot be read keeps no other from being taken.
 * @param side where they were dropped; `null`: anywhere
 */
export async function addFiles(session: Session, files: readonly File[], side: Side | null): Promise<Added> {
  const all = await Promise.all(files.map(chosenFile));
  const chosen = all.filter((one) => typeof one !== 'string');
  if (chosen.some(({ file }) => !samples.has(file))) dropSample(session);
  const [first, ...others] =
    side === 'distorted' ? [undefined, ...chosen] : withReferenceFirst(chosen, session, side);
  if (first) session.reference.value = first;
  const rest = others.filter((one) => one !== undefined);
  if (rest.length > 0) session.distorted.value = [...session.distorted.value, ...rest];
  guess(session);
  return {
    took: [
      ...(first ? [text.setup.took(first.file.name, 'reference')] : []),
      ...rest.map(({ file }) => text.setup.took(file.name, 'distorted')),
    ],
    refused: all.filter((one) => typeof one === 'string'),
  };
}

function dropSample({ reference, distorted }: Session): void {
  if (reference.value && samples.has(reference.value.file)) reference.value = null;
  if (distorted.value.some(({ file }) => samples.has(file)))
    distorted.value = distorted.value.filter(({ file }) => !samples.has(file));
}

const REFERENCE_NAME =
  /(?:^|[^a-z])(?:ref|reference|orig|original|source|src|master|pristine|lossless)(?:[^a-z]|$)/i;

/** The file that becomes the reference, then the others; `undefined` first if a reference is there already. */
function withReferenceFirst(
  chosen: readonly ChosenFile[],
  session: Session,
  side: Side | null,
): readonly (ChosenFile | undefined)[] {
  if (side === null && session.reference.value) return [undefined, ...chosen];
  if (side === 'reference') return chosen;
  const scored = session.results.value.map(({ report, saved }) => (report ?? saved)?.reference?.name);
  const known = new Set(scored.map((name) => name && baseName(name)));
  const named =
    chosen.find(({ file }) => known.has(file.name)) ??
    chosen.find(({ file }) => REFERENCE_NAME.test(file.name.replace(/\.[^.]*$/, '')));
  const likeliest =
    named ??
    chosen.reduce<ChosenFile | undefined>((a, b) => (a && a.file.size >= b.file.size ? a : b), undefined);
  return [likeliest, ...chosen.filter((one) => one !== likeliest)];
}

/** The raw files, the reference first. */
export function rawFiles(session: Session): readonly ChosenFile[] {
  const { reference, distorted } = session;
  return [...(reference.value ? [reference.value] : []), ...distorted.value].filter(
    ({ kind }) => kind === 'raw',
  );
}

/** Guesses the format of raw files, unless a link or the user has given it. */
function guess(session: Session): void {
  const raw = rawFiles(session);
  if (raw.length === 0 || session.raw.value) return;
  const guessed = guessRaw(raw.map(({ file }) => ({ name: file.name, size: file.size })));
  if (guessed.from !== 'none') session.raw.value = guessed.format;
}

/** Removes a file. */
export function removeFile(session: Session, id: number): void {
  if (session.reference.value?.id === id) session.reference.value = null;
  session.distorted.value = session.distorted.value.filter((one) => one.id !== id);
  if (rawFiles(session).length === 0) session.raw.value = null;
}

/** Swaps the reference and a distorted video. @param file the distorted one; absent: the first */
export function swapSides(session: Session, file?: File): void {
  const { reference, distorted } = session;
  const other = file ? distorted.value.find((one) => one.file === file) : distorted.value[0];
  const was = reference.value;
  if (!other || !was) return;
  reference.value = other;
  distorted.value = distorted.value.map((one) => (one === other ? was : one));
}

/** Treats files as raw YUV, whatever their names say. */
export function treatAsRaw(session: Session, files: readonly ChosenFile[]): void {
  const asRaw = (one: ChosenFile): ChosenFile =>
    files.some(({ id }) => id === one.id) ? { ...one, id: nextId++, kind: 'raw' } : one;
  const { reference, distorted } = session;
  if (reference.value) reference.value = asRaw(reference.value);
  distorted.value = distorted.value.map(asRaw);
  guess(session);
}
