/**
 * @module mcp/results
 * The answer to a call: a JSON document as text and as structured content, or one sentence about an error. The thread of the live
 * server loads it too, so it needs no library.
 */
import type { CallAnswer } from './context.js';
import type { ToolOutcome } from './tool.js';

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
