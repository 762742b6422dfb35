// SPDX-License-Identifier: Apache-2.0
//
// The package veravox: the server and its commands, with the models, without anything to build.
import fs from 'node:fs';
import path from 'node:path';
import { licenceTexts } from '../licences.mjs';
import { rootDir } from '../setup/step.mjs';
import { bundlePackages, withoutBundled } from './bundle.mjs';
import { platformPackage, platforms } from './platform-package.mjs';

const readJson = (name) => JSON.parse(fs.readFileSync(path.join(rootDir, name), 'utf8'));

/** Read by tests alone. */
const notShipped = ['models/released.json', 'training/imported/random_checkpoint.py'];

function description() {
  const { name, version, description, license, type, engines, bin, exports, dependencies } =
    readJson('package.json');
  const { packages } = readJson('package-lock.json');
  const libsql = platforms.map((platform) => `@libsql/${platform}-gnu`);
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    exports,
    files: ['dist', 'models', 'training', 'THIRD-PARTY-LICENCES'],
    dependencies: withoutBundled(dependencies),
    optionalDependencies: {
      ...Object.fromEntries(libsql.map((binary) => [binary, packages[`node_modules/${binary}`].version])),
      ...Object.fromEntries(platforms.map((platform) => [platformPackage(platform), version])),
    },
  };
}

/** Writes the package's folder from dist/, which must be built. */
export async function writeServerPackage(folder) {
  for (const name of ['dist', 'models', 'training/imported', 'LICENSE'])
    fs.cpSync(path.join(rootDir, name), path.join(folder, name), {
      recursive: true,
      filter: (file) => !notShipped.includes(path.relative(rootDir, file)) && !file.endsWith('__pycache__'),
    });
  fs.copyFileSync(path.join(import.meta.dirname, 'server-readme.md'), path.join(folder, 'README.md'));
  const bundled = await bundlePackages(path.join(folder, 'dist'));
  fs.writeFileSync(path.join(folder, 'THIRD-PARTY-LICENCES'), licenceTexts(bundled));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(description(), undefined, 2)}\n`);
}
