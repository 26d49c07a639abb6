/**
 * @module test/node/mcp/vision/describer
 * The chain SmolVLM, Moondream2, none: who is asked, in which words, and what is said where nobody can be. The library
 * is a stand-in that says it is one; no model is loaded and nothing is fetched.
 */
import { describe, expect, it } from 'vitest';
import type { RgbImage } from '../../../../src/index.js';
import { type Describer, findDescriber, type NoDescriber } from '../../../../src/mcp/vision/describer.js';
import { importVisionLibrary, VISION_PACKAGE } from '../../../../src/mcp/vision/library.js';
import { SAID, type StandInOptions, standIn } from '../../../support/vision-library.js';

const IMAGE: RgbImage = { width: 6, height: 4, data: new Uint8Array(72) };
const SMOL = 'HuggingFaceTB/SmolVLM-Instruct';
const MOONDREAM = 'Xenova/moondream2';
const going = () => new AbortController().signal;

async function found(options: StandInOptions = {}) {
  const used = standIn(options);
  const messages: string[] = [];
  const describer = await findDescriber({
    library: async () => used.library,
    onProgress: (message) => messages.push(message),
  });
  return { used, messages, describer };
}

function able(describer: Describer | NoDescriber): Describer {
  if (describer.modelId === null) throw new Error(describer.hint);
  return describer;
}

describe('the chain', () => {
  it('asks SmolVLM first, through its chat template', async () => {
    const { used, describer, messages } = await found();
    expect(describer.modelId).toBe(SMOL);
    expect(used.loaded).toEqual([SMOL]);
    expect(messages).toEqual([`fetching ${SMOL}: weights 42 %`]);
    // The prompt, which comes back before the answer, is cut off, and space is tidied.
    expect(await able(describer).describe(IMAGE, 'What is wrong?', going())).toBe(`${SAID} 6x4.`);
    expect(used.questions).toHaveLength(1);
    expect(JSON.parse(used.questions[0] ?? '')).toEqual([
      { role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'What is wrong?' }] },
    ]);
  });

  it('asks Moondream2 where SmolVLM does not load, as question and answer', async () => {
    const { used, describer } = await found({ broken: { [SMOL]: 'fetch failed' } });
    expect(describer.modelId).toBe('vikhyatk/moondream2');
    expect(used.loaded).toEqual([MOONDREAM]);
    expect(await able(describer).describe(IMAGE, 'What is wrong?', going())).toBe(`${SAID} 6x4.`);
    expect(used.questions).toEqual(['<image>\n\nQuestion: What is wrong?\n\nAnswer:']);
  });

  it('says why, where none loads', async () => {
    const { describer } = await found({ broken: { [SMOL]: 'fetch\nfailed', [MOONDREAM]: 'no space left' } });
    expect(describer).toEqual({
      modelId: null,
      hint: `no model loads (${SMOL}: fetch failed; vikhyatk/moondream2: no space left)`,
    });
  });

  it('says what to install where the package is missing', async () => {
    // As Node says it of a package that is not there.
    const missing = Object.assign(new Error(`Cannot find package '${VISION_PACKAGE}' imported from here`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const describer = await findDescriber({ library: () => Promise.reject(missing) });
    expect(describer).toEqual({
      modelId: null,
      hint: 'install with npm install @huggingface/transformers, then restart the server',
    });
  });

  it('does not tell to install a package that is there but broken', async () => {
    const broken = Object.assign(new Error("Cannot find package 'sharp'"), { code: 'ERR_MODULE_NOT_FOUND' });
    const describer = await findDescriber({ library: () => Promise.reject(broken) });
    expect(describer).toMatchObject({ hint: expect.stringMatching(/does not load: .*sharp/) });
  });

  it('finds the package that is installed, or none', async () => {
    const outcome = await importVisionLibrary().then(
      (library) => typeof library.RawImage,
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(outcome).toMatch(/^function$|huggingface/);
  });
});

describe('an answer that nobody waits for', () => {
  it('is interrupted, and the signal says why', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const { used, describer } = await found({
      // A model that never ends, unless it looks at its criteria.
      onGenerate: () => {
        controller.abort(reason);
        return new Promise(() => {});
      },
    });
    await expect(able(describer).describe(IMAGE, 'What?', controller.signal)).rejects.toBe(reason);
    expect(used.interrupted).toBe(1);
    await expect(able(describer).describe(IMAGE, 'What?', controller.signal)).rejects.toBe(reason);
  });
});
