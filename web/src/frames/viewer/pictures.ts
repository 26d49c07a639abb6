/**
 * @module web/frames/viewer/pictures
 * The pictures on show as files: which there are in the chosen view, and their names.
 */
import { text } from '../../text.js';
import type { Savable } from '../save.js';
import type { ViewSettings } from '../settings.js';
import type { Stage } from '../stage.js';

/** Pictures that can be saved, what is on show first. */
export function savablePictures(stage: Stage, { mode, opacity }: ViewSettings): readonly Savable[] {
  const chosen = mode.value;
  const { reference, distorted } = stage.names;
  const { modes } = text.frames;
  const all = [
    {
      kind: 'difference',
      label: modes.difference,
      canvas: chosen === 'difference' ? stage.canvasOf('difference') : undefined,
    },
    {
      kind: 'map',
      label: modes.map,
      canvas: chosen === 'map' ? stage.mapCanvas(opacity.value) : undefined,
    },
    { kind: 'encode', label: distorted, canvas: stage.canvasOf('distorted') },
    { kind: 'reference', label: reference, canvas: stage.canvasOf('reference') },
  ] as const;
  const there = all.flatMap(({ canvas, ...one }) => (canvas ? [{ ...one, canvas }] : []));
  const flickering = chosen === 'flicker' && stage.shown === 'reference';
  return flickering ? there.toReversed() : there;
}

/** The name of a picture's file. */
export function pictureName(encode: string | undefined, frame: number, { kind }: Savable): string {
  return `${(encode ?? 'frame').replace(/\.[^.]*$/, '')}.frame-${frame}.${kind}.png`;
}
