// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runCli } from '../support/cli.js';
import { type AnyEntry, importedModels, replaceFile } from '../support/imported-models.js';
import { FLOAT16, meanModel, type Oddities } from '../support/onnx-file.js';

type Edit = (entries: Readonly<Record<string, AnyEntry>>, folder: string) => void;

const waveform = 'random-waveform';
const partial = 'random-partial-windows';
const speaker = 'random-kaldi-speaker';

async function assertRefused(t: TestContext, edit: Edit, ...patterns: readonly RegExp[]): Promise<void> {
  const folder = importedModels(t, edit);
  const { status, stdout, stderr } = await runCli(['models', 'check', '--runs', '1', '--models-dir', folder]);
  assert.equal(status, 1, stdout + stderr);
  const failures = stdout.split('\n').filter((line) => line.startsWith('FAILED'));
  assert.equal(failures.length, patterns.length, stdout);
  patterns.forEach((pattern, i) => {
    assert.match(failures[i] as string, pattern);
  });
}

test('every fault of the manifest is reported with its model and its field', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[speaker].features.fft_size = '512';
      entries[speaker].features.log = 'ln';
      entries[waveform].windw_samples = 64600;
    },
    /random-waveform: models\[0\] must NOT have additional properties: windw_samples/,
    /random-kaldi-speaker: models\[3\]\.features\.fft_size must be integer/,
    /random-kaldi-speaker: models\[3\]\.features\.log must be .*: none, natural, log10, decibel/,
  );
});

test('a name that two models share, and a path out of the folder, are refused', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].aliases = [speaker];
    },
    /random-kaldi-speaker is given twice/,
  );
  const clip = { file: '../clip.wav', scores: [0.5] };
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].known_answers = [clip];
    },
    /models\[0\]\.known_answers\[0\]\.file must match pattern/,
  );
});

test('a file with another SHA-256 is refused', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].sha256 = '0'.repeat(64);
    },
    /random-waveform\.onnx: expected the SHA-256 0{64} of random-waveform but found [0-9a-f]{64}/,
  );
});

test('a file that is missing, or no ONNX, is refused, and the other models are checked all the same', async (t) => {
  const folder = importedModels(t, (entries, into) => {
    fs.rmSync(path.join(into, entries[waveform].file));
    replaceFile(entries[partial], into, Buffer.from('<!doctype html>'));
  });
  const { status, stdout } = await runCli(['models', 'check', '--runs', '1', '--models-dir', folder]);
  assert.equal(status, 1);
  assert.match(stdout, /^FAILED {2}.*random-waveform\.onnx/m);
  assert.match(stdout, /^FAILED {2}.*not an ONNX file/m);
  assert.match(stdout, /^random-kaldi-speaker .* ok/m);
});

test('names that the file does not have are refused, with those that it has', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].input.name = 'audio';
    },
    /random-waveform: expected an input named audio, but the file has waveform float32 \[batch, 64600\]/,
  );
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].output.name = 'scores';
    },
    /expected an output named scores, but the file has hidden float32 \[batch, 8\]; logits float32 \[batch, 2\]/,
  );
});

test('an index beyond what the output has is refused', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].output.index = 2;
    },
    /random-waveform: expected more than 2 numbers per input for output\.index, but its output logits has 2/,
  );
});

test('a recipe that makes no sense, or makes another shape than the file takes, is refused', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[speaker].features.window_length = 600;
    },
    /random-kaldi-speaker: Feature recipe: window_length must be between 1 and 512 but is 600/,
  );
  await assertRefused(
    t,
    (entries) => {
      entries[speaker].features.layout = 'bands_frames';
    },
    /input\.shape: expected \[batch, 80 bands, 498 frames\].* of 80000 samples, but it is \[batch, 498, 80\]/,
  );
  await assertRefused(
    t,
    (entries) => {
      Object.assign(entries[speaker].features, { mean_spectrum_fft_sizes: [4096] });
    },
    /input\.shape: expected \[batch, 64416 numbers\].* of 80000 samples, but it is \[batch, 498, 80\]/,
  );
  await assertRefused(
    t,
    (entries) => {
      Object.assign(entries[speaker].features, { phase_coherence_fft_sizes: [1024, 66] });
    },
    /random-kaldi-speaker: Feature recipe: phase_coherence_fft_sizes must be .* but is 66/,
  );
  for (const sizes of [[8, 8, 8, 8, 8], '512,1024', [512.5]]) {
    await assertRefused(
      t,
      (entries) => {
        Object.assign(entries[speaker].features, { phase_coherence_fft_sizes: sizes });
      },
      /phase_coherence_fft_sizes/,
    );
  }
  await assertRefused(
    t,
    (entries) => {
      entries[waveform].window_samples = 64000;
      entries[waveform].input.shape = ['batch', 64000];
    },
    /expected an input of \[batch, 64000\], but the file has waveform float32 \[batch, 64600\]/,
  );
});

test('a speaker model whose embedding has another size than a voiceprint is refused', async (t) => {
  await assertRefused(
    t,
    (entries) => {
      entries[partial].task = 'speaker';
      entries[partial].output = { name: 'embedding', kind: 'embedding', index: 0 };
    },
    /random-partial-windows: expected 256 numbers per input from a speaker model.*embedding has 192\. Only a detector/,
  );
});

test('half precision, a fixed batch, a second input and weights in a file without a SHA-256 are refused', async (t) => {
  const withFile =
    (oddities: Oddities): Edit =>
    (entries, folder) => {
      const entry = entries[partial];
      replaceFile(entry, folder, meanModel([160, 40], 2, [], oddities));
      entry.input.name = 'features';
    };
  await assertRefused(
    t,
    withFile({ elementType: FLOAT16 }),
    /expected an input of float32, but the file has features float16 \[batch, 160, 40\]/,
  );
  await assertRefused(
    t,
    withFile({ batch: 3 }),
    /expected a batch axis that is dynamic or 1, but the file has features float32 \[3, 160, 40\]/,
  );
  await assertRefused(
    t,
    withFile({ moreInputs: ['speaker'] }),
    /expected a single input, but the file has features float32 \[.*\]; speaker float32 \[/,
  );
  await assertRefused(
    t,
    withFile({ weightFile: 'weights.bin' }),
    /the weights lie in weights\.bin, but the entry of random-partial-windows does not vouch for it/,
    /random-partial-windows: .* cannot be loaded/,
  );
});

test('an answer that is not the known one is refused, with both', async (t) => {
  await assertRefused(
    t,
    (entries, folder) => {
      fs.copyFileSync('test/fixtures/human-lj-b.flac', path.join(folder, 'clip.flac'));
      entries[waveform].known_answers = [
        { file: 'clip.flac', scores: [0.9, 0.1, 0.9, 0.1] },
        { file: 'clip.flac', scores: [0.9, 0.1, 0.9, 0.1], tolerance: 1 },
        { file: 'gone.flac', scores: [0.9, 0.1, 0.9, 0.1] },
      ];
      entries[speaker].known_answers = [{ file: 'clip.flac', embedding: [0.5, 0.5] }];
    },
    /random-waveform moved by 0\.\d+ for clip\.flac, which is more than 0\.0001: expected 0\.9, 0\.1, 0\.9, 0\.1 but measured 0\.\d+(, 0\.\d+){3}$/,
    /random-waveform could not answer for gone\.flac: .*ENOENT/,
    /random-kaldi-speaker moved by .* expected 0\.5, 0\.5 but measured -?0\.\d+, -?0\.\d+$/,
  );
});

test('sound models pass, with size, opset, producer and the time of their parts', async (t) => {
  const folder = importedModels(t);
  const { status, stdout } = await runCli(['models', 'check', '--runs', '3', '--models-dir', folder]);
  assert.equal(status, 0, stdout);
  const time = String.raw`\d+\.\d\d / \d+\.\d\d`;
  for (const id of [waveform, partial, speaker, 'random-waveform-batch-1']) {
    const row = new RegExp(
      `^${id} +(detection|speaker) +0\\.0\\d +17 +imported_models\\.py +${time} +${time} +0 of 0 +ok, but no known answers`,
      'm',
    );
    assert.match(stdout, row);
  }
  assert.match(stdout, /Median and 95th percentile of 3 runs per 5 s window, one thread, cpu\./);
});

test('list tells what each model takes', async (t) => {
  const { status, stdout } = await runCli(['models', 'list'], { VERAVOX_MODELS_DIR: importedModels(t) });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^random-waveform +detection +random-waveform\.onnx +4\.0375 s +waveform +\[batch, 64600\] +Apache-2\.0 +0$/m,
  );
  assert.match(stdout, /^random-kaldi-speaker +speaker .* 80 mel bands +\[batch, 498, 80\]/m);
});
