// SPDX-License-Identifier: Apache-2.0
//
// veravox as its users have it: installed by npm from tarballs, outside of the clone, on a PATH without compilers.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { packageDir } from '../../src/base/config/package-dir.js';
import { startRegistry } from './package-registry.js';
import { temporaryFolder } from './temporary-folder.js';

const run = promisify(execFile);

/** The programs that `npx veravox` needs: Node, npm and the shell that npm calls. */
function pathWithoutCompilers(folder: string): string {
  const onPath = (name: string): string =>
    (process.env.PATH ?? '')
      .split(path.delimiter)
      .map((dir) => path.join(dir, name))
      .find((file) => fs.existsSync(file)) ?? assert.fail(`${name} is on the PATH`);
  fs.mkdirSync(folder);
  fs.symlinkSync(process.execPath, path.join(folder, 'node'));
  for (const name of ['npm', 'npx', 'sh', 'env'])
    fs.symlinkSync(fs.realpathSync(onPath(name)), path.join(folder, name));
  return folder;
}

export interface Installation {
  /** The empty folder in which npm was started. */
  readonly folder: string;
  /** Of all commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Packages that npm wanted from the registry in vain. */
  readonly refused: readonly string[];
}

/** Installs the package of one of the tarballs, and its dependencies. */
export async function install(
  t: TestContext,
  tarballs: readonly string[],
  ...options: readonly string[]
): Promise<Installation> {
  const root = temporaryFolder(t);
  const registry = await startRegistry(t, tarballs);
  const env = {
    PATH: pathWithoutCompilers(path.join(root, 'bin')),
    HOME: path.join(root, 'home'),
    npm_config_cache: path.join(root, 'cache'),
    npm_config_registry: registry.origin,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  const folder = path.join(root, 'project');
  fs.mkdirSync(env.HOME);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--ignore-scripts', ...options, 'veravox'], { cwd: folder, env });
  return { folder, env, refused: registry.refused };
}

/** `npx veravox` with these arguments; its standard output. */
export async function npx({ folder, env }: Installation, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('npx', ['veravox', ...args], { cwd: folder, env, maxBuffer: 2 ** 26 });
  return stdout;
}

/** `npx veravox serve` until the test ends. */
export async function serve(
  t: TestContext,
  { folder, env }: Installation,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly origin: string; readonly apiKey: string }> {
  const child = spawn('npx', ['veravox', 'serve'], {
    cwd: folder,
    env: { ...env, PORT: '0', VERAVOX_STOP_GRACE_MS: '0', VERAVOX_SCORING_THREADS: '1', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: npx, the shell and the server end together.
    detached: true,
  });
  const ended = once(child, 'close');
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
  });
  const output = await printed(child, /Try it:/);
  const [, origin = ''] = /veravox is ready on (\S+)/.exec(output) ?? assert.fail(output);
  const [, apiKey = ''] = /^ {2}(vx_\S+)$/m.exec(output) ?? assert.fail(output);
  return { origin, apiKey };
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
        if (pattern.test(output)) resolve(output);
      });
    child.once('close', (code) => reject(new Error(`It ended with ${code}:\n${output}`)));
  });
}

interface Packages {
  writeServerPackage(folder: string): Promise<void>;
  writePlatformPackage(folder: string, portable: string): void;
}

/**
 * Packs server and platform into `folder`.
 * @param portable the folder of ensurePortableBuild
 * @returns their tarballs
 */
export async function packForNpm(folder: string, portable: string): Promise<string[]> {
  const scripts = path.join(packageDir, 'scripts/packages');
  const { writeServerPackage } = (await import(path.join(scripts, 'server-package.mjs'))) as Packages;
  const { writePlatformPackage } = (await import(path.join(scripts, 'platform-package.mjs'))) as Packages;
  await writeServerPackage(path.join(folder, 'server'));
  writePlatformPackage(path.join(folder, 'platform'), portable);
  const env = { ...process.env, npm_config_cache: path.join(folder, 'cache') };
  const names = ['server', 'platform'];
  for (const name of names)
    await run('npm', ['pack', `./${name}`, '--ignore-scripts', '--silent'], { cwd: folder, env });
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => path.join(folder, name));
}

/** The clone's own addon in place of the one that finds FFmpeg beside it, whose build takes minutes. */
export function standInForPortableBuild(folder: string): string {
  const portable = path.join(folder, 'portable');
  fs.mkdirSync(path.join(portable, 'package/licences'), { recursive: true });
  fs.mkdirSync(path.join(portable, 'source'));
  fs.copyFileSync(
    path.join(packageDir, 'build/addon/Release/veravox.node'),
    path.join(portable, 'package/veravox.node'),
  );
  fs.writeFileSync(path.join(portable, 'package/licences/FFmpeg.txt'), 'Of the system.\n');
  fs.writeFileSync(path.join(portable, 'source/ffmpeg_0.dsc'), 'Of the system.\n');
  fs.writeFileSync(path.join(portable, 'ffmpeg.json'), '{"version":"0","zlib":"0","configuration":""}');
  return portable;
}
