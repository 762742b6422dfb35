// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#predict.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { aiGenerated, human, joined, silence } from './support/audio.js';
import { entriesOf, type FormFields, postForm, send } from './support/client.js';
import { expectError, expectNear, expectOneOf, expectPrediction } from './support/judge.js';
import { encoded, formats, videoOnly } from './support/media.js';
import { expectConsistent } from './support/prediction-rules.js';
import { target } from './support/target.js';
import { wav } from './support/wav.js';

const path = '/v1/predict';
const speech = wav(human(5));
const predict = (fields: FormFields, file: Uint8Array = speech) => postForm(path, { file, ...fields });

describe('POST /predict (v1): file', () => {
  test('is required', async () => {
    expectError(await postForm(path, { device: 'api' }), 400, /file/);
    expectError(await send(path, { method: 'POST', headers: { 'content-type': 'text/plain' } }), 400);
  });

  test('may not be empty', async () => {
    const answer = await predict({}, Buffer.alloc(0));
    expectOneOf(answer, [
      [400, 'validation_error'],
      [422, 'unsupported_format'],
    ]);
  });

  let original: number;
  before(async () => {
    original = expectPrediction(await predict({}, wav(human(6)))).global.score;
  });
  for (const format of formats) {
    test(`may be ${format.name}, and is judged as the original is`, async () => {
      const prediction = expectPrediction(await predict({}, await encoded(wav(human(6)), format)));
      expectConsistent(prediction);
      expectNear(prediction.audio_duration, 6, 0.25, 'audio_duration');
      expectNear(prediction.global.score, original, 0.25, 'global.score');
    });
  }

  const unsupported = {
    'a text': () => Buffer.from('This is no audio. '.repeat(500)),
    'a web page': () => Buffer.from('<!doctype html><html><body>no audio</body></html>'),
    'a playlist': () => Buffer.from('#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1/voice.wav\n#EXT-X-ENDLIST\n'),
    zeros: () => Buffer.alloc(100_000),
    'a WAV header without anything behind it': () => speech.subarray(0, 20),
  };
  for (const [name, content] of Object.entries(unsupported)) {
    test(`that is ${name} is 422`, async () => {
      expectError(await predict({}, content()), 422);
    });
  }

  test('that is a movie without its end, where its index is, is 422', async () => {
    const [, , , , , , mp4] = formats;
    assert.ok(mp4);
    const movie = await encoded(wav(human(6)), mp4);
    expectError(await predict({}, movie.subarray(0, movie.length / 2)), 422);
  });

  for (const extension of ['mp4', 'mkv', 'avi', 'mov']) {
    test(`that is a video without audio is 422, ${extension}`, async () => {
      expectError(await predict({}, await videoOnly(extension)), 422);
    });
  }

  for (const format of formats) {
    test(`that is ${format.name} may end early or be damaged: it is judged by what is there, or 422`, async () => {
      const whole = await encoded(wav(human(6)), format);
      const half = whole.subarray(0, whole.length / 2);
      const middle = Math.floor(whole.length / 2);
      const damaged = Buffer.from(whole).fill(0xa5, middle, Math.ceil(whole.length * 0.55));
      for (const file of [half, damaged]) {
        const answer = await predict({}, file);
        if (answer.status === 422) expectError(answer, 422, /./, codeIn(answer.text));
        else expectConsistent(expectPrediction(answer));
      }
    });
  }

  test('that is stereo is mixed to mono', async () => {
    const mono = human(5);
    const interleaved = (left: Int16Array, right: Int16Array) =>
      Int16Array.from({ length: left.length * 2 }, (_, i) => (i % 2 === 0 ? left : right)[i >> 1] ?? 0);
    const alike = await predict({}, wav(interleaved(mono, mono), { channels: 2 }));
    const single = await predict({}, wav(mono));
    const scores = [alike, single].map((answer) => expectPrediction(answer).global.score);
    expectNear(scores[0] ?? Number.NaN, scores[1] ?? Number.NaN, 0.01, 'the score of two equal channels');
    const opposite = mono.map((sample) => (sample === -32768 ? 32767 : -sample));
    const cancelled = await predict({}, wav(interleaved(mono, opposite), { channels: 2 }));
    const { global, warnings } = expectPrediction(cancelled);
    expectNear(global.score ?? Number.NaN, scores[1] ?? Number.NaN, 0.05, 'the score of opposite channels');
    assert.match(warnings.join(' '), /channels=separate/);
  });
});

/** Either code of 422, since the rest may contain no speech. */
function codeIn(text: string): string {
  return text.includes('silence_threshold') ? 'validation_error' : 'unsupported_format';
}

describe('POST /predict (v1): device', () => {
  for (const device of ['macos', 'windows', 'web_app', 'api']) {
    test(`may be ${device}`, async () => {
      expectPrediction(await predict({ device }));
    });
  }
  for (const device of ['linux', 'API', 'web-app', 'apis']) {
    test(`may not be ${device}`, async () => {
      expectError(await predict({ device }), 400, /device/);
    });
  }
});

describe('POST /predict (v1): model', () => {
  test('is apollo-4-5-2026-03-26 when none is named', async () => {
    assert.equal(expectPrediction(await predict({})).model, 'apollo-4-5-2026-03-26');
  });
  for (const model of ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16']) {
    test(`may be ${model}, and the answer says so`, async () => {
      const prediction = expectPrediction(await predict({ model }));
      assert.equal(prediction.model, model);
      expectConsistent(prediction);
    });
  }
  for (const model of ['apollo-4-2025-10-20', 'apollo-5', 'APOLLO-4-2026-01-16', 'latest']) {
    test(`may not be ${model}`, async () => {
      expectError(await predict({ model }), 400, /model/);
    });
  }
});

describe('POST /predict (v1): prediction_id', () => {
  for (const id of ['a', 'A-Za.z_0:9', 'pred_0123456789ab', 'x'.repeat(127), 'x'.repeat(128)]) {
    test(`of ${id.length} permitted characters comes back: ${id.slice(0, 20)}`, async () => {
      assert.equal(expectPrediction(await predict({ prediction_id: id })).prediction_id, id);
    });
  }
  for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'ä', 'a\n', 'a,b', '%41']) {
    test(`of ${id.length} characters is refused: ${JSON.stringify(id.slice(0, 20))}`, async () => {
      expectError(await predict({ prediction_id: id }), 400, /prediction_id/);
    });
  }
});

describe('POST /predict (v1): threshold', () => {
  const file = wav(joined(human(5), aiGenerated(5)));
  test('is 0.5 when none is given', async () => {
    const [without, half] = [await predict({}, file), await predict({ threshold: '0.5' }, file)];
    assert.deepEqual(expectPrediction(without).global, expectPrediction(half).global);
  });
  for (const threshold of ['0', '0.0', '0.3', '0.5', '0.999', '1', '1.0']) {
    test(`may be ${threshold}`, async () => {
      expectConsistent(expectPrediction(await predict({ threshold }, file)), Number(threshold));
    });
  }
  for (const threshold of [
    '-0.001',
    '1.001',
    '-1',
    '50',
    'half',
    '',
    'NaN',
    'Infinity',
    '0,5',
    '0.5 0.5',
    ' ',
    '0x1',
    'true',
    'null',
  ]) {
    test(`may not be ${JSON.stringify(threshold)}`, async () => {
      expectError(await predict({ threshold }), 400, /threshold/);
    });
  }
});

describe('POST /predict (v1): silence_threshold', () => {
  const partly = wav(joined(human(2.5), silence(2.5)));
  const stretches = wav(joined(human(5), silence(5)));
  for (const percent of ['0', '0.0', '80', '99.9', '100', '100.0']) {
    test(`may be ${percent}`, async () => {
      const answer = await predict({ silence_threshold: percent });
      // Hardly any speech lacks a pause, which 0 does not allow.
      if (answer.status === 422) expectError(answer, 422, /silence_threshold/, 'validation_error');
      else expectConsistent(expectPrediction(answer));
    });
  }
  for (const percent of [
    '-0.001',
    '100.001',
    '-1',
    '1000',
    'some',
    '',
    'NaN',
    'Infinity',
    '80%',
    ' ',
    '0x10',
    'true',
    'null',
  ]) {
    test(`may not be ${JSON.stringify(percent)}`, async () => {
      expectError(await predict({ silence_threshold: percent }), 400, /silence_threshold/);
    });
  }
  test('below the silence of a window leaves it out, above it does not', async () => {
    expectError(
      await predict({ silence_threshold: '20' }, partly),
      422,
      /silence_threshold/,
      'validation_error',
    );
    assert.equal(expectPrediction(await predict({ silence_threshold: '90' }, partly)).segments.length, 1);
  });
  test('is 80 when none is given', async () => {
    const [without, eighty] = [
      await predict({}, stretches),
      await predict({ silence_threshold: '80' }, stretches),
    ];
    const segments = expectPrediction(without).segments;
    assert.equal(segments.length, 1);
    assert.deepEqual(expectPrediction(eighty).segments, segments);
  });
  test('of 100 analyses silence, too', async () => {
    const { segments, warnings } = expectPrediction(await predict({ silence_threshold: '100' }, stretches));
    assert.equal(segments.length, 2);
    assert.deepEqual(warnings, []);
  });
  test('that leaves no window is 422 and is named; silence is not called bonafide', async () => {
    expectError(await predict({}, wav(silence(10))), 422, /silence_threshold/, 'validation_error');
  });
});

describe('POST /predict (v1): the form', () => {
  const permitted = {
    threshold: '0.4',
    silence_threshold: '70',
    model: 'apollo-4-5-2026-03-26',
    prediction_id: 'twice',
    device: 'api',
  };

  test('takes all fields at once, in any order', async () => {
    const entries = entriesOf({ file: speech, ...permitted });
    for (const order of [entries, entries.toReversed()]) {
      const prediction = expectPrediction(await postForm(path, order));
      assert.equal(prediction.prediction_id, 'twice');
      expectConsistent(prediction, 0.4);
    }
  });
  test('may have fields that nobody knows, also twice', async () => {
    const unknown = entriesOf({ user_id: 'u', color: 'blue' });
    expectPrediction(await postForm(path, [...unknown, ...entriesOf({ file: speech }), ...unknown]));
  });
  for (const [name, content] of Object.entries({ ...permitted, file: speech })) {
    test(`may not have ${name} twice`, async () => {
      const twice = entriesOf({ [name]: content });
      const rest = name === 'file' ? [] : entriesOf({ file: speech });
      expectError(await postForm(path, [...twice, ...twice, ...rest]), 400, new RegExp(name));
    });
  }
  test('may have a field of 64 KiB, and none that is larger', async () => {
    expectPrediction(await predict({ comment: 'x'.repeat(65_536) }));
    expectError(await predict({ comment: 'x'.repeat(65_537) }), 400, /comment/);
    expectError(await predict({ prediction_id: 'x'.repeat(65_537) }), 400, /prediction_id/);
  });
  test('may come from any client: FormData of fetch, chunked', async () => {
    const form = new FormData();
    form.set('threshold', '0.25');
    form.set('file', new Blob([new Uint8Array(speech)]), 'стимме "quoted".wav');
    const { headers, body } = new Request(target.origin, { method: 'POST', body: form });
    assert.ok(body);
    const answer = await send(path, {
      method: 'POST',
      headers: {
        'content-type': headers.get('content-type') ?? '',
        'transfer-encoding': 'chunked',
      },
      body: Buffer.from(await new Response(body).arrayBuffer()),
    });
    expectConsistent(expectPrediction(answer), 0.25);
  });
  test('may have a quoted boundary, a preamble, an epilogue, and a query behind the path', async () => {
    const head = (name: string) => `content-disposition: form-data; name=${name}`;
    const body = Buffer.concat([
      Buffer.from(`This is ignored.\r\n--a b\r\n${head('"threshold"')}\r\n\r\n0.25\r\n--a b  \r\n`),
      Buffer.from(`Content-Type: audio/wav\r\nX-Other: 1\r\n${head('"file"; filename="a.wav"')}\r\n\r\n`),
      speech,
      Buffer.from('\r\n--a b--\r\nThis, too.'),
    ]);
    const headers = { 'content-type': 'Multipart/Form-Data; charset=utf-8; boundary="a b"' };
    const answer = await send(`${path}?source=test`, { method: 'POST', headers, body });
    expectConsistent(expectPrediction(answer), 0.25);
  });
  for (const type of ['multipart/form-data', 'application/octet-stream', 'text/plain', 'audio/wav']) {
    test(`may not come as ${type}${type.startsWith('m') ? ' without a boundary' : ''}`, async () => {
      expectError(await send(path, { method: 'POST', headers: { 'content-type': type }, body: speech }), 400);
    });
  }
  test('that ends in the middle is 400', async () => {
    const body = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expectError(await send(path, { method: 'POST', headers, body }), 400);
  });
});
