/**
 * @module test/unit/metrics/options
 * Feature strings and option values: what is accepted, how numbers are normalised, error messages, and libvmaf 3.2.0's names of
 * features with the numbers in them.
 */
import { describe, expect, it } from 'vitest';
import type { Colour, ScoredFormat } from '../../../src/core/colour.js';
import type { ErrorCode } from '../../../src/core/errors.js';
import { colourParameters, coloursOf } from '../../../src/metrics/colour.js';
import { metricOf } from '../../../src/metrics/index.js';
import { choiceOption, flagOption, numberOption } from '../../../src/metrics/metric.js';
import {
  folderOption,
  formatG,
  logName,
  normaliseNumber,
  parseFeature,
} from '../../../src/metrics/options.js';
import { format } from '../../support/metric.js';
import { refusal } from '../../support/refusals.js';

const refused = (text: string, code: ErrorCode = 'feature') => refusal(code, () => parseFeature(text));

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

  const TEXTS = ['', ' ', '20abc', 'nan', 'inf', '1e', '0x', '1.5.2', '1 2', '1e999', '--1', 'true'];
  it.each(TEXTS)('"%s" is not a number', (text) => {
    expect(normaliseNumber(text)).toBeUndefined();
  });
});

describe('parseFeature', () => {
  it('uses defaults of options that are not named, and reads options of all types', () => {
    const { options, suffix, key } = parseFeature('vif');
    expect(options).toEqual({ debug: false, vif_enhn_gain_limit: 100, vif_skip_scale0: false });
    expect([suffix, key]).toEqual(['', 'vif']);
    const typed = parseFeature('adm=adm_csf_mode=2:adm_noise_weight=0.020:debug=true').options;
    expect(typed).toMatchObject({ adm_csf_mode: 2, adm_noise_weight: 0.02, debug: true, adm_min_val: 0 });
  });

  it('keeps a folder as it is, even a number, and refuses an empty one', () => {
    const folderOf = (text: string) => parseFeature(`cambi=heatmaps_path=${text}`).options.heatmaps_path;
    expect(['maps/1.10', '007'].map(folderOf)).toEqual(['maps/1.10', '007']);
    expect(parseFeature('cambi=heatmaps_path=maps')).toMatchObject({ suffix: '', key: 'cambi' });
    expect(refused('cambi=heatmaps_path=')).toMatch(
      /^Option heatmaps_path of the cambi extractor is "" .* must be the path of a folder to write into/,
    );
  });

  it('finds options that write files, in feature and model strings', () => {
    expect(folderOption(['psnr', 'cambi=topk=0.5:heatmaps_path=maps'])).toBe('heatmaps_path');
    expect(folderOption(['version=vmaf_v1.0.16_3d0h:cambi.heatmaps_path=maps'])).toBe('heatmaps_path');
    const others = ['path=heatmaps_path.json', 'path=maps/heatmaps_path', 'cambi=full_ref=true'];
    expect(folderOption(others)).toBeUndefined();
  });

  it('reads -0 as 0', () => {
    const { options, suffix } = parseFeature('motion=motion_max_val=-0.0:motion_blend_offset=-0');
    expect(options).toMatchObject({ motion_max_val: 0, motion_blend_offset: 0 });
    expect(suffix).toBe('_mbo_0_mmxv_0');
    const { where, ...zero } = parseFeature('adm=adm_noise_weight=0');
    expect(zero).toMatchObject({ options: { adm_noise_weight: 0 }, suffix: '_nw_0' });
    expect(parseFeature('adm=adm_noise_weight=-0')).toEqual({ ...zero, where: where.replace('=0', '=-0') });
  });

  it('takes the last of a repeated option, and a value up to its second =; limits are inclusive', () => {
    expect(parseFeature('psnr=min_sse=1:min_sse=31=5').options.min_sse).toBe(31);
    expect(parseFeature('vif=vif_enhn_gain_limit=1').options.vif_enhn_gain_limit).toBe(1);
    expect(parseFeature('adm=adm_noise_weight=1500').options.adm_noise_weight).toBe(1500);
    expect(parseFeature('adm=adm_noise_weight=0').options.adm_noise_weight).toBe(0);
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
  ])('refuses "%s" in one sentence with the reason', (text, message) => {
    expect(refused(text)).toMatch(message);
    expect(refused(text)).toMatch(/^[^\n]+\.$/);
  });

  it.each([
    ['vif=debug', 'debug'],
    ['vif=', ''],
    ['vif=debug=true:', ''],
  ])('refuses "%s" as malformed', (text, item) => {
    expect(refused(text, 'usage')).toContain(`bad option string "${item}"`);
    expect(refused(text, 'usage')).toMatch(/^[^\n]+\.$/);
  });
});

describe('formatG writes what C’s %g writes', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [0.02, '0.02'],
    [100, '100'],
    [1080, '1080'],
    [123456, '123456'],
    [1234567, '1.23457e+06'],
    [1e6, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001234, '1.234e-05'],
    [1.5e300, '1.5e+300'],
    [-2.5, '-2.5'],
    [999999.5, '1e+06'],
    [Math.fround(0.3), '0.3'],
  ])('%d as %s', (value, text) => {
    expect(formatG(value)).toBe(text);
  });

  it('rounds ties to the even digit', () => {
    // 2^-9 = 0.001953125 and 3 * 2^-9 = 0.005859375 are exact in binary.
    expect(formatG(2 ** -9)).toBe('0.00195312');
    expect(formatG(3 * 2 ** -9)).toBe('0.00585938');
    expect(formatG(0.5, 1)).toBe('0.5');
    expect(formatG(2.5, 1)).toBe('2');
    expect(formatG(3.5, 1)).toBe('4');
  });
});

it('names of features are cut at 255 characters', () => {
  const feature = { name: 'x', alias: 'a'.repeat(250), when: [], emitted: 'frame' } as const;
  expect(logName(feature, '_egl_1.25')).toBe(`${'a'.repeat(250)}_egl_`);
});

const reference: Colour = {
  ...{ matrix: 'bt709', range: 'limited', transfer: 'srgb', siting: 'left', upsampling: 'bicubic' },
} as const;
const distorted: Colour = { ...reference, matrix: 'bt601', range: 'full' };
const video: ScoredFormat = { ...format(64, 64), colours: { reference, distorted } };

describe('colours of a metric', () => {
  it('are those of the videos by default', () => {
    for (const feature of ['ssimulacra2', 'butteraugli=matrix=auto', 'cvvdp=transfer=auto:range=auto'])
      expect(coloursOf(parseFeature(feature), video)).toEqual({ reference, distorted });
  });

  // In the numbers of wasm/include/perceptual.h: matrix, range, transfer, siting, upsampling, primaries.
  it.each([
    ['matrix=bt2020', { matrix: 'bt2020' }, [3, 0, 0, 0, 0, 1, 3, 1, 0, 0, 0, 1]],
    ['range=full', { range: 'full' }, [1, 1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0]],
    ['transfer=bt1886', { transfer: 'bt1886' }, [1, 0, 1, 0, 0, 0, 2, 1, 1, 0, 0, 0]],
    ['siting=topleft', { siting: 'topleft' }, [1, 0, 0, 2, 0, 0, 2, 1, 0, 2, 0, 0]],
    ['upsampling=nearest', { upsampling: 'nearest' }, [1, 0, 0, 0, 2, 0, 2, 1, 0, 0, 2, 0]],
    ['primaries=p3', { primaries: 'p3' }, [1, 0, 0, 0, 0, 2, 2, 1, 0, 0, 0, 2]],
  ])('%s replaces that of both', (option, replaced, numbers) => {
    const instance = parseFeature(`ssimulacra2=${option}`);
    const expected = { reference: { ...reference, ...replaced }, distorted: { ...distorted, ...replaced } };
    expect(coloursOf(instance, video)).toEqual(expected);
    expect(colourParameters(instance, video)).toEqual(numbers);
  });

  it('are refused if the matrix of a video is not supported, unless an option sets one', () => {
    const coded = { ...video, colours: { reference, distorted: { ...distorted, unsupported: 'ictcp' } } };
    expect(() => coloursOf(parseFeature('cvvdp'), coded)).toThrow(
      'The cvvdp extractor cannot convert the distorted video to RGB, since its matrix ictcp is not supported; convert it ' +
        'first, for example with ffmpeg -vf zscale=matrix=2020_ncl, or set its true matrix if the file states a wrong one: ' +
        'cvvdp=matrix=bt2020.',
    );
    const named = coloursOf(parseFeature('cvvdp=matrix=bt2020'), coded);
    expect(named.distorted).toEqual({ ...distorted, matrix: 'bt2020' });
  });

  it('are required if frames do not state them', () => {
    const feature = parseFeature('butteraugli=matrix=bt709');
    expect(() => coloursOf(feature, format(64, 64))).toThrow(
      'The butteraugli extractor needs the colours of both videos, which frames without a container do not state; set ' +
        'them in format.colours.',
    );
  });

  it.each([
    [
      'butteraugli=matrix=ictcp',
      'ictcp with the transfer srgb, but ICtCp is defined for PQ and HLG only; set one,',
    ],
    [
      'cvvdp=matrix=bt2020c:transfer=pq',
      'bt2020c with the transfer pq, but constant luminance is defined for SDR only; set',
    ],
  ])('are refused if no standard defines them: %s', (feature, why) => {
    expect(() => coloursOf(parseFeature(feature), video)).toThrow(
      `The ${feature.split('=')[0]} extractor cannot convert the reference video to RGB: it is ${why}`,
    );
  });

  it('of HDR are refused by SSIMULACRA2, with an alternative', () => {
    const instance = parseFeature('ssimulacra2=transfer=hlg');
    expect(() => metricOf(instance).measure(instance, video, 'libvmaf-3.2')).toThrow(
      /^The ssimulacra2 extractor is not defined for HLG, which the reference video is: .* use cvvdp=display=standard_hdr_hlg or/,
    );
  });
});

it('an option that an instance lacks is an internal error', () => {
  const instance = parseFeature('psnr');
  expect(() => flagOption(instance, 'none')).toThrow('psnr has no flag "none".');
  expect(() => numberOption(instance, 'none')).toThrow('psnr has no number "none".');
  expect(() => choiceOption(instance, 'none')).toThrow('psnr has no choice "none".');
});

it.each(['xpsnr', 'cvvdp'])('%s has no value without frames', (name) => {
  const instance = parseFeature(name);
  expect(metricOf(instance).finish(instance, video, 'libvmaf-3.2').aggregates?.()).toEqual({});
});
