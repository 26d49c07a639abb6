/**
 * @module cli/commands/delivery
 * Opens the files of a result, and delivers it: to files, to the gate, and as a summary for people.
 */
import { EXIT, errorLine, type Interruption } from '../exit.js';
import { openOutput } from '../output.js';
import { isGated } from '../output-options.js';
import type { DeliverySettings, LiveLines, Outcome } from '../printed.js';
import type { Terminal } from '../terminal.js';

/** Opens all output files, those of the gate too, before scoring starts; none for `-`, standard output. */
export async function openOutputs(
  settings: DeliverySettings,
  videos: readonly string[],
  hosts?: readonly string[],
) {
  const { output, html, distorted, baseline } = settings;
  const inputs = baseline === undefined ? videos : [...videos, baseline];
  const open = async (path: string | undefined) =>
    path === undefined || path === '-' ? undefined : openOutput(path, inputs, hosts);
  const gate = isGated(settings)
    ? await (await import('../gate.js')).openGate(settings, distorted, inputs)
    : undefined;
  return { gate, file: await open(output), page: await open(html) };
}

interface Delivery {
  readonly terminal: Terminal;
  readonly stop: Interruption;
  readonly makePage: () => Promise<Iterable<string>>;
  /** Set if it has printed the report. */
  readonly live?: LiveLines | undefined;
}

/** Writes the files, judges, and prints. @returns the exit code of the gate */
export async function deliver(
  outcome: Outcome,
  settings: DeliverySettings,
  { file, page, gate }: Awaited<ReturnType<typeof openOutputs>>,
  { terminal, stop, makePage, live }: Delivery,
): Promise<number> {
  const { printResult, reportText } = await import('../printed.js');
  const failures: unknown[] = [];
  // What cannot be written or judged must not cost the result, which is printed.
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      stop.signal.throwIfAborted();
      failures.push(error);
      return undefined;
    }
  };
  const { output, html, ...others } = settings;
  const written = await attempt(async () => {
    await file?.write(reportText(outcome, settings), stop.signal);
    return output;
  });
  let text: Iterable<string> = [];
  const paged = await attempt(async () => {
    if (html !== undefined) text = await makePage();
    await page?.write(text, stop.signal);
    return html;
  });
  const verdict = await attempt(async () => gate?.judge(outcome, stop.signal));
  // Nothing is left to clean up, and Ctrl-C must work while a slow reader takes the output.
  stop.release();
  await live?.written();
  const files = {
    ...(written !== undefined && { output: written }),
    ...(paged !== undefined && { html: paged }),
  };
  await printResult(outcome, { ...others, ...files }, terminal, live !== undefined);
  if (!page) for (const piece of text) await terminal.print(piece);
  for (const line of verdict?.complaints ?? []) terminal.complain(line);
  const [failure, ...further] = failures;
  for (const line of further.map(errorLine)) if (line !== undefined) terminal.complain(line);
  if (failures.length > 0) throw failure;
  return verdict?.code ?? EXIT.ok;
}
