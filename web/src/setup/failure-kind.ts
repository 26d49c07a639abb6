/**
 * @module web/setup/failure-kind
 * Classifies failures by their data.
 */
import type { Remedy } from 'anyvmaf';
import type { Failure } from '../engine/calls.js';
import type { Settings } from '../session.js';
import { text } from '../text.js';

/** Decides on heading, advice and buttons. */
export type FailureKind =
  | 'undecodable'
  | 'differs'
  | 'memory'
  | 'died'
  | 'offline'
  | 'media'
  | 'io'
  | 'model'
  | 'absent'
  | 'feature'
  | 'backend'
  | 'usage'
  | 'other';

function remediesOf({ objections = [] }: Failure): readonly Remedy[] {
  return objections.flatMap(({ hints = [] }) => hints);
}

export function resolvedBy(failure: Failure, option: string): boolean {
  return remediesOf(failure).some((remedy) => typeof remedy === 'object' && remedy.option === option);
}

/** Advised changes of settings that the page has words for and that are not made yet. */
export function advisedSettings(
  failure: Failure,
  settings: Settings,
): readonly (readonly [label: string, change: Partial<Settings>])[] {
  const { fixes } = text.failures;
  const changes = remediesOf(failure).flatMap((remedy) => {
    if (typeof remedy !== 'object' || remedy.purpose !== 'fix' || !(remedy.option in fixes)) return [];
    const option = remedy.option as keyof typeof fixes;
    return remedy.value === settings[option] ? [] : [[fixes[option], { [option]: remedy.value }] as const];
  });
  return [...new Map(changes)];
}

/** The model to pull, for the first time or again. */
export function absentModel(failure: Failure): string | undefined {
  for (const remedy of remediesOf(failure))
    if (typeof remedy === 'object' && remedy.purpose === 'pull') return remedy.model;
  return undefined;
}

export function kindOfFailure(failure: Failure, settings: Settings): FailureKind {
  const { code, name } = failure;
  if (name === 'NotReadableError' || name === 'NotFoundError') return 'io';
  switch (code) {
    case 'resource':
      return 'memory';
    case 'died':
    case 'internal':
      return 'died';
    case 'offline':
      return code;
    case 'mismatch':
      return 'differs';
    case 'media':
      return settings.decoder === 'mediabunny' && resolvedBy(failure, 'decoder') ? 'undecodable' : 'media';
    case 'model':
      return absentModel(failure) === undefined ? 'model' : 'absent';
    case 'io':
    case 'feature':
    case 'backend':
    case 'usage':
      return code;
    default:
      return 'other';
  }
}

/** Without options, which forms and buttons stand for. */
export function failureWords({ message, objections }: Failure): string {
  if (!objections) return message;
  const texts = objections.map(({ message: said, about, hints = [] }) => {
    const wrong = about === undefined ? said : `${about} ${said}`;
    const steps = hints.filter((hint) => typeof hint === 'string').join(', or ');
    if (wrong.endsWith('.')) return wrong;
    return steps === '' ? `${wrong}.` : `${wrong}; ${steps}.`;
  });
  return texts.join(' ');
}
