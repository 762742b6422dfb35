// SPDX-License-Identifier: Apache-2.0
//
// Names that nobody resolves delay nobody but the account that sends them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Addresses, lookupOf, Names } from '../../src/base/outgoing/names.js';
import { silentNames } from '../support/silent-names.js';

const run = promisify(execFile);

interface Question {
  readonly name: string;
  readonly answer: (addresses: Addresses) => void;
  readonly fail: (error: Error) => void;
}

const found: Addresses = [{ address: '192.0.2.1', family: 4 }];
const { signal } = new AbortController();

/** Names that are looked up when the test says so. */
function heldNames() {
  const questions: Question[] = [];
  const names = new Names(
    (name) =>
      new Promise((answer, fail) => {
        questions.push({ name, answer, fail });
      }),
  );
  const asked = (): readonly string[] => questions.map(({ name }) => name);
  return { names, questions, asked };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls at the same time share the question for a name', async () => {
  const { names, questions, asked } = heldNames();
  const slow = Array.from({ length: 100 }, (_, i) => names.findFor(`account-${i}`, 'slow.test', signal));
  slow.push(names.find('slow.test'));
  const quick = names.findFor('other', 'quick.test', signal);
  assert.deepEqual(asked(), ['slow.test', 'quick.test']);
  questions[1]?.answer(found);
  assert.deepEqual(await quick, found);
  questions[0]?.answer(found);
  assert.deepEqual(await Promise.all(slow), Array(101).fill(found));
});

test('later calls ask anew, also after a failure', async () => {
  const { names, questions } = heldNames();
  const failing = [names.findFor('one', 'name.test', signal), names.find('name.test')];
  questions[0]?.fail(new Error('no answer'));
  for (const outcome of await Promise.allSettled(failing)) assert.equal(outcome.status, 'rejected');
  for (const [i, addresses] of [[{ address: '192.0.2.2', family: 4 }], found].entries()) {
    const asked = names.findFor('one', 'name.test', signal);
    questions[i + 1]?.answer(addresses);
    assert.deepEqual(await asked, addresses);
  }
});

test('an account waits for its own names only, in their order', async () => {
  const { names, questions, asked } = heldNames();
  const [first] = Array.from({ length: 7 }, (_, i) => names.findFor('greedy', `${i}.test`, signal));
  assert.deepEqual(asked(), ['0.test', '1.test', '2.test', '3.test']);
  // Another account asks for a name that waits.
  const others = ['good.test', '6.test'].map((name) => names.findFor('other', name, signal));
  assert.deepEqual(asked().slice(4), ['good.test', '6.test']);
  for (const i of [4, 5]) questions[i]?.answer(found);
  assert.deepEqual(await Promise.all(others), [found, found]);
  assert.equal(asked().length, 6);
  questions[0]?.answer(found);
  assert.deepEqual(await first, found);
  await settled();
  assert.deepEqual(asked().slice(6), ['4.test']);
});

test('a name is not looked up for a caller that has gone', async () => {
  const { names, questions, asked } = heldNames();
  const caller = new AbortController();
  for (let i = 0; i < 4; i++) void names.findFor('one', `${i}.test`, signal);
  const waiting = names.findFor('one', 'late.test', caller.signal);
  const gone = new Error('The caller has gone.');
  caller.abort(gone);
  await assert.rejects(waiting, gone);
  questions[0]?.answer(found);
  await settled();
  assert.equal(asked().length, 4);
});

test('lookups for clients have a limit, those for settings have none', async () => {
  const { names, questions, asked } = heldNames();
  for (let i = 0; i < 200; i++) void names.findFor(`account-${i}`, `${i}.test`, signal);
  assert.equal(asked().length, 128);
  const own = names.find('database.test');
  assert.equal(asked()[128], 'database.test');
  questions[128]?.answer(found);
  assert.deepEqual(await own, found);
  questions[3]?.answer(found);
  await settled();
  // The end of a lookup of its own gives no place to clients.
  assert.deepEqual(asked().slice(129), ['128.test']);
});

test('accounts with many silent names leave room for others', () => {
  const { names, asked } = heldNames();
  for (let i = 0; i < 400; i++) void names.findFor(`account-${i % 100}`, `${i}.test`, signal);
  assert.equal(asked().length, 100);
  void names.findFor('another', 'another.test', signal);
  assert.equal(asked()[100], 'another.test');
});

const namesFile = new URL('../../src/base/outgoing/names.js', import.meta.url).href;

/** The output of a program for which nobody answers for names below silent.test, from JSON. */
async function printed(t: TestContext, lines: string): Promise<unknown> {
  const program = `
    import dns from 'node:dns/promises';
    import { findAddresses, lookUpOwn } from '${namesFile}';
    const { signal } = new AbortController();
    const find = (account, name) => findAddresses(name, account, signal);
    const own = (name) => new Promise((resolve, reject) => {
      lookUpOwn(name, { all: true }, (error, found) => error ? reject(error) : resolve(found));
    });
    ${lines}`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...silentNames(t) } });
  return JSON.parse(stdout);
}

test('with names that nobody resolves, others are found, and the process ends', async (t) => {
  const found = await printed(
    t,
    `for (let i = 0; i < 40; i++) void find('greedy', i + '.silent.test');
     void own('collector.silent.test');
     void own('bucket.silent.test');
     const all = await Promise.all([find('other', 'localhost'), own('localhost'), dns.lookup('localhost', { all: true })]);
     process.stdout.write(JSON.stringify(all), () => process.exit(0));`,
  );
  const [ofClient, ofSettings, ofNode] = found as Addresses[];
  assert.ok((ofNode?.length ?? 0) > 0);
  assert.deepEqual([ofClient, ofSettings], [ofNode, ofNode]);
});

test('a name that does not exist has the error that Node gives', async (t) => {
  const errors = await printed(
    t,
    `const ask = [find('one', 'a.none.test'), own('b.none.test'), dns.lookup('c.none.test')];
     const errors = (await Promise.allSettled(ask)).map(({ reason: { code, message } }) => ({ code, message }));
     console.log(JSON.stringify(errors));`,
  );
  const expected = (name: string) => ({ code: 'ENOTFOUND', message: `getaddrinfo ENOTFOUND ${name}` });
  assert.deepEqual(errors, ['a.none.test', 'b.none.test', 'c.none.test'].map(expected));
});

test('an address whose first packet is lost is waited for, although another one follows', async (t) => {
  const busy = net.createServer((socket) => socket.on('error', () => {}));
  busy.listen({ host: '127.0.0.2', port: 0, backlog: 1 });
  await once(busy, 'listening');
  t.after(() => busy.close());
  const { port } = busy.address() as AddressInfo;
  const connect = (...addresses: string[]): net.Socket => {
    const lookup = lookupOf(addresses.map((address) => ({ address, family: 4 })));
    const socket = net.connect({ host: 'name.test', port, lookup });
    t.after(() => socket.destroy());
    return socket;
  };
  // They fill the queue of the system until this process accepts them, so it drops the packet of the third.
  for (let i = 0; i < 2; i++) connect('127.0.0.2');
  // At the second address nobody listens.
  const socket = connect('127.0.0.2', '127.0.0.3');
  await once(socket, 'connect');
  assert.equal(socket.remoteAddress, '127.0.0.2');
});
