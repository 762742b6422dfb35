// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from './temporary-folder.js';

/** Environment of programs for which nobody answers for names below silent.test. */
export function silentNames(t: TestContext): { readonly LD_PRELOAD: string } {
  const library = path.join(temporaryFolder(t), 'silent-names.so');
  const source = path.join(packageDir, 'test/support/silent-names.c');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  return { LD_PRELOAD: library };
}
