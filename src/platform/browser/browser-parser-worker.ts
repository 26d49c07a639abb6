/**
 * @module platform/browser/browser-parser-worker
 * The script of a module worker in a browser that parses foreign bytes.
 */

import type { ParserTask } from '../../engine/contract/parser-task.js';
import type { FromParser, ToParser } from '../../parsing/protocol.js';
import { serveParser } from '../../parsing/serve.js';
import { type WitnessTask, witness } from './witness.js';

const take = serveParser(
  (message: FromParser, transfer: ArrayBuffer[] = []) => self.postMessage(message, { transfer }),
  async (task: ParserTask | WitnessTask, monitor) => {
    switch (task.kind) {
      case 'witness':
        return witness((times) => self.postMessage(times));
      case 'video':
        return (await import('./video-parser.js')).serveBrowserVideo(task.library, monitor);
      case 'evaluation':
        return (await import('./evaluation-parser.js')).serveBrowserEvaluation(task.settings, monitor);
    }
  },
);

self.onmessage = (event: MessageEvent<ToParser<ParserTask | WitnessTask>>) => take(event.data);
