/**
 * @module web/setup/fetch-model
 * Fetches models that are not part of the page, on request, from the server that the page names.
 */
import { engine } from '../engine/client.js';

/** Netflix's repository, as the library knows it. */
const DEFAULT = 'https://raw.githubusercontent.com';

/** Where models come from: what index.html says in `<meta name="anyvmaf-models-from">`, relative to it, or GitHub. */
export function modelServer(): URL {
  const said = document.querySelector<HTMLMetaElement>('meta[name="anyvmaf-models-from"]')?.content;
  return new URL(said || DEFAULT, document.baseURI);
}

/** Fetches a model into the browser's storage, where the engine finds it from then on. */
export async function fetchModel(name: string): Promise<void> {
  await engine.call('pull', { name, from: modelServer().href });
}
