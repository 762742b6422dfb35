// SPDX-License-Identifier: Apache-2.0
//
// An npm registry on the loopback: packages of this clone's node_modules, and tarballs. It knows the packages of other platforms as
// package-lock.json describes them, so that npm has a choice, but cannot send them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { tarEntry } from './tarballs.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

export interface PackageRegistry {
  readonly origin: string;
  /** Packages that npm wanted but this machine does not have. */
  readonly refused: readonly string[];
}

const { isForeignBinary } = (await import(path.join(packageDir, 'scripts/container/unneeded-files.mjs'))) as {
  isForeignBinary: (file: string) => boolean;
};

/** Files by package; a folder is packed when it is asked for. */
interface Offer {
  readonly manifest: Manifest;
  readonly source: string;
}

function lockedPackages(): Offer[] {
  const lock = JSON.parse(fs.readFileSync(path.join(packageDir, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Partial<Manifest> & { dev?: true; link?: true }>>;
  };
  return Object.entries(lock.packages)
    .filter(([location, { dev, link }]) => location.includes('node_modules/') && !dev && !link)
    .map(([location, { integrity, resolved, optional, ...entry }]) => {
      const name = location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return {
        manifest: { name, ...entry } as Manifest,
        source: path.join(packageDir, location),
      };
    });
}

/** A tarball as npm makes them. Only this platform's binaries go into it: packing those of all takes a minute. */
function pack(folder: string, response: http.ServerResponse): void {
  const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const foreign = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => isForeignBinary(path.join(name, file)) && fs.statSync(path.join(folder, file)).isFile(),
    );
  const excluded = ['./node_modules', ...foreign.map((file) => `./${file}`)];
  const tar = spawn(
    'tar',
    [
      ...['--create', '--use-compress-program=gzip -1', '--transform=s,^\\.,package,'],
      ...[...excluded.map((file) => `--exclude=${file}`), '.'],
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  tar.stdout.pipe(response);
}

/** @param tarballs of packages besides those of node_modules */
export async function startRegistry(t: TestContext, tarballs: readonly string[]): Promise<PackageRegistry> {
  const offers = [
    ...lockedPackages(),
    ...tarballs.map((source) => ({
      manifest: JSON.parse(tarEntry(source, 'package/package.json')) as Manifest,
      source,
    })),
  ];
  const refused: string[] = [];
  let origin = '';

  const answer = (url: string, response: http.ServerResponse): void => {
    const [, tarball] = /^\/-\/(\d+)\.tgz$/.exec(url) ?? [];
    if (tarball !== undefined) {
      const { manifest, source } = offers[Number(tarball)] as Offer;
      if (source.endsWith('.tgz')) fs.createReadStream(source).pipe(response);
      else if (fs.existsSync(source)) pack(source, response);
      else {
        refused.push(`${manifest.name}@${manifest.version}`);
        response.writeHead(404).end();
      }
      return;
    }
    const name = decodeURIComponent(url.slice(1));
    const versions = offers.flatMap(({ manifest }, index) =>
      manifest.name === name
        ? [[manifest.version, { ...manifest, dist: { tarball: `${origin}/-/${index}.tgz` } }] as const]
        : [],
    );
    if (versions.length === 0) {
      response.writeHead(404).end('{}');
      return;
    }
    const latest = versions.at(-1)?.[0];
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  };

  const server = http.createServer(({ url = '' }, response) => answer(url, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, refused };
}
