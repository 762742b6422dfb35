// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#enroll.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Enrollment } from '../../src/base/contract/voice-identity.js';
import { human } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectEnrollment, expectNear } from './support/judge.js';
import { wav } from './support/wav.js';

describe('Voice enrollment result', () => {
  let enrollment: Enrollment;

  before(async () => {
    enrollment = expectEnrollment(await postForm('/v1/voiceid/enroll', { audio_file: wav(human(12)) }));
  });

  test('embedding is 256 numbers of float32 precision', () => {
    assert.equal(enrollment.embedding.length, 256);
    for (const number of enrollment.embedding) {
      // Either the float32 itself, or the few digits that single it out.
      const isFloat32 = Math.fround(number) === number || Number(number.toPrecision(9)) === number;
      assert.ok(isFloat32, `${number} has more digits than a float32`);
    }
  });

  test('the embedding is L2-normalised and not the same number throughout', () => {
    const norm = Math.hypot(...enrollment.embedding);
    expectNear(norm, 1, 1e-4, 'the norm');
    assert.ok(new Set(enrollment.embedding).size > 200);
  });

  test('deepfake_checked is true: by default the sample is checked', () => {
    assert.equal(enrollment.deepfake_checked, true);
  });

  test('processing_time is more than nothing', () => {
    assert.ok(enrollment.processing_time > 0);
  });
});
