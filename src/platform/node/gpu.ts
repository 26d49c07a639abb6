/**
 * @module platform/node/gpu
 * The GPU in Node, through the optional package `webgpu` (Dawn).
 */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { backendError, messageOf } from '../../core/errors.js';
import type { GpuAccess } from '../../engine/contract/platform.js';
import { obtainPart } from '../../parts/consent.js';
import { hasPackage, partFile } from '../../parts/table.js';

/** Loads the package; tests replace it. */
export type LoadWebgpu = () => Promise<typeof import('webgpu')>;

const ADVICE = 'install the package with npm install webgpu';

export const nodeGpu: GpuAccess = {
  get here() {
    return isInstalled();
  },
  get driver() {
    return process.platform !== 'linux' || hasVulkan();
  },
  advice: ADVICE,
  obtain: (signal) => obtainPart('webgpu', signal),
  open: () => openNodeGpu(loadPackage),
};

/** Imports the user's own package, else the part. */
async function loadPackage(): Promise<typeof import('webgpu')> {
  const part = hasPackage('webgpu') ? undefined : partFile('webgpu', 'webgpu/index.js');
  return part === undefined ? import('webgpu') : import(pathToFileURL(part).href);
}

/** @throws {AnyvmafError} `backend` if the package is not installed, does not load here, or finds no GPU */
export async function openNodeGpu(load: LoadWebgpu) {
  const { openWebgpu } = await import('../../engine/backends/webgpu/measurer.js');
  return openWebgpu(await loadGpu(load));
}

/** One per package, never collected: Dawn crashes if it is collected during work. */
const gpus = new Map<typeof import('webgpu')['create'], GPU>();

async function loadGpu(load: LoadWebgpu): Promise<GPU> {
  try {
    const { create } = await load();
    const gpu = gpus.get(create) ?? create([]);
    gpus.set(create, gpu);
    return gpu;
  } catch (cause) {
    if (!isInstalled()) {
      if (!nodeGpu.driver) {
        throw backendError('No driver for Vulkan was found, which measuring on a GPU needs', {
          hints: ['install one', 'name its file in VK_DRIVER_FILES', 'use the backend cpu'],
        });
      }
      throw backendError('The package webgpu, which measuring on a GPU needs, is not installed', {
        hints: [ADVICE, 'use the backend cpu'],
        cause,
      });
    }
    throw backendError(`The package webgpu does not work on this machine (${messageOf(cause)})`, {
      hints: ['use the backend cpu'],
      cause,
    });
  }
}

/** Folders where Vulkan drivers register. */
const VULKAN = ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d'];

function hasVulkan(): boolean {
  const { VK_ICD_FILENAMES, VK_DRIVER_FILES } = process.env;
  return Boolean(VK_ICD_FILENAMES || VK_DRIVER_FILES) || VULKAN.some(hasFiles);
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

function isInstalled(): boolean {
  return hasPackage('webgpu') || partFile('webgpu', 'webgpu/index.js') !== undefined;
}
