// SPDX-License-Identifier: Apache-2.0
// Makes one clip in every container the service accepts, at several rates and channel layouts, and next to each
// file the samples that the ffmpeg command decodes from it: the independent reference for our decoder.
//
// node scripts/make-media.mjs CLIP DIRECTORY [--seconds 2] [--rates 16000,44100] [--layouts mono,stereo]
// prints the files. Existing files are kept.
import './needs-node.mjs';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);

/** How each layout's channels are made from one: no two are alike, so that a wrong mixing matrix shows. */
const LAYOUTS = {
  mono: { channels: 1, filter: 'aformat=channel_layouts=mono' },
  stereo: {
    channels: 2,
    filter:
      'asplit=2[l][r0];[r0]adelay=25,volume=0.7[r];[l][r]join=inputs=2:channel_layout=stereo:map=0.0-FL|1.0-FR',
  },
  5.1: {
    channels: 6,
    filter:
      'asplit=6[a][b0][c0][d0][e0][f0];[b0]adelay=25,volume=0.7[b];[c0]adelay=50,volume=0.8[c];' +
      '[d0]adelay=75[d];[e0]adelay=100,volume=0.5[e];[f0]adelay=125,volume=0.6[f];' +
      '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1:map=0.0-FL|1.0-FR|2.0-FC|3.0-LFE|4.0-BL|5.0-BR',
  },
};

export const RATES_HZ = [8000, 16000, 22050, 44100, 48000, 96000];
export const LAYOUT_NAMES = ['mono', 'stereo', '5.1'];

const upTo48kHz = (rateHz) => rateHz <= 48000;
const opusRates = (rateHz) => [8000, 12000, 16000, 24000, 48000].includes(rateHz);
const ac3Rates = (rateHz) => [32000, 44100, 48000].includes(rateHz);
const anyRate = () => true;

/** Containers of the contract, each with the codecs commonly used in it. */
export const FORMATS = [
  { name: 'wav', extension: 'wav', codec: ['pcm_s16le'], rates: anyRate },
  { name: 'mp3', extension: 'mp3', codec: ['libmp3lame'], rates: upTo48kHz, maxChannels: 2 },
  { name: 'aac', extension: 'aac', codec: ['aac'], rates: anyRate },
  { name: 'flac', extension: 'flac', codec: ['flac'], rates: anyRate },
  { name: 'ogg-vorbis', extension: 'ogg', codec: ['libvorbis'], rates: anyRate },
  {
    name: 'ogg-opus',
    extension: 'opus',
    codec: ['libopus', '-b:a', '96k'],
    rates: opusRates,
    decodedRateHz: 48000,
  },
  { name: 'm4a', extension: 'm4a', codec: ['aac'], rates: anyRate },
  { name: 'm4a-alac', extension: 'm4a', codec: ['alac'], rates: anyRate },
  { name: 'mp4', extension: 'mp4', codec: ['aac'], rates: anyRate, video: true },
  { name: 'mov', extension: 'mov', codec: ['pcm_s16be'], rates: anyRate, video: true },
  { name: 'avi', extension: 'avi', codec: ['libmp3lame'], rates: upTo48kHz, maxChannels: 2, video: true },
  { name: 'avi-ac3', extension: 'avi', codec: ['ac3'], rates: ac3Rates, video: true },
  { name: 'mkv', extension: 'mkv', codec: ['aac'], rates: anyRate, video: true },
  { name: 'mkv-flac', extension: 'mkv', codec: ['flac'], rates: anyRate },
  {
    name: 'webm',
    extension: 'webm',
    codec: ['libopus', '-b:a', '96k'],
    rates: opusRates,
    decodedRateHz: 48000,
  },
  { name: 'webm-vorbis', extension: 'webm', codec: ['libvorbis'], rates: anyRate },
];

/** Runs ffmpeg; the error that it throws includes ffmpeg's own message. */
export const ffmpeg = (args) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);

/**
 * A file's first audio stream as the ffmpeg command decodes it, mixed to one channel, at the file's own rate.
 * rematrix_maxval keeps the mixed signal within full scale even if ffmpeg works with floats; asetpts keeps the
 * muxer from dropping frames whose time stamps were damaged.
 */
export const referenceOutput = (inputIndex, file) => [
  ...['-map', `${inputIndex}:a:0`, '-af', 'asetpts=N/SR/TB'],
  ...['-ac', '1', '-rematrix_maxval', '1', '-f', 'f32le', file],
];

/** Calls `work` for every item, on as many at a time as there are processors. */
export async function forEachInParallel(items, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/**
 * Runs `fill(folder)` once for each `key` and keeps the result under `directory`. A run that dies midway leaves
 * nothing that looks finished. Returns the folder.
 */
export async function cachedFolder(directory, key, fill) {
  const { stdout: version } = await run('ffmpeg', ['-version']);
  const hash = createHash('sha256').update(version.split('\n', 1)[0]);
  for (const part of key) hash.update('\0').update(part);
  const folder = join(directory, hash.digest('hex').slice(0, 16));
  if (await exists(folder)) return folder;

  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await fill(unfinished);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process may have been faster.
    if (!(await exists(folder))) throw error;
  }
  return folder;
}

const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

async function makeLayoutAtRate(folder, { clip, seconds, layout, rateHz, formats }) {
  const { channels, filter } = LAYOUTS[layout];
  const wanted = formats.filter((f) => f.rates(rateHz) && channels <= (f.maxChannels ?? channels));
  const entries = wanted.map((format) => ({
    format: format.name,
    layout,
    channels,
    rateHz,
    decodedRateHz: format.decodedRateHz ?? rateHz,
    file: `${format.name}-${layout}-${rateHz}.${format.extension}`,
    reference: `${format.name}-${layout}-${rateHz}.f32`,
  }));
  const cut = seconds === undefined ? [] : ['-t', String(seconds)];
  const copies = wanted.map((_, i) => `[copy${i}]`);
  await ffmpeg([
    ...cut,
    ...['-i', clip, '-f', 'lavfi', ...cut, '-i', 'testsrc2=size=64x48:rate=5:duration=60'],
    ...['-filter_complex', `[0:a]aresample=${rateHz},${filter},asplit=${wanted.length}${copies.join('')}`],
    ...wanted.flatMap((format, i) => [
      ...['-map', copies[i], '-c:a', ...format.codec],
      ...(format.video ? ['-map', '1:v', '-c:v', 'mpeg4', '-shortest'] : []),
      join(folder, entries[i].file),
    ]),
  ]);
  await ffmpeg([
    ...entries.flatMap(({ file }) => ['-i', join(folder, file)]),
    ...entries.flatMap(({ reference }, i) => referenceOutput(i, join(folder, reference))),
  ]);
  return entries;
}

/**
 * Makes the files and returns one entry for each: `file` and `reference` (absolute paths; the reference holds
 * 32-bit floats), `format` (a name of FORMATS), `layout`, `channels`, `rateHz` that was encoded and
 * `decodedRateHz` (Opus decodes at 48 kHz whatever it was made from).
 *
 * @param {{ clip: string, directory: string, seconds?: number, rates?: number[], layouts?: string[],
 *   formats?: typeof FORMATS }} options
 */
export async function makeMedia(options) {
  const { clip, directory, seconds, rates = RATES_HZ, layouts = LAYOUT_NAMES, formats = FORMATS } = options;
  const script = await readFile(fileURLToPath(import.meta.url));
  const names = formats.map((format) => format.name);
  const key = [script, await readFile(clip), JSON.stringify({ seconds, rates, layouts, names })];
  const folder = await cachedFolder(directory, key, async (unfinished) => {
    const combinations = layouts.flatMap((layout) => rates.map((rateHz) => ({ layout, rateHz })));
    const entries = [];
    await forEachInParallel(combinations, async (combination) => {
      entries.push(...(await makeLayoutAtRate(unfinished, { clip, seconds, formats, ...combination })));
    });
    await writeFile(join(unfinished, 'index.json'), JSON.stringify(entries, null, 1));
  });
  const entries = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));
  return entries.map((entry) => ({
    ...entry,
    file: join(folder, entry.file),
    reference: join(folder, entry.reference),
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: 'string' }, rates: { type: 'string' }, layouts: { type: 'string' } },
  });
  const [clip, directory] = positionals;
  if (directory === undefined) {
    console.error(
      'Usage: node scripts/make-media.mjs CLIP DIRECTORY [--seconds N] [--rates HZ,..] [--layouts L,..]',
    );
    process.exit(2);
  }
  const entries = await makeMedia({
    clip,
    directory,
    ...(values.seconds && { seconds: Number(values.seconds) }),
    ...(values.rates && { rates: values.rates.split(',').map(Number) }),
    ...(values.layouts && { layouts: values.layouts.split(',') }),
  });
  for (const { file } of entries) console.log(file);
}
