import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as browser from '../../../src/index.browser.js';
import * as node from '../../../src/index.js';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

describe('the public API', () => {
  it('has the same names in Node and in browsers, functions with the same parameters', () => {
    expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
    const arity = (api: object) =>
      Object.entries(api).map(([name, value]) => [name, typeof value === 'function' && value.length]);
    expect(arity(browser)).toEqual(arity(node));
  });

  it('is this', () => {
    expect(Object.keys(node).sort()).toEqual([
      'AnyvmafError',
      'HEATMAP_FULLS',
      'SHOT_FORMATS',
      'STATISTICS',
      'align',
      'bdQuality',
      'bdRate',
      'buildLadder',
      'compareEncoders',
      'compareModels',
      'configure',
      'createEmbeddedServer',
      'createScorer',
      'describeModel',
      'describeNative',
      'describeTinyModel',
      'detectShots',
      'diagnose',
      'evaluateModel',
      'extractFrames',
      'forgetSearches',
      'formatEncodingResult',
      'formatFrames',
      'formatHtml',
      'formatProgress',
      'formatReport',
      'formatShard',
      'formatShots',
      'frameGap',
      'heatmapColor',
      'heatmapFull',
      'inspect',
      'isReport',
      'listBackends',
      'listExtractors',
      'listModels',
      'listTinyDevices',
      'listTinyModels',
      'mapQuality',
      'mergeShards',
      'openModel',
      'parseEncoder',
      'parseTarget',
      'prepareRun',
      'probeBackend',
      'pullModel',
      'qualityMaps',
      'ranking',
      'readEncodingResult',
      'readReport',
      'readShard',
      'score',
      'scoreBatch',
      'scoreMany',
      'scoreShard',
      'searchQuality',
      'summarize',
      'trustOf',
      'tuneShots',
      'version',
      'viewerOpinion',
      'worstFrames',
      'writeFeatures',
      'writeReport',
    ]);
  });

  it('has the version of the package', () => {
    expect(node.version).toBe(manifest.version);
  });
});

describe('configure', () => {
  const wasm = new URL('../../../wasm/anyvmaf.wasm', import.meta.url);
  const picture = { y: new Uint8Array(64 * 64).fill(50) };
  const scoreOne = async () => {
    using scorer = await node.createScorer(
      { width: 64, height: 64, bitDepth: 8, chroma: '420' },
      { threads: 0 },
    );
    await scorer.push(picture, picture);
    return (await scorer.finish()).frames[0]?.metrics.integer_vif_scale0;
  };

  it.each([
    ['a URL', wasm],
    ['a URL as text', wasm.href],
    ['a path', wasm.pathname],
    ['bytes', readFileSync(wasm)],
    ['a compiled module', new WebAssembly.Module(readFileSync(wasm))],
  ])('takes the core as %s', async (_, value) => {
    node.configure({ wasm: value });
    expect(await scoreOne()).toBe(1);
  });

  it.each([
    ['that is not there', '/nowhere/anyvmaf.wasm', 'io', '/nowhere/anyvmaf.wasm'],
    ['that is no WebAssembly', new Uint8Array([1, 2, 3]), 'internal', 'does not compile'],
    [
      'that is another module',
      new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
      'internal',
      'not anyvmaf.wasm',
    ],
  ])('refuses a core %s, and the next one can be good', async (_, value, code, part) => {
    node.configure({ wasm: value });
    await expect(scoreOne()).rejects.toMatchObject({ code, message: expect.stringContaining(part) });
    node.configure({ wasm });
    expect(await scoreOne()).toBe(1);
  });

  it('takes the folder of models', async () => {
    node.configure({ models: new URL('file:///nowhere/') });
    await expect(scoreOne()).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('/nowhere/'),
    });
    node.configure({ models: new URL('../../../model', import.meta.url) });
    expect(await scoreOne()).toBe(1);
  });
});
