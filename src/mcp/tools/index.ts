/**
 * @module mcp/tools/index
 * The tools of the server, in the order in which clients list them.
 */
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { Tool } from '../tool.js';
import {
  listBackendsTool,
  listExtractorsTool,
  probeBackendTool,
  runBenchmarkTool,
  vmafVersion,
} from './backends.js';
import { compareEncodesTool } from './compare-encodes.js';
import { runCompareTool, runLadderTool } from './curves.js';
import { describeWorstFramesTool } from './describe-worst-frames.js';
import { explainScoreTool } from './explain-score.js';
import { findQualityTool } from './find-quality.js';
import { findAlignmentTool, inspectPairTool } from './inspect-pair.js';
import { JOB_TOOL_LIST } from './jobs.js';
import { listLiveTool, listVideosTool } from './lists.js';
import { compareModels, describeModelTool, evalModelOnSplit, listModelsTool } from './models.js';
import { runTunePerShotTool } from './run-tune-per-shot.js';
import { scoreBatchTool } from './score-batch.js';
import { vmafScore, vmafScoreEncoded } from './vmaf-score.js';

/** Clients see and cache this order: add to it, do not sort it. */
export const TOOLS: readonly Tool[] = [
  // Of the reference MCP server, in its order.
  vmafScore,
  listModelsTool,
  listBackendsTool,
  runBenchmarkTool,
  evalModelOnSplit,
  compareModels,
  describeWorstFramesTool,
  probeBackendTool,
  vmafVersion,
  vmafScoreEncoded,
  listExtractorsTool,
  describeModelTool,
  // Our own.
  compareEncodesTool,
  inspectPairTool,
  findAlignmentTool,
  explainScoreTool,
  findQualityTool,
  runCompareTool,
  runLadderTool,
  runTunePerShotTool,
  listVideosTool,
  scoreBatchTool,
  ...JOB_TOOL_LIST,
  listLiveTool,
];

/** Sets of tools for --tools; each also gets the tools for jobs. */
const TOOLSETS: Readonly<Record<string, readonly Tool[]>> = {
  score: [
    vmafScoreEncoded,
    inspectPairTool,
    listVideosTool,
    listModelsTool,
    listExtractorsTool,
    scoreBatchTool,
  ],
  raw: [vmafScore, listModelsTool, listExtractorsTool, listBackendsTool, probeBackendTool, vmafVersion],
  explain: [
    compareEncodesTool,
    inspectPairTool,
    findAlignmentTool,
    explainScoreTool,
    describeWorstFramesTool,
    listVideosTool,
  ],
  encode: [
    findQualityTool,
    runCompareTool,
    runLadderTool,
    runTunePerShotTool,
    compareEncodesTool,
    listVideosTool,
  ],
  models: [listModelsTool, describeModelTool, evalModelOnSplit, compareModels],
  live: [listLiveTool],
  machine: [listBackendsTool, probeBackendTool, runBenchmarkTool, vmafVersion],
};

/** In the order of {@link TOOLS}. @throws {AnyvmafError} `usage` for an unknown set */
export function toolsOf(text: string): readonly Tool[] {
  const sets = text.split(',').map((part) => {
    const name = part.trim();
    if (Object.hasOwn(TOOLSETS, name)) return TOOLSETS[name] ?? [];
    throw usageError(
      `--tools is ${quoted(text)}, but ${quoted(name)} is not a set of tools; available: ${Object.keys(TOOLSETS).join(', ')}.`,
    );
  });
  const chosen = new Set([...sets.flat(), ...JOB_TOOL_LIST]);
  return TOOLS.filter((tool) => chosen.has(tool));
}
