/**
 * @module search/session
 * What all encodes of one source share: the machine, the private folder, what the source declares, and earlier points.
 */
import { wrongType } from '../core/arguments.js';
import { AnyvmafError } from '../core/errors.js';
import { BY_USER, type Origin } from '../core/origin.js';
import { quotientOf, USUAL_RATE } from '../core/rational.js';
import { Scope } from '../engine/contract/scope.js';
import type { VideoInput } from '../media/types.js';
import { baseName } from '../report/facts.js';
import { extractorsFor } from '../report/limits.js';
import type { EncodingFolder, EncodingHost, PointStore, SearchPlatform, SourceFacts } from './host.js';
import type { QualityTarget } from './targets.js';
import type { EncodingOptions } from './types.js';

/** Bytes of temporary files, where nothing else is said. */
export const DEFAULT_SCRATCH = 8e9;

/** One source under work. */
export interface Session {
  /** Opens the source as its origin says, and what the session made itself. */
  readonly platform: SearchPlatform;
  readonly host: EncodingHost;
  readonly source: string | URL;
  readonly facts: SourceFacts;
  /** Frames of the source per second, on average. */
  readonly perSecond: number;
  readonly folder: EncodingFolder;
  readonly store: PointStore | undefined;
  /** What went wrong beside the work, a sentence each. */
  readonly notes: readonly string[];
  readonly options: EncodingOptions;
  readonly signal: AbortSignal;
}

/** What is aimed at, which may be metrics that models do not bring along. */
interface Aims {
  readonly metric?: string;
  readonly targets?: readonly (number | QualityTarget)[];
}

function withFeatures(options: EncodingOptions & Aims): EncodingOptions {
  const { metric, targets = [], features = [] } = options;
  const named = [metric, ...targets.map((one) => (typeof one === 'number' ? undefined : one.metric))];
  const more = extractorsFor(
    named.filter((one) => one !== undefined),
    features,
  );
  return more.length > 0 ? { ...options, features: [...features, ...more] } : options;
}

/**
 * Opens a source for encoding, and closes everything however the work ends.
 * @throws {AnyvmafError} `usage` for a source that is no file; `backend` where there are no programs; what `work` throws; the
 * signal's reason when it asks to stop
 */
export async function inSession<T>(
  platform: SearchPlatform,
  source: VideoInput,
  options: EncodingOptions & Aims,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (!isFileName(source)) throw wrongType('source', source, 'the path of a file, or its URL');
  if (!platform.encoding) {
    throw new AnyvmafError('backend', 'Encoders are programs, which cannot be run here; search in Node.');
  }
  const scope = new Scope(options.signal);
  const { signal } = scope;
  try {
    const bound = platform.ofOrigin?.(options.origin ?? BY_USER) ?? platform;
    const host = await (bound.encoding ?? platform.encoding)();
    options.onStage?.({ kind: 'reading' });
    const facts = await host.source(source, signal);
    const folder = await host.openFolder(options.scratchBytes ?? DEFAULT_SCRATCH);
    scope.own(() => folder.close());
    const notes: string[] = [];
    return await work({
      platform: scoringPlatform(platform, options.origin, folder),
      host,
      source,
      facts,
      perSecond: framesPerSecond(facts),
      folder,
      store: options.cache === false ? undefined : lenientStore(host.points(options.cache), notes),
      notes,
      options: withFeatures(options),
      signal,
    });
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error;
  } finally {
    await scope.close();
  }
}

/** A store whose failures end no work: what it keeps saves time later, and that is all. */
function lenientStore(store: PointStore, notes: string[]): PointStore {
  return {
    ...store,
    async add(key, line) {
      try {
        await store.add(key, line);
      } catch (error) {
        if (!(error instanceof AnyvmafError) || error.code !== 'io') throw error;
        if (!notes.includes(error.message)) notes.push(error.message);
      }
    },
  };
}

function scoringPlatform(
  platform: SearchPlatform,
  origin: Origin | undefined,
  folder: EncodingFolder,
): SearchPlatform {
  if (origin?.by !== 'foreign') return platform;
  const { folders } = origin;
  return (
    platform.ofOrigin?.({ by: 'foreign', ...(folders && { folders: [...folders, folder.root] }) }) ?? platform
  );
}

function isFileName(source: VideoInput): source is string | URL {
  try {
    return typeof source === 'string' || source instanceof URL;
  } catch {
    // A proxy that answers nothing.
    return false;
  }
}

/** What results call the source. */
export function sourceName({ track }: SourceFacts): string {
  return baseName(track.name);
}

function framesPerSecond({ track, times }: SourceFacts): number {
  const last = times.at(-1) ?? 0;
  if (last > 0) return (times.length - 1) / last;
  return quotientOf(track.frameRate) ?? USUAL_RATE;
}
