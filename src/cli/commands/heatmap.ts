/**
 * @module cli/commands/heatmap
 * `anyvmaf heatmap REFERENCE DISTORTED`: draws loss heatmaps of single frames.
 */
import { rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { MAP_KINDS } from '../../core/choices.js';
import { ioError, usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { makeFolders, writeReason } from '../../files/folders.js';
import type { QualityMaps } from '../../index.js';
import { command, type HelpText, openProgressBar } from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import {
  choiceValue,
  fileName,
  HELP_OPTION,
  type Option,
  type OptionUse,
  optionTable,
  orList,
  refusedValue,
  type SettingsOf,
  unsigned,
  unsignedValue,
} from '../options.js';
import { type OutputFile, openOutput, type PreparedFile } from '../output.js';
import { checkPairingOptions, LOOK_OPTIONS, type TableSettings } from '../table-options.js';
import type { Terminal } from '../terminal.js';
import { pairOf, VIDEO_OPTIONS, type VideoSettings } from '../video-options.js';

const NAME = 'anyvmaf heatmap';
const BLOCKS = [4, 8, 16, 32, 64, 128, 256];
/** Most frames of one run: all pictures stay in memory until the last is done. */
const MOST_FRAMES = 100;

const MAP_OPTIONS = optionTable({
  Map: {
    '--frame N': [
      'frames to draw, such as 12 or 12,250; the first is 0',
      (use: OptionUse, { frames = [] }: { readonly frames?: readonly number[] }) => ({
        frames: [...frames, ...frameNumbers(use)],
      }),
    ],
    '--worst N': [
      'score the videos and draw the N worst moments, 1 to 100 (default without --frame: 1)',
      (use) => ({ worst: worstValue(use) }),
    ],
    '-o, --output PATH': [
      'a .png file for one frame, or a folder for heatmap_NNNNNN.png of each (default: this folder)',
      (use) => ({ output: fileName(use) }),
    ],
    '--scale-of WHAT': [
      'losses to draw: vif, adm, both as VMAF weighs them (default), or the differences of butteraugli',
      (use) => ({ of: choiceValue(use, MAP_KINDS) }),
    ],
    '--block N': [
      'cell size in pixels: 4, 8, 16 (default) ... 256',
      (use) => ({ blockSize: blockValue(use) }),
    ],
    '--neg': ['ignore enhancement gain, as the NEG models do', () => ({ neg: true })],
    ...HELP_OPTION,
  },
});

/** Options before their combination is checked. */
type AskedSettings = VideoSettings & TableSettings & SettingsOf<typeof MAP_OPTIONS>;

export const HEATMAP_OPTIONS: readonly Option<AskedSettings>[] = [
  ...VIDEO_OPTIONS,
  ...LOOK_OPTIONS,
  ...MAP_OPTIONS,
];

const page: HelpText = {
  usage: [`${NAME} [options] REFERENCE DISTORTED`],
  about:
    'Draws loss heatmaps of single frames: how much each place lowers VIF and ADM, the features of VMAF, or how ' +
    'visible Butteraugli finds the difference of each pixel. Colours lie over a darkened picture, with a ' +
    'legend; where nothing is lost there is no colour.',
  sections: {
    Examples: [
      [`${NAME} ref.mp4 dis.mp4`, 'the worst moment'],
      [`${NAME} ref.mp4 dis.mp4 --worst 5 -o maps`, 'five, into a folder'],
      [`${NAME} ref.mp4 dis.mp4 --frame 120 -o lost.png`, 'one frame, into a file'],
    ],
  },
};

export const heatmap = command(NAME, HEATMAP_OPTIONS, page, async ({ settings, positionals, terminal }) =>
  draw(heatmapSettings(settings, positionals), terminal),
);

/** @throws {AnyvmafError} `usage` for conflicting options */
export function heatmapSettings(settings: Partial<AskedSettings>, positionals: readonly string[]) {
  const { frames, worst, output = '.', of = 'both', blockSize, neg = false } = settings;
  if (frames && worst !== undefined)
    throw usageError('--frame names the frames to draw and --worst finds them; leave one of them out');
  if (of === 'butteraugli' && (neg || blockSize !== undefined))
    throw usageError(
      '--scale-of butteraugli has a value for each pixel and no gain limit; leave out --block and --neg',
    );
  if (output === '-')
    throw usageError('-o/--output needs the name of a .png file or a folder, not - for a standard stream');
  checkPairingOptions(settings.options ?? {});
  const request = pairOf(settings, positionals, NAME);
  const chosen = frames ? [...new Set(frames)].sort((a, b) => a - b) : (worst ?? 1);
  const count = typeof chosen === 'number' ? chosen : chosen.length;
  if (count > MOST_FRAMES)
    throw usageError(`${count} frames are requested, but at most ${MOST_FRAMES} are drawn at a time`);
  if (isFile(output) && count > 1)
    throw usageError(
      `${count} frames do not fit into the one file "${shown(output)}"; name a folder with -o/--output`,
    );
  return {
    request,
    options: {
      ...settings.options,
      ...(blockSize !== undefined && { blockSize }),
      ...(neg && { enhnGainLimit: 1 }),
      ...(of === 'butteraugli' && { butteraugli: true }),
    },
    /** Frame numbers, or how many of the worst. */
    frames: chosen,
    output,
    of,
    neg,
  };
}

type HeatmapSettings = ReturnType<typeof heatmapSettings>;

async function draw(settings: HeatmapSettings, terminal: Terminal): Promise<number> {
  const { request, output, of } = settings;
  const inputs = [request.reference, request.distorted];
  const single = isFile(output) ? await openOutput(output, inputs) : undefined;
  if (!single) await requireFolder(output);
  return interruptible(async (stop) => {
    const { frames, options, scores } = await choose(settings, terminal, stop.signal);
    const { qualityMaps } = await import('../../index.js');
    const drawn: { readonly index: number; readonly png: Uint8Array; readonly line: string }[] = [];
    for await (const maps of qualityMaps(request, frames, { ...options, signal: stop.signal })) {
      const { index } = maps;
      drawn.push({
        index,
        png: await maps.render({ of }).png(),
        line: maps.butteraugli
          ? butteraugliText(maps.butteraugli)
          : featureText(maps.features, scores.get(index)),
      });
    }
    const paths = drawn.map(({ index }) =>
      single ? output : join(output, `heatmap_${String(index).padStart(6, '0')}.png`),
    );
    const pngs = drawn.map(({ png }) => png);
    await writePictures(pngs, paths, inputs, single, stop.signal);
    for (const [i, { index, line }] of drawn.entries())
      await terminal.print(`frame ${index}: ${line}: ${paths[i]}\n`);
    return EXIT.ok;
  });
}

/**
 * Writes all files or none: they are renamed into place together.
 * @param inputs files that must not be overwritten
 * @param single the one output file, already checked; without it, pictures go into a folder, created if needed
 */
async function writePictures(
  pictures: readonly Uint8Array[],
  paths: readonly string[],
  inputs: readonly string[],
  single: OutputFile | undefined,
  signal: AbortSignal,
): Promise<void> {
  const folders: string[] = [];
  const files: PreparedFile[] = [];
  try {
    if (!single && paths[0] !== undefined) await makeFolder(dirname(paths[0]), folders);
    for (const [i, png] of pictures.entries()) {
      const file = single ?? (await openOutput(paths[i] ?? '', inputs));
      files.push(await file.prepare([png], signal));
    }
    signal.throwIfAborted();
  } catch (error) {
    for (const file of files) await file.discard();
    // Remove only folders that are empty again.
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {});
    throw error;
  }
  for (const file of files) file.keep();
}

async function makeFolder(path: string, made: string[]): Promise<void> {
  try {
    await makeFolders(resolve(path), made);
  } catch (cause) {
    throw ioError(`cannot write into "${path}": ${writeReason(cause)}; name another folder`, { cause });
  }
}

/** Scores the pair to find the worst frames, unless frames are named. */
async function choose(
  { request, options, frames, neg }: HeatmapSettings,
  terminal: Terminal,
  signal: AbortSignal,
) {
  if (typeof frames !== 'number') return { frames, options, scores: new Map<number, number>() };
  const [{ score }, { ranking, worstFrames }] = await Promise.all([
    import('../../index.js'),
    import('../../report/ranking.js'),
  ]);
  const { blockSize, enhnGainLimit, butteraugli, ...pairing } = options;
  const bar = openProgressBar(terminal);
  bar?.say(`scoring ${request.distorted}`);
  try {
    const report = await score(request, {
      ...pairing,
      ...(neg && { models: ['version=vmaf_v0.6.1neg'] }),
      ...(butteraugli === true && { models: [], features: ['butteraugli'] }),
      signal,
      ...(bar && { onProgress: bar.show }),
    });
    const by = ranking(report);
    const worst = by ? worstFrames(report, by, frames) : [];
    // Keep the offset found: another search could differ.
    const offset = options.offset === 'auto' ? report.pairing?.frames.offset : undefined;
    return {
      frames: worst.map(({ frameNum }) => frameNum),
      options: { ...options, ...(offset !== undefined && { offset }) },
      scores: new Map(worst.map(({ frameNum, value }) => [frameNum, value])),
    };
  } finally {
    bar?.clear();
  }
}

function featureText(features: Readonly<Record<string, number>>, score: number | undefined): string {
  const vif = [0, 1, 2, 3].map((scale) => features[`integer_vif_scale${scale}`]?.toFixed(4));
  const vmaf = score === undefined ? '' : `vmaf ${score.toFixed(2)}, `;
  return `${vmaf}adm2 ${features.integer_adm2?.toFixed(4)}, vif ${vif.join(' ')}`;
}

function butteraugliText({ maximum, norm3 }: NonNullable<QualityMaps['butteraugli']>): string {
  return `butteraugli ${maximum.toFixed(4)}, 3-norm ${norm3.toFixed(4)}`;
}

function isFile(output: string): boolean {
  return /\.png$/i.test(output);
}

/** @throws {AnyvmafError} `io` if the path exists and is not a folder */
async function requireFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isDirectory())
    throw ioError(`cannot write into "${shown(path)}": it is not a folder; name a folder or a .png file`);
}

/** `12` or `12,250`. */
function frameNumbers(use: OptionUse): number[] {
  return use.value.split(',').map((text) => {
    const number = unsigned(text.trim());
    if (number !== undefined && number <= 1e9) return number;
    throw refusedValue(use, 'the number of a frame such as 12, or several such as 12,250');
  });
}

function worstValue(use: OptionUse): number {
  const count = unsignedValue(use, 5);
  if (count >= 1 && count <= MOST_FRAMES) return count;
  throw refusedValue(use, `from 1 to ${MOST_FRAMES} frames`);
}

function blockValue(use: OptionUse): number {
  const side = unsignedValue(use, 16);
  if (BLOCKS.includes(side)) return side;
  throw refusedValue(use, orList(BLOCKS.map(String)));
}
