/**
 * @module cli/queue/queue-run
 * Turns a job of the queue into a call of the API. Anyone who can write to Redis can submit jobs, so only options that
 * read allowed files and write nothing are accepted.
 */
import { usageError } from '../../core/errors.js';
import { hasScheme, isOnnxPath, isUrl } from '../../core/names.js';
import { optionsOf } from '../../core/options.js';
import { quoted, shown, withoutAccess } from '../../core/printable.js';
import { AllowedPaths, allowedModel } from '../../files/allowed-paths.js';
import type { BatchJob, Origin, Report, ScoreOptions } from '../../index.js';
import type { QueueJob } from '../../queue/job.js';
import type { ScoringRules } from '../../queue/scoring-process.js';
import { completeReport } from '../exit.js';
import { requestOf, type ScoreSettings, scoreSettings } from '../score-options.js';

/** API options that a job may set. Others name programs or addresses, or depend on the machine. */
const ALLOWED = optionsOf('job');

/** Backends that run no installed program. */
const BACKENDS = new Set<string | undefined>([undefined, ...'auto cpu wasm webgpu hybrid'.split(' ')]);

/** Settings that a job may have; a worker writes nothing but the result of the job. */
const JUDGED: ReadonlySet<string> = new Set(
  'options reference distorted raw failUnder limits acceptUntrusted precision quiet ignored'.split(' '),
);

const HOW_TO_EXTEND = 'start the worker with --allow DIR to allow more folders';

/** A job as the API takes it, with real paths. */
export interface QueuedRun {
  readonly settings: ScoreSettings;
  readonly request: Pick<BatchJob, 'raw'> & { readonly reference?: string; readonly distorted: string };
  readonly options: NonNullable<BatchJob['options']> &
    Pick<ScoreOptions, 'signal' | 'onProgress'> & { readonly origin: Origin };
}

/** Parses a job's command line. Pure. @throws {AnyvmafError} `usage` for options that a queue does not take */
export function queueSettings(job: Pick<QueueJob, 'run'>): ScoreSettings {
  const settings = scoreSettings(job.run);
  if (typeof settings === 'string') throw usageError(`the job asks for ${settings}`);
  const { options, distorted, reference } = settings;
  const setNames = (values: object) =>
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : name));
  const forbidden = setNames(options).find((name) => !ALLOWED.includes(name));
  if (forbidden !== undefined) throw usageError(`a job of a queue cannot set ${forbidden}; leave it out`);
  const other = setNames(settings).find((name) => !JUDGED.has(name));
  if (other !== undefined)
    throw usageError(
      'a job of a queue cannot run live, be a part, be compared with a baseline or write its own files, but ' +
        `${other} asks for that; leave it out`,
    );
  if (!BACKENDS.has(options.backend))
    throw usageError(
      `workers do not run installed programs, which the backend ${options.backend} needs; use wasm`,
    );
  if (distorted.length !== 1) throw usageError('a job has one distorted video');
  for (const name of [reference, ...distorted])
    if (name === '-') throw usageError('a job cannot read standard input (-); name a file');
  const texts = [...(options.models ?? []), ...(options.features ?? [])];
  const folder = texts.map((text) => /[=:.](\w+_path)=/.exec(text)?.[1]).find((name) => name !== undefined);
  if (folder !== undefined)
    throw usageError(
      `${folder} names a folder to write to, but a job of a queue writes no files; leave it out`,
    );
  return settings;
}

/**
 * Resolves the files of a job; URLs are checked when they are opened.
 * @throws {AnyvmafError} `io` for a missing or forbidden file; `usage` for a forbidden URL
 */
export async function queuedRun(
  job: QueueJob,
  { allow, hosts }: Pick<ScoringRules, 'allow' | 'hosts'>,
): Promise<QueuedRun> {
  const settings = queueSettings(job);
  const files = new AllowedPaths(allow, '/', HOW_TO_EXTEND);
  const { options: own, raw } = requestOf(settings);
  const { models, tiny, ...others } = own ?? {};
  const [named] = settings.distorted;
  const distorted = await allowedFile(named, files, hosts);
  const reference =
    settings.reference === undefined ? undefined : await allowedFile(settings.reference, files, hosts);
  const checkedModels = models && (await Promise.all(models.map((text) => allowedModel(text, files))));
  const checkedTiny =
    tiny &&
    (await Promise.all(
      tiny.map(async (options) => ({
        ...options,
        model: isOnnxPath(options.model) ? await files.resolveInput(options.model) : options.model,
      })),
    ));
  return {
    settings,
    request: { distorted, ...(reference !== undefined && { reference }), ...(raw && { raw }) },
    options: {
      ...others,
      ...(checkedModels && { models: checkedModels }),
      ...(checkedTiny && { tiny: checkedTiny }),
      ...(hosts.length > 0 && { allowUrl: hosts }),
      origin: files.origin,
    },
  };
}

async function allowedFile(named: string, files: AllowedPaths, hosts: readonly string[]): Promise<string> {
  if (!hasScheme(named)) return files.resolveInput(named);
  if (isUrl(named) && hosts.length > 0) return named;
  const why = hosts.length > 0 ? 'of a kind that workers never open' : 'but this worker reads files only';
  throw usageError(
    `${quoted(shown(named))} is a URL, ${why}; name a file, or start the worker with --allow-url HOST`,
  );
}

/** Restores the names that the submitter gave, which may be links, without the credentials of URLs. */
export function submittedReport(report: Report, settings: ScoreSettings): Report {
  const { reference, distorted } = settings;
  const complete = completeReport(report, settings.ignored);
  return {
    ...complete,
    reference: {
      ...complete.reference,
      ...(reference !== undefined && { name: withoutAccess(reference) }),
    },
    distorted: { ...complete.distorted, name: withoutAccess(distorted[0]) },
  };
}
