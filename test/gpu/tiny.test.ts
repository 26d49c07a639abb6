/**
 * @module test/gpu/tiny
 * Tiny models on WebGPU with Chromium's software adapter: in Node by onnxruntime-node, in the browser by onnxruntime-web. The
 * order of operations differs from the CPU's, so the last digits differ.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/built.js';
import { launchChromium, needsChromium } from '../support/chromium.js';
import { anyvmafProcess, videos } from '../support/cli.js';
import { serve } from '../support/file-server.js';
import { privateFolder } from '../support/folders.js';
import { noGpu, SWIFTSHADER } from '../support/gpu.js';
import { meanOf } from '../support/onnx.js';
import { tier } from '../support/tier.js';

const ORT = 'node_modules/onnxruntime-web/dist';
const ADAPTER = ['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-webgpu-adapter=swiftshader'];

/** Decimals that agree for float32 in another order of operations, on a scale of 100. */
const DIGITS = 2;
const SHIPPED = 'nr_vmaf_v0.6.1';

/** The mean of luma, which compiles faster on a software adapter than the shipped model. */
const MEAN = meanOf(['B', 1, 'H', 'W'], { factor: 100 });
const SIDECAR = JSON.stringify({ name: 'luma_mean', kind: 'nr' });

/** Why onnxruntime-node has no WebGPU; empty if it has. */
function whyNotInNode(): string {
  if (noGpu) return noGpu;
  const list =
    "import('onnxruntime-node').then(({ listSupportedBackends: list }) => console.log(JSON.stringify(list())))";
  const { stdout } = spawnSync(process.execPath, ['-e', list], { cwd: root, encoding: 'utf8' });
  return stdout.includes('"webgpu"') ? '' : 'needs onnxruntime-node with WebGPU';
}
const noNode = whyNotInNode();

describe.skipIf(noNode !== '')(`WebGPU in Node${noNode && ` (${noNode})`}`, () => {
  it.each(tier(['mean'], ['mean', SHIPPED]))(
    'scores as the CPU does, and is named in the report: %s',
    async (which) => {
      const files = videos(privateFolder());
      const pair = files.pair(['r.y4m', 'd.y4m'], 3, { width: 160, height: 96 });
      const mean = files.at('mean.onnx');
      writeFileSync(mean, MEAN);
      writeFileSync(files.at('mean.json'), SIDECAR);
      const run = async (device: string) => {
        const args = [
          ...['--json', '-o', '-', '--precision', 'max', '--threads', '1', '--quiet'],
          ...['--tiny-model', which === SHIPPED ? SHIPPED : mean],
        ];
        const { code, stdout, stderr } = await anyvmafProcess([...pair, ...args, '--tiny-device', device], {
          cwd: dirname(files.at('x')),
          env: { VK_ICD_FILENAMES: SWIFTSHADER },
        });
        expect(code, stderr).toBe(0);
        return JSON.parse(stdout);
      };
      const [gpu, cpu] = [await run('webgpu'), await run('cpu')];
      expect(gpu.tiny[0]).toMatchObject({
        device_requested: 'webgpu',
        device: 'webgpu',
        runtime: 'onnxruntime-node',
      });
      expect(cpu.tiny[0].device).toBe('cpu');
      const [name] = cpu.tiny[0].metrics;
      expect(gpu.frames).toHaveLength(3);
      gpu.frames.forEach(({ metrics }: { metrics: Record<string, number> }, i: number) => {
        expect(metrics[name]).toBeCloseTo(cpu.frames[i].metrics[name], DIGITS);
        expect(metrics.vmaf).toBe(cpu.frames[i].metrics.vmaf);
      });
    },
    120_000,
  );

  it('is refused without fallback if its driver does not start', async () => {
    const files = videos(privateFolder());
    const pair = files.pair(['r.y4m', 'd.y4m'], 2, { width: 160, height: 96 });
    const { code, stdout, stderr } = await anyvmafProcess(
      [...pair, '--json', '-o', '-', '--quiet', '--tiny-model', SHIPPED, '--tiny-device', 'webgpu'],
      { env: { VK_ICD_FILENAMES: files.at('none.json') } },
    );
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/does not start on webgpu .* A named device has no fallback/s);
  }, 120_000);
});

const noBrowser = [
  needsChromium,
  existsSync(join(root, ORT, 'ort.webgpu.bundle.min.mjs')) ? '' : 'needs onnxruntime-web',
]
  .filter(Boolean)
  .join(', ');

declare global {
  interface Window {
    anyvmafGpu: Promise<typeof import('../../src/index.browser.js')>;
  }
}

describe.skipIf(noBrowser !== '')(`WebGPU in Chromium${noBrowser && ` (${noBrowser})`}`, () => {
  it.for(tier(['/mean.onnx'], ['/mean.onnx', SHIPPED]))(
    'scores as WebAssembly does, and is named in the report: %s',
    { timeout: 180_000 },
    async (model, context) => {
      const library = 'ort.webgpu.bundle.min.mjs';
      const source = readFileSync(join(root, ORT, library));
      const [code = ''] = /ort-wasm-simd-threaded\.\w+\.wasm/.exec(source.toString('utf8')) ?? [];
      const server = await serve(root.replace(/\/$/, ''), {
        '/index.html':
          '<!doctype html><link rel="icon" href="data:,"><script type="module">' +
          "window.anyvmafGpu = import('/dist/bundle/js/index.browser.js');</script>",
        '/mean.onnx': MEAN,
        '/mean.json': SIDECAR,
        '/ort/ort.js': source,
        [`/ort/${code}`]: readFileSync(join(root, ORT, code)),
      });
      const browser = await launchChromium(ADAPTER);
      try {
        const page = await browser.newPage();
        await page.goto(`${server.origin}/index.html`);
        const adapter = await page.evaluate(async () => {
          const gpu: { requestAdapter(): Promise<unknown> } | undefined = Reflect.get(navigator, 'gpu');
          const found = await gpu?.requestAdapter().catch(() => null);
          return found !== undefined && found !== null;
        });
        if (!adapter) return context.skip('this Chromium gives no WebGPU adapter, not even a software one');
        const found = await page.evaluate(async (model) => {
          const api = await window.anyvmafGpu;
          api.configure({ onnxruntime: '/ort/ort.js' });
          const [width, height] = [96, 64];
          const video = Uint8Array.from(
            { length: (2 * width * height * 3) / 2 },
            (_, i) => (i * i * 7 + (i >> 5)) & 255,
          );
          const raw = { width, height, bitDepth: 8, chroma: '420' } as const;
          const on = async (device: 'webgpu' | 'cpu' | 'auto') => {
            const tiny = [{ model, device }];
            const report = await api.score(
              { distorted: video, raw },
              { threads: 0, noReference: true, tiny },
            );
            const [name = ''] = report.tiny?.[0]?.metrics ?? [];
            return {
              values: report.frames.map(({ metrics }) => metrics[name] ?? Number.NaN),
              tiny: report.tiny?.[0],
              warnings: report.warnings.filter((warning) => warning.includes('webgpu')),
            };
          };
          return { gpu: await on('webgpu'), cpu: await on('cpu'), auto: await on('auto') };
        }, model);
        expect(found.gpu.tiny).toMatchObject({
          device: 'webgpu',
          runtime: 'onnxruntime-web',
          adapter: expect.stringMatching(/swiftshader/i),
        });
        expect(found.cpu.tiny).toMatchObject({ device: 'cpu' });
        // Auto skips software renderers.
        expect(found.auto.tiny).toMatchObject({ device_requested: 'auto', device: 'cpu' });
        expect(found.auto.warnings).toEqual([
          expect.stringMatching(
            /The device webgpu was skipped: its adapter .*swiftshader.* is a software renderer/i,
          ),
        ]);
        expect(found.cpu.values).toHaveLength(2);
        found.gpu.values.forEach((value, i) => {
          expect(value).toBeCloseTo(found.cpu.values[i] ?? Number.NaN, DIGITS);
        });
      } finally {
        await browser.close();
        await server.stop();
      }
    },
  );
});
