/**
 * @module web/setup/decoder
 * Fetches ffmpeg.wasm ahead of the engine, which finds it in the browser's cache then, and tells how much is here.
 */
import { Cell } from '../dom.js';
import type { Settings } from '../session.js';

/** Megabytes that are here of ffmpeg.wasm while it is fetched, whole ones; `null`: it is not fetched now. */
export const fetchedMegabytes = new Cell<number | null>(null);

let fetching: Promise<void> | undefined;

/** Settles once the decoder that is set can be used; where fetching fails, the engine says why. */
export async function decoderReady({ decoder }: Settings): Promise<void> {
  if (decoder !== 'wasm') return;
  fetching ??= fetchCore().catch(() => {
    fetching = undefined;
  });
  await fetching;
}

async function fetchCore(): Promise<void> {
  let bytes = 0;
  try {
    const { body } = await fetch(new URL('ffmpeg/ffmpeg-core.wasm', document.baseURI));
    const reader = body?.getReader();
    for (;;) {
      fetchedMegabytes.value = Math.floor(bytes / 1e6);
      const part = await reader?.read();
      if (!part?.value) return;
      bytes += part.value.length;
    }
  } finally {
    fetchedMegabytes.value = null;
  }
}
