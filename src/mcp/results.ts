/**
 * @module mcp/results
 * What a call sends to its client: strictly increasing progress, and an answer that a model can read; a longer one is
 * published and cut. Imports no library: the live server's thread loads it too.
 */
import { isObject } from '../core/arguments.js';
import { counted } from '../core/printable.js';
import type { CallAnswer, Spare, ToolOutcome, ToolProgress, ToolResources } from './tool.js';

/** Most characters of images in an answer: clients refuse messages above 10 MB. Others are dropped. */
const IMAGE_BUDGET = 6 << 20;

export function answer({ document, content = [] }: ToolOutcome<unknown>): CallAnswer {
  // Parse it again, so that both forms agree: JSON has no infinities, NaN or undefined.
  const text = JSON.stringify(document);
  let room = IMAGE_BUDGET;
  const fitting = content.filter((item) => {
    if (item.type !== 'image') return true;
    room -= item.data.length;
    return room >= 0;
  });
  return { content: [{ type: 'text', text }, ...fitting], structuredContent: JSON.parse(text) };
}

/** Most characters of an error, which may name many files. */
const ERROR_LENGTH = 3000;

export function refusal(sentence: string): CallAnswer {
  const error = sentence.length > ERROR_LENGTH ? `${sentence.slice(0, ERROR_LENGTH)} ...` : sentence;
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
}

/** Most characters of an answer unless the call asks for more; about 4 make a token. */
export const USUAL_CHARACTERS = 4000;

/** Most tokens of a long answer's text. */
export const MOST_TOKENS = 20_000;

/** Least characters of a cut text. */
const LEAST_TEXT = 400;
/** Most cuts to name. */
const NAMED = 20;
/** The member with the next call, which clients send unchanged: it is whole or absent. */
const CALL = 'next_action';
/** Most characters of it in an answer that is too long. */
const LONGEST_CALL = USUAL_CHARACTERS / 2;

interface Cut {
  readonly where: string;
  readonly of: number;
  readonly kept: number;
}

/**
 * Drops spare members, then cuts the longest lists and texts. `left_out` names what is missing; `full_result`
 * and a link lead to the whole, unless the document already does.
 */
export async function fitting(
  tool: string,
  outcome: ToolOutcome<unknown>,
  resources: ToolResources,
): Promise<ToolOutcome<unknown>> {
  const { spare = [], whole, long = false, content = [] } = outcome;
  const fits = long
    ? // Cheap first check: a token has at least one character.
      (text: string) => text.length <= MOST_TOKENS || tokensOf(text) <= MOST_TOKENS
    : (text: string) => text.length <= USUAL_CHARACTERS;
  const text = JSON.stringify(outcome.document);
  if (fits(text) || !isObject(outcome.document)) return outcome;
  const published =
    whole === undefined
      ? await resources.publish({
          name: `${tool}.json`,
          mimeType: 'application/json',
          description: 'The whole result, which is too long for an answer.',
          data: text,
        })
      : undefined;
  const cuts = new Map<string, Cut>();
  const dropped: string[] = [];
  const document = JSON.parse(text) as Record<string, unknown>;
  const outline = () => ({
    ...document,
    ...(published && { full_result: { uri: published.uri, path: published.path } }),
    left_out: [...goneText(dropped), ...[...cuts.values()].slice(0, NAMED).map(cutText)],
  });
  const isLong = () => !fits(JSON.stringify(outline()));
  for (const member of spare) if (isLong() && spared(document, member)) dropped.push(spareText(member));
  const call = JSON.stringify(document[CALL] ?? null);
  if (isLong() && call.length > LONGEST_CALL && remove(document, [CALL])) dropped.push(CALL);
  while (isLong() && cutLargest(document, cuts));
  return { document: outline(), content: published ? [...content, published.link] : content };
}

const cutText = ({ where, kept, of }: Cut) => `${where}: the first ${kept} of ${of} are here`;

const MOST_MEMBERS = 6;

/** Members of the same rows share a line: `rows: trust, min`. */
function goneText(gone: readonly string[]): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const path of gone) {
    const [, rows = '', member = path] = /^(.+?)\.\[\]\.(.+)$/.exec(path) ?? [];
    lines.set(rows, [...(lines.get(rows) ?? []), member]);
  }
  return [...lines].map(([rows, members]) => {
    const more = members.length > MOST_MEMBERS ? ` and ${members.length - MOST_MEMBERS} more` : '';
    return `${rows === '' ? '' : `${rows}: `}${members.slice(0, MOST_MEMBERS).join(', ')}${more}`;
  });
}

function spared(document: Record<string, unknown>, spare: Spare): boolean {
  if (typeof spare === 'string') return remove(document, spare.split('.'));
  return spare.names.map((name) => remove(document, [spare.of, name])).includes(true);
}

function spareText(spare: Spare): string {
  if (typeof spare === 'string') return spare;
  const [first = ''] = spare.names;
  return `${spare.of}: ${first}${spare.names.length > 1 ? ` and ${spare.names.length - 1} more` : ''}`;
}

/**
 * @param steps member names or indices; `[]` stands for all items of a list, `*` for all members
 * @returns true if something was removed
 */
function remove(value: unknown, [step = '', ...rest]: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (step === '[]' || step === '*')
    return Object.values(value)
      .map((member) => remove(member, rest))
      .includes(true);
  if (Array.isArray(value)) return /^\d+$/.test(step) && value.splice(Number(step), 1).length > 0;
  if (!Object.hasOwn(value, step)) return false;
  return rest.length > 0 ? remove(Object(value)[step], rest) : Reflect.deleteProperty(value, step);
}

/** A list or text that can be cut. */
interface Candidate extends Cut {
  /** Characters of its JSON. */
  readonly size: number;
  shorten(): void;
}

/** Cuts the largest list or text. @returns false if nothing is left to cut */
function cutLargest(document: Record<string, unknown>, cuts: Map<string, Cut>): boolean {
  const found: Candidate[] = [];
  measure(document, '', found);
  const [largest] = found.sort((a, b) => b.size - a.size);
  if (!largest) return false;
  largest.shorten();
  const { where, of, kept } = largest;
  cuts.set(where, { where, of: cuts.get(where)?.of ?? of, kept });
  return true;
}

/** Collects what can be cut. @returns approximate size of the value as JSON */
function measure(value: unknown, where: string, found: Candidate[]): number {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null).length;
  let [total, most] = [2, 0];
  for (const [key, member] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${where}[${key}]` : where === '' ? key : `${where}.${key}`;
    const size =
      measure(member, path, key === CALL ? [] : found) + (Array.isArray(value) ? 1 : key.length + 4);
    if (typeof member === 'string' && member.length > LEAST_TEXT) {
      const kept = Math.max(LEAST_TEXT, member.length >> 1);
      const shorten = () => Object.assign(value, { [key]: member.slice(0, kept) });
      found.push({ where: path, of: member.length, kept, size, shorten });
    }
    total += size;
    most = Math.max(most, size);
  }
  // If one item dominates a list, cut the item instead.
  if (Array.isArray(value) && value.length > 0 && (most <= total / 2 || found.length === 0)) {
    const kept = value.length - Math.max(1, value.length >> 3);
    const shorten = () => {
      value.length = kept;
    };
    found.push({ where, of: value.length, kept, size: total, shorten });
  }
  return total;
}

const PARTS = /[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]+|\s{2,}/g;

/**
 * Counts a token for every 8 letters of a word, 3 digits of a number, or 3 signs in a row. On JSON, within a tenth of
 * the o200k tokenizer.
 */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(PARTS)) {
    const code = part.charCodeAt(0);
    const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
    // Other than ASCII: at least one token a character.
    tokens += isLetter ? Math.ceil(part.length / 8) : code < 128 ? Math.ceil(part.length / 3) : part.length;
  }
  return tokens;
}

export interface ProgressNotice {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Milliseconds between notifications while the total is unknown, and after which any progress gets one otherwise. */
const PACE = 500;
const LONGEST_PACE = 2000;

export class CallProgress {
  readonly #send: (notice: ProgressNotice) => void;
  readonly #now: () => number;
  #sent = -1;
  #percent = -1;
  #at = Number.NEGATIVE_INFINITY;
  #message: string | undefined;
  #waits = 0;
  #done = -1;
  /** Set if progress is a fraction of 1: the name of the call. */
  readonly #whole: string | undefined;

  /**
   * @param whole name of a call whose progress is a fraction of 1; notifies about its start and its end
   * @param now monotonic milliseconds
   */
  constructor(send: (notice: ProgressNotice) => void, whole?: string, now = () => performance.now()) {
    this.#send = send;
    this.#now = now;
    this.#whole = whole;
    if (whole !== undefined) this.#tell(0, 1, `starting ${whole}`);
  }

  end(): void {
    if (this.#whole !== undefined) this.#tell(1, 1, `${this.#whole} done`);
  }

  /** Notifies if the percentage or the message has changed, or the pace has passed. */
  report({ done, total, fps, message, isSteps = false }: ToolProgress): void {
    if (!Number.isFinite(done) || done <= Math.max(this.#done, this.#whole === undefined ? this.#sent : -1))
      return;
    const known = total !== null && Number.isFinite(total) && total > 0 ? Math.max(total, done) : undefined;
    const percent = known === undefined ? undefined : Math.floor((100 * done) / known);
    const now = this.#now();
    const due =
      now - this.#at >= (percent === undefined ? PACE : LONGEST_PACE) || (percent ?? -1) > this.#percent;
    if (!due && message === this.#message) return;
    this.#done = done;
    this.#percent = percent ?? this.#percent;
    this.#at = now;
    this.#message = message;
    // Steps before scoring have a message, but no frame count.
    const hasFrames = known !== undefined && !isSteps;
    const frames = hasFrames ? `${done}/${known} frames` : (message ?? `${done} frames`);
    const named = message === undefined || !hasFrames ? frames : `${message}, ${frames}`;
    const speed = fps !== undefined && Number.isFinite(fps) && fps > 0 ? `, ${fps.toFixed(1)} fps` : '';
    const text = `${percent === undefined ? '' : `${percent} %: `}${named}${speed}`;
    if (this.#whole === undefined) this.#tell(done, known, text);
    else this.#tell(this.#part(done, known), 1, text);
  }

  /** Reports that the call waits, with values below 1, which is the first frame. */
  wait(label: string, ahead: number, running: number): void {
    const waited = this.#waits / (this.#waits + 1);
    const progress = this.#whole === undefined ? waited : this.#part(0);
    if (progress <= this.#sent) return;
    this.#waits++;
    const before = ahead === 0 ? 'next in line' : `${counted(ahead, 'call')} ahead`;
    const text = `${label} is queued: ${running} running, ${before}`;
    this.#tell(progress, this.#whole === undefined ? undefined : 1, text);
  }

  /** A fraction above the last one and below 1; grows ever more slowly if the total is unknown. */
  #part(done: number, total = done + 20): number {
    const part = (0.99 * done) / Math.max(1, total);
    return Math.max(part, this.#sent + (1 - this.#sent) / 1000);
  }

  #tell(progress: number, total: number | undefined, message: string): void {
    this.#sent = progress;
    this.#send({ progress, ...(total !== undefined && { total }), message });
  }
}
