/**
 * @module web/offline
 * Has the browser keep the page, so that it opens without a network. The engine is fetched for that once it is needed
 * anyway, when the first file is chosen, or when the page is installed as an app.
 */
import type { Session } from './session.js';

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
    session.distorted.watch((files) => files.length > 0 && fetchAll());
    addEventListener('appinstalled', fetchAll);
    if (matchMedia('(display-mode: standalone)').matches) fetchAll();
  } catch {
    // Without it (a page on http, storage denied) everything but the next visit without a network works.
  }
}
