/**
 * @module engine/inputs/context
 * What reading the videos of a run needs, and what runs of the same videos share.
 */

import type { KnownColour } from '../../core/colour.js';
import type { InputRole } from '../../core/errors.js';
import type { RecordedThumbs } from '../../media/align/recorded.js';
import type { AlignResult } from '../../media/align/types.js';
import type { Side } from '../../media/pairing/prepare.js';
import type { SideMeasurements } from '../../media/preflight/types.js';
import type { CheckedPairing, InputOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';

export interface InputContext {
  readonly platform: Platform;
  readonly checked: InputOptions;
  readonly signal: AbortSignal;
  /** Absent if no other run reads these videos. */
  readonly shared?: SharedInputs;
  /** Colour of both videos, instead of what their files declare. */
  readonly colour?: KnownColour;
  /** Result of an earlier search of the same pair, used instead of searching again. */
  readonly alignment?: AlignResult;
}

/** Shared by runs of the same videos. The first to need a part passes how to read it; its signal does not abort it. */
export class SharedInputs {
  readonly #roles: readonly InputRole[];
  readonly #signal: AbortSignal;
  readonly #sides = new Map<string, Promise<Side>>();
  readonly #thumbs = new Map<number, RecordedThumbs>();
  #measured: Promise<SideMeasurements> | undefined;

  /** @param roles of the videos that all runs read @param signal aborts pending reads */
  constructor(roles: readonly InputRole[], signal: AbortSignal) {
    this.#roles = roles;
    this.#signal = signal;
  }

  /** An identified encoded video; `undefined` if each run has its own. */
  side(
    role: InputRole,
    { decoder, urls, rate, tracks, grain }: CheckedPairing,
    identify: (signal: AbortSignal) => Promise<Side>,
  ): Promise<Side> | undefined {
    if (!this.#roles.includes(role)) return undefined;
    const key = JSON.stringify([role, decoder, urls, rate, tracks[role], grain]);
    const side = this.#sides.get(key) ?? identify(this.#signal);
    this.#sides.set(key, side);
    return side;
  }

  /** Thumbnails of the reference after its skipped frames; `undefined` if runs see different pictures of it. */
  thumbs(
    { pairing, skip }: InputOptions,
    record: (signal: AbortSignal) => RecordedThumbs,
  ): RecordedThumbs | undefined {
    if (!seesSame(pairing)) return undefined;
    const thumbs = this.#thumbs.get(skip.reference) ?? record(this.#signal);
    this.#thumbs.set(skip.reference, thumbs);
    return thumbs;
  }

  /** Borders and sharpness of a few frames of the reference; `undefined` as {@link thumbs}. */
  measured(
    { pairing }: InputOptions,
    measure: (signal: AbortSignal) => Promise<SideMeasurements>,
  ): Promise<SideMeasurements> | undefined {
    if (!seesSame(pairing)) return undefined;
    this.#measured ??= measure(this.#signal);
    return this.#measured;
  }
}

/** Whether runs see the same pictures of the reference: filters and tracks may differ between runs. */
function seesSame({ filters, tracks }: CheckedPairing): boolean {
  return filters === undefined && tracks.reference === undefined;
}
