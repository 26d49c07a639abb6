/**
 * @module media/evidence/track
 * Which of several video tracks is meant: the one asked for, else a default track, else the largest.
 */
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';

/** A video track as its container declares it. Cover art is none. */
export interface VideoTrack {
  readonly width: number;
  readonly height: number;
  /** Players select it by themselves. */
  readonly isDefault: boolean;
}

/** A track that the user asks for. */
export interface TrackRequest {
  /** 0-based, among the video tracks. */
  readonly index: number;
  /** The option that says so, for messages. */
  readonly option: 'trackReference' | 'trackDistorted';
}

/** The track that is read of a file with several. */
export interface TrackChoice {
  /** 0-based, among {@link tracks}. */
  readonly index: number;
  readonly tracks: readonly VideoTrack[];
  /** The user asked for it. */
  readonly asked: boolean;
}

/**
 * Chooses a track; of equal ones the first.
 * @param name the file, for messages
 * @returns `undefined` if the file has one track, or none
 * @throws {AnyvmafError} `usage` if there is no track of the number asked for
 */
export function chooseTrack(
  tracks: readonly VideoTrack[],
  asked: TrackRequest | undefined,
  name: string,
): TrackChoice | undefined {
  if (asked && asked.index > 0 && asked.index >= tracks.length) throw noSuchTrack(tracks, asked, name);
  if (tracks.length <= 1) return undefined;
  if (asked) return { index: asked.index, tracks, asked: true };
  const defaults = tracks.filter(({ isDefault }) => isDefault);
  const candidates = defaults.length > 0 ? defaults : tracks;
  const largest = Math.max(...candidates.map(area));
  const index = tracks.findIndex((track) => candidates.includes(track) && area(track) === largest);
  return { index, tracks, asked: false };
}

/** Whether nobody can have meant another track: it was asked for, or all others are smaller. */
export function isClearTrack({ index, tracks, asked }: TrackChoice): boolean {
  const size = tracks.map(area);
  return asked || size.every((other, i) => i === index || other < (size[index] ?? 0));
}

/** A track in words: `track 1 (640x360, default)`. */
export function trackText(tracks: readonly VideoTrack[], index: number): string {
  const { width = 0, height = 0, isDefault = false } = tracks[index] ?? {};
  return `track ${index} (${width}x${height}${isDefault ? ', default' : ''})`;
}

function noSuchTrack(tracks: readonly VideoTrack[], { index, option }: TrackRequest, name: string): Error {
  const all = tracks.map((_, i) => trackText(tracks, i)).join(', ');
  const count = tracks.length === 1 ? 'one video track' : `${tracks.length} video tracks`;
  return usageError(`is ${index}, but ${shown(name)} has ${count}: ${all}.`, { about: option });
}

function area({ width, height }: VideoTrack): number {
  return width * height;
}
