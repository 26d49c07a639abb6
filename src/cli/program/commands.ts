/**
 * @module cli/program/commands
 * The commands by name. Each is loaded only when it runs.
 */
import type { Command, CommandName } from '../command.js';

const LOADERS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  score: async () => (await import('../commands/score.js')).score,
  batch: async () => (await import('../commands/batch.js')).batch,
  merge: async () => (await import('../commands/merge.js')).merge,
  work: async () => (await import('../commands/work.js')).work,
  queue: async () => (await import('../commands/queue.js')).queue,
  inspect: async () => (await import('../commands/inspect.js')).inspect,
  align: async () => (await import('../commands/align.js')).align,
  heatmap: async () => (await import('../commands/heatmap.js')).heatmap,
  search: async () => (await import('../commands/search.js')).search,
  ladder: async () => (await import('../commands/ladder.js')).ladder,
  'compare-encoders': async () => (await import('../commands/compare-encoders.js')).compareEncodersCommand,
  shots: async () => (await import('../commands/shots.js')).shots,
  models: async () => (await import('../commands/models.js')).models,
  features: async () => (await import('../commands/features.js')).features,
  tiny: async () => (await import('../commands/tiny.js')).tiny,
  backends: async () => (await import('../commands/backends.js')).backends,
  setup: async () => (await import('../commands/setup.js')).setup,
  doctor: async () => (await import('../commands/doctor.js')).doctor,
  bench: async () => (await import('../commands/bench.js')).bench,
  mcp: async () => (await import('../commands/mcp.js')).mcp,
  help: async () => (await import('../commands/help.js')).helpOn(loadCommand),
};

export function loadCommand(name: CommandName): Promise<Command> {
  return LOADERS[name]();
}
