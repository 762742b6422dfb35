// SPDX-License-Identifier: Apache-2.0
//
// The reference is the ffmpeg command with the SoX resampler. Its own default resampler falls off from about
// 6 kHz on, while ours must be flat to 7.2 kHz, so the two differ audibly in the sibilants.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, type TestContext, test } from 'node:test';
// @ts-expect-error A script without types.
import { FORMATS, ffmpeg, LAYOUT_NAMES, makeMedia, RATES_HZ } from '../../../../scripts/make-media.mjs';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/temporary-folder.js';

interface Medium {
  readonly file: string;
  readonly format: string;
  readonly layout: string;
  readonly rateHz: number;
}

const addon = loadAddon();
let media: readonly Medium[];

before(async () => {
  media = await makeMedia({
    clip: path.join(packageDir, 'test/fixtures/human-lj-b.flac'),
    directory: path.join(packageDir, 'build/media'),
    seconds: 2,
  });
});

/** FFmpeg's decoding of all files, in one run, since most of a run is its start. */
async function referencesAt16kHz(t: TestContext, files: readonly string[]): Promise<Float32Array[]> {
  const folder = temporaryFolder(t);
  const outputs = files.map((_, i) => path.join(folder, `${i}.f32`));
  const converted = ['-ac', '1', '-af', 'aresample=16000:resampler=soxr:precision=28', '-f', 'f32le'];
  await ffmpeg([
    ...files.flatMap((file) => ['-i', file]),
    ...outputs.flatMap((output, i) => ['-map', `${i}:a:0`, ...converted, output]),
  ]);
  return Promise.all(
    outputs.map(async (output) => {
      const { buffer, byteOffset, length } = await readFile(output);
      return new Float32Array(buffer.slice(byteOffset, byteOffset + length));
    }),
  );
}

function correlation(a: Float32Array, b: Float32Array): number {
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

for (const format of FORMATS as readonly { name: string }[]) {
  test(`${format.name} decodes to what ffmpeg decodes, in every layout and at every rate`, async (t) => {
    const ofFormat = media.filter((medium) => medium.format === format.name);
    assert.ok(ofFormat.length >= 3, 'media were made');
    const references = await referencesAt16kHz(
      t,
      ofFormat.map(({ file }) => file),
    );
    for (const [i, { file, layout, rateHz }] of ofFormat.entries()) {
      const { samples, sampleRateHz, damagedPackets } = addon.decode(await readFile(file));
      const ours = new addon.Resampler(sampleRateHz, 16000).convert(samples);
      const theirs = references[i] ?? assert.fail();
      const what = `${layout} at ${rateHz} Hz`;
      assert.equal(damagedPackets, 0, what);
      assert.ok(Math.abs(ours.length - theirs.length) <= 1, `${what}: ${ours.length} and ${theirs.length}`);
      const agreement = correlation(ours, theirs);
      assert.ok(agreement > 0.9999, `${what}: correlation ${agreement}`);
    }
  });
}

test('the media cover every layout and rate', () => {
  for (const layout of LAYOUT_NAMES) assert.ok(media.some((medium) => medium.layout === layout));
  for (const rateHz of RATES_HZ) assert.ok(media.some((medium) => medium.rateHz === rateHz));
});
