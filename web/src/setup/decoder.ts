/**
 * @module web/setup/decoder
 * Fetches ffmpeg.wasm ahead of the engine, which finds it in the browser's cache then, and tells how much is here.
 */
import { unlessAborted } from 'anyvmaf/abort';
import { Cell } from '../dom.js';
import type { Settings } from '../session.js';

/** How far ffmpeg.wasm is. */
export interface Fetched {
  /** Megabytes that are here, whole ones. */
  readonly megabytes: number;
  readonly paused: boolean;
}

/** `null`: it is not fetched now. */
export const fetched = new Cell<Fetched | null>(null);

let fetching: Promise<void> | undefined;
let stop = new AbortController();

/** Settles once the decoder that is set can be used; where fetching fails, the engine says why. */
export async function decoderReady({ decoder }: Settings, signal?: AbortSignal): Promise<void> {
  if (decoder !== 'wasm') return;
  pauseFetching(false);
  fetching ??= fetchCore().catch(() => {
    fetching = undefined;
  });
  await unlessAborted(signal, fetching);
}

/** Pauses or resumes fetching. */
export function pauseFetching(paused: boolean): void {
  if (!fetched.value || fetched.value.paused === paused) return;
  fetched.value = { ...fetched.value, paused };
  if (paused) stop.abort();
}

async function fetchCore(): Promise<void> {
  fetched.value = { megabytes: 0, paused: false };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let whole = false; !whole; ) {
      stop = new AbortController();
      whole = await fetchOn(parts, stop.signal).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
        return false;
      });
      if (!whole) await resumed();
    }
  } finally {
    fetched.value = null;
  }
}

/**
 * Reads the file to its end and puts it where the service worker finds it, so that a pause loses nothing. Where there is none,
 * the browser's own cache keeps it, as far as the server allows.
 * @param parts what is here already; grows
 */
async function fetchOn(parts: Uint8Array<ArrayBuffer>[], signal: AbortSignal): Promise<true> {
  const cache = await pageCache();
  const url = new URL('ffmpeg/ffmpeg-core.wasm', document.baseURI);
  const size = () => parts.reduce((sum, { length }) => sum + length, 0);
  const { status, body } = await fetch(url, { signal, headers: cache ? { range: `bytes=${size()}-` } : {} });
  if (status !== 206) parts.length = 0;
  const reader = body?.getReader();
  for (let bytes = size(); ; ) {
    const megabytes = Math.floor(bytes / 1e6);
    if (megabytes !== fetched.value?.megabytes) fetched.value = { megabytes, paused: false };
    const { value } = (await reader?.read()) ?? {};
    if (!value) break;
    parts.push(value);
    bytes += value.length;
  }
  if (status === 206) await cache?.put(url, new Response(new Blob(parts, { type: 'application/wasm' })));
  return true;
}

/** The cache of the service worker (web/sw), if there is one. */
async function pageCache(): Promise<Cache | undefined> {
  if (!('caches' in globalThis)) return undefined;
  const own = `anyvmaf-page ${new URL('./', document.baseURI).pathname} `;
  const name = (await caches.keys()).find((one) => one.startsWith(own));
  return name === undefined ? undefined : caches.open(name);
}

/** Settles when fetching is no longer paused. */
function resumed(): Promise<void> {
  return new Promise((resolve) => {
    fetched.watch((now) => {
      if (!now?.paused) resolve();
    });
  });
}
