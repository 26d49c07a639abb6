/**
 * @module engine/backends/native/help
 * Parses the help, version and filter output of installed programs.
 */
import type { NativeFlavour } from '../../../core/choices.js';
import { type BuildFlags, GPU_BACKENDS } from './types.js';

/** No capabilities. */
export const NO_BACKENDS: BuildFlags = { cpu: false, cuda: false, sycl: false, hip: false, metal: false };

/** The kind of program that printed this help; `undefined` if unknown. */
export function flavourOf(help: string): NativeFlavour | undefined {
  if (/^[ \t]*--reference\b/m.test(help) && /^[ \t]*--distorted\b/m.test(help)) return 'vmaf';
  const banner = /^(ffmpeg|ffprobe) version /m.exec(help);
  return banner?.[1] === 'ffmpeg' || banner?.[1] === 'ffprobe' ? banner[1] : undefined;
}

/** Long options that the help of `vmaf` lists, without dashes; it may spell one with dashes and another with underscores. */
export function vmafOptions(help: string): ReadonlySet<string> {
  const named = [...help.matchAll(/(?:^|[\s,/|[(])--([a-z][a-z0-9_-]*)/gim)];
  return new Set(named.map(([, name = '']) => name.replaceAll('-', '_')));
}

/** Backends with an option to disable them are compiled in (specification 1.5). */
export function buildFlags(options: ReadonlySet<string>): BuildFlags {
  const gpus = GPU_BACKENDS.map((backend) => [backend, options.has(`no_${backend}`)] as const);
  return { ...NO_BACKENDS, cpu: true, ...Object.fromEntries(gpus) };
}

/**
 * The version in an answer to `--version`: a number, or the commit that builds without one name.
 * @returns `null` without a version
 */
export function vmafVersion(text: string): string | null {
  for (const line of text.split('\n')) {
    const match = /^(?:vmaf\s+)?(?:version\s+)?v?(\d+\.\d+[\w.+-]*|[0-9a-f]{7,40})$/i.exec(line.trim());
    if (match?.[1]) return match[1];
  }
  return null;
}

/** The version in the banner of ffmpeg or ffprobe. */
export function ffmpegVersion(text: string): string | null {
  return /^(?:ffmpeg|ffprobe) version (\S+)/m.exec(text)?.[1] ?? null;
}

/**
 * Options of the libvmaf filter in an answer to `-h filter=libvmaf`.
 * @returns `undefined` without the filter
 */
export function filterOptions(text: string): ReadonlySet<string> | undefined {
  if (!/^Filter libvmaf\s*$/m.test(text)) return undefined;
  const named = [...text.matchAll(/^[ \t]+([a-z_]+)[ \t]+<(?:string|int|boolean|float|double)>/gm)];
  return new Set(named.map(([, name = '']) => name));
}

/** The two leading numbers of a version; `undefined` for a commit. */
export function release(version: string | null | undefined): readonly [number, number] | undefined {
  const match = /^[nv]?(\d+)\.(\d+)/.exec(version ?? '');
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}
