// SPDX-License-Identifier: Apache-2.0
//
// Vulkan in software, which comes with Debian's Chromium: the real WebGPU provider on machines without a GPU.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from './temporary-folder.js';

const chromium = '/usr/lib/chromium';

/** Environment in which Vulkan has no other driver. */
export const softwareGpu = { VK_ICD_FILENAMES: path.join(chromium, 'vk_swiftshader_icd.json') } as const;

/** Environment without any Vulkan driver. */
export const noGpu = { VK_ICD_FILENAMES: '/nonexistent' } as const;

/** The same, behind a driver that can lose its device and pretend to be a discrete GPU. */
export const losableSoftwareGpu = (t: TestContext, { isDiscrete = false } = {}) => {
  const gpu = losableGpu(temporaryFolder(t), path.join(chromium, 'libvk_swiftshader.so'));
  return { ...gpu, env: { ...gpu.env, ...(isDiscrete && { VERAVOX_TEST_TYPE: '2' }) } };
};

/** Environment with a driver's library behind one that can lose its device. Its files are written to `folder`. */
export function losableGpu(folder: string, driver: string) {
  const library = path.join(folder, 'losable-gpu.so');
  const source = path.join(packageDir, 'test/support/losable-gpu.c');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  const manifest = path.join(folder, 'icd.json');
  const icd = { library_path: library, api_version: '1.1.0' };
  fs.writeFileSync(manifest, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
  const lost = path.join(folder, 'lost');
  return {
    env: {
      VK_ICD_FILENAMES: manifest,
      VERAVOX_TEST_DRIVER: driver,
      VERAVOX_TEST_LOST: lost,
    },
    lose: () => fs.writeFileSync(lost, ''),
    giveBack: () => fs.rmSync(lost),
  };
}

/** For this process, which reads it once, when its first session is made. */
export function setEnvironment(t: TestContext, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    process.env[name] = value;
    t.after(() => delete process.env[name]);
  }
}
