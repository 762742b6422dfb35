// SPDX-License-Identifier: Apache-2.0
//
// Builds the content of the Dockerfile's image, without Docker, and runs it. Only installed packages are replaced
// by the local ones.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { makeCertificate } from '../support/certificates.js';
import { copyFromContext, ignorer, type Stage, stagesOf, targetOf } from '../support/dockerfile.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const dockerfile = fs.readFileSync(path.join(packageDir, 'Dockerfile'), 'utf8');
const [build, image] = stagesOf(dockerfile) as [Stage, Stage];

const { isForeignBinary, removeWorkspaceLinks } = (await import(
  path.join(packageDir, 'scripts/container/unneeded-files.mjs')
)) as { isForeignBinary: (file: string) => boolean; removeWorkspaceLinks: (nodeModulesDir: string) => void };

function runHere(cwd: string, program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}:\n${stdout}${stderr}`);
}

/** The build stage after its RUN: compiled only from the files of COPY. */
function buildStage(dir: string): void {
  for (const copy of build.copies) copyFromContext(copy, packageDir, dir);
  // The result of npm ci; the compiler must look there.
  fs.symlinkSync(path.join(packageDir, 'node_modules'), path.join(dir, 'node_modules'));
  runHere(dir, process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
  runHere(dir, process.execPath, 'scripts/docs-page.mjs');
  runHere(dir, process.execPath, 'dashboard/build.mjs');
  fs.rmSync(path.join(dir, 'node_modules'));
  copyProductionPackages(path.join(dir, 'node_modules'));
  removeWorkspaceLinks(path.join(dir, 'node_modules'));
  for (const [, script = '', target = ''] of dockerfile.matchAll(/&& (node .+) > (\S+) \\$/gm)) {
    runHere(dir, 'sh', '-c', `${script} > ${target}`);
  }
  assert.match(dockerfile, /&& chmod \+x dist\/cli\/main\.js\n/);
  fs.chmodSync(path.join(dir, 'dist/cli/main.js'), 0o755);
  const addon = 'build/addon/Release/veravox.node';
  fs.mkdirSync(path.dirname(path.join(dir, addon)), { recursive: true });
  fs.copyFileSync(path.join(packageDir, addon), path.join(dir, addon));
}

/** The result of `npm prune --omit=dev` and the removal of other platforms' libraries. */
function copyProductionPackages(target: string): void {
  const { packages } = JSON.parse(fs.readFileSync(path.join(packageDir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true }>;
  };
  for (const [location, { dev }] of Object.entries(packages)) {
    const source = path.join(packageDir, location);
    if (location === '' || dev || !fs.existsSync(source)) continue;
    const name = location.slice('node_modules/'.length);
    fs.cpSync(source, path.join(target, name), {
      recursive: true,
      filter: (file) => !isForeignBinary(path.join(name, path.relative(source, file))),
    });
  }
}

function imageLayout(dir: string): string {
  const stageDir = path.join(dir, 'build');
  const imageDir = path.join(dir, 'image');
  buildStage(stageDir);
  for (const copy of image.copies) {
    if (copy.from === undefined) copyFromContext(copy, packageDir, imageDir);
    for (const source of copy.from === undefined ? [] : copy.sources) {
      assert.equal(copy.from, build.name);
      const inStage = path.relative(build.workdir, source);
      const target = path.join(imageDir, targetOf(copy, inStage, inStage));
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.renameSync(path.join(stageDir, inStage), target);
    }
  }
  fs.rmSync(stageDir, { recursive: true });
  return imageDir;
}

function filesIn(dir: string): fs.Dirent[] {
  return fs
    .readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink());
}

/** Paths that the code reads beside itself: the constants that it joins to the package's folder. */
function pathsThatCodeNames(): string[] {
  return filesIn(path.join(packageDir, 'src'))
    .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    .flatMap((code) => [...code.matchAll(/\bpackageDir, '([^']+)'/g)])
    .map(([, name = '']) => name);
}

/**
 * Needed only by people with a clone (a recording to try, the programs that `models import` gives to PyTorch), made at the start, or,
 * as the commit, an argument of the build.
 */
const notInImage = ['test/fixtures/human-lj-a.mp3', 'training', 'data', 'dist/commit'];

/** Only the tests read it. */
const modelFilesOfTests = ['released.json'];

function assertComplete(imageDir: string): void {
  const named = pathsThatCodeNames();
  assert.ok(named.includes('models') && named.includes('dist/dashboard'), named.join());
  const missing = named.filter((name) => !fs.existsSync(path.join(imageDir, name)));
  assert.deepEqual(new Set(missing), new Set(notInImage));
  const models = (root: string): string[] =>
    filesIn(path.join(root, 'models'))
      .map((entry) => path.relative(path.join(root, 'models'), path.join(entry.parentPath, entry.name)))
      .sort();
  assert.deepEqual(
    models(imageDir),
    models(packageDir).filter((name) => !modelFilesOfTests.includes(name)),
  );
}

/** Every package of the lock file that is in the image has a line in the bill of materials and in the licences. */
function assertNamesItsParts(imageDir: string): void {
  const { components } = JSON.parse(fs.readFileSync(path.join(imageDir, 'sbom.cdx.json'), 'utf8'));
  const named = new Set(components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
  const licences = fs.readFileSync(path.join(imageDir, 'licences.txt'), 'utf8');
  const lock = JSON.parse(fs.readFileSync(path.join(packageDir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; name?: string }>;
  };
  const inImage = Object.entries(lock.packages).filter(
    ([location]) => location !== '' && fs.existsSync(path.join(imageDir, location, 'package.json')),
  );
  assert.ok(inImage.length > 50, `${inImage.length}`);
  for (const [location, { version, name = location.replace(/.*node_modules\//, '') }] of inImage) {
    assert.ok(named.has(`pkg:npm/${name}@${version}`), `the bill of materials lacks ${location}`);
    assert.ok(
      licences.includes(`\n=== ${name} ${version}: `) || licences.startsWith(`=== ${name} `),
      location,
    );
  }
  assert.match(licences, /Permission is hereby granted, free of charge/);
}

/** `veravox` in a shell of the container. */
function assertOnPath(imageDir: string, dir: string): void {
  const [, target = '', link = ''] = /ln -s (\S+) (\S+)/.exec(dockerfile) ?? [];
  assert.equal(path.dirname(link), '/usr/local/bin');
  const here = path.join(dir, path.basename(link));
  fs.symlinkSync(path.join(imageDir, path.relative(image.workdir, target)), here);
  const env = { PATH: `${dir}:${path.dirname(process.execPath)}:${process.env.PATH}` };
  const { stdout, stderr } = spawnSync('veravox', ['--version'], { env, encoding: 'utf8' });
  assert.match(stdout, /^\d+\.\d+\.\d+ /, stderr);
}

function assertNothingUnneeded(imageDir: string): void {
  const links = filesIn(path.join(imageDir, 'node_modules'))
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const leading = links.filter((link) => !fs.existsSync(link) || !fs.realpathSync(link).startsWith(imageDir));
  assert.deepEqual(leading, [], 'links lead to files of the image');
  const built = filesIn(path.join(imageDir, 'dist')).map(({ name }) => name);
  assert.ok(built.length > 300, `${built.length} files`);
  assert.deepEqual(
    built.filter((name) => /\.(map|ts)$/.test(name)),
    [],
  );
}

const freePort = async (): Promise<number> => {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

test('the image’s files are complete and become ready, and the health check follows', async (context) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-image-'));
  let server: ChildProcess | undefined;
  context.after(async () => {
    // The server first: the folder cannot be removed while it writes there.
    if (server?.exitCode === null && server.kill('SIGKILL')) await once(server, 'exit');
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const imageDir = imageLayout(dir);
  assertComplete(imageDir);
  assertNothingUnneeded(imageDir);
  assertNamesItsParts(imageDir);
  assertOnPath(imageDir, dir);
  // `docker stop` waits for 10 s.
  assert.ok(Number(image.env.VERAVOX_STOP_GRACE_MS) + Number(image.env.VERAVOX_STOP_DRAIN_MS) < 10_000);
  const port = await freePort();
  const dataDir = path.join(imageDir, 'data');
  // The image's settings, with another data folder.
  const settings = Object.entries(image.env).map(([name, value]) => [
    name,
    value.replace(image.env.VERAVOX_DATA_DIR ?? '', dataDir),
  ]);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: path.join(imageDir, 'home'),
    ...Object.fromEntries(settings),
    VERAVOX_STOP_GRACE_MS: '0',
    VERAVOX_SCORING_THREADS: '1',
    HOST: '127.0.0.1',
    PORT: String(port),
  };
  const [script = ''] = image.healthcheck.slice(1).map((file) => path.relative(image.workdir, file));
  const health = (): number | null =>
    spawnSync(image.healthcheck[0] ?? '', [path.join(imageDir, script)], { env }).status;
  assert.notEqual(health(), 0, 'nothing listens yet');

  const [node, ...args] = image.command;
  assert.equal(node, 'node');
  server = spawn(process.execPath, args, { cwd: imageDir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'exit');
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (chunk) => (output += chunk));
  await eventually(
    () => /veravox is (ready|running) on/.test(output) || server?.exitCode !== null,
    'the server listens',
  );
  assert.ok(output.includes('veravox is ready on'), output);
  const base = `http://127.0.0.1:${port}`;
  for (const route of ['/readyz', '/docs', '/openapi.json', '/metrics']) {
    const answer = await fetch(base + route);
    assert.equal(answer.status, 200, `${route}: ${await answer.text()}`);
  }
  assert.equal(health(), 0);
  server.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.notEqual(health(), 0);
});

test('a server that is not ready is not healthy', async (context) => {
  let status = 503;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(request.url === '/readyz' ? status : 200).end();
  };
  const listening = async (server: Server): Promise<number> => {
    server.listen(0, '127.0.0.1');
    context.after(() => server.close());
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  };
  const port = await listening(createServer(answer));
  const health = async (env: Record<string, string>): Promise<number> => {
    const check = spawn('/bin/bash', [path.join(packageDir, 'scripts/container/health.sh')], {
      env: { PATH: path.dirname(process.execPath), ...env },
      stdio: 'ignore',
    });
    const [code] = await once(check, 'exit');
    return code;
  };
  const { certFile, keyFile } = makeCertificate(temporaryFolder(context), 'voice.example');
  const [cert, key] = [certFile, keyFile].map((file) => fs.readFileSync(file));
  const tlsPort = await listening(createTlsServer({ cert, key }, answer));
  const withTls = { HOST: '0.0.0.0', PORT: String(tlsPort), VERAVOX_TLS_CERT: certFile };
  const anywhere = { HOST: '0.0.0.0', PORT: String(port) };
  for (const env of [anywhere, withTls]) assert.equal(await health(env), 1);
  status = 200;
  for (const env of [anywhere, withTls]) assert.equal(await health(env), 0);
  assert.equal(await health({ ...withTls, VERAVOX_ADMIN_ADDRESS: `127.0.0.1:${port}` }), 0);
  assert.equal(await health({ ...withTls, PORT: '1' }), 1);
  assert.equal(await health({ PORT: '1', VERAVOX_ADMIN_ADDRESS: `127.0.0.1:${port}` }), 0);
  assert.equal(await health({ PORT: '1', VERAVOX_ADMIN_ADDRESS: `[::ffff:127.0.0.1]:${port}` }), 0);
});

test('nothing of this machine gets into the build context', () => {
  const isIgnored = ignorer(fs.readFileSync(path.join(packageDir, '.dockerignore'), 'utf8'));
  for (const file of [
    'data/keys/a.json',
    '.git/config',
    'node_modules/ajv/package.json',
    'dist/cli/main.js',
  ]) {
    assert.ok(isIgnored(file), file);
  }
  for (const file of ['models/known-answers/ai-kokoro.flac', 'models/manifest.json', 'src/cli/main.ts']) {
    assert.ok(!isIgnored(file), file);
  }
});

test('of all platforms’ libraries one is kept, this one’s', async () => {
  const kept = (folder: string): string[] =>
    fs
      .readdirSync(path.join(packageDir, 'node_modules', folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => path.relative(path.join(packageDir, 'node_modules'), file))
      .filter((file) => /\.(node|so(\.\d+)*|dylib|dll)$/.test(file) && !isForeignBinary(file));
  assert.ok(kept('onnxruntime-node').every((file) => file.includes(`/${process.platform}/${process.arch}/`)));
  assert.ok(kept('onnxruntime-node').length >= 2);
});
