/**
 * @module media/evidence/track
 * Selects a video track: the one asked for, else a default track, else the largest.
 */
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';

/** A video track, other than cover art, as its container declares it. */
export interface VideoTrack {
  readonly width: number;
  readonly height: number;
  /** Selected by players unless the user selects another. */
  readonly isDefault: boolean;
}

export interface TrackRequest {
  /** 0-based, among the video tracks. */
  readonly index: number;
  readonly option: 'trackReference' | 'trackDistorted';
}

/** The selected one of several tracks. */
export interface TrackChoice {
  /** 0-based, among {@link tracks}. */
  readonly index: number;
  readonly tracks: readonly VideoTrack[];
  readonly asked: boolean;
}

/**
 * Selects a track, the first among equals; `undefined` unless there are several.
 * @param name of the file, for messages
 * @throws {AnyvmafError} `usage` if the requested track does not exist
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

/** True if the user asked for the track or all others are smaller. */
export function isClearTrack({ index, tracks, asked }: TrackChoice): boolean {
  const size = tracks.map(area);
  return asked || size.every((other, i) => i === index || other < (size[index] ?? 0));
}

/** For example `track 1 (640x360, default)`. */
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
