// SPDX-License-Identifier: Apache-2.0
// Makes the input of the native decoder tests: every format, rate and layout of make-media.mjs, less common
// codecs and containers, and truncated files, each with the ffmpeg command's own decoding.
//
// node scripts/make-decoder-media.mjs DIRECTORY
// writes DIRECTORY/index.tsv: kind, file, reference ("-" where ffmpeg decodes nothing), decoded rate in Hz.
import './needs-node.mjs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cachedFolder,
  FORMATS,
  ffmpeg,
  forEachInParallel,
  makeMedia,
  referenceOutput,
} from './make-media.mjs';

const CLIP = new URL('../test/fixtures/human-lj-a.flac', import.meta.url);
const SECONDS = 2;
const TRUNCATED_TO = [0.04, 0.1, 0.35, 0.6, 0.97];

/** An incompressible picture: players put covers of megabytes in front of the audio. */
const COVER = ['-f', 'lavfi', '-t', '0.04', '-i', 'testsrc2=size=800x800,noise=alls=100:allf=t'];
const AS_COVER = ['-map', '0:a', '-map', '1:v', '-frames:v', '1', '-disposition:v:0', 'attached_pic'];
const VIDEO = ['-f', 'lavfi', '-t', String(SECONDS), '-i', 'testsrc2=size=64x48:rate=5'];

/** [file, source, options between the source and the file name, decoded rate if not the source's] */
const SPECIAL_FILES = [
  ['u8.wav', 'mono16k', ['-c:a', 'pcm_u8']],
  ['s24.wav', 'stereo44k', ['-c:a', 'pcm_s24le']],
  ['s32.wav', 'stereo44k', ['-c:a', 'pcm_s32le']],
  ['f32.wav', 'stereo44k', ['-c:a', 'pcm_f32le']],
  ['f64.wav', 'stereo44k', ['-c:a', 'pcm_f64le']],
  ['extensible-s24.wav', 'surround48k', ['-c:a', 'pcm_s24le']],
  ['alaw.wav', 'mono8k', ['-c:a', 'pcm_alaw']],
  ['mulaw.wav', 'mono8k', ['-c:a', 'pcm_mulaw']],
  ['gsm.wav', 'mono8k', ['-c:a', 'libgsm_ms']],
  ['adpcm-ms.wav', 'stereo44k', ['-c:a', 'adpcm_ms']],
  ['adpcm-ima.wav', 'stereo44k', ['-c:a', 'adpcm_ima_wav']],
  ['mp3-inside.wav', 'stereo44k', ['-c:a', 'libmp3lame']],
  ['rf64.wav', 'stereo44k', ['-c:a', 'pcm_s16le', '-rf64', 'always']],
  ['tagged.wav', 'stereo44k', ['-c:a', 'pcm_s16le', '-metadata', 'title=odd', '-write_bext', '1']],
  ['no-xing.mp3', 'stereo44k', ['-c:a', 'libmp3lame', '-write_xing', '0', '-id3v2_version', '0']],
  ['vbr.mp3', 'stereo44k', ['-c:a', 'libmp3lame', '-q:a', '2']],
  ['cover.mp3', 'stereo44k', [...COVER, ...AS_COVER, '-c:v', 'png', '-c:a', 'libmp3lame']],
  ['layer2.mp2', 'stereo44k', ['-c:a', 'mp2']],
  ['cover.flac', 'stereo44k', [...COVER, ...AS_COVER, '-c:v', 'png', '-c:a', 'flac']],
  ['24-bit.flac', 'stereo44k', ['-c:a', 'flac', '-sample_fmt', 's32', '-bits_per_raw_sample', '24']],
  ['flac.ogg', 'stereo44k', ['-c:a', 'flac']],
  ['cover.m4a', 'stereo44k', [...COVER, ...AS_COVER, '-c:v', 'png', '-c:a', 'aac']],
  [
    'fragmented.mp4',
    'stereo44k',
    ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '500000'],
  ],
  ['faststart.mp4', 'stereo44k', [...VIDEO, '-c:v', 'mpeg4', '-c:a', 'aac', '-movflags', 'faststart']],
  ['mp3-inside.mp4', 'stereo44k', ['-c:a', 'libmp3lame']],
  ['opus-inside.mp4', 'surround48k', ['-c:a', 'libopus', '-strict', '-2']],
  ['flac-inside.mp4', 'stereo44k', ['-c:a', 'flac', '-strict', '-2']],
  ['adpcm-ima.mov', 'stereo44k', ['-c:a', 'adpcm_ima_qt']],
  ['f32.mov', 'stereo44k', ['-c:a', 'pcm_f32le']],
  ['u8.mov', 'mono8k', ['-c:a', 'pcm_u8']],
  ['alaw.mov', 'mono8k', ['-c:a', 'pcm_alaw']],
  ['pcm.avi', 'stereo44k', ['-c:a', 'pcm_s16le']],
  ['aac.avi', 'stereo44k', ['-c:a', 'aac']],
  ['ac3.mkv', 'surround48k', ['-c:a', 'ac3']],
  ['eac3.mkv', 'surround48k', ['-c:a', 'eac3']],
  ['mp2.mkv', 'stereo44k', ['-c:a', 'mp2']],
  ['pcm-s24.mkv', 'stereo44k', ['-c:a', 'pcm_s24le']],
  ['pcm-f64.mkv', 'stereo44k', ['-c:a', 'pcm_f64le']],
  // The reference shows that the first audio stream is used, though the second has more channels.
  [
    'two-audio.mkv',
    'mono16k',
    [
      '-f',
      'lavfi',
      '-t',
      '2',
      '-i',
      'sine,aformat=channel_layouts=stereo',
      ...VIDEO,
      '-map',
      '2:v',
      '-map',
      '0:a',
      '-map',
      '1:a',
      '-c:v',
      'mpeg4',
      '-c:a',
      'flac',
    ],
  ],
];

/** Files of several windows: [file, encoder's options]. Most of their codecs depend on what they have decoded. */
const LASTING_SECONDS = 27.3;
const LASTING_FILES = [
  ['lasting.flac', ['-c:a', 'flac']],
  ['lasting.mp3', ['-c:a', 'libmp3lame']],
  ['lasting.m4a', ['-c:a', 'aac']],
  ['lasting.opus', ['-c:a', 'libopus']],
  ['lasting.ogg', ['-c:a', 'libvorbis']],
  ['lasting.mkv', ['-c:a', 'ac3']],
  ['lasting-adpcm.wav', ['-c:a', 'adpcm_ima_wav']],
  ['lasting-gaps.mkv', ['-af', 'asetpts=PTS+gte(T\\,7)*6.4/TB+gte(T\\,19)*2.1/TB', '-c:a', 'aac']],
];

/** Files without audio: [file, ffmpeg arguments]. */
const SILENT_FILES = [
  ['video-only.mp4', [...VIDEO, '-c:v', 'mpeg4']],
  ['video-only.mkv', [...VIDEO, '-c:v', 'mpeg4']],
  ['video-only.avi', [...VIDEO, '-c:v', 'mpeg4']],
  ['picture.png', [...COVER, '-frames:v', '1']],
  ['picture.jpg', [...COVER, '-frames:v', '1']],
];

const named = (entries, layout, rateHz, format = 'wav') =>
  entries.find((e) => e.format === format && e.layout === layout && e.rateHz === rateHz);

async function makeSpecialFiles(folder, entries) {
  const sources = {
    mono8k: { file: named(entries, 'mono', 8000).file, rateHz: 8000 },
    mono16k: { file: named(entries, 'mono', 16000).file, rateHz: 16000 },
    stereo44k: { file: named(entries, 'stereo', 44100).file, rateHz: 44100 },
    surround48k: { file: named(entries, '5.1', 48000).file, rateHz: 48000 },
  };
  const rows = [];
  await forEachInParallel(SPECIAL_FILES, async ([file, source, options]) => {
    const path = join(folder, file);
    const reference = `${path}.f32`;
    await ffmpeg(['-i', sources[source].file, ...options, path]);
    await ffmpeg(['-i', path, ...referenceOutput(0, reference)]);
    rows.push(['special', path, reference, sources[source].rateHz]);
  });
  await forEachInParallel(SILENT_FILES, async ([file, options]) => {
    await ffmpeg([...options, join(folder, file)]);
    rows.push(['no-audio', join(folder, file), '-', 0]);
  });
  await forEachInParallel(LASTING_FILES, async ([file, options]) => {
    const lasting = ['-stream_loop', '-1', '-i', sources.stereo44k.file, '-t', String(LASTING_SECONDS)];
    await ffmpeg([...lasting, ...options, join(folder, file)]);
    rows.push(['lasting', join(folder, file), '-', 44100]);
  });
  const long = join(folder, 'long.flac');
  await ffmpeg(['-stream_loop', '-1', '-i', sources.mono16k.file, '-t', '300', '-c:a', 'flac', long]);
  rows.push(['long', long, '-', 16000]);
  return rows;
}

const truncate = (bytes, fraction) => bytes.subarray(0, Math.floor(bytes.length * fraction));

/** Overwrites a stretch in the middle. */
function damage(bytes) {
  const middle = Math.floor(bytes.length / 2);
  return Buffer.from(bytes).fill(0xa5, middle, middle + Math.ceil(bytes.length * 0.05));
}

/** Damages a file of each format and has ffmpeg decode the rest. */
async function makeSpoiltFiles(folder, entries) {
  const oneOfEach = FORMATS.map((format) =>
    named(entries, 'stereo', format.rates(44100) ? 44100 : 48000, format.name),
  );
  const spoilt = oneOfEach.flatMap((entry) => [
    { entry, kind: 'damaged', name: '', spoil: damage },
    ...TRUNCATED_TO.map((fraction) => ({
      entry,
      kind: 'truncated',
      name: `-${fraction}`,
      spoil: (bytes) => truncate(bytes, fraction),
    })),
  ]);
  const rows = [];
  await forEachInParallel(spoilt, async ({ entry, kind, name, spoil }) => {
    const path = join(folder, `${kind}-${entry.format}${name}${extname(entry.file)}`);
    const reference = `${path}.f32`;
    await writeFile(path, spoil(await readFile(entry.file)));
    await ffmpeg(['-i', path, ...referenceOutput(0, reference)]).catch(() => undefined);
    const decoded = await stat(reference).then(
      ({ size }) => size > 0,
      () => false,
    );
    rows.push([kind, path, decoded ? reference : '-', entry.decodedRateHz]);
  });
  return rows;
}

/** Makes the files, if missing, and returns the path of index.tsv. */
export async function makeDecoderMedia(directory) {
  const root = resolve(directory);
  await mkdir(root, { recursive: true });
  const entries = await makeMedia({ clip: fileURLToPath(CLIP), directory: root, seconds: SECONDS });
  const sources = [new URL(import.meta.url), new URL('./make-media.mjs', import.meta.url), CLIP];
  const key = await Promise.all(sources.map((url) => readFile(url)));
  const folder = await cachedFolder(root, key, async (unfinished) => {
    const rows = [
      ...(await makeSpecialFiles(unfinished, entries)),
      ...(await makeSpoiltFiles(unfinished, entries)),
    ];
    const withoutFolder = (path) => (path === '-' ? path : basename(path));
    const lines = rows.map(([kind, file, reference, rateHz]) => [
      kind,
      basename(file),
      withoutFolder(reference),
      rateHz,
    ]);
    await writeFile(join(unfinished, 'rows.json'), JSON.stringify(lines));
  });
  const inRoot = (name) => (name === '-' ? name : relative(root, join(folder, name)));
  const special = JSON.parse(await readFile(join(folder, 'rows.json'), 'utf8'));
  const rows = [
    ...entries.map((e) => ['matrix', relative(root, e.file), relative(root, e.reference), e.decodedRateHz]),
    ...special.map(([kind, file, reference, rateHz]) => [kind, inRoot(file), inRoot(reference), rateHz]),
  ];
  const index = join(root, 'index.tsv');
  await writeFile(index, `${rows.map((row) => row.join('\t')).join('\n')}\n`);
  return index;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) {
    console.error('Usage: node scripts/make-decoder-media.mjs DIRECTORY');
    process.exit(2);
  }
  console.log(await makeDecoderMedia(directory));
}
