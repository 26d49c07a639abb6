/**
 * @module core/choices
 * Words that every door takes for the same things: devices that run tiny models, and filters that resize.
 */

/** Filters that bring one video to the other's size. */
export const SCALE_FILTERS = ['bicubic', 'bilinear', 'lanczos'] as const;
export type ScaleFilter = (typeof SCALE_FILTERS)[number];

/** `libvmaf-3.2`: today's arithmetic. `libvmaf-3.0`: motion as libvmaf 2.x to 3.0 computed it (spec 2.4). */
export type Compat = 'libvmaf-3.2' | 'libvmaf-3.0';

/** Kinds of installed program: libvmaf's own tool, or one of ffmpeg's with the libvmaf filter. */
export type NativeFlavour = 'vmaf' | 'ffmpeg' | 'ffprobe';

/** Devices of tiny models: the reference's, then ours. */
export const TINY_DEVICES = [
  'cpu',
  'cuda',
  'openvino',
  'openvino-npu',
  'openvino-cpu',
  'openvino-gpu',
  'coreml',
  'coreml-ane',
  'coreml-gpu',
  'coreml-cpu',
  'rocm',
  'tensorrt',
  'webgpu',
  'directml',
] as const;

/** What may be asked for: a device, or whichever works first. */
export const TINY_DEVICE_CHOICES = ['auto', ...TINY_DEVICES] as const;

/** Whether a tiny model that has an 8-bit sibling runs as that: as its registry says, never, or always. */
export const TINY_PRECISIONS = ['auto', 'fp32', 'int8'] as const;

/** Filters that bring luma to a model's size; `disabled` refuses another. */
export const TINY_RESIZES = ['bilinear', 'nearest', 'bicubic', 'disabled'] as const;
