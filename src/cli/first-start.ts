// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../base/config/options.js';
import { packageDir } from '../base/config/package-dir.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import { replaceFile } from '../state/data-folder/durable-file.js';
import { newKey } from '../state/keys/api-key.js';
import type { KeyTable } from '../state/keys/key-table.js';
import { originOf } from './dashboard-address.js';

/** A recording in the repository to try the server with. */
const sampleFile = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');

export interface FirstKey {
  readonly id: string;
  /** As its owner sends it. */
  readonly text: string;
  /** The file that holds it; empty if it must be printed. */
  readonly file: string;
}

/** Makes an API key if there has never been one; it is stored just before it is printed, or just after it is in its file. */
export class FirstStart {
  readonly #keyTable: KeyTable;
  readonly #file: string;

  private constructor(keyTable: KeyTable, file: string) {
    this.#keyTable = keyTable;
    this.#file = file;
  }

  /** @param file the target of the key; empty if it is printed */
  static async prepare(keyTable: KeyTable, file: string): Promise<FirstStart | undefined> {
    if (!(await keyTable.isEmpty())) return undefined;
    if (file !== '') {
      // First, so that no key is created that nobody can read. An earlier file may be readable by others.
      fs.rmSync(file, { force: true });
      fs.writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
    }
    return new FirstStart(keyTable, file);
  }

  /** Undefined if another host was quicker. */
  async createKey(): Promise<FirstKey | undefined> {
    const { key, text } = newKey({
      name: 'made at the first start',
      scopes: ['predict', 'voiceid', 'file'],
    });
    // First: a key in the database that no file holds is lost, and the next start makes none.
    if (this.#file !== '') replaceFile(this.#file, `${text}\n`);
    if (!(await this.#keyTable.storeFirst(key))) {
      if (this.#file !== '') fs.rmSync(this.#file, { force: true });
      return undefined;
    }
    return { id: key.id, text, file: this.#file === '' ? '' : path.resolve(this.#file) };
  }
}

/** Tells the operator the server's address and, with a new key, how to try it. */
export function announcement(
  { host, dataDir, tlsCertFile }: Pick<Config, 'host' | 'dataDir' | 'tlsCertFile'>,
  port: number,
  firstKey: FirstKey | undefined,
  isReady: boolean,
): Shown {
  const address = originOf(tlsCertFile === '' ? 'http' : 'https', host, port);
  const state = isReady
    ? `veravox is ready on ${address}`
    : `veravox is running on ${address}, but not ready: see the log`;
  const start = shown`${state}\ndata folder: ${dataDir}\n`;
  if (firstKey === undefined) return start;
  const { text, file } = firstKey;
  const recording = fs.existsSync(sampleFile) ? path.relative(process.cwd(), sampleFile) : 'recording.mp3';
  const where = file === '' ? 'It is shown only once' : 'It is in this file only, which you may delete';
  const header = file === '' ? `'x-api-key: ${text}'` : `"x-api-key: $(cat ${quoted(file)})"`;
  return shown`${start}
An API key was created. ${where}:

  ${file === '' ? text : file}

Try it:

  curl -H ${header} -F 'file=@${recording}' ${address}/v1/predict

`;
}

/** Quoted for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
