/**
 * @module media/preflight/slips
 * Findings about frames that are lost, duplicated or frozen after the first seconds.
 */

import { counted } from '../../core/printable.js';
import { BEGINNING, type Displacement, type Freeze, type Slip } from '../align/slips.js';
import { finding } from './text.js';
import type { Finding } from './types.js';

const NAMED = 5;

const LISTED = 50;

/**
 * @param known findings about the first frames, not to repeat
 * @param used the offset at which frames are paired
 */
export function slipFindings(
  { slips, freezes }: Displacement,
  known: readonly Finding[],
  used = 0,
): Finding[] {
  const [first] = slips;
  const said = known.find(({ code }) => code === 'offset' || code === 'unrelated');
  const advised = said?.hint && 'value' in said.hint ? said.hint.value : undefined;
  // In a still beginning, an offset shows as late as a slip.
  const apart = first && (first.frame < BEGINNING || advised === used + first.ahead) ? first : undefined;
  const later = apart ? slips.slice(1) : slips;
  return [
    ...(apart && !said ? [offsetFinding(apart)] : []),
    ...(later.length > 0 ? [slipFinding(later)] : []),
    ...(freezes.length > 0 ? [freezeFinding(freezes)] : []),
  ];
}

export function unwatchedFinding(why: string): Finding {
  return finding(
    'unwatched',
    'info',
    `not checked for lost or repeated frames after the first seconds, because ${why}.`,
    [null, null],
  );
}

function offsetFinding({ ahead }: Slip): Finding {
  return finding(
    'offset',
    'warning',
    `${where(ahead)} from the start, so the compared frames show different moments.`,
    [null, null],
    { purpose: 'fix', option: 'offset', value: 'auto' },
  );
}

export function slipFinding(slips: readonly Slip[]): Finding {
  const texts = slips.slice(0, NAMED).map(({ frame, ahead }) => `from frame ${frame} on, ${where(ahead)}`);
  const more = slips.length - texts.length;
  const lost = slips.reduce((sum, { by }) => sum + Math.max(0, by), 0);
  const added = slips.reduce((sum, { by }) => sum + Math.max(0, -by), 0);
  const what = [
    lost > 0 ? `${counted(lost, 'frame')} lost from distorted` : '',
    added > 0 ? `${counted(added, 'frame')} added to it` : '',
  ].filter((text) => text !== '');
  return {
    ...finding(
      'slip',
      'error',
      `${texts.join(', ')}${more > 0 ? `, and ${counted(more, 'more slip')}` : ''}: ${what.join(', ')}. The score ` +
        'compares different moments there.',
      [null, null],
    ),
    places: slips.slice(0, LISTED).map(({ frame, by }) => ({ frame, frames: by })),
  };
}

function where(ahead: number): string {
  if (ahead === 0) return 'distorted is in step with reference again';
  const frames = counted(Math.abs(ahead), 'frame');
  return `distorted runs ${frames} ${ahead > 0 ? 'ahead of' : 'behind'} reference`;
}

function freezeFinding(freezes: readonly Freeze[]): Finding {
  const texts = freezes
    .slice(0, NAMED)
    .map(({ frame, frames }) => `from frame ${frame} on for ${counted(frames, 'frame')}`);
  const more = freezes.length - texts.length;
  return {
    ...finding(
      'freeze',
      'warning',
      `distorted freezes while reference moves on: ${texts.join(', ')}` +
        `${more > 0 ? `, and in ${counted(more, 'other place')}` : ''}; the score includes these frames.`,
      [null, null],
    ),
    places: freezes.slice(0, LISTED).map(({ frame, frames }) => ({ frame, frames })),
  };
}
