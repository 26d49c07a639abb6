/**
 * @module web/setup/files
 * Takes files into the session: which side they are for, what kind they are, and a guess at raw ones.
 */
import type { ChosenFile, Session } from '../session.js';
import { text } from '../text.js';
import { kindOf, START_BYTES } from './kind.js';
import { guessRaw } from './raw-guess.js';

export type Side = 'reference' | 'distorted';

let nextId = 1;

/**
 * Looks at the first bytes of files.
 * @throws {Error} a sentence, when one cannot be read or is empty
 */
async function choose(files: readonly File[]): Promise<ChosenFile[]> {
  return Promise.all(
    files.map(async (file) => {
      if (file.size === 0) throw new Error(text.setup.empty(file.name));
      let start: ArrayBuffer;
      try {
        start = await file.slice(0, START_BYTES).arrayBuffer();
      } catch {
        throw new Error(text.setup.unreadable(file.name));
      }
      return { id: nextId++, file, kind: kindOf(file.name, new Uint8Array(start)) };
    }),
  );
}

/**
 * Puts files where they belong.
 * @param side where they were dropped; `null`: anywhere
 * @returns what was done, a sentence per file
 * @throws {Error} a sentence, when a file cannot be read
 */
export async function takeFiles(
  session: Session,
  files: readonly File[],
  side: Side | null,
): Promise<readonly string[]> {
  const chosen = await choose(files);
  const [first, ...others] =
    side === 'distorted' ? [undefined, ...chosen] : withReferenceFirst(chosen, session, side);
  if (first) session.reference.value = first;
  const rest = others.filter((one) => one !== undefined);
  if (rest.length > 0) session.distorted.value = [...session.distorted.value, ...rest];
  guess(session);
  return [
    ...(first ? [text.setup.took(first.file.name, 'reference')] : []),
    ...rest.map(({ file }) => text.setup.took(file.name, 'distorted')),
  ];
}

const REFERENCE_NAME =
  /(?:^|[^a-z])(?:ref|reference|orig|original|source|src|master|pristine|lossless)(?:[^a-z]|$)/i;

/** The one that becomes the reference, then the others; nothing first where there is a reference already. */
function withReferenceFirst(
  chosen: readonly ChosenFile[],
  session: Session,
  side: Side | null,
): readonly (ChosenFile | undefined)[] {
  if (side === null && session.reference.value) return [undefined, ...chosen];
  if (side === 'reference') return chosen;
  const named = chosen.find(({ file }) => REFERENCE_NAME.test(file.name.replace(/\.[^.]*$/, '')));
  const likeliest =
    named ??
    chosen.reduce<ChosenFile | undefined>((a, b) => (a && a.file.size >= b.file.size ? a : b), undefined);
  return [likeliest, ...chosen.filter((one) => one !== likeliest)];
}

/** The files that are raw, the reference first. */
export function rawFiles(session: Session): readonly ChosenFile[] {
  const { reference, distorted } = session;
  return [...(reference.value ? [reference.value] : []), ...distorted.value].filter(
    ({ kind }) => kind === 'raw',
  );
}

/** Guesses the geometry of raw files, unless it is known from a link or from the user. */
function guess(session: Session): void {
  const raw = rawFiles(session);
  if (raw.length === 0 || session.raw.value) return;
  const guessed = guessRaw(raw.map(({ file }) => ({ name: file.name, size: file.size })));
  if (guessed.from !== 'none') session.raw.value = guessed.format;
}

/** Takes a file out again. */
export function dropFile(session: Session, id: number): void {
  if (session.reference.value?.id === id) session.reference.value = null;
  session.distorted.value = session.distorted.value.filter((one) => one.id !== id);
  if (rawFiles(session).length === 0) session.raw.value = null;
}

/** The first distorted video becomes the reference, and the other way round. */
export function swapSides(session: Session): void {
  const { reference, distorted } = session;
  const [first, ...others] = distorted.value;
  if (!first || !reference.value) return;
  const was = reference.value;
  reference.value = first;
  distorted.value = [was, ...others];
}

/** Takes files as raw YUV, whatever their names say. */
export function treatAsRaw(session: Session, files: readonly ChosenFile[]): void {
  const asRaw = (one: ChosenFile): ChosenFile =>
    files.some(({ id }) => id === one.id) ? { ...one, id: nextId++, kind: 'raw' } : one;
  const { reference, distorted } = session;
  if (reference.value) reference.value = asRaw(reference.value);
  distorted.value = distorted.value.map(asRaw);
  guess(session);
}
