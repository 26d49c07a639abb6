/**
 * @module scripts/lib/search-grid
 * Exhaustive grids of encodes, made with ffmpeg directly and scored with the public API; cached in a file of JSON lines.
 * A second run needs no encodes.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digest, ffmpeg } from './search-clips.mjs';

/** Encoders, fast settings of each, and the values of its grid, in the encoder's own steps. */
export const ENCODERS = {
  libx264: { options: { preset: 'veryfast' }, range: { min: 10, max: 51, step: 0.5 } },
  libx265: { options: { preset: 'ultrafast' }, range: { min: 10, max: 51, step: 0.5 } },
  libsvtav1: { options: { preset: '12' }, range: { min: 10, max: 63, step: 1 } },
  'libvpx-vp9': { options: { deadline: 'realtime', 'cpu-used': '8' }, range: { min: 10, max: 63, step: 1 } },
  'libaom-av1': { options: { usage: 'realtime', 'cpu-used': '8' }, range: { min: 10, max: 63, step: 1 } },
};

/** Which of {@link ENCODERS} the installed ffmpeg has. */
export function installed() {
  const text = execFileSync('ffmpeg', ['-v', 'error', '-encoders'], { encoding: 'utf8' });
  return Object.keys(ENCODERS).filter((name) => text.includes(` ${name} `));
}

/** Values that one process encodes. */
const BATCH = 9;

function version() {
  return execFileSync('ffmpeg', ['-version'], { encoding: 'utf8' }).split('\n')[0].split(' ')[2];
}

function valuesOf({ min, max, step }) {
  return Array.from({ length: Math.round((max - min) / step) + 1 }, (_, i) => min + i * step);
}

/** Grids cached in a file. */
export class Grids {
  #file;
  #score;
  #known = new Map();

  /** @param score the public `score` */
  constructor(file, score) {
    this.#file = file;
    this.#score = score;
    mkdirSync(dirname(file), { recursive: true });
    for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
      if (!line.endsWith('}')) continue;
      const { key, points } = JSON.parse(line);
      this.#known.set(key, points);
    }
  }

  /** @returns points from the lowest value, each with its bytes and the VMAF of every frame */
  async of(source, encoder, folder) {
    const { options, range } = ENCODERS[encoder];
    const key = [digest(source), encoder, JSON.stringify(options), JSON.stringify(range), version()].join(
      ' ',
    );
    const known = this.#known.get(key);
    if (known) return known;
    const points = [];
    const values = valuesOf(range);
    for (let i = 0; i < values.length; i += BATCH)
      points.push(...(await this.#points(source, encoder, options, values.slice(i, i + BATCH), folder)));
    appendFileSync(this.#file, `${JSON.stringify({ key, points })}\n`);
    return points;
  }

  /** Encodes and decodes several values per process, because starting one costs as much as a value. */
  async #points(source, encoder, options, values, folder) {
    const path = (value, ending) => join(folder, `grid-${value}.${ending}`);
    const settings = Object.entries(options).flatMap(([name, text]) => [`-${name}`, text]);
    const encoded = values.flatMap((value) => {
      const quality = ['-crf', String(value), ...(/^lib(vpx|aom)/.test(encoder) ? ['-b:v', '0'] : [])];
      return ['-c:v', encoder, ...quality, ...settings, path(value, 'mkv')];
    });
    ffmpeg(['-i', source, ...encoded]);
    const inputs = values.flatMap((value) => ['-i', path(value, 'mkv')]);
    const decoded = values.flatMap((value, i) => ['-map', `${i}:v`, '-strict', '-1', path(value, 'y4m')]);
    ffmpeg([...inputs, ...decoded]);
    const points = [];
    for (const value of values) {
      const pair = { reference: source, distorted: path(value, 'y4m') };
      const report = await this.#score(pair, { threads: 0, preflight: false });
      const bytes = statSync(path(value, 'mkv')).size;
      points.push({ value, bytes, vmaf: report.frames.map(({ metrics }) => metrics.vmaf) });
      for (const ending of ['mkv', 'y4m']) rmSync(path(value, ending));
    }
    return points;
  }
}
