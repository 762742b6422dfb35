// SPDX-License-Identifier: Apache-2.0
//
// The server's version of uWebSockets.js: the newest whose binary loads.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli, temporaryFolder } from '../support/cli.js';

const { dependencies } = JSON.parse(fs.readFileSync(path.join(packageDir, 'package.json'), 'utf8'));
const pinned = (name: string): string => dependencies[name].split('@').at(-1);
const newer = pinned('uWebSockets.js');
const older = pinned('uWebSockets.js-20.51');

const [major] = process.versions.node.split('.');
const binaries = ['node_modules', 'node_modules/uWebSockets.js-20.51/node_modules']
  .map((folder) =>
    path.join(packageDir, folder, `@uwsjs/${process.platform}-${process.arch}-${major}/uws.node`),
  )
  .filter((file) => fs.existsSync(file));
const isOlder = (file: string): boolean => file.includes('20.51');

/** `open` replaces `dlopen`, by which Node loads a binary; a text is the reason of a failure. */
const opening = (open: string): { NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    const dlopen = process.dlopen;
    const open = ${open};
    process.dlopen = (module, file, ...rest) => {
      const opened = file.includes('uwsjs') ? open(file) : file;
      if (opened === undefined) throw new Error('the reason for ' + file);
      return dlopen.call(process, module, opened, ...rest);
    };`)}`,
});
const noneLoads = opening('() => undefined');

async function doctorsFinding(t: TestContext, env: Record<string, string> = {}): Promise<string> {
  const folder = temporaryFolder(t);
  const { stdout } = await runCli(['doctor', '--json'], {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: folder,
    ...env,
  });
  const found = stdout.split('\n').find((line) => line.includes('"name":"uWebSockets.js"'));
  const { result, finding } = JSON.parse(found ?? '{}');
  return `${result} ${finding}`;
}

/** Asks Node itself: the newest binary that loads here. */
const loadable = binaries.find((file) => {
  try {
    execFileSync(process.execPath, ['-p', 'require(process.argv[1])', file], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

test('without a binary that loads, doctor and the server name Node, platform, C library and every reason', async (t) => {
  const cLibrary = /\d+\.\d+$/.exec(
    execFileSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' }).trim(),
  );
  const sentence = `Expected a binary of uWebSockets.js for Node ${process.version} (${process.platform} ${process.arch}, glibc ${cLibrary}), but none loads.`;
  const { status, stderr } = await runCli(['serve'], { VERAVOX_DATA_DIR: temporaryFolder(t), ...noneLoads });
  assert.equal(status, 1);
  for (const text of [await doctorsFinding(t, noneLoads), stderr]) {
    assert.ok(text.includes(sentence), text);
    assert.match(text, new RegExp(`${newer}: the reason for \\S+\n`));
    assert.match(text, new RegExp(`${older}: (the reason for|Cannot find module) \\S+\n`));
    assert.doesNotMatch(text, /^ +at /m);
  }
});

test('doctor opens the binary, and names the version that it has opened', async (t) => {
  assert.ok(loadable !== undefined);
  assert.equal(await doctorsFinding(t), `ok ${isOlder(loadable) ? older : newer}`);
});

test('the newest that loads is used', async (t) => {
  // Simulates a newer C library: the newer version gets the binary that this system loads.
  const everyLoads = opening(`() => ${JSON.stringify(loadable)}`);
  assert.equal(await doctorsFinding(t, everyLoads), `ok ${newer}`);
  const onlyOlder = opening(`(file) => file.includes('20.51') ? ${JSON.stringify(loadable)} : undefined`);
  assert.match(
    await doctorsFinding(t, onlyOlder),
    binaries.some(isOlder) ? new RegExp(`^ok ${older}$`) : /^failed/,
  );
});
