/**
 * @module web/frames/viewer/overlays
 * Computes and draws the amplified difference and the quality map of a pair.
 */
import { engine } from '../../engine/client.js';
import { text } from '../../text.js';
import { fittingFull, paint } from '../colours.js';
import type { LossGrid, ShownMap, ShownPair } from '../draw.js';
import type { PairSource } from '../serve.js';
import type { Findings, ViewSettings } from '../settings.js';
import type { Stage } from '../stage.js';

/** Side of a map's square in samples. */
const BLOCK = 16;

export class Overlays {
  readonly #settings: ViewSettings;
  readonly #stage: Stage;
  readonly #findings: Findings;
  #map: ShownMap | undefined;
  #gain = 1;
  #making: AbortController | undefined;
  /** Aborted when another pair is on show. */
  #left = new AbortController();

  constructor(settings: ViewSettings, stage: Stage, findings: Findings) {
    this.#settings = settings;
    this.#stage = stage;
    this.#findings = findings;
  }

  get gain(): number {
    return this.#gain;
  }

  get grid(): LossGrid | undefined {
    return this.#map?.grids[this.#settings.grid.value];
  }

  /** Call when another pair is on show. */
  forget(): void {
    this.stop();
    this.#left.abort(new Error(text.frames.save.left));
    this.#left = new AbortController();
    this.#map = undefined;
  }

  stop(): void {
    this.#making?.abort();
  }

  /** Makes and draws the view's overlay. @returns `undefined` if it has none; resolves to false if superseded */
  make(source: PairSource, pair: ShownPair): Promise<boolean> | undefined {
    const mode = this.#settings.mode.value;
    this.stop();
    if (mode !== 'difference' && mode !== 'map') return undefined;
    if (mode === 'map' && this.grid) {
      this.paintMap();
      return Promise.resolve(true);
    }
    const making = new AbortController();
    this.#making = making;
    const { signal } = making;
    const made =
      mode === 'map' ? this.#makeMap(source, pair, signal) : this.#makeDifference(source, pair, signal);
    return made.then(
      () => true,
      (error: unknown) => {
        if (!signal.aborted) throw error;
        return false;
      },
    );
  }

  async #makeDifference(source: PairSource, { index }: ShownPair, signal: AbortSignal): Promise<void> {
    const gain = this.#settings.gain.value;
    const call = { source, index, ...(gain !== null && { gain }) };
    const shown = await engine.call('difference', call, { signal });
    this.#gain = shown.gain;
    this.#stage.showDifference(shown.bitmap);
    shown.bitmap.close();
    this.#findings.gain(shown.gain);
  }

  async #makeMap(source: PairSource, { index }: ShownPair, signal: AbortSignal): Promise<void> {
    const butteraugli = this.#settings.grid.value === 'butteraugli';
    const options = { ...source.maps, blockSize: BLOCK, butteraugli };
    this.#map = await engine.call('maps', { source, index, options }, { signal });
    this.paintMap();
  }

  /** Draws the map on the stage, whatever the view. */
  async map(source: PairSource, pair: ShownPair): Promise<void> {
    if (this.grid) this.paintMap();
    else await this.#makeMap(source, pair, this.#left.signal);
  }

  /** Call when settings change. */
  paintMap(): void {
    const { grid } = this;
    if (!grid) return;
    const full = this.#settings.full.value ?? fittingFull(grid);
    this.#stage.showMap(paint(grid, full), grid.blockSize);
    const kind = this.#settings.grid.value === 'butteraugli' ? 'difference' : 'loss';
    this.#findings.map({ kind, full, total: grid.total, where: kind === 'loss' ? whereOf(grid) : '' });
  }
}

/** Percent of the loss from which a ninth of the picture is named; evenly spread it would be 11. */
const GATHERED = 20;

/** For users who cannot see colours. */
function whereOf({ width, height, density }: LossGrid): string {
  const sums = new Float64Array(9);
  let all = 0;
  density.forEach((value, i) => {
    const lost = Math.max(0, value);
    const part = 3 * Math.floor((3 * Math.floor(i / width)) / height) + Math.floor((3 * (i % width)) / width);
    sums[part] = (sums[part] ?? 0) + lost;
    all += lost;
  });
  const most = sums.indexOf(Math.max(...sums));
  const share = all === 0 ? 0 : Math.round((100 * (sums[most] ?? 0)) / all);
  const part = text.frames.parts[Math.floor(most / 3)]?.[most % 3];
  return part === undefined || share < GATHERED ? '' : text.frames.mapWhere(part, share);
}
