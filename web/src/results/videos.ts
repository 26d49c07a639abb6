/**
 * @module web/results/videos
 * Gives results without videos, of saved reports and of the last session, their videos again once they are chosen.
 */
import { baseName, referenceOf, sizeText } from 'anyvmaf/view';
import type { EncodeResult, Session } from '../session.js';
import { type PairFacts, pairingOf, runOptions } from '../setup/options.js';
import { text } from '../text.js';

/** What is known of a result whose frames can be shown once its videos are here. */
function factsOf({ report, saved, source }: EncodeResult): PairFacts | undefined {
  const facts = report ?? saved;
  const reference = facts && referenceOf(facts);
  if (source || !reference || !facts.distorted) return undefined;
  return { reference, distorted: facts.distorted, pairing: facts.pairing };
}

/**
 * Gives each result the chosen videos of its names and, where the report says them, sizes.
 * @returns what came of it, for people; empty where no file has a name of a report
 */
export function attachVideos(session: Session): string {
  const reference = session.reference.value?.file;
  const wrong = new Set<string>();
  const isOf = (file: File | undefined, name: string, bytes: number | undefined): file is File => {
    if (file?.name !== baseName(name)) return false;
    if (bytes === undefined || bytes === file.size) return true;
    wrong.add(text.saved.otherFile(file.name, sizeText(file.size) ?? '', sizeText(bytes) ?? ''));
    return false;
  };
  let given = 0;
  const results = session.results.value.map((result): EncodeResult => {
    const facts = factsOf(result);
    if (!facts || !reference) return result;
    const bytes = (side: 'reference' | 'distorted') => facts.pairing?.[side].fileSize ?? facts[side].fileSize;
    const distorted = session.distorted.value
      .map(({ file }) => file)
      .find((file) => isOf(file, facts.distorted.name, bytes('distorted')));
    if (!isOf(reference, facts.reference.name, bytes('reference')) || !distorted) return result;
    given++;
    const { was, ...rest } = result;
    const scored = was && { ...was, reference, distorted };
    const options = was
      ? runOptions(was.settings, was.raw, was.tiny)
      : pairingOf(facts, session.settings.value);
    return { ...rest, source: { reference, distorted, options }, ...(scored && { scored }) };
  });
  if (given > 0) {
    const { kept } = session;
    const back = results.filter((result) => result.scored && result.report && !kept.value.includes(result));
    kept.value = [...kept.value, ...back];
    session.results.value = results;
  }
  return [...(given > 0 ? [text.saved.withVideos(given)] : []), ...wrong].join(' ');
}
