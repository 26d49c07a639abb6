/**
 * @module web/results/videos
 * Gives results without videos, of saved reports and of the last session, their videos again once they are chosen.
 */
import type { Report } from 'anyvmaf';
import { baseName, sizeText } from 'anyvmaf/view';
import type { EncodeResult, RunOptions, Session } from '../session.js';
import { runOptions } from '../setup/options.js';
import { text } from '../text.js';

type Facts = Pick<Report, 'reference' | 'distorted'> & Partial<Pick<Report, 'pairing' | 'noReference'>>;

/** What is known of a result whose frames can be shown once its videos are here. */
function factsOf({ report, saved, source }: EncodeResult): Facts | undefined {
  const { reference, distorted, pairing, noReference } = report ?? saved ?? {};
  return source || noReference || !reference || !distorted ? undefined : { reference, distorted, pairing };
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
    const options = was ? runOptions(was.settings, was.raw, was.tiny) : pairingOf(facts, session);
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

/** The options that pair frames as a report says that they were. */
function pairingOf({ reference, distorted, pairing }: Facts, { settings }: Session): RunOptions {
  const { scale, width, height, range, frames } = pairing ?? {};
  const { offset = 0, policy, by } = frames ?? {};
  const stored = [reference, distorted].find(({ container }) => container === 'yuv');
  return {
    decoder: settings.value.decoder,
    offset,
    ...(scale && scale !== 'none' && width && height && { scale, scaleTo: { width, height } }),
    ...(policy && policy !== 'number' && { frameRatePolicy: policy }),
    ...(by && { pairBy: by }),
    // What is skipped for a range or an offset is counted too.
    ...(range
      ? { range }
      : {
          skipReference: Math.max(0, reference.skipped - Math.max(0, offset)),
          skipDistorted: Math.max(0, distorted.skipped - Math.max(0, -offset)),
        }),
    ...(stored && {
      raw: { width: stored.width, height: stored.height, bitDepth: stored.bitDepth, chroma: stored.chroma },
    }),
  };
}
