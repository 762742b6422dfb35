// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { type Encoding, encodingFor } from '../../api/routes/encodings.js';
import { packageDir } from '../../base/config/package-dir.js';

/** `npm run build:ts` puts the built pages here. */
const folder = path.join(packageDir, 'dist/dashboard');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

export interface DashboardFile {
  readonly contentType: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  readonly bodies: ReadonlyMap<Encoding, Uint8Array>;
}

/** The files by their paths below `/dashboard/`: about a megabyte, read once and only on request. */
export class DashboardFiles {
  #reading: Promise<ReadonlyMap<string, DashboardFile>> | undefined;

  async find(name: string): Promise<DashboardFile | undefined> {
    this.#reading ??= readAll();
    // Files that are put there later are found.
    this.#reading.catch(() => {
      this.#reading = undefined;
    });
    return (await this.#reading).get(name);
  }
}

async function readAll(): Promise<ReadonlyMap<string, DashboardFile>> {
  const files = new Map<string, DashboardFile>();
  const entries = await fs.promises.readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((name) => name.replaceAll(path.sep, '/'));
  for (const name of names) {
    const contentType = types[path.extname(name)];
    if (contentType === undefined) continue;
    const bodies = new Map<Encoding, Uint8Array>();
    bodies.set('identity', await read(name));
    if (names.includes(`${name}.br`)) bodies.set('br', await read(`${name}.br`));
    if (names.includes(`${name}.gz`)) bodies.set('gzip', await read(`${name}.gz`));
    files.set(name, { contentType, isImmutable: name.startsWith('assets/'), bodies });
  }
  return files;
}

const read = (name: string): Promise<Uint8Array> => fs.promises.readFile(path.join(folder, name));

/** The shortest body that the client understands. @param accepted the header `accept-encoding` */
export function bodyFor({ bodies }: DashboardFile, accepted: string): [Encoding, Uint8Array] {
  const encoding = encodingFor(accepted, (each) => bodies.has(each));
  return [encoding, bodies.get(encoding) ?? new Uint8Array()];
}
