/**
 * @module cli/batch/queued
 * Runs a batch on a queue: submits its jobs, and yields their results as workers finish them.
 */

import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject, jsonOf } from '../../core/arguments.js';
import { type ErrorCode, messageOf, usageError } from '../../core/errors.js';
import { hasScheme, isOnnxPath, modelPath } from '../../core/names.js';
import { withoutAccess } from '../../core/printable.js';
import { textDigest } from '../../files/folders.js';
import { hideArguments, QueueConnection, queueAddress, queueError } from '../../queue/connect.js';
import { MOST_ARG, type PartLength, type QueueJob, readReason } from '../../queue/job.js';
import { ResultsFolder } from '../../queue/results-folder.js';
import { followJobs, retryJobs } from '../../queue/submit.js';
import { queueSettings } from '../queue/queue-run.js';
import type { BatchSettings, OpenJob } from './table.js';

const USUAL_PART: PartLength = { unit: 'seconds', length: 60 };
const USUAL_PRIORITY = 100;
const USUAL_ATTEMPTS = 3;
/** Milliseconds between updates of the progress line. */
const UPDATE = 2000;

interface Followed {
  readonly open: readonly OpenJob[];
  readonly settings: BatchSettings;
  readonly signal: AbortSignal;
  readonly show: ((text: string) => void) | undefined;
  /** Reports connection trouble that is being retried. */
  readonly complain: (sentence: string) => void;
}

interface QueuedResult {
  readonly done: OpenJob;
  readonly line?: string;
  /** Values per frame, as Parquet. */
  readonly frames?: Uint8Array;
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
}

/**
 * Submits jobs that are not in the queue yet, and yields each as it ends. Requesting the next result deletes the last
 * one from the queue.
 * @throws {AnyvmafError} `usage` for a job that cannot be queued; `io` and `backend` as {@link QueueConnection.open}
 */
export async function* followBatch(
  url: string,
  { open, settings, signal, show, complain }: Followed,
): AsyncGenerator<QueuedResult, void, undefined> {
  const address = queueAddress(url, process.env);
  hideArguments();
  const jobs = new Map(open.map((job) => [job, queueJob(job, settings)]));
  const byKey = new Map([...jobs].map(([job, { key }]) => [key, job]));
  const files = await ResultsFolder.open(settings.results, hostsOf(settings));
  const connection = await QueueConnection.open(address);
  connection.onTrouble = (why) => complain(`lost the queue at ${address.shown}; retrying: ${why}`);
  const progress = { ended: 0, failed: 0 };
  const update = async () => {
    const { waiting, delayed, active } = await connection.counts();
    const failed = progress.failed > 0 ? `, ${progress.failed} failed` : '';
    const queue = `queue: ${active} running, ${waiting + delayed} waiting`;
    show?.(`${progress.ended} of ${open.length} jobs${failed}; ${queue}`);
  };
  const updates = show && setInterval(() => void update().catch(() => {}), UPDATE);
  try {
    const ended = followJobs(
      [...jobs.values()],
      {
        queue: connection,
        store: connection.store,
        files,
        retry: (failed) => retryJobs(connection, files, failed),
        listen: (heard) => listen(connection, heard),
        clock: { now: () => performance.now(), wait },
      },
      { retryFailed: settings.retryFailed, signal },
    );
    for await (const { job, outcome } of ended) {
      const done = byKey.get(job.key);
      if (!done) continue;
      progress.ended++;
      if (outcome.kind === 'failed') {
        progress.failed++;
        yield { done, failure: outcome };
        continue;
      }
      const { line, frames } = outcome;
      if (isLineOf(line, job)) yield { done, line, ...(frames && { frames: Buffer.from(frames, 'base64') }) };
      else
        yield { done, failure: { code: 'io', message: 'the queue returned a malformed result of this job' } };
    }
  } catch (error) {
    throw queueError(error, address);
  } finally {
    clearInterval(updates);
    await connection.close();
  }
}

async function listen(
  connection: QueueConnection,
  heard: (key: string, dead?: { kind: 'failed'; code: ErrorCode; message: string }) => void,
): Promise<() => Promise<void>> {
  const events = connection.events();
  events.on('completed', ({ jobId, returnvalue }) => {
    // Most tasks are parts; only a settled one may end its job.
    if (JSON.stringify(returnvalue ?? '').includes('settled')) heard(jobId.slice(0, 32));
  });
  events.on('failed', ({ jobId, failedReason }) =>
    heard(jobId.slice(0, 32), { kind: 'failed', ...readReason(failedReason) }),
  );
  // Cancelled before a worker took it.
  events.on('removed', ({ jobId }) => heard(jobId.slice(0, 32)));
  await events.waitUntilReady();
  return () => events.close();
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {});
}

function hostsOf({ common }: BatchSettings): readonly string[] {
  return common.flatMap(({ name, value }) => (name === 'allow-url' && value ? value : []));
}

/** The queued form of a job: absolute paths, and no hosts, because each worker allows its own. */
function queueJob({ job, id }: OpenJob, settings: BatchSettings): QueueJob {
  const { line } = job;
  const args = job.args.map(withoutAccess);
  const run = job.args.filter((arg) => !arg.startsWith('--allow-url')).map(absolutePaths);
  if (run.some((arg) => arg.length > MOST_ARG || /[\0\n\r]/.test(arg)))
    throw usageError(
      `line ${line}: a name or option has more than ${MOST_ARG} characters, a line break or NUL, which a queue ` +
        'does not accept',
    );
  try {
    queueSettings({ run });
  } catch (error) {
    throw usageError(`line ${line}: ${messageOf(error)}`, { cause: error });
  }
  const { partLength: part = USUAL_PART, priority = USUAL_PRIORITY, attempts = USUAL_ATTEMPTS } = settings;
  const precision = String(settings.precision);
  const frames = settings.frames ? join(`${settings.output}.frames`, `${id}.parquet`) : undefined;
  // A URL with a new signature is the same job.
  const key = textDigest(JSON.stringify([id, args, run.map(withoutAccess), precision, frames]), 32);
  return {
    ...{ key, id, line, args, run, precision, part, priority, attempts },
    ...(frames !== undefined && { frames }),
  };
}

/** Makes the paths in an option `--name=value` absolute. */
function absolutePaths(arg: string): string {
  const [, name, value = ''] = /^--([^=]+)=(.*)$/s.exec(arg) ?? [];
  switch (name) {
    case 'reference':
    case 'distorted':
      return `--${name}=${hasScheme(value) ? value : resolve(value)}`;
    case 'tiny-model':
      return isOnnxPath(value) ? `--${name}=${resolve(value)}` : arg;
    case 'model': {
      const items = value.split(':').map((item, place) => {
        const path = modelPath(item, place);
        return path === undefined ? item : `path=${resolve(path)}`;
      });
      return `--${name}=${items.join(':')}`;
    }
    default:
      return arg;
  }
}

/** True if a worker's result belongs to the job; the queue is not trusted. */
function isLineOf(text: string, { id }: QueueJob): boolean {
  const value = text.includes('\n') ? undefined : jsonOf(text);
  if (!isObject(value) || !isObject(value.job) || !isObject(value.pooled_metrics)) return false;
  return value.job.id === id && typeof value.job.line === 'number' && !('error' in value);
}
