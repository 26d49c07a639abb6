/**
 * @module scripts/lib/text-modules
 * Plugin of Rolldown, Vite and Vitest: shaders, and scripts of single-file pages, as modules that export a text.
 */
import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

/** `shader.wgsl`, without comments and indentation: WGSL has no strings that could hold either. */
const shader = (path) =>
  readFileSync(path, 'utf8')
    .replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, '')
    .replace(/\s*\n\s*/g, '\n');

/** `viewer.js?script`: the module, bundled and minified. */
async function pageScript(input) {
  const { output } = await build({
    input,
    output: { format: 'iife', minify: true },
    transform: { target: 'es2022' },
    write: false,
  });
  return output[0].code.trim();
}

export function textModules() {
  return {
    name: 'text-modules',
    enforce: 'pre',
    load: {
      filter: { id: /\.wgsl$|\?script$/ },
      async handler(id) {
        const [path, query] = id.split('?');
        const text = query === 'script' ? await pageScript(path) : shader(path);
        return `export default ${JSON.stringify(text)}`;
      },
    },
  };
}
