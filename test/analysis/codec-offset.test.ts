// SPDX-License-Identifier: Apache-2.0
//
// A detector's calibration may have a table per codec: offsets of the log-odds over the coded bits per second.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { checkManifest, type DetectionModel } from '../../src/analysis/models/manifest.js';
import { ManifestError } from '../../src/analysis/models/manifest-error.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { toProbability } from '../../src/analysis/scoring/score.js';
import { type CodedSound, lossyCodecs } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyEntry } from '../support/tiny-models.js';

const codecs = {
  opus: [
    [16_000, -2],
    [64_000, -1],
    [256_000, 0.5],
  ],
  gsm_ms: [[13_000, -1.5]],
} as const;

/** The remaining log-odds of 3, with a scale of 2 and a bias of 1. */
function logOddsOf(sound: CodedSound, tables?: DetectionModel['calibration']['codecs']): number {
  const output = { name: 'y', kind: 'logit', index: 0 } as const;
  const calibration = { scale: 2, bias: 1, ...(tables && { codecs: tables }) };
  const score = toProbability(Float32Array.of(3), { output, calibration }, sound);
  return Math.log(score / (1 - score));
}

const expected: readonly [sound: CodedSound, offset: number][] = [
  [{}, 0],
  [{ codec: 'mp3', codedBitsPerS: 64_000 }, 0],
  [{ codec: 'opus', codedBitsPerS: 16_000 }, -2],
  [{ codec: 'opus', codedBitsPerS: 64_000 }, -1],
  [{ codec: 'opus', codedBitsPerS: 256_000 }, 0.5],
  // Half-way in octaves.
  [{ codec: 'opus', codedBitsPerS: 32_000 }, -1.5],
  [{ codec: 'opus', codedBitsPerS: 128_000 }, -0.25],
  [{ codec: 'opus', codedBitsPerS: 0 }, -2],
  [{ codec: 'opus', codedBitsPerS: 15_999 }, -2],
  [{ codec: 'opus', codedBitsPerS: 1e9 }, 0.5],
  [{ codec: 'gsm_ms', codedBitsPerS: 500 }, -1.5],
  [{ codec: 'gsm_ms', codedBitsPerS: 13_000 }, -1.5],
  [{ codec: 'gsm_ms', codedBitsPerS: 50_000 }, -1.5],
];
for (const [sound, offset] of expected) {
  test(`${sound.codec ?? 'no codec'} at ${sound.codedBitsPerS ?? 'no'} bit/s adds ${offset} to the calibrated log-odds`, () => {
    assert.ok(Math.abs(logOddsOf(sound, codecs) - (7 + offset)) < 1e-9, String(logOddsOf(sound, codecs)));
    assert.ok(Math.abs(logOddsOf(sound) - 7) < 1e-9, 'without tables nothing is added');
  });
}

test('the codecs are those of the native code and the documentation', () => {
  const page = fs.readFileSync(path.join(packageDir, 'docs/models.md'), 'utf8');
  const [, documented = ''] = /^- Codecs: ([^.]*)\./m.exec(page) ?? [];
  assert.deepEqual(documented.replaceAll('`', '').split(', '), [...lossyCodecs]);
  const header = fs.readFileSync(path.join(packageDir, 'native/decode/codec_allow_list.h'), 'utf8');
  const [, list = ''] = /kLossyCodecs\[\] = \{([^}]*)\}/.exec(header) ?? [];
  assert.deepEqual(
    [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name),
    [...lossyCodecs],
  );
});

const refused: readonly [tables: unknown, message: RegExp][] = [
  [{ pcm_s16le: [[64_000, 0]] }, /calibration\.codecs .*property name/],
  [{ flac: [[64_000, 0]] }, /calibration\.codecs .*property name/],
  [{ opus: [] }, /calibration\.codecs\.opus must NOT have fewer than 1 items/],
  [{ opus: Array.from({ length: 33 }, (_, i) => [8000 + i, 0]) }, /must NOT have more than 32 items/],
  [{ opus: [[64_000]] }, /calibration\.codecs\.opus\[0\] must NOT have fewer than 2 items/],
  [{ opus: [[64_000, 0, 1]] }, /calibration\.codecs\.opus\[0\] must NOT have/],
  [{ opus: [['64000', 0]] }, /\[0\]\[0\] must be number/],
  [{ opus: [[64_000, null]] }, /\[0\]\[1\] must be number/],
  [{ opus: [[999, 0]] }, /\[0\]\[0\] must be >= 1000/],
  [{ opus: [[10_000_001, 0]] }, /\[0\]\[0\] must be <= 10000000/],
  [{ opus: [[64_000, -10.1]] }, /\[0\]\[1\] must be >= -10/],
  [{ opus: [[64_000, 10.1]] }, /\[0\]\[1\] must be <= 10/],
  [{ opus: [[64_000, Number.POSITIVE_INFINITY]] }, /\[0\]\[1\] must be/],
  [{ opus: [[64_000, Number.NaN]] }, /\[0\]\[1\] must be/],
  [
    {
      opus: [
        [64_000, 0],
        [64_000, 1],
      ],
    },
    /m: calibration\.codecs\.opus: expected ascending rates but found 64000 after 64000/,
  ],
  [
    {
      mp3: [
        [64_000, 0],
        [32_000, 1],
      ],
    },
    /calibration\.codecs\.mp3: expected ascending rates but found 32000 after 64000/,
  ],
  [[], /calibration\.codecs must be object/],
];
for (const [tables, message] of refused) {
  test(`a manifest with the tables ${JSON.stringify(tables).slice(0, 60)} is refused`, (t) => {
    const entry = tinyEntry(temporaryFolder(t), 'm', 'even');
    const models = (codecs: unknown) => [{ ...entry, calibration: { scale: 1, bias: 0, codecs } }];
    checkManifest('here', { version: 1, models: models({ opus: [[64_000, 0]] }) });
    assert.throws(
      () => checkManifest('here', { version: 1, models: models(tables) }),
      (error) => {
        assert.ok(error instanceof ManifestError);
        assert.match(error.problems.join('\n'), message);
        return true;
      },
    );
  });
}

test('a speaker model has no tables', () => {
  const shipped = JSON.parse(fs.readFileSync(path.join(packageDir, 'models/manifest.json'), 'utf8'));
  const speaker = shipped.models.find(({ task }: { task: string }) => task === 'speaker');
  speaker.calibration.codecs = { opus: [[64_000, 0]] };
  assert.throws(() => checkManifest('here', shipped), /additional properties: codecs/);
});

test('another table is another score, so another fingerprint', (t) => {
  const entry = tinyEntry(temporaryFolder(t), 'm', 'even') as unknown as DetectionModel;
  const withTable = (offset: number): DetectionModel => ({
    ...entry,
    calibration: { scale: 1, bias: 0, codecs: { opus: [[64_000, offset]] } },
  });
  const fingerprints = [entry, withTable(0.5), withTable(0.6)].map(scoreFingerprintOf);
  assert.equal(new Set(fingerprints).size, 3);
});
