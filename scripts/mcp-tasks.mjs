/**
 * @module scripts/mcp-tasks
 * `npm run mcp:tasks`: solves twenty tasks with the built server over standard input and output, as an agent would,
 * prints their cost, and exits with 1 if one is not solved, a call takes longer than hosts wait, or a
 * figure got worse than in mcp-tasks/baseline.json. Then it replays the recorded sessions of mcp-tasks/transcripts.json,
 * including sloppy calls, and exits with 1 if the meaning of an answer changed.
 * Needs ffmpeg with libx264, libx265 and, for --long, libsvtav1; and onnxruntime-node.
 *
 *     npm run mcp:tasks [-- --only ID,ID] [--long] [--record]
 *
 * --only    some tasks; transcripts: the recorded sessions
 * --long    also the 4K task, and a recording that takes longer than the 45 s of a call
 * --record  writes the figures of this run as the baseline, and the answers to the sessions' calls
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, readOptions, table } from './lib/project.mjs';
import { Agent, LONGEST_CALL } from './mcp-tasks/agent.mjs';
import { Media } from './mcp-tasks/media.mjs';
import { TASKS } from './mcp-tasks/tasks.mjs';
import { replay } from './mcp-tasks/transcripts.mjs';

const BASELINE = join(ROOT, 'scripts/mcp-tasks/baseline.json');
/** Limits for the median task. */
const MEDIAN = { calls: 2, tokens: 1500 };
/** Seconds after which a call is answered as a job, and tokens of a job's answer. */
const CALL_LIMIT = 45;
const JOB_TOKENS = 350;

const { values } = readOptions({
  options: {
    only: { type: 'string' },
    long: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});

const home = realpathSync(mkdtempSync(join(tmpdir(), 'anyvmaf-tasks-')));
try {
  process.exitCode = await main();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function main() {
  const media = new Media(join(home, 'videos'));
  const cache = join(home, 'cache');
  media.make(values.long);
  const only = values.only?.split(',');
  const tasks = TASKS.filter(({ id, long }) => (only ? only.includes(id) : !long || values.long));
  const results = [];
  for (const task of tasks) {
    const result = await solve(task, media, cache);
    results.push(result);
    console.log(
      `${result.problem ? 'FAILED' : 'solved'} ${task.id}: ${result.problem ?? `${result.seconds} s`}`,
    );
  }
  const replays = !only || only.includes('transcripts');
  const complaints = replays
    ? await replay({ folder: media.folder, cache: join(home, 'replay'), record: values.record })
    : [];
  return report(results, complaints);
}

/** Solves a task with its own server. */
async function solve(task, media, cache) {
  const world = await task.before?.({ media, cache });
  const agent = await Agent.connect(media.folder, cache, ...(task.server ?? []));
  const rank = agent.rank(task.question, task.tool);
  const began = performance.now();
  let problem;
  let seconds = 0;
  try {
    const first = await agent.call(task.tool, task.arguments);
    const answer = task.solve
      ? await task.solve(agent, first, { media, cache, world })
      : await agent.settle(first);
    seconds = (performance.now() - began) / 1000;
    if (task.solve && answer.error !== undefined) problem = answer.error;
    problem ??= task.check(answer, { media });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  } finally {
    await agent.close().catch(() => {});
    await task.after?.(world);
  }
  const { calls, tokens, slowest } = agent;
  if (slowest > LONGEST_CALL) problem ??= `a call took ${slowest.toFixed(1)} s`;
  return {
    id: task.id,
    rank,
    calls,
    tokens,
    seconds: Number(seconds.toFixed(1)),
    slowest: Number(slowest.toFixed(1)),
    problem,
  };
}

/** Prints all, compares with the baseline. @returns the exit status */
function report(results, others) {
  const head = ['task', 'place of the tool', 'calls', 'tokens', 'seconds', 'longest call', 'result'];
  const rows = results.map(({ id, rank, calls, tokens, seconds, slowest, problem }) => [
    id,
    rank,
    calls,
    tokens,
    seconds,
    slowest,
    problem ? 'failed' : 'solved',
  ]);
  if (results.length === 0) return failed(others);
  console.log(`\n${table(head, rows)}\n`);
  const solved = results.filter(({ problem }) => problem === undefined);
  const median = (key) =>
    results.map((one) => one[key]).sort((a, b) => a - b)[Math.floor((results.length - 1) / 2)];
  const medians = ['calls', 'tokens', 'seconds'].map((key) => `${median(key)} ${key}`);
  console.log(`${solved.length} of ${results.length} solved; median ${medians.join(', ')}`);
  const complaints = [...others, ...(solved.length < results.length ? ['not all tasks are solved'] : [])];
  if (!values.only)
    for (const key of ['calls', 'tokens'])
      if (median(key) > MEDIAN[key])
        complaints.push(`the median of ${key} is ${median(key)}, but ${MEDIAN[key]} is the limit`);
  const baseline = existsSync(BASELINE) ? JSON.parse(readFileSync(BASELINE, 'utf8')) : {};
  if (values.record) record(baseline, solved);
  else for (const result of solved) complaints.push(...worse(result, baseline[result.id]));
  return failed(complaints);
}

function failed(complaints) {
  for (const complaint of complaints) console.error(complaint);
  return complaints.length > 0 ? 1 : 0;
}

function record(baseline, solved) {
  for (const { id, rank, calls, tokens, seconds } of solved) baseline[id] = { rank, calls, tokens, seconds };
  writeFileSync(BASELINE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Figures that got worse, in words. On a slow machine more calls become jobs, which are polled more often. */
function worse(result, most) {
  if (!most) return [`${result.id} has no baseline; run with --record`];
  const polls = result.seconds > CALL_LIMIT ? 1 + Math.ceil(result.seconds / CALL_LIMIT) : 0;
  return [
    ['rank', most.rank],
    ['calls', most.calls + polls],
    ['tokens', 1.1 * most.tokens + 20 + JOB_TOKENS * polls],
    // Allow for other load on the machine.
    ['seconds', 5 * most.seconds + 30],
  ].flatMap(([key, limit]) =>
    result[key] > limit ? [`${result.id}: ${key} ${result[key]}, ${most[key]} in the baseline`] : [],
  );
}
