/**
 * @module platform/node/tiny/try-provider
 * Whether a device of onnxruntime-node works: a session is started on it in a process of its own, because drivers write to
 * the terminal, and some end the process.
 */

import { execFile } from 'node:child_process';
import { clause } from '../../../core/printable.js';
import type { OrtTarget } from '../../../tiny/ort.js';

/** A graph of one Neg of one number: operators of version 13, file of version 7. */
const GRAPH = 'CAc6MgoLCgF4EgF5IgNOZWcSAWdaDwoBeBIKCggIARIECgIIAWIPCgF5EgoKCAgBEgQKAggBQgIQDQ==';

/** Time that a driver has to start, and memory for what it says. */
const LIMITS = { timeout: 20_000, maxBuffer: 1024 * 1024 } as const;

const SCRIPT = `
const [name, graph, provider] = process.argv.slice(1);
const found = await import(name);
const { InferenceSession, Tensor } = found.InferenceSession ? found : found.default;
try {
  const session = await InferenceSession.create(Buffer.from(graph, 'base64'), {
    executionProviders: [JSON.parse(provider)],
    logSeverityLevel: 4,
  });
  const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(2), [1]) });
  console.log(y.data[0] === -2 ? 'works' : 'it computes ' + y.data[0] + ' for -2');
} catch (error) {
  console.log(String(error?.message ?? error));
}
process.exit();
`;

/**
 * Starts a session and runs it.
 * @returns why it does not work, as the end of a sentence; `null` where it does
 */
export function tryProvider(provider: OrtTarget['provider']): Promise<string | null> {
  const args = ['--input-type=module', '--eval', SCRIPT, 'onnxruntime-node', GRAPH, JSON.stringify(provider)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { ...LIMITS, cwd: import.meta.dirname }, (error, stdout) => {
      const said = stdout.trim().split('\n').at(-1) ?? '';
      if (said === 'works') resolve(null);
      else resolve(oneLine(said || error?.message || 'it says nothing'));
    });
  });
}

function oneLine(text: string): string {
  const line = text.slice(0, 4000).replaceAll(/\s+/g, ' ');
  // Before it stands the place in onnxruntime's code that found it.
  const found = line.lastIndexOf(' was false. ');
  return clause(line.slice(found < 0 ? 0 : found + ' was false. '.length)).slice(0, 200);
}
