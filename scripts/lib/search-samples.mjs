/**
 * @module scripts/lib/search-samples
 * How well samples predict the whole: searches of long sources, with the answer encoded and scored as a whole.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './project.mjs';
import { ENCODERS, installed } from './search-grid.mjs';
import { LONG, makeLong } from './search-long-clips.mjs';

/** Targets by metric, each within the range of the sources. */
const TARGETS = {
  vmaf: [{ atLeast: 85 }, { atLeast: 92 }, { atLeast: 78 }],
  ssimulacra2: [{ atLeast: 70 }, { atLeast: 85 }, { atLeast: 55 }],
  butteraugli_3norm: [{ atMost: 2 }, { atMost: 1 }, { atMost: 3.5 }],
  xpsnr_min: [{ atLeast: 37 }, { atLeast: 43 }, { atLeast: 33 }],
  cvvdp: [{ atLeast: 9.5 }, { atLeast: 9.8 }, { atLeast: 9 }],
};

/**
 * Searches each long source with some encoders, and prints predictions of samples beside the final encode.
 * @param metrics names of {@link TARGETS}, separated by commas: one after the other
 */
export async function measureSamples(
  searchQuality,
  clips,
  folder,
  { record, encoder: only = '', cases, metric: metrics = 'vmaf' },
) {
  const encoders = installed().filter((name) => name.startsWith(only));
  const names = Object.keys(LONG);
  const measured = metrics.split(',');
  for (const metric of measured) {
    if (!Object.hasOwn(TARGETS, metric))
      throw new Error(`--metric is ${metric}, but there are ${Object.keys(TARGETS).join(', ')}.`);
  }
  const rows = [];
  for (let i = 0; i < Number(cases); i++) {
    const name = names[i % names.length];
    const round = Math.floor(i / names.length);
    const encoder = encoders[(i + round) % encoders.length];
    const metric = measured[(i + round) % measured.length];
    const targets = TARGETS[metric];
    const target = { metric, ...targets[i % targets.length] };
    const row = await searchOnce({ searchQuality, clips, folder, record, name, encoder, target });
    if (!row) continue;
    rows.push(row);
    console.log(lineOf(row).join(' | '));
  }
  print(rows);
}

/** One search, or its cached result. */
async function searchOnce({ searchQuality, clips, folder, record, name, encoder, target }) {
  const { options, range } = ENCODERS[encoder];
  const file = join(record, 'samples.jsonl');
  const key = [name, encoder, JSON.stringify(target)].join(' ');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const cached = known.map((line) => JSON.parse(line)).find((sample) => sample.key === key);
  if (cached) return cached;
  const path = join(folder, 'long.mkv');
  if (!makeLong(LONG[name], path, clips)) {
    console.log(`Left out: the clips of "${name}" are not there.`);
    return undefined;
  }
  const { value, encodes, samples, predicted, predictedBytes, final } = await searchQuality(path, {
    encoder,
    encoderOptions: options,
    range,
    targets: [target],
    verify: true,
    cache: false,
  });
  rmSync(path);
  const row = {
    key,
    name,
    encoder,
    metric: target.metric,
    value,
    encodes,
    samples: samples?.length ?? 0,
    predicted,
    whole: final.qualities[0],
    bytes: predictedBytes / final.bytes,
  };
  appendFileSync(file, `${JSON.stringify(row)}\n`);
  return row;
}

const inside = ([low, high], value) => low <= value && value <= high;

function lineOf({ name, encoder, metric, value, samples, predicted, whole, bytes }) {
  const half = ([low, high]) => `± ${((high - low) / 2).toFixed(2)}`;
  const { interval95, interval99 } = predicted;
  return [
    name,
    encoder,
    metric,
    value,
    samples,
    predicted.value.toFixed(2),
    half(interval95),
    half(interval99),
    whole.toFixed(2),
    (whole - predicted.value).toFixed(2),
    inside(interval99, whole) ? (inside(interval95, whole) ? 'both' : '99 %') : 'none',
    `${((bytes - 1) * 100).toFixed(1)} %`,
  ];
}

function print(rows) {
  const head = 'source,encoder,metric,value,samples,predicted,95 %,99 %,final,error,inside,size'.split(',');
  console.log(`\n${table(head, rows.map(lineOf))}\n`);
  const share = (test) => `${rows.filter(test).length} of ${rows.length}`;
  console.log(
    `Inside the 95 % interval: ${share(({ whole, predicted }) => inside(predicted.interval95, whole))}; ` +
      `inside the 99 % interval: ${share(({ whole, predicted }) => inside(predicted.interval99, whole))}.`,
  );
  for (const metric of new Set(rows.map((row) => row.metric))) {
    const own = rows.filter((row) => row.metric === metric);
    const errors = own.map(({ whole, predicted }) => Math.abs(whole - predicted.value));
    const widths = own.map(({ predicted }) => (predicted.interval99[1] - predicted.interval99[0]) / 2);
    console.log(
      `${metric}: largest error ${Math.max(...errors).toFixed(2)}, median half width of the 99 % interval ` +
        `${widths.toSorted((a, b) => a - b)[Math.floor((widths.length - 1) / 2)].toFixed(2)}.`,
    );
  }
}
