/**
 * @module cli/batch/summaries
 * What a batch writes at its end about all jobs: a page, JUnit XML, Markdown.
 */

import { commandLine } from '../options.js';
import { openOutput } from '../output.js';
import type { BatchSettings } from './batch-options.js';

/** Writes them. @param lines of results, in the order of the table */
export type WriteSummaries = (lines: readonly string[], signal: AbortSignal) => Promise<void>;

/**
 * Opens them, before anything is scored.
 * @param args of the batch, which the page repeats
 * @throws {AnyvmafError} `io`, `usage`
 */
export async function openSummaries(
  { html, junit, summary, githubSummary, sources }: BatchSettings,
  inputs: readonly string[],
  args: readonly string[],
): Promise<WriteSummaries> {
  const open = async (path: string | undefined) =>
    path === undefined ? undefined : openOutput(path, inputs);
  const [page, cases, markdown] = [await open(html), await open(junit), await open(summary)];
  const gate = githubSummary ? await import('../gate.js') : undefined;
  const github = await gate?.stepSummaryFile();
  return async (lines, signal) => {
    if (page) {
      const { writeBatchPage } = await import('../../report/html/batch-page.js');
      await page.write(writeBatchPage(lines, commandLine('anyvmaf', ['batch', ...args])), signal);
    }
    if (cases) {
      const { writeBatchJunit } = await import('../../report/junit.js');
      await cases.write(writeBatchJunit(sources.join(' '), lines), signal);
    }
    if (!markdown && !gate) return;
    const { writeBatchSummary } = await import('../../report/step-summary.js');
    const pieces = [...writeBatchSummary(lines)];
    await markdown?.write(pieces, signal);
    if (github !== undefined) await gate?.appendSummary(github, pieces.join(''));
  };
}
