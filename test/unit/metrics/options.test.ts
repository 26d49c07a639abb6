/**
 * @module test/unit/metrics/options
 * Feature strings and option values: what is accepted, how numbers are normalised, what errors say.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { folderOption, normaliseNumber, parseFeature } from '../../../src/metrics/options.js';

function refusal(text: string, code = 'feature'): string {
  try {
    parseFeature(text);
  } catch (error) {
    if (error instanceof AnyvmafError && error.code === code) return error.message;
    throw error;
  }
  throw new Error(`"${text}" was accepted`);
}

describe('normaliseNumber reads as float and prints with %g', () => {
  it.each([
    ['1.0', 1],
    ['1.10', 1.1],
    ['0.02', 0.02],
    ['0x20', 32],
    ['1e2', 100],
    ['.5', 0.5],
    [' +3', 3],
    ['-2', -2],
    ['0.30000001', 0.3],
    // Six digits remain.
    ['1.23456789', 1.23457],
    // 2^-9 has seven digits, an exact tie: to even.
    ['0.001953125', 0.00195312],
  ])('%s is %d', (text, value) => {
    expect(normaliseNumber(text)).toBe(value);
  });

  it.each(['', ' ', '20abc', 'nan', 'inf', '1e', '0x', '1.5.2', '1 2', '1e999', '--1', 'true'])(
    '"%s" is not wholly a number',
    (text) => {
      expect(normaliseNumber(text)).toBeUndefined();
    },
  );
});

describe('parseFeature', () => {
  it('gives defaults to options that are not named', () => {
    const { options, suffix, key } = parseFeature('vif');
    expect(options).toEqual({ debug: false, vif_enhn_gain_limit: 100, vif_skip_scale0: false });
    expect([suffix, key]).toEqual(['', 'vif']);
  });

  it('takes a folder as it stands, be it a number, and refuses none', () => {
    const folderOf = (text: string) => parseFeature(`cambi=heatmaps_path=${text}`).options.heatmaps_path;
    expect(['maps/1.10', '007'].map(folderOf)).toEqual(['maps/1.10', '007']);
    expect(parseFeature('cambi=heatmaps_path=maps')).toMatchObject({ suffix: '', key: 'cambi' });
    expect(refusal('cambi=heatmaps_path=')).toMatch(
      /^Option heatmaps_path of the cambi extractor is "" .* must be the path of a folder to write into/,
    );
  });

  it('finds options that have files written in feature and model strings', () => {
    expect(folderOption(['psnr', 'cambi=topk=0.5:heatmaps_path=maps'])).toBe('heatmaps_path');
    expect(folderOption(['version=vmaf_v1.0.16_3d0h:cambi.heatmaps_path=maps'])).toBe('heatmaps_path');
    expect(folderOption(['path=heatmaps_path.json', 'path=maps/heatmaps_path', 'cambi=full_ref=true'])).toBe(
      undefined,
    );
  });

  it('reads options of all types', () => {
    const { options } = parseFeature('adm=adm_csf_mode=2:adm_noise_weight=0.020:debug=true');
    expect(options).toMatchObject({ adm_csf_mode: 2, adm_noise_weight: 0.02, debug: true, adm_min_val: 0 });
  });

  it('takes a negative zero for zero', () => {
    const { options, suffix } = parseFeature('motion=motion_max_val=-0.0:motion_blend_offset=-0');
    expect(options).toMatchObject({ motion_max_val: 0, motion_blend_offset: 0 });
    expect(suffix).toBe('_mbo_0_mmxv_0');
    const { where, ...zero } = parseFeature('adm=adm_noise_weight=0');
    expect(zero).toMatchObject({ options: { adm_noise_weight: 0 }, suffix: '_nw_0' });
    expect(parseFeature('adm=adm_noise_weight=-0')).toEqual({ ...zero, where: where.replace('=0', '=-0') });
  });

  it('takes the last of a repeated option, and a value up to its second =', () => {
    const { options } = parseFeature('psnr=min_sse=1:min_sse=31=5');
    expect(options.min_sse).toBe(31);
  });

  it.each([
    ['vfi', /no feature extractor "vfi".*there are .*vif/],
    ['vfi', /; did you mean vif\? If not, there are /],
    ['sim', /did you mean vif|float_ssim/],
    ['psnr_cb', /did you mean psnr\?/],
    ['integer_motion2', /did you mean motion\?/],
    ['VMAF_feature_adm2_score', /did you mean float_adm\?/],
    ['null', /^There is no feature extractor "null" \(in feature "null"\); there are float_psnr, /],
    ['blur', /no feature extractor "blur" \(in feature "blur"\); there are /],
    ['', /no feature extractor ""/],
    ['vif=vif_enhn_gain_limt=2', /\. Did you mean vif_enhn_gain_limit\? Its options are /],
    ['vif=egl=2', /Did you mean vif_enhn_gain_limit\?/],
    ['vif=gain=1', /\(in feature "vif=gain=1"\)\. Its options are /],
    ['vif=gain=1', /vif extractor has no option "gain".*vif_enhn_gain_limit/],
    ['vif=debug=yes', /debug of the vif extractor is "yes".*must be true or false/],
    ['vif=debug=1', /must be true or false/],
    ['vif=vif_enhn_gain_limit=0.5', /"0.5".*a number from 1 to 100/],
    ['vif=vif_enhn_gain_limit=100.5', /a number from 1 to 100/],
    ['vif=vif_enhn_gain_limit=2x', /"2x"/],
    ['vif=vif_enhn_gain_limit=', /is ""/],
    ['adm=adm_csf_mode=1.5', /a whole number from 0 to 3/],
    ['adm=adm_ref_display_height=0', /a whole number from 1 to 4320/],
    ['psnr=min_sse=nan', /"nan".*a number of at least 0/],
    ['psnr=min_sse=-1', /a number of at least 0/],
  ])('refuses "%s" in one sentence that says why', (text, message) => {
    expect(refusal(text)).toMatch(message);
    expect(refusal(text)).toMatch(/^[^\n]+\.$/);
  });

  it.each([
    ['vif=debug', 'debug'],
    ['vif=', ''],
    ['vif=debug=true:', ''],
  ])('refuses "%s" as malformed, a mistake of the command line', (text, item) => {
    expect(refusal(text, 'usage')).toContain(`bad option string "${item}"`);
    expect(refusal(text, 'usage')).toMatch(/^[^\n]+\.$/);
  });

  it('accepts limits themselves', () => {
    expect(parseFeature('vif=vif_enhn_gain_limit=1').options.vif_enhn_gain_limit).toBe(1);
    expect(parseFeature('adm=adm_noise_weight=1500').options.adm_noise_weight).toBe(1500);
    expect(parseFeature('adm=adm_noise_weight=0').options.adm_noise_weight).toBe(0);
  });
});
