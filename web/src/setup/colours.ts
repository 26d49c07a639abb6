/**
 * @module web/setup/colours
 * The colour of each encode, as far as is known before it is scored; it keeps it from then on.
 */
import { type Encode, encodeColours, type Facts } from 'anyvmaf/view';
import type { ChosenFile, PairInspection, Session } from '../session.js';

/** The colours of the encodes that are chosen, in their order, as CSS. */
export function coloursOf({ distorted, inspections }: Session): string[] {
  return encodeColours(
    distorted.value.map((one, index) => encodeOf(one, index, inspections.value.get(one.id))),
  );
}

function encodeOf({ file }: ChosenFile, index: number, pair: PairInspection | undefined): Encode {
  const side = pair?.phase === 'found' ? pair.inspection.distorted : undefined;
  // The report's words for it, as far as colours go by them.
  const facts = (side ? { pairing: { distorted: side } } : {}) as Facts;
  return { index, name: file.name, facts, count: 0, metrics: [], skipped: undefined, fileSize: file.size };
}
