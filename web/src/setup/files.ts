/**
 * @module web/setup/files
 * Adds files to the session: chooses sides, detects kinds, guesses raw formats.
 */
import { baseName } from 'anyvmaf/view';
import type { ChosenFile, FileKind, Session } from '../session.js';
import { text } from '../text.js';
import { guessRaw } from './raw-guess.js';

export type Side = 'reference' | 'distorted';

let nextId = 1;

/** Let the browser find files again after a reload. */
export const handles = new WeakMap<File, FileSystemFileHandle>();

/** They make room for the user's own files. */
export const samples = new WeakSet<File>();

const START_BYTES = 16;

const RAW_NAME = /\.(yuv|raw|i420|iyuv|yv12|y8|nv12|nv21|p010|uyvy|yuy2)$/i;

/** Y4M by content, raw YUV by name; other files count as encoded, which their decoder checks. */
export function kindOf(name: string, start: Uint8Array): FileKind {
  if (String.fromCharCode(...start.subarray(0, 9)) === 'YUV4MPEG2') return 'y4m';
  return RAW_NAME.test(name) ? 'raw' : 'encoded';
}

/** @returns a sentence if the file is empty or cannot be read */
export async function chosenFile(file: File): Promise<ChosenFile | string> {
  if (file.size === 0) return text.setup.empty(file.name);
  try {
    const start = await file.slice(0, START_BYTES).arrayBuffer();
    return { id: nextId++, file, kind: kindOf(file.name, new Uint8Array(start)) };
  } catch {
    return text.setup.unreadable(file.name);
  }
}

/** Sentences for people. */
export interface Added {
  readonly took: readonly string[];
  readonly refused: readonly string[];
}

/** Unusable files do not keep others from being added. @param side where they were dropped; `null`: anywhere */
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

/** The new reference, then the others; `undefined` first if there already is a reference. */
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

/** Guesses the raw format unless a link or the user has given it. */
function guess(session: Session): void {
  const raw = rawFiles(session);
  if (raw.length === 0 || session.raw.value) return;
  const guessed = guessRaw(raw.map(({ file }) => ({ name: file.name, size: file.size })));
  if (guessed.from !== 'none') session.raw.value = guessed.format;
}

export function removeFile(session: Session, id: number): void {
  if (session.reference.value?.id === id) session.reference.value = null;
  session.distorted.value = session.distorted.value.filter((one) => one.id !== id);
  if (rawFiles(session).length === 0) session.raw.value = null;
}

/** @param file the distorted video; default: the first */
export function swapSides(session: Session, file?: File): void {
  const { reference, distorted } = session;
  const other = file ? distorted.value.find((one) => one.file === file) : distorted.value[0];
  const was = reference.value;
  if (!other || !was) return;
  reference.value = other;
  distorted.value = distorted.value.map((one) => (one === other ? was : one));
}

export function treatAsRaw(session: Session, files: readonly ChosenFile[]): void {
  const asRaw = (one: ChosenFile): ChosenFile =>
    files.some(({ id }) => id === one.id) ? { ...one, id: nextId++, kind: 'raw' } : one;
  const { reference, distorted } = session;
  if (reference.value) reference.value = asRaw(reference.value);
  distorted.value = distorted.value.map(asRaw);
  guess(session);
}
