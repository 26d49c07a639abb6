/**
 * @module report/value-meaning
 * What values of perceptual metrics mean. Apart from opinions, which an application's start loads.
 */

/** What values of perceptual metrics mean, by the beginnings of their names. */
const MEANINGS: readonly (readonly [name: string, meaning: string])[] = [
  ['ssimulacra2', 'SSIMULACRA2: 90 is visually lossless, 70 high, 50 medium, 30 low quality.'],
  ['butteraugli_3norm', 'Butteraugli of the whole picture: 0 for no difference, below 1 hardly visible.'],
  ['butteraugli', 'Butteraugli of the worst place in each frame: below 1, differences are invisible.'],
  [
    'cvvdp',
    'ColorVideoVDP in JOD: 10 is no visible difference; of two videos 1 JOD apart, 75 % of viewers prefer the higher.',
  ],
  ['xpsnr', 'XPSNR in dB: compare encodes of one video, not values of different videos.'],
];

/** What the values of a perceptual metric mean, in a sentence; `undefined` for other metrics. */
export function valueMeaning(metric: string): string | undefined {
  return MEANINGS.find(([name]) => metric === name || metric.startsWith(`${name}_`))?.[1];
}
