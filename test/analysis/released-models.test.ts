// SPDX-License-Identifier: Apache-2.0
//
// Scores under a released model id stay comparable: weights, input and calibration never change. models/released.json
// records each id as it was released; entries are only added.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { LARGE_FILE_MODEL, PREFERRED_MODEL } from '../../src/base/contract/model-ids.js';

interface Release {
  readonly since: string;
  readonly sha256: string;
  readonly score_fingerprint: string;
}

const modelsDir = path.join(packageDir, 'models');
const { models } = await loadManifest(modelsDir);
const released: Readonly<Record<string, Release>> = JSON.parse(
  fs.readFileSync(path.join(modelsDir, 'released.json'), 'utf8'),
);
const changelog = fs.readFileSync(path.join(packageDir, 'CHANGELOG.md'), 'utf8');

/** Differences between models and their released versions, in sentences. */
function changesAfterRelease(candidates: readonly Model[]): string[] {
  return candidates.flatMap((model) => {
    const release = released[model.id];
    if (release === undefined) return [];
    const isSame = release.sha256 === model.sha256 && release.score_fingerprint === scoreFingerprintOf(model);
    if (isSame) return [];
    const what = release.sha256 === model.sha256 ? 'recipe or calibration' : 'weights';
    return [
      `${model.id} was released with ${release.since}, and has other ${what} now: give them an id of their own ` +
        '(CONTRIBUTING.md, Releases).',
    ];
  });
}

test('no model has changed since its id was released', () => {
  assert.deepEqual(changesAfterRelease(models), []);
});

test('other weights and another calibration under a released id are noticed', () => {
  const model = models.find(({ id }) => id in released);
  assert.ok(model);
  const otherWeights = { ...model, sha256: '0'.repeat(64) };
  assert.match(
    String(changesAfterRelease([otherWeights])),
    /has other weights now: give them an id of their own/,
  );
  const moved = { ...model, calibration: { ...model.calibration, bias: model.calibration.bias + 0.01 } };
  assert.match(String(changesAfterRelease([moved])), /has other recipe or calibration now/);
  const otherName = { ...model, aliases: [], metrics: {}, known_answers: [] };
  assert.deepEqual(changesAfterRelease([otherName]), []);
});

test('each id ends with the day of its training, and is released with the version that ships it', () => {
  const hasUnreleased = /^## Unreleased$/m.test(changelog);
  for (const model of models) {
    const { id, sha256 } = model;
    assert.match(id, /^(detector-(small|medium|large)|voiceprint-\d+)-\d{4}-\d\d-\d\d(\.\d)?$/);
    assert.equal(model.file, `${id}.onnx`);
    const [, since] = /^## (\d+\.\d+\.\d+) - /m.exec(changelog) ?? [];
    const entry = { [id]: { since, sha256, score_fingerprint: scoreFingerprintOf(model) } };
    assert.ok(hasUnreleased || id in released, `Add to models/released.json: ${JSON.stringify(entry)}`);
  }
});

test('released ids stay ids, and their releases are in the changelog', () => {
  const aliases = models.flatMap((model) => model.aliases);
  for (const [id, { since }] of Object.entries(released)) {
    assert.ok(!aliases.includes(id), `${id} was released and must not become an alias.`);
    assert.match(changelog, new RegExp(`^## ${since.replaceAll('.', '\\.')} - `, 'm'));
  }
});

test('the names of the interface are aliases of one detector each', () => {
  for (const name of [PREFERRED_MODEL, 'apollo-4-2026-01-16', LARGE_FILE_MODEL]) {
    const named = models.filter(({ id, aliases }) => id === name || aliases.includes(name));
    assert.equal(named.length, 1, name);
    assert.ok(named[0]?.aliases.includes(name), `${name} is an alias, never an id`);
  }
});
