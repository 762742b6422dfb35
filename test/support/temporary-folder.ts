// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** A folder that is removed after the test. */
export function temporaryFolder(context: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-cli-'));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}
