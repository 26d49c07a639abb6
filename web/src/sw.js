/**
 * @module web/sw
 * Caches the built page for offline use. The build fills in the two lists of files.
 */
const SHELL = /* files of the first screen */ [];
const REST = /* the engine, models and views; ffmpeg.wasm is cached on first use */ [];
const CACHE = 'anyvmaf-BUILD';
const base = new URL('./', self.location.href);
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
        if (name.startsWith('anyvmaf-') && name !== CACHE) await caches.delete(name);
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
        for (const name of REST) {
          if (!(await cache.match(at(name)))) await cache.add(at(name)).catch(() => {});
        }
      source?.postMessage({ kept: await kept(cache) });
    })(),
  );
});

/** What works without a network. */
async function kept(cache) {
  const has = async (name) => (await cache.match(at(name))) !== undefined;
  const all = await Promise.all([...SHELL, ...REST].map(has));
  return {
    engine: all.every((one) => one),
    ffmpeg: await has('ffmpeg/ffmpeg-core.wasm'),
    tiny: await has('ort/ort.bundle.min.js'),
  };
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(base.href)) return;
  event.respondWith(answer(request));
});

async function answer(request) {
  const cache = await caches.open(CACHE);
  if (request.mode === 'navigate') {
    // Prefer the newest page if online.
    try {
      return await fetch(request);
    } catch {
      return (await cache.match(request)) ?? (await cache.match(at('./'))) ?? Response.error();
    }
  }
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200 && /\/(assets|model|ffmpeg)\//.test(request.url))
    await cache.put(request, response.clone()).catch(() => {});
  return response;
}
