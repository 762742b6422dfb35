// SPDX-License-Identifier: Apache-2.0
//
// Builds the FFmpeg of the platform package: from the source package of this system's mirrors, under the LGPL, with the decoders and
// demuxers that the addon may open and nothing else.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootDir, run, runStep, SetupError } from '../setup/step.mjs';

const addonLists = {
  decoders: 'native/decode/codec_allow_list.h',
  demuxers: 'native/decode/container_sniffer.cc',
};
/** Changes of these files need another build. */
export const ffmpegInputs = [...Object.values(addonLists), 'scripts/packages/ffmpeg.mjs'];

/** Demuxers name the codec, not the parser, so that no list of the addon has them. */
const parsers = ['aac', 'ac3', 'flac', 'gsm', 'mpegaudio', 'opus', 'vorbis'];

/** As of the addon (CMakeLists.txt). */
const hardening = {
  compiler: ['-fstack-protector-strong', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3'],
  linker: ['-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,noexecstack'],
};
const architectureFlag = { x64: '-fcf-protection', arm64: '-mbranch-protection=standard' }[process.arch];

function allowedDecoders() {
  const text = fs.readFileSync(path.join(rootDir, addonLists.decoders), 'utf8');
  const [, list = ''] = /kAllowedDecoders\[\] =([^;]*);/.exec(text.replaceAll(/\/\/.*/g, '')) ?? [];
  return [...list.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join('');
}

function demuxers() {
  const text = fs.readFileSync(path.join(rootDir, addonLists.demuxers), 'utf8');
  return [...text.matchAll(/^constexpr Container \w+\{"\w+", "(\w+)"/gm)].map(([, name]) => name).join();
}

/** Options of apt-get for the sources of this system's own mirrors, without touching its lists. */
function sourcesOfThisSystem(folder) {
  const packages = run(
    ...['apt-get', 'indextargets', 'Created-By: Packages', '--format'],
    '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)',
  );
  const { ID = '' } = Object.fromEntries(
    fs
      .readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=')),
  );
  const lines = packages
    .split('\n')
    .filter((line) => line.toLowerCase().startsWith(`${ID} `))
    .map((line) => `deb-src ${line.slice(ID.length + 1)}\n`);
  fs.mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'cache/archives/partial'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'sources.list'), [...new Set(lines)].join(''));
  return [
    `Dir::Etc::SourceList=${folder}/sources.list`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
  ].flatMap((option) => ['-o', option]);
}

/** Leaves the libraries in `prefix`, and the source package in `prefix`/source. */
export async function buildFfmpeg(prefix) {
  const work = path.join(prefix, 'work');
  const source = path.join(prefix, 'source');
  fs.rmSync(prefix, { recursive: true, force: true });
  for (const folder of [work, source, path.join(work, 'static'), path.join(work, 'build')])
    fs.mkdirSync(folder, { recursive: true });
  const apt = sourcesOfThisSystem(path.join(work, 'apt'));
  await runStep('FFmpeg’s source', [
    ['apt-get', ...apt, 'update'],
    ['sh', '-c', 'cd "$0" && exec apt-get "$@" source --download-only ffmpeg', source, ...apt],
    ['sh', '-c', 'exec dpkg-source --extract "$0"/*.dsc "$1"', source, path.join(work, 'ffmpeg')],
  ]);
  // For compressed headers of MOV and Matroska. From a folder without libz.so the linker takes libz.a, so that the package needs none.
  fs.symlinkSync(run('gcc', '-print-file-name=libz.a').trim(), path.join(work, 'static/libz.a'));
  await runStep('FFmpeg’s configuration', [
    [
      ...['sh', '-c', 'cd "$0" && exec ../ffmpeg/configure "$@"', path.join(work, 'build')],
      ...[`--prefix=${prefix}`, '--enable-shared', '--disable-static'],
      ...['--disable-everything', '--disable-autodetect', '--disable-network', '--disable-debug'],
      ...['--disable-programs', '--disable-doc', '--disable-avdevice', '--disable-avfilter'],
      '--disable-swscale',
      `--enable-decoder=${allowedDecoders()}`,
      `--enable-demuxer=${demuxers()}`,
      `--enable-parser=${parsers.join()}`,
      '--enable-zlib',
      `--extra-cflags=${[...hardening.compiler, architectureFlag].join(' ')}`,
      `--extra-ldflags=-L../static ${hardening.linker.join(' ')}`,
    ],
  ]);
  const configuration = withoutFoldersOfThisMachine(path.join(work, 'build/config.h'), prefix);
  await runStep('FFmpeg', [
    ['make', '-C', path.join(work, 'build'), '-j', String(os.availableParallelism())],
    ['make', '-C', path.join(work, 'build'), 'install'],
  ]);
  fs.copyFileSync(path.join(work, 'ffmpeg/COPYING.LGPLv2.1'), path.join(prefix, 'COPYING.LGPLv2.1'));
  fs.rmSync(work, { recursive: true });
  fs.writeFileSync(path.join(prefix, 'configuration'), configuration);
}

/** @returns the options, which the libraries contain as text */
function withoutFoldersOfThisMachine(file, prefix) {
  const header = fs.readFileSync(file, 'utf8').replace(`--prefix=${prefix} `, '');
  fs.writeFileSync(file, header);
  const { configuration, licence } =
    /^#define FFMPEG_CONFIGURATION "(?<configuration>.*)"\n#define FFMPEG_LICENSE "(?<licence>.*)"/m.exec(
      header,
    )?.groups ?? {};
  if (!licence?.startsWith('LGPL'))
    throw new SetupError(`Expected FFmpeg under the LGPL, but it is: ${licence}.`);
  return configuration;
}

/** Such as 5.1.9-0+deb12u1. */
export function sourceVersion(prefix) {
  const source = path.join(prefix, 'source');
  const [name = ''] = fs.readdirSync(source).filter((file) => file.endsWith('.dsc'));
  const [, version = ''] =
    /^Version: (?:\d+:)?(.*)$/m.exec(fs.readFileSync(path.join(source, name), 'utf8')) ?? [];
  return version;
}
