/**
 * @module web/setup/failure-kind
 * Sorts failures into those that people meet, by what they say as data.
 */
import type { Remedy } from 'anyvmaf';
import type { Failure } from '../engine/calls.js';
import type { Settings } from '../session.js';

/** What kind of failure it is; decides on the heading, the advice and the buttons. */
export type FailureKind =
  | 'undecodable'
  | 'differs'
  | 'memory'
  | 'died'
  | 'media'
  | 'io'
  | 'model'
  | 'absent'
  | 'feature'
  | 'usage'
  | 'other';

/** What resolves a failure. */
function remediesOf({ objections = [] }: Failure): readonly Remedy[] {
  return objections.flatMap(({ hints = [] }) => hints);
}

/** Whether an option resolves it. */
export function resolvedBy(failure: Failure, option: string): boolean {
  return remediesOf(failure).some((remedy) => typeof remedy === 'object' && remedy.option === option);
}

/** The model that has to be pulled, first or again; `undefined` where none has. */
export function absentModel(failure: Failure): string | undefined {
  for (const remedy of remediesOf(failure))
    if (typeof remedy === 'object' && remedy.purpose === 'pull') return remedy.model;
  return undefined;
}

/** Sorts a failure by its code, its name and what resolves it. */
export function kindOfFailure(failure: Failure, settings: Settings): FailureKind {
  const { code, name } = failure;
  // Browsers have this name for memory that they do not give.
  if (name === 'RangeError') return 'memory';
  if (name === 'NotReadableError' || name === 'NotFoundError') return 'io';
  switch (code) {
    case 'resource':
      return 'memory';
    case 'died':
    case 'internal':
      return 'died';
    case 'mismatch':
      return 'differs';
    case 'media':
      return settings.decoder === 'mediabunny' && resolvedBy(failure, 'decoder') ? 'undecodable' : 'media';
    case 'model':
      return absentModel(failure) === undefined ? 'model' : 'absent';
    case 'io':
    case 'feature':
    case 'usage':
      return code;
    default:
      return 'other';
  }
}

/** What a failure says, where there are forms and buttons instead of options. */
export function failureWords({ message, objections }: Failure): string {
  if (!objections) return message;
  const texts = objections.map(({ message: wrong, hints = [] }) => {
    const steps = hints.filter((hint) => typeof hint === 'string').join(', or ');
    if (wrong.endsWith('.')) return wrong;
    return steps === '' ? `${wrong}.` : `${wrong}; ${steps}.`;
  });
  return texts.join(' ');
}
