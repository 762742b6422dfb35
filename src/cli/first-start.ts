// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { packageDir } from '../config/package-dir.js';
import { type CreatedKey, KeyDirectory } from '../keys/key-directory.js';

/** A recording in the repository to try the server with. */
const sampleFile = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');

/** Creates an API key when there has never been one. */
export function createFirstKey(dataDir: string): CreatedKey | undefined {
  const keys = new KeyDirectory(dataDir);
  if (keys.list().length > 0) return undefined;
  return keys.create({ name: 'made at the first start', scopes: ['predict', 'voiceid', 'file'] });
}

/** Tells a person where the server is and, with a key, how to try it. */
export function announce(
  { host, dataDir }: Pick<Config, 'host' | 'dataDir'>,
  port: number,
  firstKey: string | undefined,
  isReady: boolean,
): void {
  const address = addressOf(host, port);
  process.stdout.write(
    isReady
      ? `veravox is ready on ${address}\n`
      : `veravox is running on ${address}, but not ready: ${address}/readyz says why\n`,
  );
  process.stdout.write(`data folder: ${dataDir}\n`);
  if (firstKey === undefined) return;
  const file = fs.existsSync(sampleFile) ? path.relative(process.cwd(), sampleFile) : 'recording.mp3';
  process.stdout.write(`
An API key was created. It is shown only this once:

  ${firstKey}

Try it:

  curl -H 'x-api-key: ${firstKey}' -F 'file=@${file}' ${address}/v1/predict

`);
}

function addressOf(host: string, port: number): string {
  // An address that stands for all interfaces is none to connect to.
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
