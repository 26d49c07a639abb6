/**
 * @module metrics/cvvdp-displays
 * The displays that ColorVideoVDP knows by name. The numbers are those of display_models.json in gfxdisp/ColorVideoVDP
 * 0.5.6, MIT licence (THIRD-PARTY-NOTICES.md); left out are headsets and displays for linear light.
 */

/** A display and how it is looked at. */
export interface Display {
  /** What it takes its signal for. */
  readonly signal: 'sdr' | 'pq' | 'hlg';
  /** Luminance of its white, cd/m2. */
  readonly peak: number;
  /** Of white to black. */
  readonly contrast: number;
  /** Light of the room, lux. */
  readonly ambient: number;
  /** Share of that light that the screen reflects. */
  readonly reflectivity: number;
  /** Pixels per degree of the visual field. */
  readonly pixelsPerDegree: number;
}

/** Metres. */
const INCH = 0.0254;

/**
 * @param size columns and rows
 * @param diagonal inches
 * @param distance from which it is looked at, metres
 */
function display(
  signal: Display['signal'],
  [columns, rows]: readonly [number, number],
  diagonal: number,
  distance: number,
  peak: number,
  contrast: number,
  ambient: number,
): Display {
  const pixel = (diagonal * INCH) / Math.hypot(columns, rows);
  const degrees = (2 * Math.atan(pixel / 2 / distance) * 180) / Math.PI;
  return { signal, peak, contrast, ambient, reflectivity: 0.005, pixelsPerDegree: 1 / degrees };
}

/** By name, the default first. */
export const DISPLAYS = {
  standard_4k: display('sdr', [3840, 2160], 30, 0.7472, 200, 1000, 250),
  standard_fhd: display('sdr', [1920, 1080], 24, 0.6, 200, 1000, 250),
  standard_hdr_pq: display('pq', [3840, 2160], 30, 0.7472, 1500, 1e6, 10),
  standard_hdr_hlg: display('hlg', [3840, 2160], 30, 0.7472, 1500, 1e6, 10),
  standard_phone: display('sdr', [2400, 1080], 6, 0.4, 500, 500 / 0.05, 250),
  sdr_4k_30: display('sdr', [3840, 2160], 30, 0.6, 100, 1000, 250),
  sdr_fhd_24: display('sdr', [1920, 1080], 24, 0.6, 100, 1000, 250),
  iphone_12_pro: display('sdr', [2532, 1170], 6.1, 20 * INCH, 825, 825 / 0.0004, 250),
  iphone_14_pro: display('sdr', [2532, 1170], 6.1, 20 * INCH, 1025, 1025 / 0.0004, 250),
  iphone_14_pro_vert: display('sdr', [1170, 2532], 6.1, 20 * INCH, 1025, 1025 / 0.0004, 250),
  iphone_14_pro_hdr: display('hlg', [2532, 1170], 6.1, 20 * INCH, 1590, 1590 / 0.0004, 10),
  iphone_14_pro_hdr_vert: display('hlg', [1170, 2532], 6.1, 20 * INCH, 1590, 1590 / 0.0004, 10),
  ipad_pro_12_9: display('sdr', [2732, 2048], 12.9, 20 * INCH, 600, 600 / 0.37, 250),
  macbook_pro_16: display('sdr', [3072, 1920], 16, 25 * INCH, 500, 500 / 0.37, 250),
  lg_oled_2017_sdr: display('sdr', [3840, 2160], 64.5, 101 * INCH, 272, 272 / 0.014, 100),
  // Bright, but the authors give it no HDR signal.
  lg_oled_2017_hdr: display('sdr', [3840, 2160], 64.5, 101 * INCH, 754, 754 / 0.038, 100),
  eizo_CG3146: display('sdr', [4096, 2160], 31.063, 0.73406, 300, 3000, 0),
} as const satisfies Readonly<Record<string, Display>>;
