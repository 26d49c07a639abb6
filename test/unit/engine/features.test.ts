/**
 * @module test/unit/engine/features
 * What a set of extractors makes the backend measure: everything they need, and nothing twice.
 */
import { describe, expect, it } from 'vitest';
import { recordLayout } from '../../../src/engine/backends/types.js';
import { type FeaturePlan, planFeatures } from '../../../src/engine/plan/features.js';
import { admStructs, admVariant } from '../../../src/metrics/adm.js';
import { admCsf } from '../../../src/metrics/adm-csf.js';
import { doubles } from '../../../src/metrics/metric.js';
import { loadModels } from '../../../src/models/load.js';
import { planOf, videoFormat } from '../../support/finish.js';
import { modelStore } from '../../support/models.js';

const format = videoFormat(1920, 1080);
const LUMA = { of: 'reference', plane: 0, back: 0 };
const CSF = admCsf({ normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 });
const plainAdm = (gainLimit = 100) => admVariant(gainLimit, 0.03125, CSF, { aim: true, scale0: true });

/** Calls by function, with their parameters. */
const callsOf = ({ extraction }: FeaturePlan) =>
  extraction.calls.map(({ run, parameters }) => [run, parameters] as const);

describe('planFeatures', () => {
  it('measures plain and NEG in one pass: two variants of vif and adm, one of motion', async () => {
    const models = await loadModels(['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg'], modelStore());
    const plan = planFeatures(
      models.flatMap(({ extractors }) => extractors),
      format,
      'libvmaf-3.2',
    );
    expect(plan.extraction.format).toEqual(format);
    expect(callsOf(plan)).toEqual([
      ['adm', admStructs([plainAdm(), plainAdm(1)])],
      ['motion', undefined],
      ['vif', doubles([100, 1])],
    ]);
    expect(plan.extractors.map(({ instance }) => instance.key)).toEqual([
      'adm',
      'motion',
      'vif',
      'adm_egl_1',
      'vif_egl_1',
    ]);
    expect(plan.extractors.map(({ column }) => column)).toEqual([0, 24, 25, 12, 33]);
    expect(plan.layout).toEqual(recordLayout(plan.extraction));
    expect(plan.warnings).toEqual([]);
  });

  it('measures nothing twice for options that only matter at the end', () => {
    const plan = planOf(
      [
        'adm',
        'adm=adm_dlm_weight=0.7:adm_min_val=0.5',
        'adm=adm_csf_scale=2',
        'motion',
        'motion=motion_max_val=18:motion_fps_weight=0.5:motion_moving_average=true',
        'motion=motion_force_zero=true',
      ],
      format,
    );
    expect(callsOf(plan)).toEqual([
      ['adm', admStructs([plainAdm()])],
      ['motion', undefined],
    ]);
    expect(plan.extraction.calls.map(({ back }) => back)).toEqual([0, 1]);
  });

  it('leaves out only what all that share a measurement do without', () => {
    const firstScales = (...features: string[]) =>
      planOf(features, format).extraction.calls.map(({ args }) => args.at(-1));
    expect(firstScales('vif=vif_skip_scale0=true')).toEqual([1]);
    expect(firstScales('vif=vif_skip_scale0=true', 'vif')).toEqual([0]);
    const adm = ['adm=adm_skip_aim=true', 'adm=adm_min_val=0.1', 'adm=adm_skip_scale0=true'];
    expect(callsOf(planOf(adm, format))).toEqual([['adm', admStructs([plainAdm()])]]);
  });

  it('measures the planes that psnr is asked for', () => {
    const planes = (...features: string[]) => planOf(features, format).extraction.calls.length;
    expect(planes('psnr=enable_chroma=false')).toBe(1);
    expect(planes('psnr')).toBe(3);
  });

  it('says which model asks for what cannot be measured', async () => {
    const text = 'version=vmaf_v0.6.1:adm.adm_norm_view_dist=1';
    const [model] = await loadModels([text], modelStore());
    expect(() => planFeatures(model?.extractors ?? [], format, 'libvmaf-3.2')).toThrow(
      /^The adm extractor's .* at least 3240 .*\. The model "vmaf_v0\.6\.1" asks for it\.$/,
    );
  });

  it('says once that the sensitivities of Barten overflow in fixed point, and not in floating point', () => {
    const { warnings } = planOf(['adm=adm_csf_mode=1', 'adm=adm_csf_mode=1:adm_csf_scale=2'], format);
    expect(warnings).toEqual([
      expect.stringMatching(/^The adm extractor overflows with adm_csf_mode=1, .*\.$/),
    ]);
    expect(planOf(['float_adm=adm_csf_mode=1', 'adm=adm_csf_mode=2'], format).warnings).toEqual([]);
  });

  it('keeps apart what is measured differently', () => {
    const { extraction } = planOf(
      [
        'adm=adm_csf_mode=1',
        'adm=adm_csf_mode=1:adm_csf_scale=2',
        'adm=adm_noise_weight=0.02',
        'motion',
        'motion=motion_five_frame_window=true',
      ],
      format,
    );
    expect(extraction.calls.map(({ run, args, back }) => [run, args.at(-1), back])).toEqual([
      ['adm', 3, 0],
      ['motion', LUMA, 1],
      ['motion', LUMA, 2],
    ]);
  });

  it('measures no motion that is forced to zero', () => {
    const plan = planOf(['motion=motion_force_zero=true'], format);
    expect(plan.extraction.calls).toEqual([]);
    expect(plan.extractors[0]?.column).toBe(-1);
  });

  it('drops a second extractor of the same name, as libvmaf does, and says so', () => {
    const plan = planOf(
      ['motion', 'motion=debug=true', 'psnr', 'psnr=enable_mse=true:min_sse=1', 'vif', 'vif'],
      format,
    );
    expect(plan.extractors.map(({ instance }) => instance.key)).toEqual(['motion', 'psnr', 'vif']);
    expect(plan.names).not.toContain('integer_motion');
    expect(plan.warnings).toEqual([
      expect.stringMatching(
        /^The motion extractor is asked for twice with different debug, .*the first request counts/,
      ),
      expect.stringMatching(/^The psnr extractor is asked for twice with different enable_mse, min_sse, /),
    ]);
  });

  it('refuses view conditions that adm has no factors for before the first frame', () => {
    expect(() => planOf(['adm=adm_norm_view_dist=1'], format)).toThrow(/at least 3240/);
    expect(() => planOf(['adm=adm_csf_mode=2:adm_norm_view_dist=4'], format)).toThrow(
      /adm_csf_mode 2 has no factors/,
    );
  });

  it('names the aggregates apart', () => {
    const plan = planOf(['psnr=enable_apsnr=true'], format);
    expect(plan.names).toEqual(['psnr_y', 'psnr_cb', 'psnr_cr']);
    expect(plan.aggregateNames).toEqual(['apsnr_y', 'apsnr_cb', 'apsnr_cr']);
  });
});
