/**
 * @module scripts/mcp-tasks/transcripts
 * Recorded sessions of a client with the server: their calls, and the meaning of the answers. A replay sends the
 * calls again and compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../lib/project.mjs';
import { Agent } from './agent.mjs';

const FILE = join(ROOT, 'scripts/mcp-tasks/transcripts.json');

/**
 * Sends the calls of all sessions, each to its own server. A call without a tool is the `next_action` of the answer before.
 * @param record writes the answers instead of comparing
 * @returns the differences, in words
 */
export async function replay({ folder, cache, record }) {
  const sessions = JSON.parse(readFileSync(FILE, 'utf8'));
  const complaints = [];
  let count = 0;
  for (const { session, calls } of sessions) {
    const agent = await Agent.connect(folder, cache);
    try {
      let before;
      for (const call of calls) {
        const { tool, arguments: args } = call.tool ? call : before.structuredContent.next_action;
        before = await agent.send(tool, args);
        const answer = meaningOf(before, folder);
        if (record) call.answer = answer;
        else if (!isAlike(call.answer, answer))
          complaints.push(
            `transcript "${session}": ${tool} ${JSON.stringify(args)} is answered with ${JSON.stringify(answer)}, but was with ${JSON.stringify(call.answer)}`,
          );
      }
      count += agent.calls;
    } finally {
      await agent.close();
    }
  }
  if (record) writeFileSync(FILE, `${JSON.stringify(sessions, null, 2)}\n`);
  console.log(
    `${sessions.length} recorded sessions, ${count} calls: ${record ? 'written' : `${complaints.length} answered otherwise`}`,
  );
  return complaints;
}

/** The first sentence of an answer, without what differs each time; its keys if it has none. */
function meaningOf({ isError = false, content, structuredContent }, folder) {
  const { summary, verdict, confidence, reasons, next_action } = structuredContent ?? {};
  const keys = summary === undefined ? { keys: Object.keys(structuredContent ?? {}) } : {};
  const meaning = isError
    ? { error: JSON.parse(content[0].text).error }
    : { verdict, confidence, reasons, summary, next_action, ...keys };
  const text = JSON.stringify(meaning).replaceAll(folder, '.');
  return JSON.parse(text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'));
}

/** Numbers that are not part of a name. */
const NUMBERS = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w]|\.\d)/g;

/** Whether two answers mean the same; figures depend on the version of ffmpeg and its encoders. */
function isAlike(one, other) {
  const [a, b] = [one, other].map((answer) => JSON.stringify(answer) ?? '');
  const figures = [a, b].map((text) => (text.match(NUMBERS) ?? []).map(Number));
  return (
    a.replace(NUMBERS, '#') === b.replace(NUMBERS, '#') &&
    figures[0].every((value, i) => Math.abs(value - figures[1][i]) <= Math.max(1, 0.02 * Math.abs(value)))
  );
}
