/**
 * @module web/setup/decoder
 * Fetches ffmpeg.wasm into the browser's cache ahead of the engine, with progress.
 */
import { unlessAborted } from 'anyvmaf/core/abort';
import { Cell } from '../dom.js';
import type { Settings } from '../session.js';

/** Whole megabytes so far; `null`: not being fetched. */
export const fetched = new Cell<{ readonly megabytes: number; readonly paused: boolean } | null>(null);

let fetching: Promise<void> | undefined;
let stop = new AbortController();

/** Settles once the chosen decoder can be used; if fetching fails, the engine reports why. */
export async function decoderReady({ decoder }: Settings, signal?: AbortSignal): Promise<void> {
  if (decoder !== 'wasm') return;
  pauseFetching(false);
  fetching ??= fetchCore().catch(() => {
    fetching = undefined;
  });
  await unlessAborted(signal, fetching);
}

export function pauseFetching(paused: boolean): void {
  if (!fetched.value || fetched.value.paused === paused) return;
  fetched.value = { ...fetched.value, paused };
  if (paused) stop.abort();
}

async function fetchCore(): Promise<void> {
  fetched.value = { megabytes: 0, paused: false };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let complete = false; !complete; ) {
      stop = new AbortController();
      complete = await fetchOn(parts, stop.signal).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
        return false;
      });
      if (!complete) await resumed();
    }
  } finally {
    fetched.value = null;
  }
}

/**
 * Reads the file to its end and stores it in the service worker's cache, so that a pause loses nothing;
 * without one, the browser's HTTP cache keeps it if the server allows.
 * @param parts bytes so far; grows
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

/** The service worker's cache (web/sw), if there is one. */
async function pageCache(): Promise<Cache | undefined> {
  if (!('caches' in globalThis)) return undefined;
  const own = `anyvmaf-page ${new URL('./', document.baseURI).pathname} `;
  const name = (await caches.keys()).find((cache) => cache.startsWith(own));
  return name === undefined ? undefined : caches.open(name);
}

function resumed(): Promise<void> {
  return new Promise((resolve) => {
    fetched.watch((now) => {
      if (!now?.paused) resolve();
    });
  });
}
