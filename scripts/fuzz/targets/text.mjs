/**
 * @module scripts/fuzz/targets/text
 * Text that people and programs write: models, features, reports, sidecars, lists, command lines.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBuilt, ROOT } from '../../lib/project.mjs';
import { damageText } from '../mutate.mjs';

const model = (name) => readFileSync(join(ROOT, 'model', `${name}.json`), 'utf8');

/** Files of VMAF models. An accepted model must predict a number or say why not. */
export async function modelJson() {
  const { parseModelFile } = await loadBuilt('models/parse.js');
  const { evaluate } = await loadBuilt('models/libsvm.js');
  // In a small model damage hits more than support vectors.
  const small = JSON.parse(model('vmaf_v0.6.1'));
  const [head, vectors] = small.model_dict.model.split('SV\n');
  const few = vectors.split('\n').slice(0, 3).join('\n');
  small.model_dict.model = `${head.replace(/total_sv \d+/, 'total_sv 3')}SV\n${few}\n`;
  const corpus = [small, { 0: small, 1: small }].map((whole) => JSON.stringify(whole));
  corpus.push(...corpus, model('vmaf_v0.6.1neg'), model('vmaf_4k_v0.6.1'));
  return {
    make: (random) =>
      damageText(random, random.pick(corpus), [
        '"model_dict"',
        '"slopes"',
        'svm_type',
        'rho',
        'SV\\n',
        'gamma',
      ]),
    run(input) {
      for (const { svm, inputs } of parseModelFile(input, 'fuzz.json').members) {
        if (svm.dimensions !== inputs.length)
          return `${svm.dimensions} dimensions of ${inputs.length} inputs`;
        evaluate(svm, new Float64Array(inputs.length).fill(0.5));
      }
    },
  };
}

/** The libsvm text within a model. */
export async function libsvm() {
  const { parseLibsvm } = await loadBuilt('models/libsvm.js');
  const whole = JSON.parse(model('vmaf_v0.6.1')).model_dict.model;
  const [head, vectors] = whole.split('SV\n');
  const small = `${head}SV\n${vectors.split('\n').slice(0, 12).join('\n')}\n`;
  return {
    make: (random) =>
      damageText(random, random.oneIn(4) ? whole : small, [
        'svm_type nu_svr\n',
        'kernel_type rbf\n',
        'total_sv',
        'rho',
        '1:',
        ' 7:0.5',
      ]),
    run: (input) => void parseLibsvm(input, 6, 'fuzz.json'),
  };
}

export async function featureString() {
  const { parseFeature } = await loadBuilt('metrics/options.js');
  const { EXTRACTORS } = await loadBuilt('metrics/extractors.js');
  const words = EXTRACTORS.flatMap(({ name, options }) => [
    name,
    ...options.map((option) => `${option.name}=`),
  ]);
  const corpus = [
    'psnr',
    'psnr=enable_apsnr=true:min_sse=0.5',
    'adm=adm_enhn_gain_limit=1.0',
    'cambi=window_size=63:topk=0.2',
    'vif=debug=true',
  ];
  return {
    make: (random) => damageText(random, random.pick(corpus), words),
    run: (input) => void parseFeature(input),
  };
}

export async function modelString() {
  const { loadModels } = await loadBuilt('models/load.js');
  const { nodePlatform } = await loadBuilt('platform/node/platform.js');
  const corpus = [
    'version=vmaf_v0.6.1',
    'version=vmaf_b_v0.6.3:name=b',
    'vmaf_v0.6.1neg:disable_clip',
    'version=vmaf_v0.6.1:adm.adm_enhn_gain_limit=1.1:enable_transform',
    'path=nothing.json',
  ];
  const store = { ...nodePlatform.models, keep: undefined };
  return {
    make: (random) =>
      damageText(random, random.pick(corpus), [
        'version=',
        'path=',
        'name=',
        'disable_clip',
        'vif.',
        'motion.motion_fps_weight=',
        ':',
      ]),
    // Do not probe paths of this machine.
    run: async (input) =>
      void (await loadModels([input], { ...store, readFile: () => Promise.resolve('{}') })),
  };
}

export async function commandLine() {
  const { scoreSettings, SCORE_OPTIONS } = await loadBuilt('cli/score-options.js');
  const words = SCORE_OPTIONS.flatMap(({ name, short }) => [
    `--${name}`,
    `--${name}=`,
    ...(short ? [`-${short}`] : []),
  ]);
  const corpus = [
    'a.mp4 b.mp4',
    '-r a.yuv -d b.yuv -w 64 -h 64 -p 420 -b 8',
    'a b --threads 2 --offset auto --json -o x',
    'a b c --range 1:30-2:00 --fail-under 90',
    'a b -m version=vmaf_v0.6.1 --feature psnr --tiny-model x',
  ];
  return {
    make: (random) => damageText(random, random.pick(corpus), words).split(' '),
    run: (input) => void scoreSettings(input),
  };
}

/** Saved reports in every format. */
export async function report() {
  const { score, formatReport, readReport, ranking } = await loadBuilt('index.js');
  const { makeSample } = await loadBuilt('sample/generator.js');
  const { y4mFile } = await loadBuilt('sample/files.js');
  const clip = makeSample({ width: 32, height: 32, bitDepth: 8, chroma: '420' });
  const made = await score(
    { reference: y4mFile(clip, 'reference', 3), distorted: y4mFile(clip, 'distorted', 3) },
    { threads: 0, features: ['psnr'] },
  );
  const corpus = ['xml', 'json', 'csv', 'sub', 'ndjson'].map((format) => formatReport(made, format));
  return {
    make: (random) =>
      damageText(random, random.pick(corpus), [
        '<frame ',
        '</frame>',
        '"metrics"',
        'frameNum="1"',
        '{1}{2}',
        'Frame,',
        '"type":"frame"',
      ]),
    run: (input) => void ranking(readReport(input)),
  };
}

export async function sidecar() {
  const { parseSidecar } = await loadBuilt('tiny/documents.js');
  const corpus = ['fr_vmaf_v0.6.1', 'nr_vmaf_v0.6.1', 'fr_vmaf_v1.0.16_3d0h'].map((name) =>
    model(`tiny/${name}`),
  );
  return {
    make: (random) =>
      damageText(random, random.pick(corpus), ['"mean"', '"scale"', '"kind"', '"features"', '[1e400]']),
    run: (input) => void parseSidecar(input, 'fuzz.json'),
  };
}

export async function pairsList() {
  const { parsePairs } = await loadBuilt('cli/commands/features.js');
  const corpus = [
    'reference,distorted\na.mp4,b.mp4\n',
    'key,clip,reference,distorted,mos\n"a ""b""",c,d.y4m,e.y4m,3.5\nx,y,z,w,\n',
  ];
  return {
    make: (random) =>
      damageText(random, random.pick(corpus), ['reference', 'distorted', 'mos', 'key', '""', ',,']),
    run: (input) => void parsePairs(input, 'pairs.csv', (path) => path),
  };
}
