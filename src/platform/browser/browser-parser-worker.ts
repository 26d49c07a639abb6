/**
 * @module platform/browser/browser-parser-worker
 * Module worker of a browser that parses untrusted bytes.
 */
import type { ParserTask } from '../../engine/contract/platform.js';
import type { FromParser, ToParser } from '../../parsing/protocol.js';
import { serveParser } from '../../parsing/serve.js';

const take = serveParser(
  (message: FromParser, transfer: ArrayBuffer[] = []) => self.postMessage(message, { transfer }),
  async (task: ParserTask, monitor) => {
    switch (task.kind) {
      case 'video':
        return (await import('./video-parser.js')).serveBrowserVideo(task.library, monitor);
      case 'evaluation': {
        const [{ serveEvaluation }, { browserTiny }] = await Promise.all([
          import('../../evaluate/serve.js'),
          import('./tiny-platform.js'),
        ]);
        const { models, base, onnxruntime } = task.settings;
        const from = base === undefined ? undefined : () => base;
        const tiny = browserTiny(
          () => models,
          () => onnxruntime,
          from,
        );
        return serveEvaluation(tiny, monitor);
      }
    }
  },
);

self.onmessage = (event: MessageEvent<ToParser<ParserTask>>) => take(event.data);
