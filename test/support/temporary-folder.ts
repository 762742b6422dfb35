// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const folders: string[] = [];
const remove = (folder: string): void => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });

// Until a later hook stops it, a server of the test may write into its folder, and so make it again.
process.once('exit', () => folders.forEach(remove));

/** A folder that is removed after the test. */
export function temporaryFolder(context: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-cli-'));
  folders.push(folder);
  context.after(() => {
    try {
      remove(folder);
    } catch {
      // A failing hook would prevent that one, and the server would keep this process alive.
    }
  });
  return folder;
}
