/**
 * @module web/sample
 * A sample pair made in the browser, chosen and scored with one click.
 */
import { Remote } from '../engine/calls.js';
import type { Session } from '../session.js';
import { addFiles, samples } from '../setup/files.js';
import { text } from '../text.js';
import type { Sampler } from './film.js';

const NAMES = { reference: 'sample-reference.y4m', distorted: 'sample-encode.y4m' } as const;

/** @returns false if files were chosen meanwhile, which stay @throws {Error} with a sentence for people */
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
