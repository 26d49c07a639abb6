/**
 * @module engine/backends/tiny-sessions
 * Joins the sessions of picture models that ran in several threads or shards. Loads no model and no runtime.
 */
import { addTallies } from '../../tiny/content.js';
import type { TinySessionFacts } from './tiny.js';

/** The sessions of the first list that has some, with the tallies of all. @param lists of the same models */
export function joinSessions(lists: readonly (readonly TinySessionFacts[])[]): readonly TinySessionFacts[] {
  const [first = [], ...others] = lists.filter((sessions) => sessions.length > 0);
  return first.map((facts, i) => {
    if (!facts.content) return facts;
    const tallies = others.flatMap((sessions) => sessions[i]?.content ?? []);
    return { ...facts, content: tallies.reduce(addTallies, facts.content) };
  });
}
