/**
 * @module scripts/lib/accuracy-perceptual
 * Compares the perceptual metrics with the output of the authors' programs for the pictures and clips of ../shared.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { table } from './project.mjs';

const CUT = { noPrediction: true, threads: 0, preflight: false };

const street = (depth) => ({
  ...{ width: 576, height: 324, bitDepth: depth, chroma: '420' },
  names: [0, 1].map((hrc) => `src01_hrc0${hrc}_576x324.yuv420p${depth}le.yuv`),
});
const small = {
  ...{ width: 160, height: 90, bitDepth: 8, chroma: '420' },
  names: ['src01_hrc00_160x90.yuv', 'src01_hrc01_160x90.yuv'],
};
/** Clips of XPSNR by their names in values.json. */
const CLIPS = {
  street_10bit: street(10),
  street_12bit: street(12),
  small_8bit: small,
  small_8bit_50fps: { ...small, fps: 50 },
  hall_cif: {
    ...{ width: 352, height: 288, bitDepth: 8, chroma: '420' },
    names: ['hall_cif_frm_0_frm_0.yuv', 'hall_plr10_3693_frm_0_frm_0.yuv'],
  },
  dark_1080p_8bit: {
    ...{ width: 1920, height: 1080, bitDepth: 8, chroma: '420' },
    names: ['ref', 'dis'].map((side) => `dark_scene_1920x1080_420p_${side}.yuv`),
  },
};

/** Displays and how features show sRGB stills on them: HDR displays take the same samples as PQ. */
const DISPLAYS = {
  standard_fhd: 'cvvdp=display=standard_fhd',
  standard_4k: 'cvvdp',
  standard_hdr_pq: 'cvvdp=display=standard_hdr_pq:transfer=pq',
};
const JOD_OF = {
  standard_fhd: 'cvvdp_display_standard_fhd',
  standard_4k: 'cvvdp',
  standard_hdr_pq: 'cvvdp_display_standard_hdr_pq_transfer_pq',
};

/** Statistics of a row. */
class Row {
  #compared = 0;
  #equal = 0;
  #worst = 0;

  /**
   * @param printed rounds as the program prints; equal values are counted only with it
   * @param relative measures differences relative to the expected value
   */
  constructor(metric, oracle, most, { printed, relative = false } = {}) {
    Object.assign(this, { metric, oracle, most, printed, relative });
  }

  add(found, expected) {
    const value = this.printed?.(found) ?? found;
    this.#compared++;
    if (value === expected) this.#equal++;
    else {
      const difference = Math.abs(value - expected);
      this.#worst = Math.max(this.#worst, this.relative ? difference / Math.abs(expected) : difference);
    }
  }

  /** Whether a difference exceeds the promise. */
  get wrong() {
    return this.#compared === 0 || !(this.#worst <= this.most);
  }

  get cells() {
    const unit = this.relative ? ' relative' : '';
    const [worst, most] = [this.#worst, this.most].map((n) => (n === 0 ? '0' : n.toExponential(1) + unit));
    const equal = this.printed ? String(this.#equal) : '';
    return [this.metric, this.oracle, String(this.#compared), equal, worst, most];
  }
}

/**
 * @param score anyvmaf's
 * @param shared URL of ../shared
 * @returns the table, and rows that break the promise; `undefined` without ../shared
 */
export async function perceptualAccuracy(score, shared) {
  const golden = new URL('golden/perceptual/', shared);
  if (!existsSync(new URL('values.json', golden))) return undefined;
  const values = JSON.parse(readFileSync(new URL('values.json', golden), 'utf8'));
  const rows = [
    ...(await xpsnr(score, new URL('clips/', shared), values.xpsnr)),
    ...(await stills(score, golden, values.stills)),
    await clips(score, golden, values.cvvdp_video_clip160_by_fps),
  ];
  const head = ['metric', 'compared with', 'values', 'equal as printed', 'worst difference', 'promised'];
  const text = table(
    head,
    rows.map(({ cells }) => cells),
  );
  return {
    text,
    wrong: rows.filter(({ wrong }) => wrong).map(({ metric, oracle }) => `${metric}, ${oracle}`),
  };
}

async function xpsnr(score, folder, expected) {
  const decimals = (n) => (value) => Number(value.toFixed(n));
  const frames = new Row('`xpsnr_y`, `_u`, `_v`', 'FFmpeg 8.1, metadata of frames', 0, {
    // The filter's metadata have single precision.
    printed: (value) => decimals(6)(Math.fround(value)),
  });
  const sequences = new Row('`sequence_xpsnr_y`, `_u`, `_v`', 'FFmpeg 8.1, summary', 0, {
    printed: decimals(4),
  });
  for (const [name, { names, fps, ...raw }] of Object.entries(CLIPS)) {
    const [reference, distorted] = names.map((file) => fileURLToPath(new URL(file, folder)));
    if (![reference, distorted].every(existsSync)) continue;
    const report = await score(
      { reference, distorted, raw },
      {
        ...{ ...CUT, features: [fps === undefined ? 'xpsnr' : `xpsnr=fps=${fps}`] },
        range: { unit: 'frames', start: 0, end: expected[name].frames.length },
      },
    );
    const key = (plane) => `xpsnr_${plane}${fps === undefined ? '' : `_fps_${fps}`}`;
    for (const plane of ['y', 'u', 'v']) {
      for (const [i, { metrics }] of report.frames.entries())
        frames.add(metrics[key(plane)], Number(expected[name].frames[i][plane]));
      const sequence = report.aggregate_metrics[`sequence_${key(plane)}`];
      sequences.add(sequence, Number(expected[name].average[plane]));
    }
  }
  return [frames, sequences];
}

async function stills(score, folder, expected) {
  const exact = new Row('`ssimulacra2`, `mode=exact`', 'reference without FMA', 0, {
    printed: (value) => Number(value.toFixed(8)),
  });
  const fast = new Row('`ssimulacra2`', 'double precision', 0.03);
  const maximum = new Row('`butteraugli`', 'libjxl, 80 and 203 cd/m2', 1e-5, { relative: true });
  const norm = new Row('`butteraugli_3norm`', 'libjxl, 80 and 203 cd/m2', 1e-5, { relative: true });
  const jod = new Row('`cvvdp`, stills', 'ColorVideoVDP 0.5.6, three displays', 1e-4);
  for (const [name, { ssimulacra2, butteraugli, cvvdp }] of Object.entries(expected)) {
    const [reference, distorted] = ['ref', 'dis'].map((side) =>
      fileURLToPath(new URL(`${name}_${side}.png`, folder)),
    );
    const measure = async (...features) => {
      const { frames } = await score({ reference, distorted }, { ...CUT, features });
      return frames[0].metrics;
    };
    const found = await measure(
      ...['ssimulacra2', 'butteraugli', 'butteraugli=intensity_target=203', ...Object.values(DISPLAYS)],
    );
    exact.add((await measure('ssimulacra2=mode=exact')).ssimulacra2, ssimulacra2.sse4);
    if (ssimulacra2.own_f64 !== undefined) fast.add(found.ssimulacra2, ssimulacra2.own_f64);
    for (const [nits, suffix] of [
      ['80', ''],
      ['203', '_intensity_target_203'],
    ]) {
      maximum.add(found[`butteraugli${suffix}`], butteraugli[nits].max);
      norm.add(found[`butteraugli_3norm${suffix}`], butteraugli[nits].norm3);
    }
    for (const [display, key] of Object.entries(JOD_OF)) jod.add(found[key], cvvdp[display]);
  }
  return [exact, fast, maximum, norm, jod];
}

/** A clip of 160x90 in RGB. */
function rgbSource(path, num) {
  const [width, height] = [160, 90];
  const samples = width * height;
  const bytes = readFileSync(path);
  const frameCount = bytes.length / (3 * samples);
  return {
    info: {
      ...{ width, height, bitDepth: 8, chroma: '444', matrix: 'gbr', colorRange: 'full' },
      ...{ name: 'clip160', container: 'frames', frameCount, frameRate: { num, den: 1 }, warnings: [] },
    },
    seekable: true,
    readFrame(index, into) {
      if (index >= frameCount) return false;
      for (let i = 0, at = 3 * samples * index; i < samples; i++, at += 3)
        [into.cr[i], into.y[i], into.cb[i]] = [bytes[at], bytes[at + 1], bytes[at + 2]];
      return true;
    },
    close() {},
  };
}

async function clips(score, folder, expected) {
  const row = new Row('`cvvdp`, clips', 'ColorVideoVDP 0.5.6, 24, 30, 60 fps, three displays', 1e-4);
  for (const [rate, jod] of Object.entries(expected)) {
    const source = (side) => rgbSource(fileURLToPath(new URL(`clip160_${side}.rgb`, folder)), Number(rate));
    const report = await score(
      { reference: source('ref'), distorted: source('dis') },
      { ...CUT, features: Object.values(DISPLAYS) },
    );
    for (const [display, key] of Object.entries(JOD_OF)) row.add(report.aggregate_metrics[key], jod[display]);
  }
  return row;
}
