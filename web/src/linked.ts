/**
 * @module web/linked
 * Videos by URL, from a link or typed, and a link's frame. No request goes out before the user agrees to its host.
 */

import { unlessAborted } from 'anyvmaf/core/abort';
import { baseName, sizeText } from 'anyvmaf/view';
import { button, fill, h } from './dom.js';
import { messageOf } from './engine/calls.js';
import { isActive, type Session } from './session.js';
import { labelled } from './setup/fields.js';
import { addFiles } from './setup/files.js';
import { LINK_KEYS } from './setup/link.js';
import type { Say } from './setup/slots.js';
import { html, made } from './templates.js';

const words = {
  named: (videos: number) => `This link names ${videos === 1 ? 'a video' : `${videos} videos`}. `,
  ask: (videos: number, hosts: string) =>
    `To load ${videos === 1 ? 'it' : 'them'}, this browser asks ${hosts}, which then learns your IP address and what you load. Nothing is uploaded.`,
  heading: 'Videos from URLs',
  reference: 'URL of the reference',
  encodes: 'URLs of the encodes, one per line',
  next: 'Continue',
  noReference: 'The URL of the reference is missing; enter one such as https://a.example/master.mp4.',
  noEncode: 'The URL of an encode is missing; enter 1 to 16, one per line.',
  tooMany: (count: number) => `There are ${count} URLs of encodes; at most 16 are scored at once.`,
  wrong: (where: string, value: string) =>
    `${where} is “${value}”, but must be a URL that begins with https:// or http:// and has no user name or password.`,
  line: (line: number) => `Line ${line} of the encodes`,
  load: 'Load and score',
  refuse: 'Do not load',
  cancel: 'Cancel',
  loading: (name: string, size: string, of: string) => `Loading ${name}: ${size}${of && ` of ${of}`}`,
  waits: 'The videos are loaded, and will be scored once the current run has ended.',
  blocked: (host: string, name: string) =>
    `${name} could not be loaded: ${host} cannot be reached, redirects elsewhere, or does not let other pages read its files (CORS). Download the video and choose it here.`,
  answered: (host: string, name: string, status: number) =>
    `${name} could not be loaded: ${host} answered ${status}. Check the link.`,
  large: (name: string, size: string) =>
    `${name} has ${size}; up to 2 GB are loaded from a URL. Download the video and choose it here.`,
  long: (characters: number) =>
    `This link was not followed: it has ${characters} characters, more than the 20,000 that a link may have.`,
  unknown: (keys: string) =>
    `Unknown parts of this link are ignored: ${keys}. It may be from another version of anyvmaf.`,
  beyond: (keys: string) =>
    `This link asks for ${keys}: filters of ffmpeg, which no browser runs; the page scores without them. Use the command line, with --deinterlace or --vf-dis.`,
  scheme: (key: string, value: string) =>
    `The videos of this link were not offered: ${key} is “${value}”, but must be a URL that begins with https:// or http:// and has no user name or password.`,
  alone: 'The videos of this link were not offered: it names no encode (dis).',
  many: (count: number) =>
    `The videos of this link were not offered: it names ${count} encodes, more than 16.`,
  frame: (value: string) => `The link’s frame is “${value}”, but must be a whole number; none is opened.`,
};

/** Limits: characters of a link, bytes of a video, encodes. */
const [LONGEST, LARGEST, MOST] = [20_000, 2e9, 16];

/** Options of the command line that the page lacks. */
const BEYOND = ['deinterlace', 'matrix', 'grain', 'vf-ref', 'vf-dis'];

export interface LinkedVideos {
  readonly reference: URL | undefined;
  readonly distorted: readonly URL[];
  /** Encode, from 0, and frame to open once there are results. */
  readonly cursor: { readonly encode: number; readonly frame: number } | undefined;
}

/** Parses a hash. @returns `faults`: a sentence for each */
export function videosIn(hash: string): {
  readonly videos?: LinkedVideos;
  readonly faults: readonly string[];
} {
  if (hash.length > LONGEST) return { faults: [words.long(hash.length)] };
  const pairs = new URLSearchParams(hash.replace(/^#/, ''));
  const strange = [...new Set(pairs.keys())].filter((key) => !LINK_KEYS.some((known) => known === key));
  const beyond = strange.filter((key) => BEYOND.includes(key));
  const unknown = strange.filter((key) => !BEYOND.includes(key));
  const faults = [
    ...(beyond.length > 0 ? [words.beyond(beyond.join(', '))] : []),
    ...(unknown.length > 0 ? [words.unknown(unknown.map(shortened).slice(0, 5).join(', '))] : []),
  ];
  const [ref] = pairs.getAll('ref');
  const all = pairs.getAll('dis');
  if (ref === undefined && all.length === 0) return { faults };
  if (all.length === 0) return { faults: [...faults, words.alone] };
  if (all.length > MOST) return { faults: [...faults, words.many(all.length)] };
  const addresses = [
    ...(ref === undefined ? [] : [['ref', ref] as const]),
    ...all.map((value) => ['dis', value] as const),
  ];
  const bad = addresses.find(([, value]) => !addressOf(value));
  if (bad) return { faults: [...faults, words.scheme(bad[0], shortened(bad[1]))] };
  const [frame, encode] = [pairs.get('frame'), pairs.get('encode') ?? '1'];
  const whole = [frame ?? '0', encode].every((value) => /^\d{1,9}$/.test(value));
  const cursor = frame !== null && whole ? { encode: Number(encode) - 1, frame: Number(frame) } : undefined;
  return {
    faults: whole ? faults : [...faults, words.frame(shortened(`${frame ?? ''} of ${encode}`))],
    videos: {
      reference: ref === undefined ? undefined : addressOf(ref),
      distorted: all.flatMap((value) => addressOf(value) ?? []),
      cursor,
    },
  };
}

function shortened(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}

/** Refuses passwords, which links would pass on. */
function addressOf(value: string): URL | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isAllowed = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isAllowed ? url : undefined;
}

const nameOf = ({ pathname, host }: URL): string => {
  const last = baseName(pathname);
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last;
  }
};

const addresses = new WeakMap<File, URL>();

/** The frame that was open last, and its encode: the viewer covers the button that copies a link. */
let opened: { readonly file: File | undefined; readonly frame: number } | undefined;

/** Follows the open frame. @returns makes the hash */
export function linkOf(session: Session): () => string {
  session.cursor.watch((cursor) => {
    if (!cursor) return;
    opened = { file: session.results.value[cursor.encode]?.source?.distorted, frame: cursor.frame };
  });
  return () => videosHash(session);
}

/** The chosen videos and the last open frame as a hash; empty if a video has no URL. */
function videosHash({ reference, distorted }: Session): string {
  const pairs = new URLSearchParams();
  const chosen = [...(reference.value ? [reference.value] : []), ...distorted.value];
  for (const video of chosen) {
    const url = addresses.get(video.file);
    if (!url) return '';
    pairs.append(video === reference.value ? 'ref' : 'dis', url.href);
  }
  const encode = distorted.value.findIndex(({ file }) => file === opened?.file);
  if (opened && encode >= 0) {
    pairs.set('frame', String(opened.frame));
    if (encode > 0) pairs.set('encode', String(encode + 1));
  }
  return pairs.toString();
}

export function offerVideos(box: HTMLElement, session: Session, hash: string, say: Say): void {
  const { videos, faults } = videosIn(hash);
  if (faults.length > 0) say(faults.join(' '));
  box.hidden = !videos;
  if (videos) offer(box, session, videos, true);
}

/** @param linked from the page's own link */
function offer(box: HTMLElement, session: Session, videos: LinkedVideos, linked: boolean): void {
  const { reference, distorted } = videos;
  const all = [...(reference ? [reference] : []), ...distorted];
  const hosts = [...new Set(all.map(({ host }) => host))].join(' and ');
  const close = () => {
    box.hidden = true;
  };
  const load = button({ class: 'tool strong', onclick: () => start() }, words.load);
  const refuse = button({ onclick: close }, words.refuse);
  const row = h('div', { class: 'tools' }, load, refuse);
  const status = h('p', { class: 'small', role: 'status' });
  const ask = (linked ? words.named(all.length) : '') + words.ask(all.length, hosts);
  fill(
    box,
    h('p', {}, ask),
    made(html`<ul class="small soft">${all.map(({ href }) => html`<li>${href}</li>`)}</ul>`),
    row,
    status,
  );

  async function start(): Promise<void> {
    const stop = new AbortController();
    fill(row, button({ onclick: () => stop.abort() }, words.cancel));
    try {
      const files: File[] = [];
      for (const url of all) files.push(await fileAt(url, stop.signal, (sentence) => fill(status, sentence)));
      if (isActive(session.run.value)) fill(status, words.waits);
      await unlessAborted(stop.signal, runEnded(session));
      await take(session, files, reference !== undefined);
      const { cursor } = videos;
      const encode = cursor && files[cursor.encode + (reference ? 1 : 0)];
      if (encode) openLater(session, encode, cursor.frame);
      session.runsAsked.value++;
      close();
    } catch (error) {
      fill(row, load, refuse);
      fill(status, stop.signal.aborted ? '' : messageOf(error));
    }
  }
}

export function askAddresses(box: HTMLElement, session: Session): void {
  const ref = h('input', { type: 'url', id: 'address-ref' });
  const dis = h('textarea', { id: 'address-dis', rows: 3 });
  const wrong = h('p', { class: 'wrong small', role: 'alert' });
  const leave = () => {
    box.hidden = true;
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const found = typedVideos(ref.value, dis.value, session.tiny.value.length > 0);
    if (typeof found === 'string') fill(wrong, found);
    else offer(box, session, found, false);
  };
  const form = made(
    html`<form novalidate @submit=${submit}><h2>${words.heading}</h2><div class="fields stacked">${labelled(ref.id, words.reference, ref)}${labelled(dis.id, words.encodes, dis)}</div>${wrong}<div class="tools"><button class="tool strong" type="submit">${words.next}</button><button class="tool" type="button" @click=${leave}>${words.cancel}</button></div></form>`,
  );
  fill(box, form);
  box.hidden = false;
  ref.focus();
}

/** @returns a sentence if the input is invalid */
function typedVideos(reference: string, encodes: string, alone: boolean): LinkedVideos | string {
  const ref = reference.trim();
  const lines = encodes.split('\n').map((line) => line.trim());
  const count = lines.filter((line) => line !== '').length;
  if (ref === '' && !alone) return words.noReference;
  if (ref !== '' && !addressOf(ref)) return words.wrong(words.reference, shortened(ref));
  const bad = lines.findIndex((line) => line !== '' && !addressOf(line));
  if (bad >= 0) return words.wrong(words.line(bad + 1), shortened(lines[bad] ?? ''));
  if (count === 0) return words.noEncode;
  if (count > MOST) return words.tooMany(count);
  return {
    reference: addressOf(ref),
    distorted: lines.flatMap((line) => addressOf(line) ?? []),
    cursor: undefined,
  };
}

/** Files stay as they are during a run. */
function runEnded({ run }: Session): Promise<void> {
  return new Promise((resolve) => {
    run.watch((state) => {
      if (!isActive(state)) resolve();
    });
  });
}

async function take(session: Session, files: readonly File[], hasReference: boolean): Promise<void> {
  session.reference.value = null;
  session.distorted.value = [];
  const [first, ...others] = files;
  const parts = hasReference && first ? [await addFiles(session, [first], 'reference')] : [];
  parts.push(await addFiles(session, hasReference ? others : files, 'distorted'));
  const refused = parts.flatMap((added) => added.refused);
  if (refused.length > 0) throw new Error(refused.join(' '));
}

/** Opens a frame of an encode after the next run, if the run has it. */
function openLater(session: Session, file: File, frame: number): void {
  let waits = true;
  let runs = false;
  session.watchPhase((phase) => {
    if (phase === 'running') runs = true;
    if (phase !== 'done' || !runs || !waits) return;
    waits = false;
    const encode = session.results.value.findIndex(({ source }) => source?.distorted === file);
    const last = session.results.value[encode]?.frames.at(-1)?.frameNum;
    if (last !== undefined && frame <= last) session.cursor.value = { encode, frame };
  });
}

/** @throws {Error} with a sentence for people */
async function fileAt(url: URL, signal: AbortSignal, tell: Say): Promise<File> {
  const [name, { host }] = [nameOf(url), url];
  const request = { signal, credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer' } as const;
  const fail = (cause: unknown): never => {
    throw new Error(words.blocked(host, name), { cause });
  };
  const response = await fetch(url, request).catch(fail);
  if (!response.ok || !response.body) throw new Error(words.answered(host, name, response.status));
  const length = Number(response.headers.get('content-length'));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(fail);
    if (done) break;
    parts.push(value);
    bytes += value.length;
    if (Math.max(bytes, length) > LARGEST) {
      await reader.cancel();
      throw new Error(words.large(name, sizeText(Math.max(bytes, length)) ?? ''));
    }
    tell(words.loading(name, sizeText(bytes) ?? '', length > 0 ? (sizeText(length) ?? '') : ''));
  }
  // Fetched again, an unchanged video is the same file.
  const lastModified = Date.parse(response.headers.get('last-modified') ?? '') || 0;
  const file = new File(parts, name, { lastModified });
  addresses.set(file, url);
  return file;
}
