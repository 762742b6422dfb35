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
      // A server of the test may go on writing into it until a later hook kills it. A hook that fails keeps that one from
      // running, and the server would keep this process from ending.
      process.once('exit', remove);
    }
  });
  return folder;
}
