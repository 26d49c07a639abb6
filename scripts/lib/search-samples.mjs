/**
 * @module scripts/lib/search-samples
 * How well samples predict the whole: searches of long sources whose answer is encoded whole and scored.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './project.mjs';
import { ENCODERS, installed } from './search-grid.mjs';
import { LONG, makeLong } from './search-long-clips.mjs';

const TARGETS = [85, 92, 78];

/** Searches each long source with some encoders, and prints what samples said beside the final encode. */
export async function measureSamples(searchQuality, clips, folder, { record, encoder: only = '', cases }) {
  const encoders = installed().filter((name) => name.startsWith(only));
  const names = Object.keys(LONG);
  const rows = [];
  for (let i = 0; i < Number(cases); i++) {
    const name = names[i % names.length];
    const encoder = encoders[(i + Math.floor(i / names.length)) % encoders.length];
    const target = TARGETS[i % TARGETS.length];
    const row = await searchOnce({ searchQuality, clips, folder, record, name, encoder, target });
    if (!row) continue;
    rows.push(row);
    console.log(lineOf(row).join(' | '));
  }
  print(rows);
}

/** One search, or what an earlier run kept of it. */
async function searchOnce({ searchQuality, clips, folder, record, name, encoder, target }) {
  const { options, range } = ENCODERS[encoder];
  const file = join(record, 'samples.jsonl');
  const key = [name, encoder, target].join(' ');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const kept = known.map((line) => JSON.parse(line)).find((one) => one.key === key);
  if (kept) return kept;
  const path = join(folder, 'long.mkv');
  if (!makeLong(LONG[name], path, clips)) {
    console.log(`Left out: the clips of "${name}" are not there.`);
    return undefined;
  }
  const { value, encodes, samples, predicted, predictedBytes, final } = await searchQuality(path, {
    encoder,
    encoderOptions: options,
    range,
    targets: [{ atLeast: target }],
    verify: true,
    cache: false,
  });
  rmSync(path);
  const row = {
    key,
    name,
    encoder,
    value,
    encodes,
    samples: samples?.length ?? 0,
    predicted,
    mean: final.pooled.vmaf.mean,
    bytes: predictedBytes / final.bytes,
  };
  appendFileSync(file, `${JSON.stringify(row)}\n`);
  return row;
}

const inside = ([low, high], value) => low <= value && value <= high;

function lineOf({ name, encoder, value, samples, predicted, mean, bytes }) {
  const half = ([low, high]) => `± ${((high - low) / 2).toFixed(2)}`;
  const { interval95, interval99 } = predicted;
  return [
    name,
    encoder,
    value,
    samples,
    predicted.value.toFixed(2),
    half(interval95),
    half(interval99),
    mean.toFixed(2),
    (mean - predicted.value).toFixed(2),
    inside(interval99, mean) ? (inside(interval95, mean) ? 'both' : '99 %') : 'none',
    `${((bytes - 1) * 100).toFixed(1)} %`,
  ];
}

function print(rows) {
  const head = 'source,encoder,value,samples,predicted,95 %,99 %,final,error,inside,size'.split(',');
  console.log(`\n${table(head, rows.map(lineOf))}\n`);
  const share = (test) => `${rows.filter(test).length} of ${rows.length}`;
  const widths = rows.map(
    ({
      predicted: {
        interval99: [low, high],
      },
    }) => (high - low) / 2,
  );
  console.log(
    `Within 0.5: ${share(({ mean, predicted }) => Math.abs(mean - predicted.value) <= 0.5)}. ` +
      `Inside the 95 % interval: ${share(({ mean, predicted }) => inside(predicted.interval95, mean))}; ` +
      `inside the 99 % interval: ${share(({ mean, predicted }) => inside(predicted.interval99, mean))}. ` +
      `Median half width of the 99 % interval: ${widths.sort((a, b) => a - b)[Math.floor(widths.length / 2)].toFixed(2)}.`,
  );
}
