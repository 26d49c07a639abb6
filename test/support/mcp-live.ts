/**
 * @module test/support/mcp-live
 * A scorer with its server, for tests: the thread is the built one.
 */
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { createScorer, type EmbeddedServer, type EmbeddedServerOptions } from '../../src/index.js';
import { openEmbeddedServer } from '../../src/live/embedded.js';
import { sampleSource } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built } from './built.js';

/** The built script of the server's thread. */
export const THREAD = pathToFileURL(built('dist/bundle/js/live-thread.js'));

export const TINY = { width: 64, height: 64, bitDepth: 8, chroma: '420' } as const;
const clip = makeSample(TINY, { seed: 3 });
/** Frames that the clip repeats. */
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

/** A scorer and its server, which the caller closes. */
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
  // A hook of this module would be one of the first file only that imports it: files share their modules.
  onTestFinished(async () => {
    await opened.scorer.close();
    await opened.server.close();
  });
  return opened;
}

/** The same, with a server that listens for HTTP. */
export const listening = (options: EmbeddedServerOptions = {}) => listeningOf(served(options));

/** A scorer and its server, which the caller closes, with a server that listens for HTTP. */
export async function listeningOf(opening: ReturnType<typeof openServed>) {
  const opened = await opening;
  const { address } = await opened.server.listen({ transport: 'sse', port: 0 });
  const { port, pathname } = new URL(address);
  return { ...opened, address, port: Number(port), pathname };
}

/** A request as JSON-RPC has it. */
export function request(method: string, params?: object, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });
}

/** A call of a tool. */
export function callOf(name: string, args: object = {}, id: number | string = 1): string {
  return request('tools/call', { name, arguments: args }, id);
}

/** Posts a request, and gives the answer. */
export async function post(address: string, body: string) {
  const response = await fetch(address, { method: 'POST', body });
  return JSON.parse(await response.text());
}

/** Calls a tool over HTTP, and gives what it answers as an object. */
export async function callTool(address: string, name: string, args: object = {}) {
  const { result, error } = await post(address, callOf(name, args));
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
}
