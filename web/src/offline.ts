/**
 * @module web/offline
 * Makes the page work offline. The engine is cached when the first file is chosen, which needs it anyway, or when the page
 * is installed as an app.
 */
import type { Session } from './session.js';

/** Registers the service worker of the built page. */
export async function keepOffline(session: Session): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    // The service worker is in the folder of index.html.
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
    // Without a service worker (http, storage denied), only offline use is missing.
  }
}
