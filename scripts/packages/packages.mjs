// SPDX-License-Identifier: Apache-2.0
//
// Packs everything that a release has for npm: veravox, veravox-client and the package of this machine's platform.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootDir, run } from '../setup/step.mjs';
import { writePlatformPackage } from './platform-package.mjs';
import { writeServerPackage } from './server-package.mjs';

/**
 * Writes a tarball of each package to `outDir`. Server and client must be built.
 * @param portable the folder of ensurePortableBuild
 */
export async function packAll(outDir, portable) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-packages-'));
  const pack = (source) => run('npm', 'pack', source, '--ignore-scripts', '--pack-destination', outDir);
  try {
    await writeServerPackage(path.join(folder, 'server'));
    writePlatformPackage(path.join(folder, 'platform'), portable);
    for (const source of ['server', 'platform']) pack(path.join(folder, source));
    pack(path.join(rootDir, 'client'));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
