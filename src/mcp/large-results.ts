/**
 * @module mcp/large-results
 * Results that are more than a model should read: the whole as a resource, and in the answer its outline with the longest
 * lists and texts cut.
 */
import { isObject } from '../core/arguments.js';
import type { ToolResources } from './context.js';
import type { ToolOutcome } from './tool.js';

/** Tokens of the text of an answer, at most. */
export const MOST_TOKENS = 20_000;

/** Characters that a cut text keeps at least. */
const LEAST_TEXT = 400;

/** Places that an answer names of those that were cut. */
const NAMED = 20;

/** A list or text that was cut. */
interface Cut {
  readonly where: string;
  readonly of: number;
  kept: number;
}

/**
 * The outcome as it is, or, if its text is too long, an outline with `full_result` and `left_out`, and a link to the whole.
 */
export async function fitting(
  tool: string,
  outcome: ToolOutcome<unknown>,
  resources: ToolResources,
): Promise<ToolOutcome<unknown>> {
  const text = JSON.stringify(outcome.document);
  // No token is longer than its characters.
  if (text.length <= MOST_TOKENS || tokensOf(text) <= MOST_TOKENS || !isObject(outcome.document))
    return outcome;
  const { uri, path, link } = await resources.publish({
    name: `${tool}.json`,
    mimeType: 'application/json',
    description: 'The whole result, which is too long for an answer.',
    data: text,
  });
  const cuts = new Map<string, Cut>();
  const document = JSON.parse(text) as Record<string, unknown>;
  const outline = () => ({
    ...document,
    full_result: { uri, path },
    left_out: [...cuts.values()]
      .slice(0, NAMED)
      .map(({ where, kept, of }) => `${where}: the first ${kept} of ${of} are here`),
  });
  while (tokensOf(JSON.stringify(outline())) > MOST_TOKENS && cutLargest(document, cuts));
  return { document: outline(), content: [...(outcome.content ?? []), link] };
}

/** A list or text that can lose its end. */
interface Candidate extends Cut {
  /** Characters of its JSON. */
  readonly size: number;
  halve(): void;
}

/** Halves the list or text that takes most. Returns false if nothing is left to cut. */
function cutLargest(document: Record<string, unknown>, cuts: Map<string, Cut>): boolean {
  const found: Candidate[] = [];
  measure(document, '', found);
  const [first] = found;
  if (!first) return false;
  const largest = found.reduce((most, one) => (one.size > most.size ? one : most), first);
  largest.halve();
  const { where, of, kept } = largest;
  const known = cuts.get(where);
  if (known) known.kept = kept;
  else cuts.set(where, { where, of, kept });
  return true;
}

/** Finds what can be cut. Returns the size of the value as JSON, about. */
function measure(value: unknown, where: string, found: Candidate[]): number {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null).length;
  let [total, most] = [2, 0];
  for (const [key, member] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${where}[${key}]` : where === '' ? key : `${where}.${key}`;
    const size = measure(member, path, found) + (Array.isArray(value) ? 1 : key.length + 4);
    if (typeof member === 'string' && member.length > LEAST_TEXT) {
      const cut = {
        where: path,
        of: member.length,
        kept: Math.max(LEAST_TEXT, member.length >> 1),
        size,
        halve: () => Object.assign(value, { [key]: member.slice(0, cut.kept) }),
      };
      found.push(cut);
    }
    total += size;
    most = Math.max(most, size);
  }
  // A list that one of its items fills keeps it, and that item is cut, if it can be.
  if (Array.isArray(value) && value.length > 0 && (most <= total / 2 || found.length === 0)) {
    const cut = {
      where,
      of: value.length,
      kept: value.length >> 1,
      size: total,
      halve: () => {
        value.length = cut.kept;
      },
    };
    found.push(cut);
  }
  return total;
}

/** Pieces of a text that {@link tokensOf} counts. */
const PARTS = /[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]+|\s{2,}/g;

/**
 * About how many tokens a model reads a text as. Tokenizers differ and are large; this counts a token for every 8 letters
 * of a word, 3 digits of a number and 3 signs in a row. On JSON it is within a tenth of the o200k tokenizer.
 */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(PARTS)) {
    const code = part.charCodeAt(0);
    const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
    // What is not ASCII is a token a character or more.
    tokens += isLetter ? Math.ceil(part.length / 8) : code < 128 ? Math.ceil(part.length / 3) : part.length;
  }
  return tokens;
}
