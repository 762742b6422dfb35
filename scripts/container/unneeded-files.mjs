// SPDX-License-Identifier: Apache-2.0
//
// Removes from node_modules files that an image does not need:
// - The native libraries that no process of this platform can load. The package of onnxruntime-node brings those of every
//   platform, that of libsql those of both C libraries: most of an image otherwise.
// - The links to the workspaces, whose folders stay behind in the build stage.
//
//   node scripts/container/unneeded-files.mjs
import '../needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const { platform, arch } = process;

/** @param file relative to node_modules, with slashes */
export function isForeignBinary(file) {
  const libsql = /^@libsql\/linux-([^/]+)/.exec(file);
  if (libsql) return libsql[1] !== `${arch}-gnu`;
  const onnxruntime = /^onnxruntime-node\/bin\/napi-v\d+\/([^/]+)\/([^/]+)\//.exec(file);
  return onnxruntime !== null && !(onnxruntime[1] === platform && onnxruntime[2] === arch);
}

export function removeForeignBinaries(nodeModulesDir) {
  let removedBytes = 0;
  for (const folder of ['onnxruntime-node/bin', '@libsql']) {
    const found = fs.readdirSync(path.join(nodeModulesDir, folder), { recursive: true });
    for (const name of found) {
      const file = path.join(nodeModulesDir, folder, name);
      if (!fs.statSync(file).isFile() || !isForeignBinary(`${folder}/${name}`)) continue;
      removedBytes += fs.statSync(file).size;
      fs.rmSync(file);
    }
  }
  return removedBytes;
}

export function removeWorkspaceLinks(nodeModulesDir) {
  for (const entry of fs.readdirSync(nodeModulesDir, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) fs.rmSync(path.join(nodeModulesDir, entry.name));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const removedBytes = removeForeignBinaries('node_modules');
  removeWorkspaceLinks('node_modules');
  console.log(`Removed ${Math.round(removedBytes / 1e6)} MB of libraries for other platforms.`);
}
