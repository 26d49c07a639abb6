/**
 * @module web/offline
 * Caches the engine and the browser's decoders for offline use, and says what is missing.
 */
import { fill, h } from './dom.js';
import type { Session } from './session.js';
import { text } from './text.js';

/** What the service worker has cached. */
interface Kept {
  /** Includes the page and the browser's decoders. */
  readonly engine: boolean;
  readonly ffmpeg: boolean;
  readonly tiny: boolean;
}

/** Milliseconds from load to caching, so that the first screen loads first. */
const QUIET = 3000;

const words = text.offline;

export class OfflineNote {
  readonly note = h('p', { class: 'offline-note', role: 'status', hidden: true });
  readonly foot = h('span', {}, words.unknown);
  #kept: Kept | undefined;

  constructor() {
    for (const event of ['online', 'offline']) addEventListener(event, () => this.#show());
    this.#show();
  }

  /** `undefined` without a service worker. */
  set kept(kept: Kept | undefined) {
    this.#kept = kept;
    this.#show();
  }

  #show(): void {
    const kept = this.#kept;
    fill(this.foot, kept ? (kept.engine ? words.ready : words.loading) : words.unknown);
    this.note.hidden = navigator.onLine;
    const missing = [!kept?.ffmpeg && words.ffmpeg, !kept?.tiny && words.tiny, words.models];
    fill(
      this.note,
      kept?.engine ? words.without(missing.filter((part) => part !== false).join(', ')) : words.noEngine,
    );
  }
}

/** Registers the service worker, in the built page only. */
export async function keepOffline(session: Session, note: OfflineNote): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ readonly kept?: Kept }>) => {
    if (data.kept) note.kept = data.kept;
  });
  try {
    // Next to index.html.
    await serviceWorker.register(new URL('./sw.js', document.baseURI));
    const { active } = await serviceWorker.ready;
    let requested = false;
    const fetchAll = () => {
      if (!requested) active?.postMessage('fetch-all');
      requested = true;
    };
    active?.postMessage('tell');
    session.reference.watch((file) => file && fetchAll());
    session.distorted.watch((files) => files.length > 0 && fetchAll());
    addEventListener('appinstalled', fetchAll);
    if (!savesData()) whenQuiet(fetchAll);
  } catch {
    // Without a service worker (http, storage denied) only offline use is missing.
  }
}

function savesData(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/** Not `requestIdleCallback`: a page that keeps drawing is never idle, and would cache nothing. */
function whenQuiet(work: () => void): void {
  const wait = () => setTimeout(work, QUIET);
  if (document.readyState === 'complete') wait();
  else addEventListener('load', wait, { once: true });
}
