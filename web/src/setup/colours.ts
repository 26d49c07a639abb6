/**
 * @module web/setup/colours
 * The colour of each encode, as far as is known before it is scored; it keeps it from then on.
 */
import { type Encode, encodeColours } from 'anyvmaf/view';
import type { ChosenFile, PairInspection, Session } from '../session.js';

/** The colours of the encodes that are chosen, in their order, as CSS. */
export function coloursOf({ distorted, inspections }: Session): string[] {
  return encodeColours(
    distorted.value.map((one, index) => encodeOf(one, index, inspections.value.get(one.id))),
  );
}

function encodeOf({ file }: ChosenFile, index: number, pair: PairInspection | undefined): Encode {
  const looked = pair?.phase === 'found' ? pair.inspection.distorted : undefined;
  const { name, size } = file;
  return { index, name, facts: {}, count: 0, metrics: [], skipped: undefined, fileSize: size, looked };
}
