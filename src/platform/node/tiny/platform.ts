/**
 * @module platform/node/tiny/platform
 * Tiny models in Node.
 */
import type { TinyPlatform } from '../../../tiny/types.js';
import { nodeTinyFiles } from './files.js';
import { nodeTinyRuntimes } from './runtimes.js';
import { nodeTinySignatures } from './signatures.js';

export { nodeTinyFiles };

/** @param models gives the folder of the built-in models, ending in `/` */
export function nodeTiny(models: () => URL): TinyPlatform {
  // onnxruntime-node reports its use to its maker, and leaves files for that in the temporary folder.
  process.env.ORT_DISABLE_TELEMETRY ??= '1';
  return { files: nodeTinyFiles(models), runtimes: nodeTinyRuntimes(), signatures: nodeTinySignatures() };
}
