/**
 * @module web/sample
 * A pair to try the page with: made in this browser, chosen and scored at one click.
 */
import { Remote } from '../engine/calls.js';
import type { Session } from '../session.js';
import { addFiles, samples } from '../setup/files.js';
import { text } from '../text.js';
import type { Sampler } from './film.js';

const NAMES = { reference: 'sample-reference.y4m', distorted: 'sample-encode.y4m' } as const;

/**
 * Makes the pair and chooses it.
 * @returns false if files were chosen meanwhile, which stay
 * @throws {Error} with a sentence for people if it cannot be made
 */
export async function chooseSample(session: Session): Promise<boolean> {
  const worker = new Remote<Sampler>(
    () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'anyvmaf sample' }),
    text.setup.sampleDied,
  );
  try {
    const { reference, distorted } = await worker.call('make', null);
    if (session.reference.value || session.distorted.value.length > 0) return false;
    const files = {
      reference: new File([reference], NAMES.reference),
      distorted: new File([distorted], NAMES.distorted),
    };
    for (const file of Object.values(files)) samples.add(file);
    await addFiles(session, [files.reference], 'reference');
    await addFiles(session, [files.distorted], 'distorted');
    return true;
  } finally {
    worker.close();
  }
}
