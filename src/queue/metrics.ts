/**
 * @module queue/metrics
 * Counters of a worker in the text format of Prometheus, served over HTTP.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AnyvmafError, type ErrorCode } from '../core/errors.js';
import { version } from '../core/version.js';
import type { QueueCounts, Task } from './types.js';

type TaskOutcome = 'done' | 'failed' | 'given_back' | 'cancelled';

const PREFIX = 'anyvmaf_worker';

export class WorkerMetrics {
  readonly #tasks = new Map<string, number>();
  readonly #errors = new Map<ErrorCode, number>();
  readonly #seconds = new Map<Task['kind'], { count: number; sum: number }>();
  #frames = 0;
  #settled = 0;
  active = 0;

  ended(kind: Task['kind'], outcome: TaskOutcome, seconds: number): void {
    const key = `kind="${kind}",outcome="${outcome}"`;
    this.#tasks.set(key, (this.#tasks.get(key) ?? 0) + 1);
    const times = this.#seconds.get(kind) ?? { count: 0, sum: 0 };
    this.#seconds.set(kind, { count: times.count + 1, sum: times.sum + seconds });
  }

  failed(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  settled(): void {
    this.#settled++;
  }

  readonly measured = (frames: number): void => {
    this.#frames += frames;
  };

  /** @param queue absent if the server does not answer */
  text(queue: QueueCounts | undefined, concurrency: number): string {
    const lines: string[] = [];
    const family = (
      name: string,
      type: 'counter' | 'gauge',
      help: string,
      values: readonly (readonly [string, number])[],
    ) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of values) lines.push(`${name}${labels && `{${labels}}`} ${value}`);
    };
    family('anyvmaf_build_info', 'gauge', 'Version of anyvmaf.', [[`version="${version}"`, 1]]);
    family(`${PREFIX}_tasks_total`, 'counter', 'Tasks that ended on this worker.', [...this.#tasks]);
    family(
      `${PREFIX}_task_seconds_total`,
      'counter',
      'Total duration of ended tasks in seconds.',
      [...this.#seconds].map(([kind, { sum }]) => [`kind="${kind}"`, sum] as const),
    );
    family(
      `${PREFIX}_errors_total`,
      'counter',
      'Failed attempts by error code.',
      [...this.#errors].map(([code, count]) => [`code="${code}"`, count] as const),
    );
    family(`${PREFIX}_frames_total`, 'counter', 'Frame pairs measured.', [['', this.#frames]]);
    family(`${PREFIX}_jobs_settled_total`, 'counter', 'Jobs settled by this worker.', [['', this.#settled]]);
    family(`${PREFIX}_tasks_active`, 'gauge', 'Running tasks.', [['', this.active]]);
    family(`${PREFIX}_concurrency`, 'gauge', 'Tasks that may run at once.', [['', concurrency]]);
    family('anyvmaf_queue_up', 'gauge', 'Whether the queue server answers.', [['', queue ? 1 : 0]]);
    if (queue) {
      const states = Object.entries(queue).map(([state, count]) => [`state="${state}"`, count] as const);
      family('anyvmaf_queue_tasks', 'gauge', 'Tasks in the whole queue by state.', states);
    }
    return `${lines.join('\n')}\n`;
  }
}

export interface MetricsAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws {AnyvmafError} `io` if the port cannot be used */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
): Promise<MetricsServer> {
  const server: Server = createServer((request, response) => {
    const isScrape = request.url === '/metrics' && /^(GET|HEAD)$/.test(request.method ?? '');
    if (!isScrape) {
      response.writeHead(request.url === '/metrics' ? 405 : 404, { 'content-type': 'text/plain' });
      response.end('GET /metrics\n');
      return;
    }
    text().then(
      (body) => {
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
        response.end(body);
      },
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(new AnyvmafError('io', `cannot serve metrics at ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
