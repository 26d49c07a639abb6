/**
 * @module test/node/mcp/tools/explain-score
 * `explain_score`: shares of a loss that add up, from libvmaf's features, and the causes it names for known damage.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FeatureModel, openModel } from '../../../../src/index.js';
import { Attribution, type explainScore, explainScoreTool } from '../../../../src/mcp/tools/explain-score.js';
import { type FixtureClip, measuredFrames, readFixture } from '../../../support/fixtures.js';
import { call, fakeContext, refused, videoFolder, writePair } from '../../../support/mcp-tools.js';

const context = () => fakeContext(videoFolder());

type Explanation = Awaited<ReturnType<typeof explainScore>>;

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

/** A model of two features with this score. */
function twoFeatures(score: (adm: number, vif: number) => number): FeatureModel {
  const input = (feature: string, logName: string) => ({ feature, logName, extractor: 'x', options: {} });
  return {
    ...{ name: 'two', source: 'two', kind: 'single', type: 'LIBSVMNUSVR' },
    ...{ clip: null, transform: null, features: [] },
    inputs: [
      input('VMAF_integer_feature_adm2_score', 'adm2'),
      input('VMAF_integer_feature_vif_scale0_score', 'vif0'),
      input('VMAF_integer_feature_motion2_score', 'motion2'),
    ],
    predict: ({ adm2 = Number.NaN, vif0 = Number.NaN }) => score(adm2, vif0),
  };
}

describe('attribution', () => {
  it('refuses a model that also reads damage whose value for a perfect copy is unknown', () => {
    const model = twoFeatures((adm) => 100 * adm);
    const cambi = { feature: 'Cambi_feature_cambi_score', logName: 'cambi', extractor: 'cambi', options: {} };
    expect(() => new Attribution({ ...model, inputs: [...model.inputs, cambi] })).toThrow(
      /reads cambi, whose value for a perfect copy is not known/,
    );
  });

  it('equals a hand calculation: half of what each adds alone, half of what it adds last', () => {
    const attribution = new Attribution(twoFeatures((adm, vif) => 100 * adm * vif));
    expect(attribution.features).toEqual(['adm2', 'vif0']);
    expect(attribution.kept).toEqual(['motion2']);
    // 0.5 * 0.2 = 10; repaired: adm alone 20, vif alone 50, both 100.
    const { score, ceiling, points } = attribution.explain({ adm2: 0.5, vif0: 0.2, motion2: 3 });
    expect([score, ceiling]).toEqual([10, 100]);
    expect(points[0]).toBeCloseTo((20 - 10 + (100 - 50)) / 2, 12);
    expect(points[1]).toBeCloseTo((50 - 10 + (100 - 20)) / 2, 12);
  });

  it('gives nothing to a feature that changes nothing, and a negative share to one that helps', () => {
    const { points } = new Attribution(twoFeatures((adm) => 100 * adm)).explain({ adm2: 0.9, vif0: 0.1 });
    expect(points[0]).toBeCloseTo(10, 12);
    expect(points[1]).toBe(0);
    // Enhanced beyond a perfect copy.
    const both = new Attribution(twoFeatures((adm, vif) => 50 * adm + 40 * vif));
    const enhanced = both.explain({ adm2: 0.9, vif0: 1.2 });
    expect(enhanced.points[0]).toBeCloseTo(5, 12);
    expect(enhanced.points[1]).toBeCloseTo(-8, 12);
  });

  it("adds up to the loss for every frame that libvmaf measured, of every model, and starts from libvmaf's score", async () => {
    let frames = 0;
    for await (const { model, values, expected } of measuredFrames(openModel)) {
      const { score, ceiling, points } = new Attribution(model).explain(values);
      expect(score).toBe(expected);
      expect(sum(points)).toBeCloseTo(ceiling - score, 9);
      frames++;
    }
    expect(frames).toBeGreaterThan(20);
  });

  it('refuses a model that reads no feature whose value for a perfect copy is known', () => {
    const model = twoFeatures(() => 1);
    expect(() => new Attribution({ ...model, inputs: model.inputs.slice(2) })).toThrow(/reads 0 features/);
  });
});

describe('explain_score', () => {
  const formats = readFixture('formats');

  const still = { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 } as const;

  /** libvmaf's values for a distortion. */
  function fixture(distortion: object) {
    const text = JSON.stringify(distortion);
    const found = formats.find(({ clip }) => JSON.stringify(clip.distortion) === text);
    if (!found) throw new Error('no such fixture');
    return found;
  }

  async function explain(clip: FixtureClip, more: object = {}): Promise<Explanation> {
    const { ref, dis } = writePair(clip, 'y4m');
    return call<Explanation>(explainScoreTool, { reference: ref, distorted: dis, ...more }, context());
  }

  it.each([{ blur: 3 }, { quantiser: 30 }, { noise: 12 }])(
    "starts from libvmaf's score of %j and adds up",
    async (distortion) => {
      const found = fixture(distortion);
      const answer = await explain(found.clip);
      const libvmaf = (found.runs[0]?.metrics.vmaf ?? []).map((value) => value ?? Number.NaN);
      expect(answer.score).toBeCloseTo(sum(libvmaf) / libvmaf.length, 6);
      expect([answer.frames, answer.frames_explained]).toEqual([libvmaf.length, libvmaf.length]);
      expect(answer.ceiling - answer.score).toBeCloseTo(answer.loss, 5);
      expect(sum(answer.features.map(({ points }) => points))).toBeCloseTo(answer.loss, 4);
      expect(sum(answer.scales.map(({ points }) => points))).toBeCloseTo(answer.loss, 4);
      expect(sum(answer.segments.map(({ share_of_loss: share }) => share ?? 0))).toBeCloseTo(1, 4);
      for (const frame of answer.worst_frames) {
        expect(frame.score).toBeCloseTo(libvmaf[frame.frame] ?? Number.NaN, 6);
        expect(sum(Object.values(frame.points))).toBeCloseTo(frame.ceiling - frame.score, 4);
      }
      expect(answer.not_blamed.map(({ feature }) => feature)).toEqual(['integer_motion2']);
    },
  );

  it('has nothing to explain in a perfect copy, down to the model', async () => {
    const same = readFixture('models').find(({ clip }) => JSON.stringify(clip.distortion) === '{}');
    if (!same) throw new Error('no such fixture');
    const { ref } = writePair(same.clip, 'y4m');
    const answer = await call<Explanation>(explainScoreTool, { reference: ref, distorted: ref }, context());
    // In fixed point, a copy's features are 1 to about a millionth.
    expect(answer.loss).toBeCloseTo(0, 3);
    expect(answer.explanation).toHaveLength(1);
    for (const { points, share, mean_value: value } of answer.features) {
      expect(points).toBeCloseTo(0, 3);
      expect(value).toBeCloseTo(1, 4);
      expect(share).toBeNull();
    }
  });

  it('finds the damaged moment', async () => {
    const size = { width: 96, height: 72, bitDepth: 8, chroma: '420' } as const;
    const clip: FixtureClip = { content: 'sample', ...size, frames: 60, seed: 3, distortion: { blur: 2 } };
    const { ref, dis } = writePair(clip, 'y4m');
    // The reference with frames 25 to 49, one second, of the blurred video.
    const spliced = `${dis}.spliced.y4m`;
    const [good, bad] = [readFileSync(ref), readFileSync(dis)];
    const header = good.indexOf('\n') + 1;
    const frame = (good.length - header) / clip.frames;
    const cut = (n: number) => header + n * frame;
    const parts = [good.subarray(0, cut(25)), bad.subarray(cut(25), cut(50)), good.subarray(cut(50))];
    writeFileSync(spliced, Buffer.concat(parts));
    const one = context();
    const args = { reference: ref, distorted: spliced, segments: 1 };
    const answer = await call<Explanation>(explainScoreTool, args, one);
    expect(answer.segments).toHaveLength(1);
    expect(answer.segments[0]).toMatchObject({ first_frame: 25, last_frame: 49, start_seconds: 1 });
    expect(answer.segments[0]?.share_of_loss).toBeCloseTo(1, 4);
    expect(answer.worst_frames).toHaveLength(1);
    expect(answer.worst_frames[0]?.frame).toBeGreaterThanOrEqual(25);
    expect(answer.worst_frames[0]?.frame).toBeLessThan(50);
    expect(one.ran).toEqual([null]);
  });

  it('tells blur, which takes detail away, from coarse quantisation, which alters structures', async () => {
    const blurred = await explain(fixture({ blur: 3 }).clip);
    expect(blurred.features[0]?.feature).toBe('integer_adm2');
    expect(blurred.features[0]?.share).toBeGreaterThan(0.8);
    const quantised = await explain(fixture({ quantiser: 30 }).clip);
    const coarse = quantised.scales.slice(2).map(({ vif_points: points }) => points);
    expect(sum(coarse)).toBeGreaterThan(quantised.loss / 2);
  });

  it('explains NEG models with their own features', async () => {
    const clip = formats.find(({ clip: { content } }) => content === 'T')?.clip;
    if (!clip) throw new Error('no such fixture');
    const neg = await explain(clip, { model: 'version=vmaf_v0.6.1neg' });
    const libvmaf = formats.find((one) => one.clip === clip)?.runs[0]?.metrics.neg ?? [];
    expect(neg.score).toBeCloseTo(sum(libvmaf.map((value) => value ?? Number.NaN)) / libvmaf.length, 6);
    expect(neg.features.map(({ feature }) => feature)).toContain('integer_adm2_egl_1');
    expect(sum(neg.scales.map(({ points }) => points))).toBeCloseTo(neg.loss, 4);
  });

  it.each(['v0.6.1', 'v0.6.1neg'])(
    'divides the loss of vmaf_float_%s among scales as that of fixed point',
    async (name) => {
      const { clip } = fixture({ blur: 3 });
      const fixed = await explain(clip, { model: `version=vmaf_${name}` });
      const float = await explain(clip, { model: `version=vmaf_float_${name}` });
      for (const [scale, { points }] of fixed.scales.entries())
        expect(float.scales[scale]?.points).toBeCloseTo(points, 1);
    },
  );

  it('refuses auto as the model, and stops between frames when aborted', async () => {
    const { ref, dis } = writePair(still, 'y4m');
    const args = { reference: ref, distorted: dis, model: 'auto' };
    expect(await refused(explainScoreTool, args, context())).toMatch(/^model is auto, but/);
    const reason = new Error('enough');
    const aborted = fakeContext(videoFolder(), AbortSignal.abort(reason));
    await expect(explainScoreTool.call({ reference: ref, distorted: dis }, aborted)).rejects.toBe(reason);
  });
});
