/**
 * @module core/luma-weights
 * Weights of red and blue in luma (ITU-T H.273, table 4).
 */

/** Colour matrices that pictures may have. */
export type LumaMatrix = 'bt601' | 'bt709' | 'bt2020' | 'smpte240m' | 'fcc';

export const LUMA_WEIGHTS: Readonly<Record<LumaMatrix, { readonly kr: number; readonly kb: number }>> = {
  bt601: { kr: 0.299, kb: 0.114 },
  bt709: { kr: 0.2126, kb: 0.0722 },
  bt2020: { kr: 0.2627, kb: 0.0593 },
  smpte240m: { kr: 0.212, kb: 0.087 },
  fcc: { kr: 0.3, kb: 0.11 },
};
