// SPDX-License-Identifier: Apache-2.0
//
// Loaded into each host before anything else (`node --import`): all receivers' names resolve to this machine, as if to a
// public address.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageDir } from '../../../src/base/config/package-dir.js';

const built = pathToFileURL(path.join(packageDir, 'dist/api/fetch/acceptable-addresses.js'));
const { surroundings } = (await import(
  built.href
)) as typeof import('../../../src/api/fetch/acceptable-addresses.js');
Object.assign(surroundings, {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  isPublicAddress: () => true,
});
