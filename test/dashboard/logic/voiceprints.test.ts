// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fileOf,
  modelsOf,
  newOnes,
  type Voiceprint,
  VoiceprintFileError,
  voiceprintsIn,
} from '../../../dashboard/src/logic/voiceprints.js';

const anna: Voiceprint = {
  id: '1',
  name: 'Anna',
  note: 'by telephone',
  created: '2026-11-22T10:00:00.000Z',
  model: 'voiceprint-1',
  speechS: 12.5,
  embedding: [0.25, -0.5],
};
const now = '2026-11-23T00:00:00.000Z';

function read(text: string, name = 'file.json'): Voiceprint[] {
  let ids = 0;
  return voiceprintsIn(text, name, () => `new-${++ids}`, now);
}

test('what is exported is imported', () => {
  const ben = { ...anna, id: '2', name: 'Ben', speechS: null, embedding: [1, 0] };
  assert.deepEqual(read(fileOf([anna, ben])), [
    { ...anna, id: 'new-1' },
    { ...ben, id: 'new-2' },
  ]);
});

test('the answer of an enrolment is imported, under the name of its file', () => {
  const answer = { embedding: [0.25, -0.5], model_version: 'voiceprint-1', processing_time: 0.1 };
  assert.deepEqual(read(JSON.stringify(answer), 'carla.json'), [
    { ...anna, id: 'new-1', name: 'carla', note: '', created: now, speechS: null },
  ]);
});

const entry = { name: 'Anna', model_version: 'm', embedding: [1] };
const fileWith = (...voiceprints: unknown[]): string =>
  JSON.stringify({ format: 'veravox-voiceprints', version: 1, voiceprints });

const wrong: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'no JSON': ['{', /not JSON/],
  'a number': ['7', /no voiceprints/],
  'another format': ['{"format":"x","voiceprints":[]}', /Expected a file with the format/],
  'a newer version': ['{"format":"veravox-voiceprints","version":2,"voiceprints":[]}', /newer version/],
  'an entry that is null': [fileWith(entry, null), /Voiceprint 2 of the file is not an object/],
  'no name': [fileWith({ ...entry, name: '' }), /Voiceprint 1 of the file has no usable name/],
  'a name that is too long': [fileWith({ ...entry, name: 'x'.repeat(201) }), /no usable name/],
  'a note that is no text': [fileWith({ ...entry, note: {} }), /unusable note/],
  'no model': [fileWith({ ...entry, model_version: 3 }), /names no model/],
  'an empty embedding': [fileWith({ ...entry, embedding: [] }), /no usable embedding/],
  'an embedding of texts': [fileWith({ ...entry, embedding: ['1'] }), /no usable embedding/],
  'a date that is none': [fileWith({ ...entry, created: 'soon' }), /no usable date/],
  'too many': [
    JSON.stringify({ format: 'veravox-voiceprints', version: 1, voiceprints: Array(10_001).fill(0) }),
    /at most 10000/,
  ],
};

for (const [name, [text, message]] of Object.entries(wrong)) {
  test(`a file with ${name} is refused as a whole`, () => {
    assert.throws(
      () => read(text),
      (error) => error instanceof VoiceprintFileError && message.test(error.message),
    );
  });
}

test('the same numbers are kept once', () => {
  const other = { ...anna, id: '3', embedding: [1, 0] };
  assert.deepEqual(newOnes([anna], [{ ...anna, id: '2' }, other, { ...other, id: '4' }]), [other]);
});

test('the model of most voiceprints comes first', () => {
  const of = (model: string): Voiceprint => ({ ...anna, model });
  assert.deepEqual(modelsOf([of('a'), of('b'), of('b')]), ['b', 'a']);
});
