// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** A folder that is removed after the test. */
export function temporaryFolder(context: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-cli-'));
  const remove = (): void => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  context.after(() => {
    try {
      remove();
    } catch {
      // A server of the test may write into it until a later hook kills it. A failing hook would prevent that one, and
      // the server would keep this process alive.
      process.once('exit', remove);
    }
  });
  return folder;
}
