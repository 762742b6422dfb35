// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildUnlessFresh } from './fingerprint.mjs';
import { rootDir, runStep } from './step.mjs';
import { ensureBuildPackages } from './system-packages.mjs';

/** The lock file represents the headers of node-addon-api and node-api-headers. */
export const addonInputs = ['CMakeLists.txt', 'native', 'package-lock.json'];

/** Builds the native addon. It is pure Node-API: one build serves every supported Node version. */
export async function ensureAddon() {
  await buildUnlessFresh({
    name: 'addon',
    inputs: addonInputs,
    output: 'build/addon/Release/veravox.node',
    build: async () => {
      await ensureBuildPackages();
      forgetBuildOfAnotherFolder();
      await runStep('native addon', [['npm', 'run', 'build:addon']], {
        CMAKE_BUILD_PARALLEL_LEVEL: String(os.availableParallelism()),
      });
    },
  });
}

/** Compiles the TypeScript sources to dist/, and builds the dashboard there. */
export async function ensureTypeScript() {
  await buildUnlessFresh({
    name: 'typescript',
    inputs: [
      'tsconfig.json',
      'src',
      'client/src',
      'dashboard',
      'scripts/docs-page.mjs',
      'scripts/build-commit.mjs',
      'package-lock.json',
    ],
    output: 'dist/cli/main.js',
    build: async () => {
      // The output of a deleted source file must not survive.
      fs.rmSync(path.join(rootDir, 'dist'), { recursive: true, force: true });
      await runStep('TypeScript', [['npm', 'run', 'build:ts']]);
    },
  });
}

/** CMake refuses a build folder that was copied or moved, because its cache has absolute paths. */
function forgetBuildOfAnotherFolder() {
  const buildDir = path.join(rootDir, 'build/addon');
  const cacheFile = path.join(buildDir, 'CMakeCache.txt');
  if (!fs.existsSync(cacheFile)) return;
  const isOurs = fs.readFileSync(cacheFile, 'utf8').includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${rootDir}\n`);
  if (!isOurs) fs.rmSync(buildDir, { recursive: true });
}
