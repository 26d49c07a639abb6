/**
 * @module web/last
 * Stores the last session in the browser: file handles, settings, finished results. Loaded when needed.
 */
import type { FrameMetrics } from 'anyvmaf';
import { button, fill, h } from './dom.js';
import { attachVideos } from './results/open.js';
import { type ChosenFile, type EncodeResult, LAST, type Session } from './session.js';
import { awaited, chosenFile, handles, likenessOf } from './setup/files.js';
import { text } from './text.js';

const words = text.last;

interface StoredFile extends Pick<ChosenFile, 'kind' | 'own'> {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  /** Absent if the browser gave none. */
  readonly handle?: FileSystemFileHandle;
}

/** A typed array per metric, which copies fast; NaN for missing values. */
interface StoredFrames {
  readonly numbers: Float64Array;
  readonly metrics: Readonly<Record<string, Float64Array>>;
}

interface StoredResult extends Pick<EncodeResult, 'name' | 'colour' | 'found' | 'was'> {
  /** Without frames. */
  readonly report: EncodeResult['report'];
  readonly frames: StoredFrames;
}

interface StoredSession {
  readonly id: string;
  readonly when: number;
  readonly settings: Session['settings']['value'];
  readonly raw: Session['raw']['value'];
  /** Built-in ones only. */
  readonly tiny: Session['tiny']['value'];
  readonly reference: StoredFile | null;
  readonly distorted: readonly StoredFile[];
  readonly results: readonly string[];
  readonly series: readonly (string | undefined)[];
  readonly leftOut: readonly boolean[];
  readonly comparison: Session['comparison']['value'];
}

/** Missing in TypeScript's types. */
type WithPermission = FileSystemFileHandle & {
  requestPermission?(how: { readonly mode: 'read' }): Promise<PermissionState>;
};

// --- storage ---

/** Database version; data of earlier ones is dropped. */
const FORM = 3;

/** Runs requests in one transaction. */
async function stored<T>(
  mode: IDBTransactionMode,
  work: (sessions: IDBObjectStore, results: IDBObjectStore) => IDBRequest<T> | undefined,
): Promise<T | undefined> {
  const open = indexedDB.open('anyvmaf', FORM);
  open.onupgradeneeded = () => {
    for (const name of open.result.objectStoreNames) open.result.deleteObjectStore(name);
    open.result.createObjectStore('sessions', { keyPath: 'id' });
    open.result.createObjectStore('results');
  };
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    open.onsuccess = () => resolve(open.result);
    open.onerror = () => reject(open.error);
  });
  try {
    const transaction = database.transaction(['sessions', 'results'], mode);
    const request = work(transaction.objectStore('sessions'), transaction.objectStore('results'));
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    return request?.result;
  } finally {
    database.close();
  }
}

/** Sessions whose tabs are closed, latest first. */
async function endedSessions() {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const open = new Set(held.map(({ name }) => name));
  const all = (await stored<StoredSession[]>('readonly', (sessions) => sessions.getAll())) ?? [];
  const ended = all.filter(({ id }) => !open.has(lockOf(id))).sort((a, b) => b.when - a.when);
  return { ended, isEmpty: all.length === 0 };
}

const keyOf = (id: string, index: number | string) => `${id} ${index}`;
const lockOf = (id: string) => `${LAST} ${id}`;

/** Locks the session while the tab is open. */
function lockSession(id: string): void {
  navigator.locks?.request(lockOf(id), () => new Promise(() => {})).catch(() => {});
}

function forget(list: readonly StoredSession[]): Promise<unknown> {
  return stored('readwrite', (sessions, results) => {
    for (const { id } of list) {
      sessions.delete(id);
      results.delete(IDBKeyRange.bound(keyOf(id, ''), keyOf(id, '~')));
    }
    return undefined;
  });
}

export function packed(frames: readonly FrameMetrics[]): StoredFrames {
  const metrics: Record<string, Float64Array> = {};
  for (const [i, frame] of frames.entries())
    for (const [name, value] of Object.entries(frame.metrics)) {
      metrics[name] ??= new Float64Array(frames.length).fill(Number.NaN);
      metrics[name][i] = value;
    }
  return { numbers: Float64Array.from(frames, ({ frameNum }) => frameNum), metrics };
}

export function unpacked({ numbers, metrics }: StoredFrames): FrameMetrics[] {
  const columns = Object.entries(metrics);
  return Array.from(numbers, (frameNum, i) => ({
    frameNum,
    metrics: Object.fromEntries(
      columns.flatMap(([name, values]) => (Number.isNaN(values[i]) ? [] : [[name, values[i] ?? 0]])),
    ),
  }));
}

// --- writing ---

/** Milliseconds from a change to storing it. */
const SOON = 300;

/** @param id of the session that it continues */
export function keepSession(session: Session, id = `${Date.now()}-${Math.random()}`): void {
  lockSession(id);
  /** Keys of results by their frames; each is written once. */
  const keys = new Map<readonly FrameMetrics[], string>();
  let due = false;
  let writing = Promise.resolve();
  const write = async () => {
    const { results, reference, distorted, settings, raw, tiny } = session;
    const whole = results.value.filter(({ report, saved }) => report && !saved);
    if (whole.length === 0) return;
    if (keys.size === 0) await forget((await endedSessions()).ended.slice(1));
    for (const result of whole) {
      if (keys.has(result.frames)) continue;
      const key = keyOf(id, keys.size);
      await stored('readwrite', (_, store) => store.put(storedResult(result), key));
      keys.set(result.frames, key);
    }
    const record: StoredSession = {
      id,
      when: Date.now(),
      settings: settings.value,
      raw: raw.value,
      tiny: tiny.value.filter(({ files }) => !files),
      reference: reference.value && storedFile(reference.value),
      distorted: distorted.value.map(storedFile),
      results: whole.flatMap(({ frames }) => keys.get(frames) ?? []),
      series: whole.map(({ frames }) => session.series.value.get(frames)),
      leftOut: whole.map(({ frames }) => session.leftOut.value.has(frames)),
      comparison: session.comparison.value,
    };
    await stored('readwrite', (sessions) => sessions.put(record));
    localStorage.setItem(LAST, '1');
  };
  const soon = () => {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      // Storage is full or denied: continue without it.
      writing = writing.then(write).catch(() => {});
    }, SOON);
  };
  const { results, reference, distorted, settings, raw, series, leftOut, comparison } = session;
  for (const cell of [results, reference, distorted, settings, raw, series, leftOut, comparison])
    cell.watch(soon);
}

function storedFile({ file, kind, own }: ChosenFile): StoredFile {
  const { name, size, lastModified } = file;
  const handle = handles.get(file);
  return { name, size, lastModified, kind, ...(own && { own }), ...(handle && { handle }) };
}

function storedResult({ name, colour, found, report, frames, scored, was }: EncodeResult): StoredResult {
  const { settings, raw, tiny } = scored ?? was ?? {};
  const modified = scored
    ? { reference: scored.reference?.lastModified, distorted: scored.distorted.lastModified }
    : was?.modified;
  // A tiny model from a file is not stored, so its results cannot be recognized.
  const known = settings && raw !== undefined && tiny && !tiny.some(({ files }) => files);
  return {
    name,
    colour,
    found,
    report: report && { ...report, frames: [] },
    frames: packed(frames),
    ...(known && { was: { settings, raw, tiny, ...(modified && { modified }) } }),
  };
}

// --- reading ---

/** @param onTaken called before the session is shown */
export async function offerLast(element: HTMLElement, session: Session, onTaken: () => void): Promise<void> {
  const { ended, isEmpty } = await endedSessions();
  const [last] = ended;
  if (!last) {
    // Keep the mark for sessions of open tabs.
    if (isEmpty) localStorage.removeItem(LAST);
    element.remove();
    return;
  }
  const take = async () => {
    onTaken();
    await restore(last, session);
    // Another tab may have continued it; without locks its own may still be open.
    const isFree = navigator.locks && (await endedSessions()).ended.some(({ id }) => id === last.id);
    keepSession(session, isFree ? last.id : undefined);
    document.getElementById('results')?.scrollIntoView({ block: 'start' });
  };
  const drop = async () => {
    await forget([last]);
    await offerLast(element, session, onTaken);
  };
  const when = new Date(last.when).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const { reference, results } = last;
  const about = h('span', { class: 'faint small' }, words.what(results.length, reference?.name, when));
  fill(element, button({ onclick: take }, words.open), about, button({ onclick: drop }, words.forget));
}

/** Shows a stored session with those of its files that are unchanged. */
async function restore(last: StoredSession, session: Session): Promise<void> {
  // Ask for permission first, while the user's click still counts.
  const reference = last.reference && (await reopen(last.reference));
  const distorted: ChosenFile[] = [];
  for (const entry of last.distorted) {
    const file = await reopen(entry);
    if (file) distorted.push(file);
    else if (entry.own) awaited.set(likenessOf(entry), entry.own);
  }
  const results: EncodeResult[] = [];
  const series = new Map<readonly FrameMetrics[], string>();
  const leftOut = new Set<readonly FrameMetrics[]>();
  for (const [i, key] of last.results.entries()) {
    const result = await stored<StoredResult>('readonly', (_, store) => store.get(key));
    if (!result?.report) continue;
    const frames = unpacked(result.frames);
    const name = last.series[i];
    if (name !== undefined) series.set(frames, name);
    if (last.leftOut[i]) leftOut.add(frames);
    results.push({ ...result, frames, report: { ...result.report, frames } });
  }
  session.settings.value = last.settings;
  session.raw.value = last.raw;
  session.tiny.value = last.tiny;
  session.series.value = series;
  session.leftOut.value = leftOut;
  session.comparison.value = last.comparison;
  session.results.value = results;
  if (reference) session.reference.value = reference;
  if (distorted.length > 0) session.distorted.value = distorted;
  attachVideos(session);
}

/** `undefined` if access is denied or the file has changed. */
async function reopen({ handle, kind, own, ...facts }: StoredFile): Promise<ChosenFile | undefined> {
  try {
    if ((await (handle as WithPermission | undefined)?.requestPermission?.({ mode: 'read' })) === 'denied')
      return undefined;
    const file = await handle?.getFile();
    if (!handle || file?.size !== facts.size || file.lastModified !== facts.lastModified) return undefined;
    handles.set(file, handle);
    const chosen = await chosenFile(file);
    return typeof chosen === 'string' ? undefined : { ...chosen, kind, ...(own && { own }) };
  } catch {
    return undefined;
  }
}
