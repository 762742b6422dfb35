// SPDX-License-Identifier: Apache-2.0
//
// A name that nobody resolves takes one thread, however many calls want it: the process has two for names.
import assert from 'node:assert/strict';
import dns, { type LookupAddress } from 'node:dns';
import { type TestContext, test } from 'node:test';
import { surroundings } from '../../../src/api/fetch/acceptable-addresses.js';

interface Question {
  readonly name: string;
  readonly answer: (addresses: LookupAddress[]) => void;
  readonly fail: (error: Error) => void;
}

const found: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];

/** In place of the system, which answers when it is told to. */
function heldQuestions(t: TestContext): readonly Question[] {
  const questions: Question[] = [];
  const lookup = (name: string) =>
    new Promise((answer, fail) => {
      questions.push({ name, answer, fail });
    });
  t.mock.method(dns.promises, 'lookup', lookup as typeof dns.promises.lookup);
  return questions;
}

test('calls at the same time share the question for a name', async (t) => {
  const questions = heldQuestions(t);
  const slow = Array.from({ length: 100 }, () => surroundings.resolve('slow.test'));
  const quick = surroundings.resolve('quick.test');
  assert.deepEqual(
    questions.map(({ name }) => name),
    ['slow.test', 'quick.test'],
  );
  questions[1]?.answer(found);
  assert.deepEqual(await quick, found);
  questions[0]?.answer(found);
  assert.deepEqual(await Promise.all(slow), Array(100).fill(found));
});

test('later calls ask anew, also after a failure', async (t) => {
  const questions = heldQuestions(t);
  const failing = [surroundings.resolve('name.test'), surroundings.resolve('name.test')];
  questions[0]?.fail(new Error('no answer'));
  for (const outcome of await Promise.allSettled(failing)) assert.equal(outcome.status, 'rejected');
  const [first, second] = [[{ address: '192.0.2.2', family: 4 }], found];
  for (const [i, addresses] of [first, second].entries()) {
    const asked = surroundings.resolve('name.test');
    questions[i + 1]?.answer(addresses);
    assert.deepEqual(await asked, addresses);
  }
});
