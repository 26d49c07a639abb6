/**
 * @module test/unit/cli/command-options
 * Command lines beyond plain scoring: pairing, tiny models, backends, tables of features, batches, heatmaps and the MCP server.
 */
import { describe, expect, it } from 'vitest';
import { jobsOf, tableLines } from '../../../src/cli/batch/table.js';
import { BATCH_OPTIONS, batchSettings } from '../../../src/cli/commands/batch.js';
import { type FeatureTable, featuresSettings, parsePairs } from '../../../src/cli/commands/features.js';
import { HEATMAP_OPTIONS, heatmapSettings } from '../../../src/cli/commands/heatmap.js';
import { MCP_OPTIONS, mcp, mcpArguments } from '../../../src/cli/commands/mcp.js';
import { SEARCH_OPTIONS, search } from '../../../src/cli/commands/search.js';
import { shots } from '../../../src/cli/commands/shots.js';
import { type Option, parseArguments, settingsOf } from '../../../src/cli/options.js';
import { scoreSettings } from '../../../src/cli/score-options.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import { besideList } from '../../../src/files/text-file.js';
import { refusal } from '../../support/refusals.js';

function settings(line: string) {
  const found = scoreSettings(line.split(' '));
  if (typeof found === 'string') throw new Error(`it asked for ${found}`);
  return found;
}

/** What a command makes of its arguments. */
function checked<Settings, Checked>(
  args: readonly string[],
  table: readonly Option<Settings>[],
  check: (settings: Partial<Settings>, positionals: readonly string[]) => Checked,
): Checked {
  const { options, positionals } = parseArguments(args, table);
  return check(settingsOf(options, table), positionals);
}

const batch = (args: readonly string[]) => checked(args, BATCH_OPTIONS, batchSettings);

/** The options that score a pair. */
const options = (line: string) => settings(`a.y4m b.y4m ${line}`.trimEnd()).options;

describe('pairing', () => {
  const complaint = (option: string) => refusal('usage', () => scoreSettings(['a', 'b', option]));

  it('takes all options together, and leaves defaults to the engine', () => {
    const line =
      '--decoder ffmpeg --scale lanczos --scale-to 1280x720 --frame-rate-policy nearest --pair-by distorted --offset -3 --range 10-20 ' +
      '--strict --allow-damaged --allow-url --model auto';
    expect(options(line)).toEqual({
      decoder: 'ffmpeg',
      scale: 'lanczos',
      scaleTo: { width: 1280, height: 720 },
      frameRatePolicy: 'nearest',
      pairBy: 'distorted',
      offset: -3,
      range: { unit: 'frames', start: 10, end: 20 },
      strict: true,
      allowDamaged: true,
      allowUrl: true,
      models: ['auto'],
    });
    expect(options('')).toEqual({});
  });

  it.each([
    ['240-480', { unit: 'frames', start: 240, end: 480 }],
    ['240-', { unit: 'frames', start: 240 }],
    ['-480', { unit: 'frames', start: 0, end: 480 }],
    [' 1 - 2 ', { unit: 'frames', start: 1, end: 2 }],
    ['1:30-2:00', { unit: 'seconds', start: 90, end: 120 }],
    ['1:02:03.5-', { unit: 'seconds', start: 3723.5 }],
    ['10s-12.5s', { unit: 'seconds', start: 10, end: 12.5 }],
    ['10-12.5s', { unit: 'seconds', start: 10, end: 12.5 }],
    ['0.5-1', { unit: 'seconds', start: 0.5, end: 1 }],
    ['-0:10', { unit: 'seconds', start: 0, end: 10 }],
  ])('takes --range %s', (text, range) => {
    for (const args of [[`--range=${text}`], ['--range', text]]) {
      const found = scoreSettings(['a', 'b', ...args]);
      expect(typeof found === 'string' ? found : found.options).toEqual({ range });
    }
  });

  it.each([
    ['--offset 0', { offset: 0 }],
    ['--offset 12', { offset: 12 }],
    ['--offset +12', { offset: 12 }],
    ['--offset -12', { offset: -12 }],
    ['--offset auto', { offset: 'auto' }],
    ['--scale-to ref', { scaleTo: 'ref' }],
    ['--scale-to dis', { scaleTo: 'dis' }],
    ['--scale-to 1920X1080', { scaleTo: { width: 1920, height: 1080 } }],
    ['--samples 8x2.5s', { samples: { runs: 8, seconds: 2.5 } }],
    ['--samples auto', { samples: 'auto' }],
  ])('takes %s', (line, expected) => {
    expect(options(line)).toEqual(expected);
  });

  const badRanges = [...'- 10 10-20-30 a-b 1:60-2:00 1e3-2e3 -1--5 1:2:3:4-'.split(' '), '', '10 s-20'];
  const badOffsets = ['1.5', 'five', '', '--3', '1s'];
  const badSizes = ['1080p', '0x100', '1920x', 'reference', ''];
  const refusals = (option: string, texts: readonly string[], message: string) =>
    texts.map((text): [string, string] => [`--${option}=${text}`, message]);
  it.each<[string, string]>([
    ...badRanges.map((text): [string, string] => [`--range=${text}`, `--range is "${text}"`]),
    ...refusals('range', ['5-5', '9-3', '1:00-30s'], 'must come after its start'),
    ...refusals('samples', ['3x1s', '2x1s', '8x0s', '8'], 'an even number of runs, at least 4'),
    ...refusals('offset', badOffsets, 'must be a whole number of frames'),
    ...refusals('scale-to', badSizes, 'ref, dis or a size such as 1920x1080'),
    [
      '--samples=8x',
      'must be auto, or an even number of runs, at least 4, and the seconds of each, such as 8x4s',
    ],
    ['--decoder=ffmepg', 'did you mean ffmpeg?'],
    ['--scale=bicubik', 'did you mean bicubic?'],
    ['--frame-rate-policy=lax', 'must be strict or nearest'],
  ])('refuses %s', (option, message) => {
    expect(complaint(option)).toContain(message);
  });

  it.each(['--strict --no-preflight', '--crop auto --crop-ref 8:8:0:0', '--crop auto --crop-dis 8:8:0:0'])(
    'refuses the contradiction %s',
    (both) => expect(() => options(both)).toThrow('leave out one'),
  );
});

describe('backends', () => {
  it('are chosen by name with their program and devices; other names are refused', () => {
    expect(options('--backend hip --vmaf-bin ./vmaf --hip_device 2 --gpumask 0x3')).toMatchObject({
      backend: 'hip',
      vmafBin: './vmaf',
      hipDevice: 2,
      gpumask: 3,
    });
    expect(() => options('--backend vulkan')).toThrow(/--backend .*"vulkan"/);
    expect(() => options('--backend auto --vmaf-bin=')).toThrow(/--vmaf-bin .*is empty/);
  });

  it('take masks if they are native, wherever the mask stands', () => {
    const own = settings('r d --cpumask 1');
    expect([own.options.cpumask, own.ignored]).toEqual([
      undefined,
      ['--cpumask has no effect: the same arithmetic runs on every machine.'],
    ]);
    const native = settings('r d --cpumask 1 --backend native-cpu');
    expect([native.options.cpumask, native.ignored]).toEqual([1, []]);
  });
});

describe('tiny models', () => {
  const tiny = (line: string) => options(line).tiny;

  it('take every option in both spellings', () => {
    const model = {
      ...{ model: 'm.onnx', device: 'cuda', threads: 2, fp16: true, precision: 'fp32', verify: true },
      ...{ codec: 'h264', preset: 'slow', crf: 30, resize: 'bicubic' },
    };
    const dashes =
      '--tiny-model m.onnx --tiny-device cuda --tiny-threads 2 --tiny-fp16 --tiny-precision fp32 --tiny-model-verify ' +
      '--tiny-codec h264 --tiny-preset slow --tiny-crf 30 --tiny-resize bicubic';
    expect(tiny(dashes)).toEqual([model]);
    expect(tiny(dashes.replaceAll(/(?<=--\S*)-(?=\w)/g, '_').replace('____', '--'))).toEqual([model]);
    expect(tiny('--tiny_model m.onnx --dnn_ep cuda')).toEqual([{ model: 'm.onnx', device: 'cuda' }]);
    expect(tiny('--tiny-crf 99 --tiny-model m')).toEqual([{ model: 'm', crf: 63 }]);
  });

  it('may be several, each with the options after it', () => {
    const line = '--tiny-threads 3 --tiny-model a --tiny-resize nearest --tiny-model b --tiny-threads 1';
    expect(tiny(line)).toEqual([
      { model: 'a', threads: 3, resize: 'nearest' },
      { model: 'b', threads: 1 },
    ]);
  });

  it.each([
    ['--tiny-device cpu --dnn-ep cuda --tiny-model m', 'two names of one option'],
    ['--tiny-codec h264', '--tiny-codec requires a tiny model'],
    ['--tiny-model m --tiny-device gpu', '--tiny-device'],
    ['--tiny-model m --tiny-precision int4', '--tiny-precision'],
    ['--tiny-model=', 'is empty'],
  ])('are refused: %s', (line, message) => {
    expect(() => options(line)).toThrow(message);
  });

  it('score one video by itself', () => {
    const alone = settings('--no-reference b.y4m --tiny-model m');
    expect(alone).toMatchObject({
      distorted: ['b.y4m'],
      options: { noReference: true, tiny: [{ model: 'm' }] },
    });
    expect(alone.reference).toBeUndefined();
    const named = settings('--no_reference -r a.y4m -d b.y4m --tiny-model m -m version=vmaf_v0.6.1');
    expect(named.options.models).toBeUndefined();
    expect(named.ignored).toEqual([
      'The reference a.y4m was not read: --no-reference scores without one.',
      '--model has no effect with --no-reference: version=vmaf_v0.6.1 compare with a reference.',
    ]);
    for (const videos of ['a.y4m b.y4m', '-d a.y4m -d b.y4m'])
      expect(() => settings(`--no-reference ${videos} --tiny-model m`)).toThrow('one argument too many');
    expect(() => settings('--no-reference --tiny-model m')).toThrow('no video given');
  });
});

it('--no still abbreviates the option of the vmaf tool, and --su one of a batch', () => {
  expect(options('--no').noPrediction).toBe(true);
  expect(batch('jobs.csv -o r.jsonl --su 2'.split(' '))).toMatchObject({
    common: [{ name: 'subsample', value: '2' }],
  });
});

describe('features', () => {
  function table(line: string): FeatureTable {
    const found = featuresSettings(line.split(' '));
    if (typeof found === 'string') throw new Error(`it asked for ${found}`);
    return found;
  }

  it('lists features without --parquet, whatever their names', () => {
    expect(featuresSettings([])).toBe('list');
    expect(featuresSettings(['psnr', '--json'])).toBe('list');
    expect(featuresSettings(['--help'])).toBe('help');
  });

  it('measures with --parquet: the reference, then distorted videos, with key and mos for all or for each', () => {
    expect(table('ref.y4m a.mp4 b.mp4 --parquet out.parquet')).toMatchObject({
      output: 'out.parquet',
      pairs: [
        { reference: 'ref.y4m', distorted: 'a.mp4' },
        { reference: 'ref.y4m', distorted: 'b.mp4' },
      ],
    });
    expect(table('--parquet o r a b --key K --mos 3.5 --mos 4').pairs).toMatchObject([
      { key: 'K', mos: 3.5 },
      { key: 'K', mos: 4 },
    ]);
  });

  it('takes a teacher by name or as a model string, and further features', () => {
    const line = '--parquet o r a --teacher vmaf_v0.6.1 --feature psnr --feature cambi --subsample 5';
    expect(table(line).options).toEqual({
      teacher: 'version=vmaf_v0.6.1',
      features: ['psnr', 'cambi'],
      subsample: 5,
    });
    expect(table('--parquet o r a --teacher path=m.json').options.teacher).toBe('path=m.json');
  });

  it.each([
    ['ref.y4m dis.y4m', /"dis\.y4m".*--parquet FILE to measure/],
    ['--key a', /--key is for a table.*--parquet FILE/],
    ['--parquet o r', /only one video given, "r"/],
    ['--parquet o --pairs l r', /r cannot be used with --pairs/],
    ['--parquet o --pairs l --mos 3', /--mos cannot be used with --pairs/],
    [
      '--parquet o r a b c --mos 1 --mos 2',
      /--mos is given 2 times, but there are 3 distorted videos; give it once, or once for each/,
    ],
  ])('refuses %s', (line, message) => {
    expect(refusal('usage', () => featuresSettings(line.split(' ')))).toMatch(message);
  });

  it('takes a list and the format of its raw videos', () => {
    expect(table('--parquet o --pairs l -w 8 -h 6 -p 420 -b 8').pairs).toEqual({
      list: 'l',
      raw: { width: 8, height: 6, chroma: '420', bitDepth: 8 },
    });
  });

  const pairs = (text: string) => parsePairs(text, 'list.csv', (path) => `/at/${path}`, undefined);

  it('reads a list as CSV with columns in any order; paths are relative to it', () => {
    expect(pairs('mos,reference,distorted,key\n3.5,r.y4m,"a, ""b"".mp4",k\r\n4,r.y4m,c.mp4,\n\n')).toEqual([
      { reference: '/at/r.y4m', distorted: '/at/a, "b".mp4', key: 'k', clip: undefined, mos: 3.5 },
      { reference: '/at/r.y4m', distorted: '/at/c.mp4', key: undefined, clip: undefined, mos: 4 },
    ]);
    const urls = 'reference,distorted\nfile:///r%20s.y4m,https://host/d.mp4\n';
    expect(parsePairs(urls, 'in/list.csv', besideList('in/list.csv'), undefined)).toMatchObject([
      { reference: '/r s.y4m', distorted: 'https://host/d.mp4' },
    ]);
  });

  it.each([
    ['', /must name the columns reference and distorted/],
    ['reference,distorted,dmos\n', /but it has "dmos"/],
    ['reference\nr\n', /must name the columns/],
    ['reference,distorted,mos,mos\nr,d,3,4\n', /names the column mos twice/],
    ['reference,distorted\n', /lists no pairs/],
    ['reference,distorted\nr\n', /line 2 of list\.csv has 1 fields, but the first line names 2/],
    ['reference,distorted\nr,\n', /line 2 of list\.csv names no distorted video/],
    ['reference,distorted,mos\nr,d,good\n', /mos in line 2 of list\.csv is "good"/],
    ['reference,distorted\n"r,d\n', /line 2 of list\.csv is not CSV: check its quotation marks/],
  ])('refuses the list %j', (text, message) => {
    expect(refusal('usage', () => pairs(text))).toMatch(message);
  });
});

describe('the table of a batch', () => {
  const jobs = (text: string, name: string, common: Parameters<typeof jobsOf>[1] = []) =>
    jobsOf(tableLines(text, name), common, name, (path) => (path === '-' ? path : `/media/${path}`));

  it('is CSV with a scoring option per column', () => {
    const text =
      'reference,distorted,subsample,model,no-prediction,fail_under\n' +
      'a.mov,"b, c.mp4",2,path=m.json,,93.5\n\na.mov,d.mp4,,,yes,\n';
    const [first, second] = jobs(text, 'jobs.csv');
    expect(first?.line).toBe(2);
    expect(first?.settings).toMatchObject({
      reference: '/media/a.mov',
      distorted: ['/media/b, c.mp4'],
      options: { subsample: 2, models: ['path=m.json'] },
      failUnder: 93.5,
    });
    expect(second?.line).toBe(4);
    expect(second?.settings).toMatchObject({ options: { noPrediction: true } });
    expect(second?.settings.options.subsample).toBeUndefined();
  });

  it('is JSON lines, where an array repeats an option', () => {
    const text =
      '{"reference":"a.mov","distorted":"b.mp4","feature":["psnr","ciede"],"offset":-3,"strict":true}\n' +
      '{"reference":"a.mov","distorted":"c.mp4","strict":false,"range":null}\n';
    const [first, second] = jobs(text, 'jobs.jsonl');
    expect(first?.settings.options).toEqual({ features: ['psnr', 'ciede'], offset: -3, strict: true });
    expect(second?.settings.options).toEqual({});
  });

  it('overrides the options of all lines', () => {
    const common = [
      { name: 'model', value: 'version=vmaf_v0.6.1' },
      { name: 'subsample', value: '5' },
    ];
    const [first, second] = jobs('reference,distorted,model\na,b,auto\na,c,\n', 'jobs.csv', common);
    expect(first?.settings.options).toEqual({ models: ['auto'], subsample: 5 });
    expect(second?.settings.options).toEqual({ models: ['version=vmaf_v0.6.1'], subsample: 5 });
  });

  it('overrides them with false and with an empty list', () => {
    const { common } = batch('jobs.csv -o r --strict --feature psnr'.split(' '));
    const pair = { reference: 'a', distorted: 'b' };
    const table = [{}, { strict: false }, { feature: [] }].map((own) => JSON.stringify({ ...pair, ...own }));
    expect(jobs(table.join('\n'), 'jobs.jsonl', common).map(({ settings }) => settings.options)).toEqual([
      { strict: true, features: ['psnr'] },
      { features: ['psnr'] },
      { strict: true },
    ]);
  });

  it('keeps the options of a tiny model with it', () => {
    const line = 'jobs.csv -o r --tiny-model a --tiny-precision int8 --tiny-model b --tiny-precision fp32';
    const [job] = jobs('reference,distorted\na,b\n', 'jobs.csv', batch(line.split(' ')).common);
    expect(job?.settings.options.tiny).toEqual([
      { model: 'a', precision: 'int8' },
      { model: 'b', precision: 'fp32' },
    ]);
  });

  it.each([
    ['jobs.csv', 'reference,distorted\n', 'has no jobs'],
    ['jobs.csv', 'reference,distorted\na,b,c\n', 'line 2 of jobs.csv has 3 fields'],
    ['jobs.csv', 'reference,distorted,modle\na,b,c\n', 'did you mean model?'],
    ['jobs.csv', 'reference,distorted,html\na,b,c\n', '"html", which is not an option of a pair'],
    ['jobs.csv', 'reference,distorted,shard\na,b,1/2\n', 'not an option of a pair'],
    ['jobs.csv', 'reference,distorted,subsample\na,b,x\n', 'line 2 of jobs.csv: --subsample'],
    ['jobs.csv', 'reference\na\n', 'names no distorted video'],
    ['jobs.csv', 'reference,distorted,Distorted\na,b,c\n', 'line 2 of jobs.csv names two distorted videos'],
    ['jobs.csv', 'distorted\na\n', 'line 2 of jobs.csv: '],
    ['jobs.csv', 'reference,distorted,strict\na,b,maybe\n', 'must be true or false'],
    ['jobs.csv', 'reference,distorted\n-,b\n', 'standard input'],
    ['jobs.jsonl', 'reference,distorted\na,b\n', 'line 1 of jobs.jsonl is not JSON'],
    ['jobs.jsonl', '[1]\n', 'must be an object'],
    ['jobs.jsonl', '{"distorted":5}\n', 'must be the name of a file'],
    ['jobs.jsonl', '{"reference":"a","distorted":"b","model":{}}\n', 'must be a string or a number'],
  ])('is refused: %s %j', (name, text, why) => {
    expect(() => jobs(text, name)).toThrow(why);
  });

  it('combines with options of the batch and of all jobs', () => {
    const line = 'jobs.csv --out r.jsonl --frames -m auto --feature=psnr --together 3 -n';
    expect(batch(line.split(' '))).toMatchObject({
      sources: ['jobs.csv'],
      output: 'r.jsonl',
      frames: true,
      together: 3,
      common: [
        { name: 'model', value: 'auto' },
        { name: 'feature', value: 'psnr' },
        { name: 'no_prediction' },
      ],
    });
  });

  it.each([
    [[], 'no jobs given'],
    [['jobs.csv'], 'name one: -o results.jsonl'],
    [['jobs.csv', '-o', 'r', '-r', 'x'], 'a table names its references'],
    [['folder', '-o', 'r'], 'need a rule for their reference'],
    [['folder', '-o', 'r', '-r', 'x', '--match', '('], 'a regular expression'],
    [['jobs.csv', '-o', 'r', '--together', '0'], 'from 1 to 64'],
    [['jobs.csv', '-o', 'r', '--json'], 'unknown option'],
  ])('is refused with %j', (args, why) => {
    expect(() => batch(args)).toThrow(why);
  });
});

describe('a search', () => {
  it.each([
    ['--between 94..96', { targets: [{ atLeast: 94 }], atMost: 96 }],
    [
      '--target p5>=90 --between 1..2 --between 94..96',
      {
        targets: [{ atLeast: 94 }, { statistic: 'p5', atLeast: 90 }],
        atMost: 96,
      },
    ],
  ])('takes %s', (line, wanted) => {
    const { options: uses } = parseArguments(line.split(' '), SEARCH_OPTIONS);
    expect(settingsOf(uses, SEARCH_OPTIONS)).toEqual(wanted);
  });

  it.each([
    [search, 'a.mov -e libx264 --encode-missed', /--encode-missed requires --encode/],
    [shots, 'a.mov -e libx264 --encode-missed', /--encode-missed requires --encode/],
    [search, '--forget --cache none', /leave --cache none out/],
  ])('refuses %j %s', async (one, line, message) => {
    await expect(one.run(line.split(' '), {} as Terminal)).rejects.toThrow(message);
  });
});

describe('heatmaps', () => {
  const heatmap = (line: string) => {
    const args = `r.mp4 d.mp4 ${line}`.trimEnd().split(' ');
    return checked(args, HEATMAP_OPTIONS, heatmapSettings);
  };

  it('show the worst frames, or named frames', () => {
    expect(heatmap('')).toMatchObject({ frames: 1, of: 'both', output: '.' });
    expect(heatmap('--worst 5 --offset -3')).toMatchObject({ frames: 5, options: { offset: -3 } });
    expect(heatmap('--frame 9,0x2 --frame=2 --scale-of vif --block 8 --neg')).toMatchObject({
      frames: [2, 9],
      of: 'vif',
      options: { blockSize: 8, enhnGainLimit: 1 },
    });
    expect(heatmap('--scale-of butteraugli --colour-as vszip')).toMatchObject({
      options: { butteraugli: true, colourAs: 'vszip' },
    });
  });

  it.each([
    ['--frame x', '--frame is "x", but it must be the number of a frame such as 12'],
    ['--frame -1', '--frame is "-1", but it must be'],
    ['--worst 0', '--worst is "0", but it must be from 1 to 100 frames'],
    ['--frame 1 --worst 2', 'leave one of them out'],
    ['--scale-of psnr', '--scale-of is "psnr", but it must be both, vif, adm or butteraugli'],
    ['--block 12', '--block is "12", but it must be 4, 8'],
    ['-o -', '-o/--output needs the name of a .png file or a folder, not - for a standard stream'],
    ['--frame 1,2 -o x.png', '2 frames do not fit into the one file "x.png"'],
  ])('are refused with %s', (line, message) => {
    expect(() => heatmap(line)).toThrow(message);
  });
});

describe('the MCP server', () => {
  const absent = { http: undefined, token: undefined, vmafBin: undefined, callLimit: undefined };
  const NOTHING = { ...absent, tools: undefined, allow: [], origins: [] };

  it.each([
    [[], {}],
    [['--call-limit', '0'], { callLimit: 0 }],
    [['--call-limit', '2.5', '--tools', 'score,encode'], { callLimit: 2.5, tools: 'score,encode' }],
    [['--allow', '/a', '--allow=/b'], { allow: ['/a', '/b'] }],
    [['/a', '/b'], { allow: ['/a', '/b'] }],
    [['--http'], { http: '' }],
    [['--http', '--allow', '/a'], { http: '', allow: ['/a'] }],
    [['--http', '9000'], { http: '9000' }],
    [['--http=9000', '/a'], { http: '9000', allow: ['/a'] }],
    ['--allow /a --http 0.0.0.0:80 --token t'.split(' '), { allow: ['/a'], http: '0.0.0.0:80', token: 't' }],
    [['--http', '--cors', 'http://a', '--cors', '*'], { http: '', origins: ['http://a', '*'] }],
    [['--vmaf-bin', '/usr/bin/vmaf'], { vmafBin: '/usr/bin/vmaf' }],
  ])('takes %j', (args, wanted) => {
    expect(checked(args, MCP_OPTIONS, mcpArguments)).toEqual({ ...NOTHING, ...wanted });
  });

  it.each(['--help', '--token t --help', '--http 1 --http 2 --help'])('prints help for %s', async (line) => {
    expect(await mcp.run(line.split(' '), {} as Terminal)).toBe(mcp.page);
  });

  it.each([
    [['--alow', '/a'], 'unknown option --alow; did you mean --allow?'],
    [['--allow'], 'option --allow needs a value'],
    [['--token', 't'], '--token and --cors require --http, which was not given'],
    [['--cors', '*'], '--token and --cors require --http, which was not given'],
    [['--http', '--token', ''], 'give --token once, with a token that is not empty'],
    [['--http', '1', '--http', '2'], 'give --http once'],
    [['--call-limit', '-1'], '--call-limit'],
  ])('refuses %j', (args, sentence) => {
    expect(() => checked(args, MCP_OPTIONS, mcpArguments)).toThrow(sentence);
  });
});
