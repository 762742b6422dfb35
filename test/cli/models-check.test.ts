// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runCli } from '../support/cli.js';
import { type AnyEntry, editManifest, importedModels, replaceFile } from '../support/imported-models.js';
import { FLOAT16, meanModel, type Oddities } from '../support/onnx-file.js';

const waveform = 'random-waveform';
const partial = 'random-partial-windows';
const speaker = 'random-kaldi-speaker';

/** A fault in a copy of this entry, and the messages about it. */
type Fault = readonly [
  of: string,
  edit: (entry: AnyEntry, folder: string) => void,
  ...messages: readonly RegExp[],
];

async function assertFailures(folder: string, ...messages: readonly RegExp[]): Promise<void> {
  const { status, stdout, stderr } = await runCli(['models', 'check', '--runs', '1', '--models-dir', folder]);
  assert.equal(status, 1, stdout + stderr);
  const failures = stdout.split('\n').filter((line) => line.startsWith('FAILED'));
  assert.equal(failures.length, messages.length, stdout);
  messages.forEach((message, i) => {
    assert.match(failures[i] as string, message);
  });
}

/** Each fault is in a model of its own, beside a sound one. */
async function assertRefused(t: TestContext, faults: readonly Fault[]): Promise<void> {
  const folder = importedModels(t);
  editManifest(folder, (models) => {
    const copies = faults.map(([of, edit], i) => {
      const copy = { ...structuredClone(models.find(({ id }) => id === of)), id: `copy-${i}` };
      edit(copy, folder);
      return copy;
    });
    // There must be a detector.
    models.splice(0, models.length, ...copies, models[0]);
  });
  await assertFailures(folder, ...faults.flatMap(([, , ...messages]) => messages));
}

test('every fault of the manifest is reported with its model and its field', async (t) => {
  const coherence = (sizes: unknown): Fault => [
    speaker,
    ({ features }) => {
      features.phase_coherence_fft_sizes = sizes;
    },
    /phase_coherence_fft_sizes/,
  ];
  await assertRefused(t, [
    [
      waveform,
      (entry) => {
        entry.windw_samples = 64600;
      },
      /copy-0: models\[0\] must NOT have additional properties: windw_samples/,
    ],
    [
      speaker,
      ({ features }) => {
        features.fft_size = '512';
        features.log = 'ln';
      },
      /copy-1: models\[1\]\.features\.fft_size must be integer/,
      /copy-1: models\[1\]\.features\.log must be .*: none, natural, log10, decibel/,
    ],
    [
      waveform,
      (entry) => {
        entry.known_answers = [{ file: '../clip.wav', scores: [0.5] }];
      },
      /models\[2\]\.known_answers\[0\]\.file must match pattern/,
    ],
    coherence([8, 8, 8, 8, 8]),
    coherence('512,1024'),
    coherence([512.5]),
  ]);
});

test('a name that two models share is refused', async (t) => {
  const folder = importedModels(t, (entries) => {
    entries[waveform].aliases = [speaker];
  });
  await assertFailures(folder, /random-kaldi-speaker is given twice/);
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

const withFile =
  (oddities: Oddities) =>
  (entry: AnyEntry, folder: string): void => {
    entry.file = `${entry.id}.onnx`;
    replaceFile(entry, folder, meanModel([160, 40], 2, [], oddities));
    entry.input.name = 'features';
  };

test('every fault of a file, and of an entry that does not fit its file, is refused', async (t) => {
  await assertRefused(t, [
    [
      waveform,
      (entry) => {
        entry.sha256 = '0'.repeat(64);
      },
      /random-waveform\.onnx: expected the SHA-256 0{64} of copy-0 but found [0-9a-f]{64}/,
    ],
    [
      waveform,
      ({ input }) => {
        input.name = 'audio';
      },
      /copy-1: expected an input named audio, but the file has waveform float32 \[batch, 64600\]/,
    ],
    [
      waveform,
      ({ output }) => {
        output.name = 'scores';
      },
      /expected an output named scores, but the file has hidden float32 \[batch, 8\]; logits float32 \[batch, 2\]/,
    ],
    [
      waveform,
      ({ output }) => {
        output.index = 2;
      },
      /copy-3: expected more than 2 numbers per input for output\.index, but its output logits has 2/,
    ],
    [
      waveform,
      (entry) => {
        entry.window_samples = 64000;
        entry.input.shape = ['batch', 64000];
      },
      /expected an input of \[batch, 64000\], but the file has waveform float32 \[batch, 64600\]/,
    ],
    [
      partial,
      (entry) => {
        entry.task = 'speaker';
        entry.output = { name: 'embedding', kind: 'embedding', index: 0 };
      },
      /copy-5: expected 256 numbers per input from a speaker model.*embedding has 192\. Only a detector/,
    ],
    [
      partial,
      withFile({ elementType: FLOAT16 }),
      /expected an input of float32, but the file has features float16 \[batch, 160, 40\]/,
    ],
    [
      partial,
      withFile({ batch: 3 }),
      /expected a batch axis that is dynamic or 1, but the file has features float32 \[3, 160, 40\]/,
    ],
    [
      partial,
      withFile({ moreInputs: ['speaker'] }),
      /expected a single input, but the file has features float32 \[.*\]; speaker float32 \[/,
    ],
    [
      partial,
      withFile({ weightFile: 'weights.bin' }),
      /the weights lie in weights\.bin, but the entry of copy-9 does not vouch for it/,
      /copy-9: .* cannot be loaded/,
    ],
  ]);
});

test('a recipe that makes no sense, or makes another shape than the file takes, is refused', async (t) => {
  const withFeatures = (changes: object, message: RegExp): Fault => [
    speaker,
    ({ features }) => void Object.assign(features, changes),
    message,
  ];
  await assertRefused(t, [
    withFeatures(
      { window_length: 600 },
      /copy-0: Feature recipe: window_length must be between 1 and 512 but is 600/,
    ),
    withFeatures(
      { layout: 'bands_frames' },
      /input\.shape: expected \[batch, 80 bands, 498 frames\].* of 80000 samples, but it is \[batch, 498, 80\]/,
    ),
    withFeatures(
      { mean_spectrum_fft_sizes: [4096] },
      /input\.shape: expected \[batch, 64416 numbers\].* of 80000 samples, but it is \[batch, 498, 80\]/,
    ),
    withFeatures(
      { phase_coherence_fft_sizes: [1024, 66] },
      /copy-3: Feature recipe: phase_coherence_fft_sizes must be .* but is 66/,
    ),
  ]);
});

test('an answer that is not the known one is refused, with both', async (t) => {
  const folder = importedModels(t, (entries, into) => {
    fs.copyFileSync('test/fixtures/human-lj-b.flac', path.join(into, 'clip.flac'));
    entries[waveform].known_answers = [
      { file: 'clip.flac', scores: [0.9, 0.1, 0.9, 0.1] },
      { file: 'clip.flac', scores: [0.9, 0.1, 0.9, 0.1], tolerance: 1 },
      { file: 'gone.flac', scores: [0.9, 0.1, 0.9, 0.1] },
    ];
    entries[speaker].known_answers = [{ file: 'clip.flac', embedding: [0.5, 0.5] }];
  });
  await assertFailures(
    folder,
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
