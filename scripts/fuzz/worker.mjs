/**
 * @module scripts/fuzz/worker
 * A process that feeds one target. It writes the number of the current input to a file, so that the parent knows which input
 * hangs or ends the process.
 *
 *   node scripts/fuzz/worker.mjs TARGET SEED FROM TO PLACE     PLACE is a file of eight bytes
 */
import { openSync, writeSync } from 'node:fs';
import { faultOf, GROWTH } from './contract.mjs';
import { Random } from './random.mjs';
import { openTarget } from './targets.mjs';

/** Milliseconds between reports; the process may be killed in between. */
const NEWS = 200;

const [name, seed, from, to, place] = process.argv.slice(2);
const mark = Buffer.alloc(8);
const file = openSync(place, 'r+');

function at(index) {
  mark.writeDoubleLE(index);
  writeSync(file, mark, 0, 8, 0);
}

const target = await openTarget(name);
let outcome = { accepted: 0, refused: 0 };
let rest = process.memoryUsage.rss();
let told = performance.now();
process.send({ kind: 'ready' });
for (let index = Number(from); index < Number(to); index++) {
  at(index);
  const input = target.make(new Random(seed, name, index));
  let fault;
  try {
    fault = await target.run(input);
    outcome.accepted++;
  } catch (error) {
    fault = faultOf(error);
    outcome.refused++;
  }
  if (fault !== undefined) process.send({ kind: 'fault', index, fault });
  // One-time allocations, such as a module, are not growth.
  if (index === Number(from) + 20) rest = process.memoryUsage.rss();
  const grown = process.memoryUsage.rss() - rest;
  if (grown > GROWTH) {
    process.send({ kind: 'fault', index, fault: `the process grew by ${Math.round(grown / 2 ** 20)} MB` });
    rest = process.memoryUsage.rss();
  }
  if (performance.now() - told > NEWS) {
    process.send({ kind: 'progress', index, ...outcome });
    outcome = { accepted: 0, refused: 0 };
    told = performance.now();
    // Let messages leave and timers run.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
process.send({ kind: 'progress', index: Number(to), ...outcome }, () => {
  target.close?.();
  process.disconnect();
  process.exit(0);
});
