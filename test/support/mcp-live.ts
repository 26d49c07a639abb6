/**
 * @module test/support/mcp-live
 * A scorer with its MCP server, whose thread runs the built script.
 */
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { createScorer, type EmbeddedServer, type EmbeddedServerOptions } from '../../src/index.js';
import { openEmbeddedServer } from '../../src/live/embedded.js';
import { sampleSource } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built } from './built.js';

export const THREAD = pathToFileURL(built('dist/bundle/js/live-thread.js'));

export const TINY = { width: 64, height: 64, bitDepth: 8, chroma: '420' } as const;
const clip = makeSample(TINY, { seed: 3 });
/** The clip repeats after these frames. */
const PERIOD = 12;

/** A pair of frames of the generated clip. */
export async function pairOf(index: number): Promise<[{ y: Uint8Array }, { y: Uint8Array }]> {
  const read = async (side: 'reference' | 'distorted') => {
    const planes = { y: new Uint8Array(TINY.width * TINY.height) };
    await sampleSource(clip, side, PERIOD).readFrame(index % PERIOD, planes);
    return planes;
  };
  return [await read('reference'), await read('distorted')];
}

/** A scorer and its server; the caller closes both. */
export async function openServed(options: EmbeddedServerOptions = {}, threads = 0) {
  const scorer = await createScorer(TINY, { threads });
  let server: EmbeddedServer;
  try {
    server = openEmbeddedServer(scorer, options, THREAD);
  } catch (error) {
    await scorer.close();
    throw error;
  }
  const push = async (count: number) => {
    for (let i = 0; i < count; i++) await scorer.push(...(await pairOf(scorer.pushed)));
  };
  return { scorer, server, push };
}

/** A scorer and its server; both are closed after the test. */
export async function served(options: EmbeddedServerOptions = {}, threads = 0) {
  const opened = await openServed(options, threads);
  // Not a hook of the module: files share modules, so it would run for the first importing file only.
  onTestFinished(async () => {
    await opened.scorer.close();
    await opened.server.close();
  });
  return opened;
}

/** {@link served}, with a server that listens for HTTP. */
export const listening = (options: EmbeddedServerOptions = {}) => listeningOf(served(options));

/** The same of an opening whose caller closes it. */
export async function listeningOf(opening: ReturnType<typeof openServed>) {
  const opened = await opening;
  const { address } = await opened.server.listen({ transport: 'sse', port: 0 });
  const { port, pathname } = new URL(address);
  return { ...opened, address, port: Number(port), pathname };
}

/** A JSON-RPC request. */
export function request(method: string, params?: object, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });
}

export function callOf(name: string, args: object = {}, id: number | string = 1): string {
  return request('tools/call', { name, arguments: args }, id);
}

/** Posts a request. @returns the answer */
export async function post(address: string, body: string) {
  const response = await fetch(address, { method: 'POST', body });
  return JSON.parse(await response.text());
}

/** Calls a tool over HTTP. @returns its answer as an object */
export async function callTool(address: string, name: string, args: object = {}) {
  const { result, error } = await post(address, callOf(name, args));
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
}
