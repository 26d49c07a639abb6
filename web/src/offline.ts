/**
 * @module web/offline
 * Makes the page work offline: the engine and the browser's decoders are kept at the first visit, once all is quiet. Says what
 * does not work offline before it is needed.
 */
import { fill, h } from './dom.js';
import type { Session } from './session.js';
import { text } from './text.js';

/** What the service worker has. */
interface Kept {
  /** The page, the engine and the browser's decoders. */
  readonly engine: boolean;
  readonly ffmpeg: boolean;
  readonly tiny: boolean;
}

/** Milliseconds after the page has loaded until more is fetched: the first screen goes first. */
const QUIET = 3000;

const words = text.offline;

/** The note above the page while there is no network, and the sentence at its foot. */
export class OfflineNote {
  readonly note = h('p', { class: 'offline-note', role: 'status', hidden: true });
  readonly foot = h('span', {}, words.unknown);
  #kept: Kept | undefined;

  constructor() {
    for (const event of ['online', 'offline']) addEventListener(event, () => this.#show());
    this.#show();
  }

  /** What the service worker has now; `undefined` where there is none. */
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
      kept?.engine ? words.without(missing.filter((one) => one !== false).join(', ')) : words.noEngine,
    );
  }
}

/** Registers the service worker of the built page. */
export async function keepOffline(session: Session, note: OfflineNote): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ readonly kept?: Kept }>) => {
    if (data.kept) note.kept = data.kept;
  });
  try {
    // The service worker is in the folder of index.html.
    await serviceWorker.register(new URL('./sw.js', document.baseURI));
    const { active } = await serviceWorker.ready;
    let asked = false;
    const fetchAll = () => {
      if (!asked) active?.postMessage('fetch-all');
      asked = true;
    };
    active?.postMessage('tell');
    session.reference.watch((file) => file && fetchAll());
    session.distorted.watch((files) => files.length > 0 && fetchAll());
    addEventListener('appinstalled', fetchAll);
    if (!savesData()) whenQuiet(fetchAll);
  } catch {
    // Without a service worker (http, storage denied), only offline use is missing.
  }
}

/** Whether the user asked the browser to load little. */
function savesData(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/** Not by `requestIdleCallback`: a page that draws all the time is never idle, and would keep nothing. */
function whenQuiet(work: () => void): void {
  const wait = () => setTimeout(work, QUIET);
  if (document.readyState === 'complete') wait();
  else addEventListener('load', wait, { once: true });
}
