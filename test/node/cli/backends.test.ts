/**
 * @module test/node/cli/backends
 * The commands that say what is installed, and the options that choose it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scoreSettings } from '../../../src/cli/commands/score-options.js';
import { anyvmaf, videos } from '../../support/cli.js';
import { fakeVmaf } from '../../support/fake-vmaf.js';

let home = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'anyvmaf-backends-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('options', () => {
  const settings = (...args: string[]) => {
    const read = scoreSettings(['r', 'd', ...args]);
    return typeof read === 'string' ? undefined : read;
  };

  it('choose backend, program and devices', () => {
    const args = ['--backend', 'hip', '--vmaf-bin', './vmaf', '--hip_device', '2', '--gpumask', '0x3'];
    expect(settings(...args)?.options).toMatchObject({
      backend: 'hip',
      vmafBin: './vmaf',
      hipDevice: 2,
      gpumask: 3,
    });
  });

  it('pass masks to native backends only, wherever they stand', () => {
    expect(settings('--cpumask', '1')?.ignored.join()).toMatch(/cpumask.*no effect/);
    expect(settings('--cpumask', '1')?.options.cpumask).toBeUndefined();
    const native = settings('--cpumask', '1', '--backend', 'native-cpu');
    expect([native?.options.cpumask, native?.ignored]).toEqual([1, []]);
  });

  it('refuse other names', () => {
    expect(() => settings('--backend', 'vulkan')).toThrow(/--backend .*"vulkan"/);
    expect(() => settings('--backend', 'auto', '--vmaf-bin', '')).toThrow(/--vmaf-bin .*is empty/);
  });
});

describe.skipIf(process.platform === 'win32')('commands', () => {
  it('list backends, and say how to get those that are not here', async () => {
    const { path } = fakeVmaf(home, 'gpu');
    const listed = await anyvmaf(['backends', '--vmaf-bin', path]);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toContain(path);
    const json = await anyvmaf(['backends', '--json', '--vmaf-bin', join(home, 'nowhere')]);
    expect(JSON.parse(json.stdout)).toMatchObject({ cpu: true, cuda: false, native_cpu: false });
    expect(json.stdout).toMatch(/Install a vmaf built with CUDA/);
  });

  it('examine the installation', async () => {
    const { path } = fakeVmaf(home, 'gpu-broken');
    const { code, stdout } = await anyvmaf(['doctor', '--json', '--vmaf-bin', path]);
    expect(code).toBe(0);
    const found = JSON.parse(stdout);
    expect(found.node).toBe(process.versions.node);
    const healthy = found.health.map((one: { backend: string; runtime_healthy: boolean }) => [
      one.backend,
      one.runtime_healthy,
    ]);
    expect(healthy).toEqual([
      ['cpu', true],
      ['native-cpu', true],
      ['cuda', false],
      ['sycl', false],
      ['hip', false],
      ['metal', false],
      // Its package is installed for tests; whether there is a GPU is another matter.
      ['webgpu', expect.any(Boolean)],
    ]);
    expect(found.decoders.map(({ id }: { id: string }) => id)).toEqual(['ffmpeg', 'mediabunny', 'wasm']);
    const text = await anyvmaf(['doctor', '--vmaf-bin', path]);
    expect(text.stdout).toMatch(/cuda +does not work: vmaf/);
    expect(text.stdout).toMatch(/own core +WebAssembly with SIMD: works, scored a grey frame 97\.428043/);
  });

  it('refuse a backend that is not here, on one line', async () => {
    using files = videos();
    const pair = files.pair(['r.y4m', 'd.y4m'], 2);
    const options = ['--backend', 'cuda', '--vmaf-bin', fakeVmaf(home, 'good').path];
    const { code, stdout, stderr } = await anyvmaf([...pair, ...options]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^anyvmaf: The backend cuda is not here: .*\n$/);
  });

  it('refuse arguments', async () => {
    const { code, stderr } = await anyvmaf(['doctor', 'please']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/"please" is one argument too many/);
  });
});
