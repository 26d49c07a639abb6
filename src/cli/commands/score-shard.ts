/**
 * @module cli/commands/score-shard
 * `anyvmaf --shard I/N REFERENCE DISTORTED`: measures one part of a pair and writes its record.
 */
import { withoutAccess } from '../../core/printable.js';
import type { ShardChoice } from '../../index.js';
import { EXIT } from '../exit.js';
import { openOutput } from '../output.js';
import type { ScoreSettings } from '../score-options.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';

/** Measures a part; its record goes to the output file, or to standard output. */
export async function measurePart(
  settings: ScoreSettings & { readonly shard: ShardChoice },
  terminal: Terminal,
): Promise<number> {
  const { reference, distorted, raw, options, output, quiet, shard, ignored, hosts } = settings;
  const inputs = [...(reference === undefined ? [] : [reference]), ...distorted];
  const file = output === undefined || output === '-' ? undefined : await openOutput(output, inputs, hosts);
  return interruptible(async (stop) => {
    const [api, { progressBar }] = await Promise.all([
      import('../../index.js'),
      import('../progress-bar.js'),
    ]);
    const bar = terminal.canDraw && !quiet ? progressBar(terminal) : undefined;
    bar?.say(withoutAccess(`reading ${inputs.join(', ')}`));
    const request = {
      ...(reference !== undefined && { reference }),
      distorted: distorted[0],
      ...(raw && { raw }),
    };
    const run = { ...options, signal: stop.signal, ...(bar && { onProgress: bar.show }) };
    const measured = await api.scoreShard(request, shard, run).finally(() => bar?.clear());
    for (const warning of ignored) terminal.complain(warning);
    const text = await api.formatShard(measured);
    if (file) await file.write([text], stop.signal);
    stop.release();
    if (!file) await terminal.print(text);
    const { first, end } = measured.pairs;
    if (file && !quiet && terminal.interactive) {
      await terminal.print(
        end > first
          ? `Pairs ${first} to ${end - 1} are in ${withoutAccess(output ?? '')}; merge it with the others: anyvmaf merge\n`
          : `${withoutAccess(output ?? '')} is a part without pairs; merge it with the others: anyvmaf merge\n`,
      );
    }
    return EXIT.ok;
  });
}
