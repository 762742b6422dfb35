// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../base/config/options.js';
import { packageDir } from '../base/config/package-dir.js';
import { type CreatedKey, KeyDirectory } from '../state/keys/key-directory.js';

/** A recording in the repository to try the server with. */
const sampleFile = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');

export interface FirstKey extends CreatedKey {
  /** The file that holds it; empty if it must be printed. */
  readonly file: string;
  /** Call it once the key is printed. A key that was never shown is removed at exit, and the next start creates another. */
  shown(): void;
}

/** Creates an API key if there has never been one, and writes it to `file` unless that is empty. */
export function createFirstKey(dataDir: string, file: string): FirstKey | undefined {
  const keys = new KeyDirectory(dataDir);
  if (keys.list().length > 0) return undefined;
  if (file !== '') {
    // First, so that no key is created that nobody can read. An earlier file may be readable by others.
    fs.rmSync(file, { force: true });
    fs.writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  }
  const key = keys.create({ name: 'made at the first start', scopes: ['predict', 'voiceid', 'file'] });
  if (file !== '') fs.writeFileSync(file, `${key.text}\n`);
  const takeBack = (): void => keys.remove(key.key.id);
  if (file === '') process.once('exit', takeBack);
  return {
    ...key,
    file: file === '' ? '' : path.resolve(file),
    shown() {
      process.off('exit', takeBack);
    },
  };
}

/** Tells the operator the server's address and, with a new key, how to try it. */
export function announcement(
  { host, dataDir, tlsCertFile }: Pick<Config, 'host' | 'dataDir' | 'tlsCertFile'>,
  port: number,
  firstKey: FirstKey | undefined,
  isReady: boolean,
): string {
  const address = addressOf({ host, tlsCertFile }, port);
  const state = isReady
    ? `veravox is ready on ${address}`
    : `veravox is running on ${address}, but not ready: see the log`;
  const start = `${state}\ndata folder: ${dataDir}\n`;
  if (firstKey === undefined) return start;
  const { text, file } = firstKey;
  const recording = fs.existsSync(sampleFile) ? path.relative(process.cwd(), sampleFile) : 'recording.mp3';
  const where = file === '' ? 'It is shown only once' : 'It is in this file only, which you may delete';
  const header = file === '' ? `'x-api-key: ${text}'` : `"x-api-key: $(cat ${quoted(file)})"`;
  return `${start}
An API key was created. ${where}:

  ${file === '' ? text : file}

Try it:

  curl -H ${header} -F 'file=@${recording}' ${address}/v1/predict

`;
}

function addressOf({ host, tlsCertFile }: Pick<Config, 'host' | 'tlsCertFile'>, port: number): string {
  // Clients cannot connect to an address that means all interfaces.
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  const scheme = tlsCertFile === '' ? 'http' : 'https';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Quoted for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
