// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#large-files.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noise } from '../support/form-body.js';
import { aiGenerated, human, joined, silence } from './support/audio.js';
import { entriesOf, type FormFields, postForm } from './support/client.js';
import { expectError, expectLargeFilePrediction, expectNear } from './support/judge.js';
import { encoded, formats, videoOnly } from './support/media.js';
import {
  expectedWindows,
  expectLargeFileConsistent,
  expectSilenceWarning,
  expectWindows,
} from './support/prediction-rules.js';
import { wav } from './support/wav.js';

const path = '/v1/predict/large-file';
const model = 'apollo-4-2025-10-20';
const large = (samples: Int16Array) => wav(samples, { totalBytes: 5_000_000 });
const speech = large(human(12));
const predict = (fields: FormFields, file: Uint8Array = speech) => postForm(path, { file, ...fields });

describe('POST /predict/large-file (v1)', () => {
  test('file is required', async () => {
    expectError(await postForm(path, { device: 'api' }), 400, /file/);
  });

  test('real audio fills a large file: 27 s of two channels at 48 kHz', async () => {
    const mono = human(27);
    const samples = Int16Array.from({ length: mono.length * 6 }, (_, i) => mono[Math.floor(i / 6)] ?? 0);
    const file = wav(samples, { rateHz: 48_000, channels: 2 });
    assert.ok(file.length > 5_000_000);
    const prediction = expectLargeFilePrediction(await predict({}, file));
    expectLargeFileConsistent(prediction);
    expectNear(prediction.audio_duration, 27, 5e-4, 'audio_duration');
    expectWindows(prediction.segments, expectedWindows(27));
  });

  for (const name of ['FLAC', 'MKV']) {
    test(`file may be ${name}`, async () => {
      const format = formats.find((candidate) => candidate.name === name);
      assert.ok(format);
      // Noise does not compress, which makes the file large.
      const noisy = new Int16Array(noise(16_000 * 200 * 2).buffer);
      const options = ['-c:a', 'flac', ...(format.hasVideo ? ['-c:v', 'mpeg4'] : [])];
      const file = await encoded(wav(joined(human(10), noisy)), { ...format, options });
      assert.ok(file.length >= 5_000_000, `${file.length} bytes`);
      const prediction = expectLargeFilePrediction(await predict({}, file));
      expectLargeFileConsistent(prediction);
      expectNear(prediction.audio_duration, 210, 0.25, 'audio_duration');
    });
  }

  test('the answer carries index, start, end, confidence and result per segment, and the model', async () => {
    const prediction = expectLargeFilePrediction(
      await predict({}, large(joined(human(10), aiGenerated(10)))),
    );
    expectLargeFileConsistent(prediction);
    assert.equal(prediction.segments.length, 4);
    assert.equal(prediction.model, model);
    assert.match(prediction.prediction_id, /^pred_[0-9a-f]{12}$/);
  });

  for (const device of ['macos', 'windows', 'web_app', 'api']) {
    test(`device may be ${device}`, async () => {
      expectLargeFilePrediction(await predict({ device }));
    });
  }
  test('device may not be another one', async () => {
    expectError(await predict({ device: 'linux' }), 400, /device/);
  });

  test(`model may be ${model}`, async () => {
    assert.equal(expectLargeFilePrediction(await predict({ model })).model, model);
  });
  for (const other of ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16', 'apollo-5']) {
    test(`model may not be ${other}`, async () => {
      expectError(await predict({ model: other }), 400, /model/);
    });
  }

  test('prediction_id comes back', async () => {
    for (const id of ['a', 'x'.repeat(128)]) {
      assert.equal(expectLargeFilePrediction(await predict({ prediction_id: id })).prediction_id, id);
    }
  });
  for (const id of ['', 'x'.repeat(129), 'a b']) {
    test(`prediction_id of ${id.length} characters is refused: ${JSON.stringify(id.slice(0, 20))}`, async () => {
      expectError(await predict({ prediction_id: id }), 400, /prediction_id/);
    });
  }

  test('filename is only for reference', async () => {
    for (const filename of ['interview.wav', '../../etc/passwd', 'стимме.mp3', 'x'.repeat(1000)]) {
      expectLargeFilePrediction(await predict({ filename }));
    }
  });

  test('a threshold is ignored', async () => {
    const [without, zero] = [await predict({}), await predict({ threshold: '0' })];
    assert.deepEqual(expectLargeFilePrediction(zero).segments, expectLargeFilePrediction(without).segments);
    expectLargeFilePrediction(await predict({ threshold: 'none' }));
  });

  for (const [name, content] of Object.entries({
    file: speech,
    device: 'api',
    model,
    prediction_id: 'a',
    filename: 'b',
  })) {
    test(`${name} may not be given twice`, async () => {
      const twice = entriesOf({ [name]: content });
      const rest = name === 'file' ? [] : entriesOf({ file: speech });
      expectError(await postForm(path, [...twice, ...twice, ...rest]), 400, new RegExp(name));
    });
  }
  test('a field of 64 KiB is the largest', async () => {
    expectLargeFilePrediction(await predict({ filename: 'x'.repeat(65_536) }));
    expectError(await predict({ filename: 'x'.repeat(65_537) }), 400, /filename/);
  });

  test('windows without speech are left out and are a warning; index stays the position in the list', async () => {
    const prediction = expectLargeFilePrediction(
      await predict({}, large(joined(human(5), silence(10), human(5)))),
    );
    expectLargeFileConsistent(prediction);
    assert.deepEqual(
      prediction.segments.map(({ start }) => start),
      [0, 15],
    );
    assert.equal(prediction.warnings.length, 1);
    expectSilenceWarning(prediction.warnings, 5, 15);
  });
  test('silence alone is 422', async () => {
    expectError(await predict({}, large(silence(10))), 422, /./, 'validation_error');
  });

  test('what is no audio is 422', async () => {
    expectError(await predict({}, Buffer.alloc(5_000_000, 'This is no audio. ')), 422);
  });
  test('a video without audio is 422', async () => {
    const video = await videoOnly('mkv');
    expectError(await predict({}, Buffer.concat([video, Buffer.alloc(5_000_000)])), 422);
  });
});
