/**
 * @module web/sw
 * Caches the built page for offline use. The build fills in the two lists of files.
 */
const SHELL = /* files of the first screen */ [];
const REST = /* the engine, models and views; ffmpeg.wasm and ONNX Runtime are cached on first use */ [];
const base = new URL('./', self.location.href);
/** Prefix of this page's caches; pulled models and copies of the page in other folders have their own. */
const OWN = `anyvmaf-page ${base.pathname} `;
const CACHE = `${OWN}BUILD`;
const at = (name) => new URL(name, base).href;

self.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      await cache.addAll(SHELL.map(at));
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys())
        if (name.startsWith(OWN) && name !== CACHE) await caches.delete(name);
      await self.clients.claim();
    })(),
  );
});

self.addEventListener('message', (event) => {
  const { data, source } = event;
  if (data !== 'fetch-all' && data !== 'tell') return;
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      if (data === 'fetch-all')
        for (const name of [...SHELL, ...REST]) {
          if (!(await cache.match(at(name)))) await cache.add(at(name)).catch(() => {});
        }
      source?.postMessage({ kept: await kept(cache) });
    })(),
  );
});

/** What works offline. */
async function kept(cache) {
  const has = async (name) => (await cache.match(at(name))) !== undefined;
  const all = await Promise.all([...SHELL, ...REST].map(has));
  const runtime = (await cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(at('ort/')));
  return {
    engine: all.every((hit) => hit),
    ffmpeg: await has('ffmpeg/ffmpeg-core.wasm'),
    tiny: ['.js', '.wasm'].every((end) => runtime.some((url) => url.endsWith(end))),
  };
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(base.href)) return;
  event.respondWith(answer(request, (work) => event.waitUntil(work)));
});

/** @param keep extends the event's life; the page gets the response meanwhile */
async function answer(request, keep) {
  const cache = await caches.open(CACHE);
  if (request.mode === 'navigate') {
    // Prefer the newest page.
    try {
      return await fetch(request);
    } catch {
      return (await cache.match(request)) ?? (await cache.match(at('./'))) ?? Response.error();
    }
  }
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200 && /^(assets|model|ffmpeg|ort)\//.test(request.url.slice(base.href.length)))
    keep(cache.put(request, response.clone()).catch(() => {}));
  return response;
}
