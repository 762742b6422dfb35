// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { buildUnlessFresh } from './fingerprint.mjs';
import { rootDir, runStep, SetupError } from './step.mjs';

const requirements = 'clients/python/requirements.txt';
const environment = 'build/python';

/** A virtual environment for the tests of the Python client. Without it they are skipped, since some machines have no index. */
export async function ensurePythonPackages() {
  const python = `${environment}/bin/python`;
  const build = async () => {
    fs.rmSync(path.join(rootDir, environment), { recursive: true, force: true });
    await runStep('Python packages', [
      ['/usr/bin/python3', '-m', 'venv', environment],
      // By default pip asks an unreachable index for a minute, for each package.
      [python, '-m', 'pip', 'install', '--retries', '1', '--requirement', requirements],
    ]);
  };
  try {
    await buildUnlessFresh({ name: 'python', inputs: [requirements], output: python, build });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const [missing] = /No matching distribution found for .*/.exec(error.message) ?? [];
    if (missing === undefined) throw error;
    fs.rmSync(path.join(rootDir, environment), { recursive: true, force: true });
    console.log(`set-up: pip says "${missing}". The tests of the Python client will be skipped.`);
  }
}
