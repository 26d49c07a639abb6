/**
 * @module web/offline
 * Has the browser keep the page, so that it opens without a network. The engine is fetched for that once the page has
 * been at rest for a while, or as soon as a file is chosen.
 */
import type { Session } from './session.js';

/** Milliseconds of rest before the engine is fetched for later. */
const REST = 4000;

/** Registers the service worker of the built page. */
export async function keepOffline(session: Session): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    // Beside index.html, wherever that is.
    await navigator.serviceWorker.register(new URL('./sw.js', document.baseURI));
    const { active } = await navigator.serviceWorker.ready;
    let asked = false;
    const fetchAll = () => {
      if (!asked) active?.postMessage('fetch-all');
      asked = true;
    };
    session.reference.watch((file) => file && fetchAll());
    const { connection } = navigator as Navigator & { connection?: { readonly saveData?: boolean } };
    if (!connection?.saveData) setTimeout(fetchAll, REST);
  } catch {
    // Without it (a page on http, storage denied) everything but the next visit without a network works.
  }
}
