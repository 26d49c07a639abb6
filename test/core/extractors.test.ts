/**
 * @module test/core/extractors
 * The extractors' options and features against the tables of libvmaf 3.2.0.
 */
import { describe, expect, it } from 'vitest';
import { findProvider, listExtractors } from '../../src/core/extractors.js';

/** name, alias, type, default, min, max, counts for the name. */
type Row = [
  string,
  string | undefined,
  string,
  boolean | number,
  number | undefined,
  number | undefined,
  boolean,
];

const OPTIONS: Record<string, Row[]> = {
  vif: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['vif_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['vif_skip_scale0', 'ssclz', 'bool', false, undefined, undefined, true],
  ],
  adm: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['adm_csf_scale', 'scf', 'double', 1, 0, 50, true],
    ['adm_csf_diag_scale', 'scfd', 'double', 1, 0, 50, true],
    ['adm_dlm_weight', 'dlmw', 'double', 0.5, 0, 1, true],
    ['adm_enhn_gain_limit', 'egl', 'double', 100, 1, 100, true],
    ['adm_norm_view_dist', 'nvd', 'double', 3, 0.75, 24, true],
    ['adm_ref_display_height', 'rdh', 'int', 1080, 1, 4320, true],
    ['adm_csf_mode', 'csf', 'int', 0, 0, 3, true],
    ['adm_noise_weight', 'nw', 'double', 0.03125, 0, 1500, true],
    ['adm_skip_aim', undefined, 'bool', false, undefined, undefined, false],
    ['adm_skip_scale0', 'ssz', 'bool', false, undefined, undefined, true],
    ['adm_min_val', 'min', 'double', 0, 0, 1, true],
  ],
  motion: [
    ['debug', undefined, 'bool', false, undefined, undefined, false],
    ['motion_force_zero', 'force_0', 'bool', false, undefined, undefined, true],
    ['motion_blend_factor', 'mbf', 'double', 1, 0, 1, true],
    ['motion_blend_offset', 'mbo', 'double', 40, 0, 1000, true],
    ['motion_fps_weight', 'mfw', 'double', 1, 0, 5, true],
    ['motion_max_val', 'mmxv', 'double', 10000, 0, 10000, true],
    ['motion_five_frame_window', 'mffw', 'bool', false, undefined, undefined, true],
    ['motion_moving_average', 'mma', 'bool', false, undefined, undefined, true],
  ],
  psnr: [
    ['enable_chroma', undefined, 'bool', true, undefined, undefined, false],
    ['enable_mse', undefined, 'bool', false, undefined, undefined, false],
    ['enable_apsnr', undefined, 'bool', false, undefined, undefined, false],
    ['reduced_hbd_peak', undefined, 'bool', false, undefined, undefined, false],
    ['min_sse', undefined, 'double', 0, 0, Number.MAX_VALUE, false],
  ],
};

function extractor(name: string) {
  const found = listExtractors().find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no extractor ${name}`);
  return found;
}

describe('listExtractors', () => {
  it('lists the extractors there are', () => {
    expect(
      listExtractors()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['adm', 'motion', 'psnr', 'vif']);
  });

  it.each(Object.keys(OPTIONS))('%s has libvmaf’s options', (name) => {
    const rows = extractor(name).options.map((o): Row => {
      return [o.name, o.alias, o.type, o.default, o.min, o.max, o.inName];
    });
    expect(rows).toEqual(OPTIONS[name]);
  });

  it('says of every extractor and option what it is for', () => {
    for (const { description, options } of listExtractors()) {
      for (const text of [description, ...options.map((option) => option.description)]) {
        expect(text).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  it('gives nothing away that a caller could change', () => {
    const open: string[] = [];
    const visit = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, part] of Object.entries(value)) visit(part, `${path}.${key}`);
    };
    visit(listExtractors(), 'extractors');
    expect(open).toEqual([]);
  });

  it('never skips frames for motion and psnr', () => {
    const always = listExtractors().filter((e) => e.temporal || e.previousReference);
    expect(always.map(({ name }) => name).sort()).toEqual(['motion', 'psnr']);
  });
});

describe('findProvider', () => {
  it('finds the extractor of every feature that the built-in models read', () => {
    for (const [feature, name] of [
      ['VMAF_integer_feature_adm2_score', 'adm'],
      ['VMAF_integer_feature_motion2_score', 'motion'],
      ['VMAF_integer_feature_vif_scale3_score', 'vif'],
      ['psnr_cb', 'psnr'],
    ] as const) {
      expect(findProvider(feature)?.extractor.name).toBe(name);
    }
  });

  it('does not know log names or other extractors’ features', () => {
    expect(findProvider('integer_adm2')).toBeUndefined();
    expect(findProvider('Cambi_feature_cambi_score')).toBeUndefined();
  });
});
