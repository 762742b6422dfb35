// SPDX-License-Identifier: Apache-2.0
//
// Inputs that ended a process are counted across restarts; after two times, an input is refused.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { RefusedInputs } from '../../../src/analysis/prepare/refused-inputs.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { DeadlyInputs, MAX_KNOWN_INPUTS } from '../../../src/state/crash-notes/deadly-inputs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const NOTE_BYTES = 64;
const SIGSEGV = 11;
const working = 1;
const died = 2;

const digestOf = (name: string): Buffer => createHash('sha256').update(name).digest();

/** As left behind by native/guard/crash_notes.cc. */
function leaveNotes(
  deadly: DeadlyInputs,
  pid: number,
  notes: readonly (readonly [state: number, digest: Buffer])[],
) {
  const bytes = Buffer.alloc((notes.length + 1) * NOTE_BYTES);
  bytes.write('vxnotes1', 'latin1');
  for (const [i, [state, digest]] of notes.entries()) {
    const at = (i + 1) * NOTE_BYTES;
    bytes.writeUInt32LE(state, at);
    bytes.writeInt32LE(4711, at + 4);
    bytes.writeInt32LE(SIGSEGV, at + 8);
    digest.copy(bytes, at + 16);
  }
  fs.writeFileSync(deadly.notesFileOf(pid), bytes);
}

test('an input is refused after the second process that it has ended', (context) => {
  const dataDir = temporaryFolder(context);
  const deadly = new DeadlyInputs(dataDir);
  leaveNotes(deadly, 10, [
    [died, digestOf('bad')],
    [working, digestOf('beside it')],
  ]);
  assert.deepEqual(deadly.collect(10), [{ sha256: digestOf('bad').toString('hex'), signal: SIGSEGV }]);
  assert.deepEqual(deadly.refused, []);

  const restarted = new DeadlyInputs(dataDir);
  leaveNotes(restarted, 11, [[died, digestOf('bad')]]);
  restarted.collectAll();
  assert.deepEqual(restarted.refused, [digestOf('bad').toString('hex')]);
  assert.deepEqual(new DeadlyInputs(dataDir).refused, restarted.refused);
});

test('notes are counted once', (context) => {
  const deadly = new DeadlyInputs(temporaryFolder(context));
  leaveNotes(deadly, 10, [[died, digestOf('bad')]]);
  assert.equal(deadly.collect(10).length, 1);
  assert.deepEqual(deadly.collect(10), []);
  assert.deepEqual(deadly.collectAll(), []);
  assert.deepEqual(deadly.refused, []);
});

test('a file of notes that its process could not finish says nothing', (context) => {
  const deadly = new DeadlyInputs(temporaryFolder(context));
  fs.writeFileSync(deadly.notesFileOf(10), '');
  fs.writeFileSync(deadly.notesFileOf(11), Buffer.alloc(3 * NOTE_BYTES, 2));
  assert.deepEqual(deadly.collectAll(), []);
});

test('an input is refused also if the disk does not take its name', (context) => {
  const dataDir = temporaryFolder(context);
  const deadly = new DeadlyInputs(dataDir);
  fs.mkdirSync(path.join(dataDir, 'crashes/inputs.json'));
  for (const pid of [10, 11]) {
    leaveNotes(deadly, pid, [[died, digestOf('bad')]]);
    assert.throws(() => deadly.collect(pid), { code: 'EISDIR' });
  }
  assert.deepEqual(deadly.refused, [digestOf('bad').toString('hex')]);
});

test('a list of another version stops the start', (context) => {
  const dataDir = temporaryFolder(context);
  fs.mkdirSync(path.join(dataDir, 'crashes'));
  fs.writeFileSync(path.join(dataDir, 'crashes/inputs.json'), '{"version":2,"inputs":[]}');
  assert.throws(() => new DeadlyInputs(dataDir), /inputs\.json cannot be used: .*version/);
});

test('the oldest inputs are forgotten first', (context) => {
  const deadly = new DeadlyInputs(temporaryFolder(context));
  const oldest = digestOf('oldest');
  leaveNotes(deadly, 1, [[died, oldest]]);
  deadly.collectAll();
  leaveNotes(
    deadly,
    2,
    Array.from({ length: MAX_KNOWN_INPUTS }, (_, i) => [died, digestOf(`${i}`)] as const),
  );
  deadly.collectAll();
  leaveNotes(deadly, 3, [
    [died, oldest],
    [died, digestOf('500')],
  ]);
  deadly.collectAll();
  assert.deepEqual(deadly.refused, [digestOf('500').toString('hex')]);
});

test('threads see what is refused, up to the memory there is', () => {
  const refused = RefusedInputs.create(2);
  const otherThread = new RefusedInputs(refused.shared);
  assert.equal(otherThread.has(digestOf('a')), false);
  for (const name of ['a', 'a', 'b', 'c']) refused.add(digestOf(name));
  assert.equal(otherThread.size, 2);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => otherThread.has(digestOf(name))),
    [true, true, false],
  );
});

test('notes that cannot be written are an error, not the end', () => {
  assert.throws(() => loadAddon().openCrashNotes('/nowhere/at/all', 4), /\/nowhere\/at\/all/);
});
