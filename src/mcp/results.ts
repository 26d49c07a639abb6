/**
 * @module mcp/results
 * The answer to a call: a JSON document as text and as structured content, or one sentence about an error.
 */
import * as z from 'zod/v4';
import { AnyvmafError } from '../core/errors.js';
import { sentence, shown } from '../core/printable.js';
import { limitError } from '../core/system-limits.js';
import { argumentSentence } from './arguments.js';
import type { CallAnswer } from './context.js';
import type { ToolOutcome } from './tool.js';
import { errorInParameters } from './wording.js';

/** Characters of images in one answer; clients refuse messages of more than 10 MB. Images beyond it are left out. */
const IMAGE_BUDGET = 6 << 20;

/** A result in the protocol's shape. */
export function answer({ document, content = [] }: ToolOutcome<unknown>): CallAnswer {
  // Parse the text again so that both agree: JSON has no infinities, no NaN and no undefined.
  const text = JSON.stringify(document);
  let room = IMAGE_BUDGET;
  const fitting = content.filter((item) => {
    if (item.type !== 'image') return true;
    room -= item.data.length;
    return room >= 0;
  });
  return { content: [{ type: 'text', text }, ...fitting], structuredContent: JSON.parse(text) };
}

/** Characters of an error: one about many files names some. */
const ERROR_LENGTH = 3000;

/** An error in the protocol's shape. */
export function refusal(sentence: string): CallAnswer {
  const error = sentence.length > ERROR_LENGTH ? `${sentence.slice(0, ERROR_LENGTH)} ...` : sentence;
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
}

/** One sentence about anything thrown, without a stack. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof z.ZodError) return sentence(argumentSentence(thrown));
  const error = limitError(thrown) ?? thrown;
  if (error instanceof AnyvmafError) return errorInParameters(error).message;
  const what = error instanceof Error ? error.message : String(error);
  return `anyvmaf failed unexpectedly: ${shown(what.trim(), 500)}`;
}
