// SPDX-License-Identifier: Apache-2.0
//
// deploy/secrets.sh writes all secrets or none: after an interruption it can be run again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { composeFile, deployDir } from '../support/compose.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test('the secrets are written in full or not at all', (t) => {
  const folder = temporaryFolder(t);
  fs.copyFileSync(path.join(deployDir, 'secrets.sh'), path.join(folder, 'secrets.sh'));
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin);
  const run = () =>
    spawnSync(path.join(folder, 'secrets.sh'), {
      env: { PATH: `${bin}:${process.env.PATH}` },
      encoding: 'utf8',
    });
  for (const [program, source] of [
    ['od', 'exit 1'],
    ['mv', 'kill -TERM "$PPID"'],
  ] as const) {
    const standIn = path.join(bin, program);
    fs.writeFileSync(standIn, `#!/bin/sh\n${source}\n`, { mode: 0o755 });
    assert.notEqual(run().status, 0, program);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['bin', 'secrets.sh'], program);
    fs.rmSync(standIn);
  }
  const { status, stderr } = run();
  assert.equal(status, 0, stderr);
  for (const { file } of Object.values(composeFile().secrets)) {
    assert.match(fs.readFileSync(path.join(folder, file), 'utf8'), /[0-9a-f]{24}/, file);
  }
  assert.match(run().stderr, /exists already/);
});
