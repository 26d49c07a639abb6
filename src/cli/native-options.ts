/**
 * @module cli/native-options
 * The options that say what measures: backend, program and processors. Pure.
 */
import { GPU_BACKENDS, OWN_GPU_BACKENDS } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import type { BackendChoice, ScoreOptions } from '../index.js';
import { type Draft, grouped, type OptionUse } from './options.js';
import { choiceValue, maskValue, unsignedValue } from './values.js';

const BACKENDS: readonly BackendChoice[] = [
  ...(['auto', 'cpu', 'wasm', 'native-cpu'] as const),
  ...GPU_BACKENDS,
  ...OWN_GPU_BACKENDS,
];

const RUNNING = 'Running';

/** The options in the order in which help lists them. */
export const NATIVE_OPTIONS = grouped(RUNNING, [
  {
    name: 'backend',
    argument: 'NAME',
    ours: true,
    help:
      'what measures: wasm or cpu for the own core (default); webgpu for a GPU, hybrid for a GPU beside the own core, with ' +
      'the same numbers; native-cpu, cuda, sycl, hip or metal for an installed libvmaf; auto for a GPU that works and is ' +
      "faster, else the own core. 'anyvmaf backends' lists what is here",
  },
  {
    name: 'vmaf-bin',
    argument: 'FILE',
    ours: true,
    help: 'the installed vmaf, or an ffmpeg or ffprobe with the libvmaf filter (default: VMAF_BIN, then PATH)',
  },
  { name: 'cpumask', argument: 'MASK', help: 'native backends: SIMD levels not to use' },
  { name: 'gpumask', argument: 'MASK', help: 'native backends: GPU operations to disable' },
  { name: 'sycl_device', argument: 'N', help: 'backend sycl: number of the device' },
  { name: 'hip_device', argument: 'N', help: 'backend hip: number of the device' },
  { name: 'metal_device', argument: 'N', help: 'backend metal: number of the device' },
]);

type Options = Draft<ScoreOptions>;

const DEVICES = {
  sycl_device: 'syclDevice',
  hip_device: 'hipDevice',
  metal_device: 'metalDevice',
} as const;

/** Gathers {@link NATIVE_OPTIONS} one by one. */
export class NativeArguments {
  readonly #masks = new Map<'cpumask' | 'gpumask', { readonly label: string; readonly value: number }>();

  /**
   * Takes one option.
   * @returns false when it is none of {@link NATIVE_OPTIONS}
   * @throws {AnyvmafError} `usage`
   */
  take({ name, ...rest }: OptionUse, options: Options): boolean {
    const use = { name, ...rest };
    switch (name) {
      case 'backend':
        options.backend = choiceValue(use, BACKENDS);
        return true;
      case 'vmaf-bin':
        if (use.value === '') {
          throw usageError(`${use.label} is empty, but it must name a program`);
        }
        options.vmafBin = use.value;
        return true;
      case 'cpumask':
      case 'gpumask':
        this.#masks.set(name, { label: use.label, value: maskValue(use) });
        return true;
      case 'sycl_device':
      case 'hip_device':
      case 'metal_device':
        options[DEVICES[name]] = unsignedValue(use, 0);
        return true;
      default:
        return false;
    }
  }

  /**
   * Adds the masks if a native backend is asked for.
   * @returns options without effect, as sentences
   */
  finish(options: Options): string[] {
    const { backend = 'wasm' } = options;
    const native = !['wasm', 'cpu', 'webgpu', 'hybrid'].includes(backend);
    const ignored: string[] = [];
    for (const [name, { label, value }] of this.#masks) {
      if (native) options[name] = value;
      else if (value !== 0) {
        ignored.push(`${label} has no effect: the same arithmetic runs on every machine.`);
      }
    }
    return ignored;
  }
}
