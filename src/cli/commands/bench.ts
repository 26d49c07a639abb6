/**
 * @module cli/commands/bench
 * `anyvmaf bench`: times every available backend on generated videos, and compares their scores.
 */
import type { BenchBackend } from '../../bench/run.js';
import { GPU_BACKENDS, OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { asJson, command, type HelpText, openProgressBar } from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import { choiceValue, HELP_OPTION, list, optionTable, orList, texts } from '../options.js';

const NAME = 'anyvmaf bench';
const BACKENDS: readonly BenchBackend[] = ['cpu', 'native-cpu', ...GPU_BACKENDS, ...OWN_GPU_BACKENDS];

const BENCH_OPTIONS = optionTable({
  Options: {
    '--full': [
      'all 200 frames of the 3840x2160 pair; takes minutes, and 5 GB of temporary files',
      () => ({ full: true }),
    ],
    '--shape WxH': ['only this pair: 576x324, 1920x1080 or 3840x2160. May be repeated', texts('shapes')],
    '--backend NAME': [
      `only this backend beside the portable core: ${orList(BACKENDS)}. May be repeated. Default: all that work`,
      list('backends', (use) => choiceValue(use, BACKENDS)),
    ],
    '--threads N': [
      'maximum number of worker threads. Default: one per core',
      ({ label, value }) => ({ maxThreads: threadsOf(label, value) }),
    ],
    '--reports DIR': [
      'write a JSON report per pair and backend into DIR',
      ({ value }) => ({ reports: value }),
    ],
    '--json': ['the result as JSON', () => ({ json: true })],
    ...HELP_OPTION,
  },
});

const page: HelpText = {
  usage: [`${NAME} [options]`],
  about:
    'Scores three generated video pairs with every backend that works here and prints mean score, frames per second and ' +
    'the largest difference of a frame from the portable result. Exits with 2 if a backend fails, or if the core ' +
    'with SIMD differs from the core without.',
};

export const bench = command(NAME, BENCH_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const [stray] = positionals;
  if (stray !== undefined)
    throw usageError(`${NAME} takes no videos, but ${quoted(stray)} was given; to score it, type anyvmaf`);
  const { json = false, ...options } = settings;
  const { benchOutput, runBenchmark } = await import('../../bench/run.js');
  const bar = openProgressBar(terminal);
  return interruptible(async ({ signal }) => {
    const result = await runBenchmark({
      ...options,
      signal,
      ...(bar && {
        onProgress: ({ done, total, message }) =>
          bar.say(`${Math.floor((100 * done) / total)} %  ${message}`),
      }),
    }).finally(() => bar?.clear());
    const { exitCode, stdout, stderr } = benchOutput(result);
    for (const line of stderr.split('\n').filter((text) => text !== '')) terminal.complain(line);
    await terminal.print(json ? asJson(result) : stdout);
    return exitCode === 0 ? EXIT.ok : EXIT.failed;
  });
});

function threadsOf(label: string, value: string): number {
  const threads = Number(value);
  if (/^\d+$/.test(value) && threads >= 1 && threads <= 1024) return threads;
  throw usageError(`${label} is ${quoted(value)}, but it must be a whole number from 1 to 1024`);
}
