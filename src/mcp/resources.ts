/**
 * @module mcp/resources
 * Resources of the protocol: large results, as files in a private folder that is deleted with the server, and samples.
 */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { AnyvmafError, ioError } from '../core/errors.js';
import type { VideoFormat } from '../core/frame.js';
import { quoted } from '../core/printable.js';
import type { AllowedPaths } from '../files/allowed-paths.js';
import { makeScratchFolder, removeScratch, sweepScratch } from '../files/folders.js';
import { framesOf, type PageRequest, pageAddress, pageOf, readPageAddress } from './frame-pages.js';
import type { ToolFiles } from './paths.js';
import type { Pictured, Publication, Published, ResourceEntry } from './tool.js';

const RESULTS = 'anyvmaf://results/';
/** Name of reports, whose frames can be read in pages, and of their HTML pages. */
const REPORT = 'report.json';
const PAGE = '/report.html';
/** Most bytes of stored results; the oldest are deleted first. */
const MAX_STORED_BYTES = 2 ** 31;
/** Most known results; those of jobs are found again on demand. */
const MOST_KNOWN = 2000;
/** Most listed results, the newest. */
const LISTED = 100;
/** Most bytes of a resource in an answer: clients refuse messages above 10 MB, and base64 adds a third. */
const MOST_BYTES = 6 << 20;
const NAME = /^[\w-][\w.-]{0,99}$/;

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.sh': 'text/x-shellscript',
};

export interface ResultOfJob extends Pick<StoredResult, 'name' | 'path' | 'size' | 'owner'> {
  /** The folder in which tools may open it. */
  readonly all: string;
}

/** Finds a result of a job that the client may see. */
type FindOfJob = (job: string, number: number, scope: ResourceScope) => Promise<ResultOfJob | undefined>;

export type ResourceContents =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string };

/** Makes the page of a report. */
export type ReadPage = (report: string, pictured: Pictured | undefined) => Promise<string>;

interface StoredResult extends ResourceEntry {
  readonly size: number;
  readonly pictured?: Pictured;
  readonly folder: string;
  readonly path: string;
  /** Owner of a {@link ResourceScope}. */
  readonly owner: string;
  /** True if it is deleted with the server. */
  readonly isOwn: boolean;
}

const OUTSIDE_ROOTS =
  "this client's roots limit the allowed folders (see list_videos); change its roots to use others";

/** Owners of several clients: hosts on standard input (of one user), and clients without sessions. */
export const LOCAL_OWNER = 'local';
export const SHARED_OWNER = 'shared';
const SHARED: ReadonlySet<string> = new Set([LOCAL_OWNER, SHARED_OWNER]);

export interface ResultPlace {
  readonly id: string;
  /** An empty folder, and the folder in which tools may open it; default: a folder of the server. */
  readonly folder?: string;
  readonly all?: string;
}

/** The resources of one connection: the samples and its own results. */
export class ResourceScope {
  /** Real paths of the client's roots, which also limit its files unless that leaves no folder. */
  roots: readonly string[] = [];

  constructor(
    readonly all: ServerResources,
    readonly owner: string,
  ) {}

  /** True if results are listed; clients that share a scope must know their URIs. */
  get listed(): boolean {
    return this.owner !== SHARED_OWNER;
  }

  publish(publication: Publication, place?: ResultPlace): Promise<Published> {
    return this.all.publish(publication, this.owner, place);
  }

  /** True if an owner's results can be read by URI: those of this scope and of ended sessions. */
  sees(owner: string): boolean {
    return owner === this.owner || !(SHARED.has(owner) || this.all.open.has(owner));
  }

  /** Ends the scope: from now on any client can read its results by URI. */
  end(): void {
    this.all.open.delete(this.owner);
  }

  /** The samples, then the newest results. */
  list(): ResourceEntry[] {
    return [SAMPLES, ...(this.listed ? this.all.listOf(this.owner) : [])];
  }

  /**
   * Reads a resource; every report.json also has a page, report.html.
   * @returns `undefined` for an unknown URI
   * @throws {AnyvmafError} `io` if it is too large for a message
   */
  async read(uri: string, pageOf?: ReadPage): Promise<ResourceContents | undefined> {
    return (await this.#hides(uri)) ? undefined : this.all.read(uri, pageOf);
  }

  /** True for the URI of another connection's result. */
  async #hides(uri: string): Promise<boolean> {
    await this.all.restore(uri, this);
    const owner = this.all.ownerOf(uri);
    return owner !== undefined && !this.sees(owner);
  }

  /** The files that tools may use, without results of other connections. */
  filesOf(allowed: AllowedPaths): ToolFiles {
    return allowed.within(this.roots, OUTSIDE_ROOTS, async (path) => {
      if (!(await this.#hides(path))) return this.all.pathOf(path);
      throw ioError(`There is no result ${quoted(path)} in this session.`);
    });
  }
}

export class ServerResources {
  /** Results by URI, oldest first. */
  readonly #stored = new Map<string, StoredResult>();
  readonly #samples = new Map<SampleName, Promise<string>>();
  readonly #findOfJob: FindOfJob;
  readonly #allow: (folder: string) => void;
  /** Owners whose sessions are open. */
  readonly open = new Set<string>();
  /** The report whose pages were read last. */
  #paged: { readonly uri: string; readonly frames: ReturnType<typeof framesOf> } | undefined;
  #bytes = 0;
  #home: Promise<string> | undefined;
  #closed = false;

  /**
   * @param findOfJob finds a result that an earlier server published
   * @param allow lets tools read a folder
   */
  constructor(findOfJob: FindOfJob, allow: (folder: string) => void) {
    this.#findOfJob = findOfJob;
    this.#allow = allow;
  }

  /** The scope of one session by default, else of the clients that share an owner. */
  scope(owner: string = randomUUID()): ResourceScope {
    if (!SHARED.has(owner)) this.open.add(owner);
    return new ResourceScope(this, owner);
  }

  /** Owner of a result, or of the report behind a page; `undefined` for an unknown URI. */
  ownerOf(uri: string): string | undefined {
    const page = /^anyvmaf:\/\/results\/([\w-]{1,64})\/(?:frames(?:\?|$)|report\.html$)/.exec(uri)?.[1];
    return (this.#stored.get(uri) ?? this.#reportOf(page))?.owner;
  }

  /** Finds the result of a job of an earlier server, if the client may see it. */
  async restore(uri: string, scope: ResourceScope): Promise<void> {
    const [start = '', id, job = '', number] =
      /^anyvmaf:\/\/results\/(([\w-]{36})-(\d{1,6}))\//.exec(uri) ?? [];
    if (number === undefined || [...this.#stored.keys()].some((known) => known.startsWith(start))) return;
    const found = await this.#findOfJob(job, Number(number), scope);
    if (!found || !NAME.test(found.name)) return;
    const { name, path, size, all: folder, owner } = found;
    this.#allow(folder);
    const mimeType = MIME_TYPES[extname(name)] ?? 'application/octet-stream';
    const entry = { uri: `${RESULTS}${id}/${name}`, name, mimeType, size };
    this.#stored.set(entry.uri, { ...entry, folder, path, owner, isOwn: false });
  }

  /** The JSON published under an id. */
  #reportOf(id: string | undefined): StoredResult | undefined {
    if (id === undefined) return undefined;
    return [...this.#stored.values()].find(
      ({ uri, mimeType }) => mimeType === 'application/json' && uri.startsWith(`${RESULTS}${id}/`),
    );
  }

  async #page(uri: string, page: PageRequest): Promise<ResourceContents | undefined> {
    const stored = this.#reportOf(page.id);
    if (!stored) return undefined;
    // Cached: pages are read one after the other.
    if (this.#paged?.uri !== stored.uri) {
      const text = await textOf(stored.path);
      if (text === undefined) return undefined;
      this.#paged = { uri: stored.uri, frames: framesOf(text) };
    }
    const { frames } = this.#paged;
    const mimeType = page.format === 'csv' ? 'text/csv' : 'application/json';
    return frames && { uri, mimeType, text: pageOf(frames, page) };
  }

  /** Path of a folder that is deleted with the server; the caller creates it. */
  async scratch(name: string): Promise<string> {
    return join(await this.#folder(), name);
  }

  async publish(
    { name, mimeType, description, data, pictured }: Publication,
    owner: string,
    place: ResultPlace = { id: randomUUID() },
  ): Promise<Published> {
    if (!NAME.test(name)) throw new Error(`"${name}" cannot be the name of a result`);
    const { id, folder = join(await this.#folder(), id), all } = place;
    const isOwn = all === undefined;
    if (isOwn) await mkdir(folder);
    else this.#allow(all);
    const path = join(folder, name);
    await writeFile(path, data, { mode: 0o600 });
    const size = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    const pages =
      name === REPORT ? ` Frames in pages: ${RESULTS}${id}/frames?metric=NAME&from=0&to=99&step=1` : '';
    const about = description && `${description}${pages}`;
    const entry = { uri: `${RESULTS}${id}/${name}`, name, mimeType, description: about, size };
    this.#stored.set(entry.uri, { ...entry, folder, path, owner, isOwn, pictured });
    if (isOwn) this.#bytes += size;
    await this.#forget();
    return { uri: entry.uri, path, link: { type: 'resource_link', ...entry } };
  }

  listOf(owner: string): ResourceEntry[] {
    return [...this.#stored.values()]
      .filter((result) => result.owner === owner && existsSync(result.path))
      .reverse()
      .slice(0, LISTED)
      .map(({ uri, name, mimeType, description, size }) => ({ uri, name, mimeType, size, description }));
  }

  async read(uri: string, pageOf?: ReadPage): Promise<ResourceContents | undefined> {
    const report = this.#stored.get(uri.replace(/html$/, 'json'));
    if (pageOf && report?.name === REPORT && uri.endsWith(PAGE)) {
      const instead = 'read the frames of its report.json in pages instead';
      // Estimate before the page is made: it has about a tenth of the report's size.
      requireRoom(uri, report.size / 8, instead);
      const json = await textOf(report.path);
      if (json === undefined) return undefined;
      const text = await pageOf(json, report.pictured);
      requireRoom(uri, text.length, instead);
      return { uri, mimeType: 'text/html', text };
    }
    if (uri === SAMPLES.uri)
      return { uri, mimeType: 'application/json', text: JSON.stringify(describeSamples(), null, 2) };
    const page = readPageAddress(uri);
    if (page) return this.#page(uri, page);
    const stored = this.#stored.get(uri);
    const path = await this.pathOf(uri);
    const found = path === undefined ? undefined : await lstat(path).catch(() => undefined);
    // Unknown, of an expired job, or replaced.
    if (path === undefined || !found?.isFile()) return undefined;
    const mimeType = stored?.mimeType ?? 'application/octet-stream';
    const [, id = ''] = uri.slice(RESULTS.length - 1).split('/');
    const isReport = stored !== undefined && this.#reportOf(id) === stored;
    const pages = `read its frames in pages: ${pageAddress({ id, from: 0, to: 99, step: 1 })}`;
    requireRoom(uri, found.size, isReport ? pages : `read the file ${path} instead`);
    const bytes = await bytesOf(path);
    if (!bytes) return undefined;
    return mimeType.startsWith('text/') || mimeType === 'application/json'
      ? { uri, mimeType, text: bytes.toString('utf8') }
      : { uri, mimeType, blob: bytes.toString('base64') };
  }

  /** The file behind one of the server's URIs; `undefined` for other text. */
  async pathOf(uri: string): Promise<string | undefined> {
    return this.#sample(uri) ?? this.#stored.get(uri)?.path;
  }

  /** A sample's file, generated on first use; `undefined` for another URI. */
  #sample(uri: string): Promise<string> | undefined {
    const name = SAMPLE_FILES.find((file) => uri === `${SAMPLES_URI}/${file}`);
    if (name === undefined) return undefined;
    const known = this.#samples.get(name);
    if (known) return known;
    const made = this.#folder().then((folder) => writeSample(name, folder));
    made.catch(() => this.#samples.delete(name));
    this.#samples.set(name, made);
    return made;
  }

  /** Removes the results of killed servers. */
  async sweep(): Promise<void> {
    await sweepScratch(await realpath(tmpdir()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.sweep().catch(() => {});
    const home = await this.#home?.catch(() => undefined);
    await Promise.allSettled(this.#samples.values());
    if (home !== undefined) await removeScratch(home);
  }

  /** The folder, created on first use and readable by this user only. */
  async #folder(): Promise<string> {
    if (this.#closed) throw new AnyvmafError('aborted', 'The server is shutting down.');
    this.#home ??= (async () => {
      const made = await makeScratchFolder('mcp', await realpath(tmpdir()));
      this.#allow(made);
      return made;
    })();
    return this.#home;
  }

  async #forget(): Promise<void> {
    for (const [uri, { folder, size, isOwn }] of this.#stored) {
      if (this.#stored.size === 1) return;
      if (isOwn ? this.#bytes <= MAX_STORED_BYTES : this.#stored.size <= MOST_KNOWN) continue;
      this.#stored.delete(uri);
      if (this.#paged?.uri === uri) this.#paged = undefined;
      if (!isOwn) continue;
      this.#bytes -= size;
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Windows has no flag for it. */
const UNLESS_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** Bytes of a result; `undefined` if it has expired or a link replaced it. */
const bytesOf = (path: string) => readFile(path, { flag: UNLESS_LINK }).catch(() => undefined);

const textOf = async (path: string) => (await bytesOf(path))?.toString('utf8');

/** @throws {AnyvmafError} `io` if a resource is too large for a message */
function requireRoom(uri: string, size: number, instead: string): void {
  if (size > MOST_BYTES)
    throw ioError(`${uri} has ${Math.ceil(size)} bytes, too many for one message; ${instead}`);
}

const SAMPLES_URI = 'anyvmaf://samples';

/** Raw files first. */
const SAMPLE_FILES = [
  'reference_576x324.yuv',
  'distorted_576x324.yuv',
  'reference_576x324.y4m',
  'distorted_576x324.y4m',
] as const;

type SampleName = (typeof SAMPLE_FILES)[number];

const SAMPLE_FORMAT: VideoFormat = { width: 576, height: 324, bitDepth: 8, chroma: '420' };
/** Frames of each sample; the scene changes in the middle. */
const SAMPLE_FRAMES = 24;

const SAMPLES: ResourceEntry = {
  uri: SAMPLES_URI,
  name: 'samples',
  mimeType: 'application/json',
  description:
    'A generated pair of videos to try the tools with: paths, format, and the arguments to score it.',
};

function describeSamples(): object {
  const { width, height, chroma, bitDepth } = SAMPLE_FORMAT;
  const geometry = { width, height, pixfmt: chroma, bitdepth: bitDepth };
  const files = SAMPLE_FILES.map((name) => `${SAMPLES_URI}/${name}`);
  const [ref, dis] = files;
  return {
    about:
      'A generated pair, the distorted video blurred, quantised in blocks and noisy. Every name is also a path.',
    format: { ...geometry, frames: SAMPLE_FRAMES },
    files,
    example: { name: 'vmaf_score', arguments: { ref, dis, ...geometry } },
  };
}

async function writeSample(name: SampleName, folder: string): Promise<string> {
  const { makeSample } = await import('../sample/generator.js');
  const { y4mFile, yuvFile } = await import('../sample/files.js');
  const clip = makeSample(SAMPLE_FORMAT, { seed: 2026, cut: SAMPLE_FRAMES / 2 });
  const side = name.startsWith('reference') ? 'reference' : 'distorted';
  const bytes = (name.endsWith('.y4m') ? y4mFile : yuvFile)(clip, side, SAMPLE_FRAMES);
  const path = join(folder, name);
  await writeFile(path, bytes, { mode: 0o600 });
  return path;
}
