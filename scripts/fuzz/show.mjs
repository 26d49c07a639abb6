/**
 * @module scripts/fuzz/show
 * Shows one input and its outcome.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from './random.mjs';
import { openTarget } from './targets.mjs';

/** Prints input `index` of a target and its outcome; also writes its bytes to a file. */
export async function showInput(name, seed, index) {
  const target = await openTarget(name);
  const input = target.make(new Random(seed, name, index));
  const bytes = input instanceof Uint8Array ? input : input?.bytes;
  if (bytes instanceof Uint8Array) {
    const file = join(tmpdir(), `anyvmaf-fuzz-${name}-${index}`);
    writeFileSync(file, bytes);
    console.log(`${bytes.length} bytes, kept as ${file}`);
  } else if (typeof input === 'string') {
    const file = join(tmpdir(), `anyvmaf-fuzz-${name}-${index}`);
    writeFileSync(file, input);
    console.log(`${input.length} characters, kept as ${file}: ${JSON.stringify(input.slice(0, 500))}`);
  } else {
    console.log(
      JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))?.slice(0, 2000),
    );
  }
  const started = performance.now();
  try {
    console.log('outcome:', (await target.run(input)) ?? 'accepted');
  } catch (error) {
    console.log('outcome:', error);
  }
  console.log(`${(performance.now() - started).toFixed(0)} ms`);
  target.close?.();
}
