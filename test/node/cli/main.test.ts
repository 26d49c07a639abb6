/**
 * @module test/node/cli/main
 * Scoring stored frames on the command line: what it prints and writes, what other commands list, and how bad input is
 * refused.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { version } from '../../../src/core/version.js';
import { listModels } from '../../../src/index.js';
import { anyvmaf, passes, refuses, videos } from '../../support/cli.js';

const files = videos();
/** Three frames, whose libvmaf reports are test/fixtures/reports/pair.*. */
const [ref, dis] = files.pair(['ref.y4m', 'dis.y4m'], 3);
const PAIR_OPTIONS = ['-m', 'version=vmaf_v0.6.1', '--feature', 'psnr=enable_apsnr=true'];

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/reports/${name}`, import.meta.url), 'utf8');

/** libvmaf's mean score of the pair, with six decimals. */
const pairMean = () => /<metric name="vmaf" .*? mean="([0-9.]+)"/.exec(fixture('pair.xml'))?.[1] ?? '';
/** The outcome of a plain run. */
const plain = () => ({ code: 0, stdout: `vmaf_v0.6.1: ${pairMean()}\n`, stderr: '' });

describe('results', () => {
  test('without a terminal: one line per model, nothing else', async () => {
    expect(await anyvmaf([ref, dis])).toEqual(plain());
  });

  test('-o writes XML by default, and prints nothing', async () => {
    const output = files.at('report');
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await anyvmaf([ref, dis, ...PAIR_OPTIONS, '-o', output])).toEqual(nothing);
    const frames = /<frames>[\s\S]*<\/frames>/;
    const text = readFileSync(output, 'utf8');
    expect(text).toMatch(/^<VMAF version="/);
    expect(frames.exec(text)?.[0]).toBe(frames.exec(fixture('pair.xml'))?.[0]);
  });

  test('-o with --json writes the same as standard output', async () => {
    const output = files.at('report.json');
    await passes([ref, dis, ...PAIR_OPTIONS, '--json', '--output', output]);
    const written = JSON.parse(readFileSync(output, 'utf8'));
    const printed = JSON.parse((await anyvmaf([ref, dis, ...PAIR_OPTIONS, '--json'])).stdout);
    const dashed = JSON.parse((await anyvmaf([ref, dis, ...PAIR_OPTIONS, '--json', '-o', '-'])).stdout);
    expect(written.frames).toEqual(JSON.parse(fixture('pair.json').replace('FPS', '0')).frames);
    for (const other of [printed, dashed]) expect({ ...other, fps: 0 }).toEqual({ ...written, fps: 0 });
  });

  test('raw video and standard input give the same score', async () => {
    const raw = files.pair(['ref.yuv', 'dis.yuv'], 3);
    const geometry = ['-w', '64', '-h', '48', '-p', '420', '-b', '8'];
    const expected = `vmaf_v0.6.1: ${pairMean()}\n`;
    expect((await anyvmaf([...raw, ...geometry])).stdout).toBe(expected);
    mkdirSync(files.at('-'));
    files.put('-/picture.png', '');
    const piped = await anyvmaf(['-', dis], { input: readFileSync(ref), cwd: files.at('.') });
    expect(piped.stdout).toBe(expected);
    const { stdout } = await anyvmaf(['-', dis, '--json'], { input: readFileSync(ref) });
    expect(JSON.parse(stdout).reference.name).toBe('standard input');
    const found = (await anyvmaf(['-r', raw[0], '-d-', ...geometry], { input: readFileSync(raw[1]) })).stdout;
    expect(found).toBe(expected);
  });

  test('a shorter video is scored to its end with a warning on standard error', async () => {
    const [, short] = files.pair(['same.y4m', 'short.y4m'], 2);
    const { stdout, stderr } = await passes([ref, short, '--quiet', '--json', '--no-preflight']);
    const report = JSON.parse(stdout);
    expect(report.frames).toHaveLength(2);
    expect(report.warnings).toHaveLength(1);
    expect(stderr).toBe(`anyvmaf: warning: ${report.warnings[0]}\n`);
    expect((await anyvmaf([ref, short, '--quiet'])).stderr).toContain(stderr);
  });

  test('ignored options give a warning, also in the report', async () => {
    const { stdout, stderr } = await passes([ref, dis, '--cpumask', '-1', '--json']);
    expect(stderr).toContain('--cpumask has no effect');
    expect(JSON.parse(stdout).warnings[0]).toContain('--cpumask has no effect');
  });
});

test('the gate fails below its limit, names the model, and still writes the report', async () => {
  const output = files.at('gate.csv');
  const { code, stdout, stderr } = await anyvmaf([ref, dis, '--fail-under', '99.5', '--csv', '-o', output]);
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toBe(`anyvmaf: the mean of vmaf_v0.6.1 is ${pairMean()}, below --fail-under 99.5\n`);
  expect(readFileSync(output, 'utf8')).toMatch(/^Frame,/);
});

describe('information', () => {
  test('--version', async () => {
    for (const option of ['--version', '-v', '--ver'])
      expect(await anyvmaf([option])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('help by every name', async () => {
    const { stdout: text, code } = await anyvmaf(['--help']);
    expect(code).toBe(0);
    expect(text).toMatch(/^Usage: anyvmaf /);
    for (const args of [['help'], ['help', 'score'], ['score', '--help'], ['nonsense', '--help']])
      expect((await anyvmaf(args)).stdout).toBe(text);
    expect((await anyvmaf(['help', 'models'])).stdout).toBe((await anyvmaf(['models', '--help'])).stdout);
    await refuses(['help', 'featurs'], 1, 'did you mean features?');
  });

  test('models', async () => {
    const names = (await listModels()).map(({ name }) => name);
    const { stdout } = await anyvmaf(['models']);
    for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    const list = JSON.parse((await anyvmaf(['models', '--json'])).stdout);
    expect(list.map((model: { name: string }) => model.name)).toEqual(names);
    const neg = await anyvmaf(['models', 'vmaf_v0.6.1neg']);
    expect(neg.stdout).toContain('adm_enhn_gain_limit=1');
    expect(await anyvmaf(['models', 'NEG'])).toEqual(neg);
    await refuses(['models', 'vmaf_v061'], 1, 'did you mean vmaf_v0.6.1?');
    await refuses(['models', 'a', 'b'], 1, 'one argument too many');
  });

  test('features', async () => {
    const { stdout } = await anyvmaf(['features']);
    for (const name of ['psnr', 'adm', 'motion', 'vif', 'float_ssim', 'ciede', 'cambi'])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect((await anyvmaf(['features', 'vif'])).stdout).toContain('vif_enhn_gain_limit=N');
    const found = (await anyvmaf(['features', 'float_vif'])).stdout;
    expect(found).toMatch(/vif_prescale_method=nearest\|bilinear\|/);
    expect((await anyvmaf(['features', 'ciede'])).stdout).toContain('It has no options.');
    expect((await anyvmaf(['features', 'ssim'])).stdout).toMatch(/^float_ssim\n/);
    await refuses(['features', 'sharpness'], 1, 'there are float_psnr, ');
  });

  test('a folder with the name of a command is not a video', async () => {
    mkdirSync(files.at('features'));
    const { stdout } = await passes(['features', 'vif'], { cwd: files.at('.') });
    expect(stdout).toContain('vif_enhn_gain_limit=N');
  });
});

describe('invalid input', () => {
  /** Expects a refusal that leaves no file. */
  async function refused(args: readonly string[], code: number, text: string | RegExp): Promise<void> {
    const before = readdirSync(files.at('.'));
    await refuses([...args, '--json', '-o', files.at('never.json')], code, text);
    expect(readdirSync(files.at('.'))).toEqual(before);
  }

  test.each([
    ['--crop-ref 99:99:0:0', 1, '--crop-ref is "99:99:0:0", which goes beyond the picture of 64x48'],
    ['--vf-dis movie=a.mkv', 1, '--vf-dis names the filter "movie", which'],
    ['--pix-fmt nv12', 1, '--pix-fmt is "nv12", but it must be one of ffmpeg\'s planar formats'],
    ['--rate 25', 1, '--rate is 25, but neither video is an image sequence'],
    [
      '--deinterlace',
      1,
      'no fields; pass --vf-ref bwdif=mode=send_frame if the reference is interlaced anyway, or pass --vf-dis bwdif=mode=send_frame if the distorted video is interlaced anyway.',
    ],
    ['--sycl_device 1', 1, '--sycl_device is 1, but the backend is wasm, not sycl'],
    ['--vmaf-bin vmaf', 1, '--vmaf-bin or VMAF_BIN is "vmaf", but no native backend is requested'],
    ['--frame_skip_ref 9', 2, 'ref.y4m'],
    ['-m version=vmaf_v9', 2, 'vmaf_v9'],
    ['-m vmaf_v0.6.1:vmaf', 1, 'vmaf_v0.6.1:vmaf'],
    [
      '-m version=vmaf_v0.6.1:name=',
      1,
      'anyvmaf: Model string "version=vmaf_v0.6.1:name=" has an empty name; omit name=.\n',
    ],
    ['-m version=vmaf_v0.6.1 -m version=vmaf_4k_v0.6.1', 1, 'name='],
    ['-m path=no.json', 2, 'no.json'],
    [`-m path=${files.put('text.json', 'hello')}`, 2, 'text.json'],
    ['--feature sharpness', 2, 'sharpness'],
    [
      '--feature null',
      2,
      /^anyvmaf: There is no feature extractor "null" \(in feature "null"\); there are float_psnr, [^\n]*, cvvdp\.\n$/,
    ],
    ['--feature psnr=x', 1, 'psnr'],
    ['--feature psnr=loud=true', 2, 'loud'],
    ['--feature vif=vif_enhn_gain_limit=0.5', 2, 'vif_enhn_gain_limit'],
    ['--threads 99999', 1, '--threads is "99999"'],
  ])('%s is refused', (options, code, text) => refused([ref, dis, ...options.split(' ')], code, text));

  test('a video that is missing, a folder, empty, no video or ends within a frame is refused', async () => {
    await refused([ref, files.at('no such file.y4m')], 2, 'no such file.y4m');
    await refused([files.at('.'), dis], 2, files.at('.'));
    await refused([files.put('empty.y4m', ''), dis], 2, 'empty.y4m');
    await refused([files.put('notes.y4m', 'once upon a time\n'.repeat(99)), dis], 2, 'notes.y4m');
    await refused([ref, files.put('cut.y4m', readFileSync(dis).subarray(0, -100))], 2, 'cut.y4m');
  });

  test('raw video without a geometry that divides its file, and a video of another size are refused', async () => {
    const raw = files.pair(['x.yuv', 'y.yuv'], 3);
    await refused(raw, 2, 'x.yuv');
    await refused([...raw, ...'-w 66 -h 48 -p 420 -b 8'.split(' ')], 2, 'x.yuv');
    const [other] = files.pair(['other.y4m', 'other2.y4m'], 3, { width: 48, bitDepth: 10 });
    await refused([ref, other], 2, /48x48.*64x48.*10 bit.*8 bit/);
  });

  test('frames too small for VMAF are refused, and measured by colour metrics', async () => {
    const small = files.pair(['t.y4m', 'u.y4m'], 1, { width: 16, height: 16 });
    await refused(small, 2, '16x16');
    const ran = await anyvmaf([...small, '--feature', 'ssimulacra2', '--no_prediction', '-q']);
    expect(ran.stdout).toMatch(/^ssimulacra2: -?[\d.]+\n$/);
  });

  test('a given geometry must be that of a Y4M header', async () => {
    const message =
      `anyvmaf: ${ref} is a Y4M file of 64x48 4:2:0 8 bit, but the given raw format is 66x48 4:2:0 8 bit; ` +
      'correct -w, -h, -p and -b, or leave them out if both videos are Y4M.\n';
    await refused([ref, dis, ...'-w 66 -h 48 -p 420 -b 8'.split(' ')], 2, message);
  });

  test('truncated frames and encoded video are refused from standard input', async () => {
    const cut = readFileSync(dis).subarray(0, -100);
    await refuses([ref, '-'], 2, 'incomplete', { input: cut });
    const film = Buffer.from('\0\0\0 ftypisom');
    const refusal =
      /^anyvmaf: (standard input is not .* -i -|ffmpeg cannot decode standard input .* -i VIDEO) -strict/;
    await refuses([ref, '-'], 2, refusal, { input: film });
    await refuses([ref, files.put('film.mp4', film), '--decoder', 'none'], 2, 'leave out --decoder none');
  });

  test('an output that is one of the inputs is refused', async () => {
    symlinkSync('dis.y4m', files.at('alias'));
    await refuses([ref, dis, '-o', files.at('alias')], 1, 'is one of the inputs');
    expect(readFileSync(dis, 'latin1')).toMatch(/^YUV4MPEG2/);
  });

  test.each([
    ['no/such/report', 'its folder does not exist'],
    ['.', 'it is a folder'],
  ])('the output %s is refused before the videos are read', async (name, reason) => {
    await refuses(['none.y4m', dis, '-o', files.at(name)], 2, reason);
  });

  test.runIf(existsSync('/dev/full')).each(['-o', '--html'])(
    'a disk that gets full at the end of %s is an error, but costs no score',
    async (option) => {
      const { code, stdout, stderr } = await anyvmaf([ref, dis, '--threads', '0', option, '/dev/full']);
      expect([code, stdout]).toEqual([2, expect.stringMatching(/^vmaf_v0\.6\.1: [\d.]+\n$/)]);
      expect(stderr).toContain('the disk is full');
    },
  );

  test('a master playlist that is missing or none is refused', async () => {
    await refuses(['ladder', '--master', 'no.m3u8'], 2, 'cannot read no.m3u8: there is no such file.\n');
    await refuses(['ladder', '--master', dis], 2, `${dis} is not an HLS master playlist`);
  });

  test('an error that names a file with a line feed in it is still one line', async () => {
    await refuses([ref, 'a\nb\u001b[31m.y4m'], 2, 'a');
  });
});

describe('on a terminal', () => {
  const TTY = { interactive: true, canDraw: true, colour: true, errorColour: true };

  test('a progress bar appears and is removed, then the summary follows', async () => {
    const { stdout, stderr } = await passes([ref, dis], { terminal: TTY });
    expect(stderr).toContain('3/3 frames');
    expect(stderr.slice(stderr.lastIndexOf('\u001b[K') + 3)).not.toContain('3/3 frames');
    expect(stdout).not.toContain('3/3 frames');
    expect(stdout).toContain(pairMean());
    expect(stdout).toContain('\u001b[1m');
  });

  test('the result is the score and at most eight lines, and all measurements on request', async () => {
    const output = files.at('brief.xml');
    const brief = (await anyvmaf([ref, dis, '-o', output], { terminal: TTY })).stdout.trim().split('\n');
    expect(brief[0]).toContain(pairMean());
    expect(brief.length).toBeLessThanOrEqual(9);
    const found = brief.at(-1);
    expect(found).toBe(`The report is in ${output}; --features-table prints 1 note and all measurements`);
    const all = (await anyvmaf(['--features-table', ref, dis], { terminal: TTY })).stdout;
    for (const part of ['integer_vif_scale3', 'Percentiles', 'Worst frames', 'What ran', pairMean()])
      expect(all).toContain(part);
    expect(brief.join('\n')).not.toContain('integer_vif_scale3');
  });

  test('--quiet gives the plain lines', async () => {
    expect(await anyvmaf(['-q', ref, dis], { terminal: TTY })).toEqual(plain());
  });

  test.each([true, false])(
    'without colours there is a bar only if it can be redrawn: %s',
    async (canDraw) => {
      const terminal = { interactive: true, canDraw, colour: false, errorColour: false };
      const { stdout, stderr } = await anyvmaf([ref, dis], { terminal });
      expect(stdout).toContain(pairMean());
      expect(stderr.includes('3/3 frames')).toBe(canDraw);
      expect((stdout + stderr).replaceAll(canDraw ? '\u001b[K' : '', '')).not.toContain('\u001b');
    },
  );
});
