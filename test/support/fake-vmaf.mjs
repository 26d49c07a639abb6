#!/usr/bin/env node
/**
 * @module test/support/fake-vmaf.mjs
 * A program that says it is libvmaf's tool. It reads what it is given and logs the mean luma of each frame, of the
 * reference as `vmaf` and of the distorted as `distorted_luma`; FAKE_VMAF names what it does wrong.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

const mode = process.env.FAKE_VMAF ?? 'good';
const args = process.argv.slice(2);
if (process.env.FAKE_VMAF_RECORD) appendFileSync(process.env.FAKE_VMAF_RECORD, `${JSON.stringify(args)}\n`);

const OTHER_GPUS = ['no_cuda', 'no_sycl', 'no_hip', 'no_metal'];

if (args.includes('--help')) help();
else score();

function help() {
  if (mode === 'hang-help') return hang();
  if (mode === 'crash-help') return crash();
  process.stdout.write(Buffer.from(Array.from({ length: 4096 }, (_, i) => i & 255)));
}

/** Ends like a program that refuses its arguments. */
function fail(code, text) {
  process.stderr.write(text);
  process.exitCode = code;
}

function score() {
  const value = (name) => args[args.indexOf(`--${name}`) + 1];
  if (mode === 'hang') return hang();
  if (mode === 'crash') return crash();
  if (mode === 'flood') return fail(9, 'x'.repeat(2 ** 20));
  if (mode === 'gpu-broken' && OTHER_GPUS.some((option) => !args.includes(`--${option}`)))
    return fail(100, 'problem during device initialisation\n');
  if (value('model')?.includes('version=vmaf_4k_v0.6.1')) return fail(255, 'no such built-in model\n');
  const luma = Number(value('width')) * Number(value('height'));
  // As libvmaf's CAMBI.
  if (value('model')?.includes('cambi.') && luma < 216 * 216) return fail(234, 'problem reading pictures\n');
  const frame = (luma * 3) / 2;
  const means = (path) => {
    const bytes = readFileSync(path);
    return Array.from({ length: Math.floor(bytes.length / frame) }, (_, n) => {
      const y = bytes.subarray(n * frame, n * frame + luma);
      return y.reduce((sum, sample) => sum + sample, 0) / luma;
    });
  };
  // Reads one video to its end before the other: the writer must not make one wait for the other.
  const distorted = means(value('distorted'));
  const reference = means(value('reference'));
  const probe = luma === 64 * 64 || luma === 320 * 320;
  // The late modes pass the health probe first.
  if (mode === 'late-hang' && !probe) return hang();
  if (mode === 'late-crash' && !probe) return crash();
  if (mode === 'no-log') return;
  if (mode === 'garbage-log') return writeFileSync(value('output'), '{"frames": [{]');
  const frames = reference.slice(0, distorted.length).map((mean, n) => ({
    frameNum: n,
    metrics: { distorted_luma: distorted[n], vmaf: mode === 'null-score' ? null : mean },
  }));
  if (mode === 'short' && !probe) frames.pop();
  const used = mode === 'liar' ? { backend_used: 'cpu' } : {};
  writeFileSync(
    value('output'),
    JSON.stringify({ version: '3.2.0', fps: 1, frames, pooled_metrics: {}, aggregate_metrics: {}, ...used }),
  );
}

function hang() {
  // Ignores SIGTERM: only a kill of the whole process group ends it.
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1e6);
}

function crash() {
  process.kill(process.pid, 'SIGSEGV');
}
