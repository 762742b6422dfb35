// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Closers } from '../../src/base/closers.js';

function someClosers() {
  const told: string[] = [];
  const closed: string[] = [];
  const closers = new Closers({
    error: ({ part, err }: { part: string; err: Error }) => void told.push(`${part}: ${err.message}`),
  } as ConstructorParameters<typeof Closers>[0]);
  return { closers, closed, told, closes: (name: string) => () => void closed.push(name) };
}

test('closes in the reverse order of opening, one after the other, once', async () => {
  const { closers, closed, closes } = someClosers();
  closers.add('first', closes('first'));
  closers.add('second', () => new Promise((resolve) => setImmediate(resolve)).then(closes('second')));
  closers.add('third', closes('third'));
  await Promise.all([closers.close(), closers.close()]);
  await closers.close();
  assert.deepEqual(closed, ['third', 'second', 'first']);
});

test('a part that cannot be closed, now or later, leaves no other open, and each error is told', async () => {
  const { closers, closed, closes, told } = someClosers();
  closers.add('last', closes('last'));
  closers.add('throws', () => {
    throw new Error('one');
  });
  closers.add('rejects', () => Promise.reject(new Error('two')));
  await closers.close();
  assert.deepEqual(closed, ['last']);
  assert.deepEqual(told, ['rejects: two', 'throws: one']);
});

test('a part that never closes does not keep the others waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { closers, closed, closes, told } = someClosers();
  closers.add('other', closes('other'));
  closers.add('by default', () => new Promise(() => {}));
  closers.add('with its own limit', () => new Promise(() => {}), 50);
  const closing = closers.close();
  t.mock.timers.tick(50);
  await new Promise(setImmediate);
  t.mock.timers.tick(9999);
  await new Promise(setImmediate);
  assert.deepEqual(closed, []);
  t.mock.timers.tick(1);
  await closing;
  assert.deepEqual(closed, ['other']);
  assert.deepEqual(told, [
    'with its own limit: It has not closed within 50 ms.',
    'by default: It has not closed within 10000 ms.',
  ]);
});

test('a part still opening is closed once it is open, and so is what it opens meanwhile', async () => {
  const { closers, closed, closes, told } = someClosers();
  let open = (_: string): void => {};
  const opening = new Promise<string>((resolve) => {
    open = resolve;
  });
  closers.add('below', closes('below'));
  void closers.opening('slow', opening, (part) => void closed.push(part));
  const closing = closers.close();
  await new Promise(setImmediate);
  assert.deepEqual(closed, []);
  closers.add('of the slow one', closes('of the slow one'));
  open('slow');
  await closing;
  assert.deepEqual(closed, ['slow', 'of the slow one', 'below']);
  assert.deepEqual(told, []);
});

test('a part that does not open has nothing to close, and its error goes to its opener alone', async () => {
  const { closers, closed, told } = someClosers();
  const opening = closers.opening(
    'broken',
    Promise.reject(new Error('no')),
    (part) => void closed.push(part),
  );
  await assert.rejects(opening, /^Error: no$/);
  await closers.close();
  assert.deepEqual({ closed, told }, { closed: [], told: [] });
});
