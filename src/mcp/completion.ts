/**
 * @module mcp/completion
 * Completes what users type into prompts and resource templates: videos, models, features, encoders, and results. What is typed
 * is compared with names that the client may see anyway; no path is looked up.
 */
import { isAbsolute, relative, sep } from 'node:path';
import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { COMMON_ENCODERS } from '../core/encoder-names.js';
import type { ToolJobs } from './context.js';
import { PAGES_TEMPLATE, pageAddress } from './frame-pages.js';
import { JOB_TEMPLATE } from './job-protocol.js';
import { argumentOf, type Completed } from './prompts.js';
import type { ResourceScope } from './resources.js';

/** Values of one answer, at most, by the protocol. */
const MOST = 100;

/** Characters that are looked for, at most: no name is longer. */
const MOST_TYPED = 4096;

/** Milliseconds for which a list of videos is good: users type a letter after the other. */
const LISTED_TIME = 3000;

/** Where to look. */
export interface CompletionSources {
  /** Folders whose videos the client may use. */
  readonly folders: readonly string[];
  readonly scope: ResourceScope;
  readonly jobs: ToolJobs;
}

type Params = CompleteRequest['params'];

/** Answers `completion/complete`; unknown names complete to nothing. */
export async function complete(
  { ref, argument: { name, value }, context }: Params,
  sources: CompletionSources,
): Promise<CompleteResult> {
  const of = ref.type === 'ref/prompt' ? argumentOf(ref.name, name) : undefined;
  const typed = value.slice(0, MOST_TYPED);
  // Of a list, the last item is completed.
  const start = of === 'videos' ? typed.lastIndexOf(',') + 1 : 0;
  const [head, last] = [typed.slice(0, start), typed.slice(start).trimStart()];
  const names =
    ref.type === 'ref/resource'
      ? await partsOf(ref.uri, name, context?.arguments?.id, sources)
      : of === undefined
        ? []
        : await namesOf(of, last, sources);
  const found = ranked(names, last);
  const values = found.slice(0, MOST).map((one) => head + one);
  return { completion: { values, total: found.length, hasMore: found.length > MOST } };
}

/** Values for a variable of a resource template. @param id that was chosen before */
async function partsOf(
  template: string,
  variable: string,
  id: string | undefined,
  { scope, jobs }: CompletionSources,
): Promise<readonly string[]> {
  if (template === JOB_TEMPLATE && variable === 'id')
    return (await jobs.list()).jobs.map(({ job_id }) => job_id);
  if (template !== PAGES_TEMPLATE) return [];
  const reports = scope.list().flatMap(({ uri }) => {
    const [name, id] = uri.split('/').reverse();
    return name === 'report.json' && id !== undefined ? [id] : [];
  });
  if (variable === 'id') return reports;
  if (variable !== 'metric' || id === undefined || !reports.includes(id)) return [];
  const page = await scope.read(pageAddress({ id, from: 0, to: 0, step: 1 }));
  const [, ...metrics] = JSON.parse(page && 'text' in page ? page.text : '{"columns":[]}').columns;
  return metrics;
}

async function namesOf(of: Completed, typed: string, sources: CompletionSources): Promise<readonly string[]> {
  if (of === 'encoder') return COMMON_ENCODERS;
  if (of === 'video' || of === 'videos') return videosFor(typed, sources);
  const { listExtractors, listModels } = await import('../index.js');
  if (of === 'model') return (await listModels()).map(({ name }) => name);
  return [...new Set(listExtractors().flatMap(({ features }) => features.map(({ name }) => name)))];
}

/** Those that begin with what was typed, then those that contain it, each in their order. */
function ranked(names: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase();
  const begins = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const contains = names.filter((name) => name.toLowerCase().indexOf(wanted) > 0);
  return [...begins, ...contains];
}

let listed:
  | { readonly key: string; readonly at: number; readonly paths: Promise<readonly string[]> }
  | undefined;

/** The videos of the folders, the newest first: by whole paths if one is typed, else within their folder where that is enough. */
async function videosFor(typed: string, { folders }: CompletionSources): Promise<readonly string[]> {
  const key = folders.join('\n');
  const now = performance.now();
  if (listed?.key !== key || now - listed.at > LISTED_TIME) {
    const paths = import('./video-list.js').then(async ({ findVideos }) =>
      (await findVideos(folders)).found.map(({ path }) => path),
    );
    listed = { key, at: now, paths };
    paths.catch(() => {
      listed = undefined;
    });
  }
  const paths = await listed.paths;
  if (isAbsolute(typed)) return paths;
  const short = paths.map((path) => {
    const folder = folders.find((one) => path.startsWith(one.endsWith(sep) ? one : one + sep));
    return folder === undefined ? path : relative(folder, path);
  });
  const count = new Map<string, number>();
  for (const name of short) count.set(name, (count.get(name) ?? 0) + 1);
  return short.map((name, i) => (count.get(name) === 1 ? name : (paths[i] ?? name)));
}
