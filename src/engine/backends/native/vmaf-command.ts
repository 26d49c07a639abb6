/**
 * @module engine/backends/native/vmaf-command
 * The command line of libvmaf's own tool.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { programName } from './host.js';
import { type DeviceOptions, modelItems, type NativeBackend, type NativeTask } from './task.js';
import { GPU_BACKENDS, type NativeProgram } from './types.js';

/** Bit depths of raw video that the tool takes. */
const RAW_DEPTHS = [8, 10, 12, 16];
const RAW_CHROMA = ['420', '422', '444'];

/** All operations of a GPU, for tools that can only disable operations. */
const NO_GPU = '4294967295';

/**
 * The arguments that run a task.
 * @throws {AnyvmafError} `backend` for what this program does not take, naming it
 */
export function vmafArgs(program: NativeProgram, task: NativeTask): readonly string[] {
  const { input, models, features, devices, frameCount, skip } = task;
  const args = ['--reference', input.reference, '--distorted', input.distorted];
  if (input.raw) {
    const { width, height, chroma, bitDepth } = input.raw;
    args.push('--width', `${width}`, '--height', `${height}`);
    args.push('--pixel_format', chroma, '--bitdepth', `${bitDepth}`);
  }
  for (const model of models) {
    const items = modelItems(model).map(([key, value]) => `${key}=${value}`);
    args.push('--model', items.join(':'));
  }
  for (const feature of features) args.push('--feature', feature);
  if (!task.predicts) args.push('--no_prediction');
  if (task.subsample > 1) args.push('--subsample', `${task.subsample}`);
  if (task.threads > 0) args.push('--threads', `${task.threads}`);
  if (frameCount !== undefined) args.push('--frame_cnt', `${frameCount}`);
  if (skip?.reference) args.push('--frame_skip_ref', `${skip.reference}`);
  if (skip?.distorted) args.push('--frame_skip_dist', `${skip.distorted}`);
  args.push(...backendArgs(program, task.backend, devices));
  // Stock libvmaf prints six decimals and does not know the option.
  if (program.options.has('precision')) args.push('--precision', 'max');
  args.push('--quiet', '--json', '--output', task.log);
  return args;
}

/** What the tool is told of backends and devices. */
function backendArgs(program: NativeProgram, backend: NativeBackend, devices: DeviceOptions): string[] {
  const { options } = program;
  const gpu = backend === 'native-cpu' ? undefined : backend;
  const args: string[] = [];
  if (options.has('backend')) {
    args.push('--backend', gpu ?? 'cpu');
  } else {
    for (const other of GPU_BACKENDS) {
      if (other !== gpu && options.has(`no_${other}`)) args.push(`--no_${other}`);
    }
    // A stock tool built with CUDA uses it without being asked, and says nothing of it in its help.
    if (!gpu && !options.has('no_cuda') && options.has('gpumask')) args.push('--gpumask', NO_GPU);
  }
  const { cpumask, gpumask, syclDevice, hipDevice, metalDevice } = devices;
  if (cpumask !== undefined) args.push(...known('cpumask', cpumask));
  if (gpumask !== undefined) args.push(...known('gpumask', gpumask));
  const own = { sycl: syclDevice, hip: hipDevice, metal: metalDevice };
  for (const [name, device] of Object.entries(own)) {
    if (name !== gpu) continue;
    if (device !== undefined) args.push(...known(`${name}_device`, device));
    // Without the exclusive option, naming a device is what turns it on.
    else if (!options.has('backend') && options.has(`${name}_device`)) args.push(`--${name}_device`, '0');
  }
  return args;

  function known(option: string, value: number): string[] {
    if (options.has(option)) return [`--${option}`, `${value}`];
    throw new AnyvmafError(
      'backend',
      `${programName(program.flavour, program.path)} has no option --${option}; leave it out, or install a build that ` +
        'has it.',
    );
  }
}

/** Why the tool does not support a format, as the end of a sentence; `undefined` if it does. */
export function vmafFormatProblem({
  chroma,
  bitDepth,
}: {
  readonly chroma: string;
  readonly bitDepth: number;
}): string | undefined {
  if (!RAW_CHROMA.includes(chroma)) return 'it takes video with chroma only (4:2:0, 4:2:2 and 4:4:4)';
  if (!RAW_DEPTHS.includes(bitDepth)) return `it takes 8, 10, 12 and 16 bit, not ${bitDepth}`;
  return undefined;
}

/** Whether the tool reads a Y4M file with this chroma tag (`420jpeg`) as it stands (specification B.2). */
export function vmafReadsY4m(tag: string): boolean {
  return /^(420(jpeg|mpeg2)?|444|(420|422|444)p1[02])$/.test(tag);
}
