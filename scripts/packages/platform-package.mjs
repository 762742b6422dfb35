// SPDX-License-Identifier: Apache-2.0
//
// The package with the addon for this machine's platform, @veravox/linux-x64 or @veravox/linux-arm64, and its FFmpeg.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { addonInputs } from '../setup/builds.mjs';
import { buildUnlessFresh } from '../setup/fingerprint.mjs';
import { rootDir, run, runStep, SetupError } from '../setup/step.mjs';
import { ensureReleasePackages } from '../setup/system-packages.mjs';
import { buildFfmpeg, ffmpegInputs, sourceVersion } from './ffmpeg.mjs';

export const platforms = ['linux-x64', 'linux-arm64'];
export const thisPlatform = `${process.platform}-${process.arch}`;
export const platformPackage = (platform) => `@veravox/${platform}`;
export const platformLicence = 'Apache-2.0 AND LGPL-2.1-or-later';

const ffmpegDir = path.join(rootDir, 'build/ffmpeg');
const addonDir = path.join(rootDir, 'build/portable-addon');
const portableDir = path.join(rootDir, 'build/portable');

export const portableBuild = {
  name: 'portable',
  inputs: [...addonInputs, ...ffmpegInputs, 'scripts/packages/platform-package.mjs'],
};

/**
 * @returns the folder of the build for other machines: `package` has the addon, FFmpeg's libraries and their licences, `source` the source
 * of these libraries, and `ffmpeg.json` their version, that of zlib, and their configuration
 */
export async function ensurePortableBuild() {
  if (!platforms.includes(thisPlatform))
    throw new SetupError(`Packages are made on ${platforms.join(' and ')}, but this is ${thisPlatform}.`);
  await buildUnlessFresh({
    ...portableBuild,
    output: path.relative(rootDir, portableDir),
    build: async () => {
      await ensureFfmpeg();
      await buildAddon();
      collect();
    },
  });
  return portableDir;
}

async function ensureFfmpeg() {
  await buildUnlessFresh({
    name: 'ffmpeg',
    inputs: ffmpegInputs,
    output: path.relative(rootDir, path.join(ffmpegDir, 'configuration')),
    build: async () => {
      await ensureReleasePackages();
      await buildFfmpeg(ffmpegDir);
    },
  });
}

/** The addon that finds FFmpeg's libraries in its own folder. */
async function buildAddon() {
  fs.rmSync(addonDir, { recursive: true, force: true });
  const build = [
    ...['npx', 'cmake-js', 'build', '--CDVERAVOX_ADDON=ON', '-B', 'Release', '-O', addonDir],
    ...['--CDCMAKE_BUILD_WITH_INSTALL_RPATH=ON', '--CDCMAKE_INSTALL_RPATH=$ORIGIN'],
    // An rpath of the old kind also holds for libavcodec's own search for libavutil, and goes before LD_LIBRARY_PATH.
    '--CDCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags',
  ];
  await runStep('addon for other machines', [build], {
    PKG_CONFIG_LIBDIR: path.join(ffmpegDir, 'lib/pkgconfig'),
    CMAKE_BUILD_PARALLEL_LEVEL: String(os.availableParallelism()),
  });
}

function collect() {
  const libraries = fs
    .readdirSync(path.join(ffmpegDir, 'lib'))
    .filter((name) => /^lib\w+\.so\.\d+$/.test(name))
    .map((name) => [name, path.join(ffmpegDir, 'lib', name)]);
  const files = {
    'veravox.node': path.join(addonDir, 'Release/veravox.node'),
    ...Object.fromEntries(libraries),
    'licences/FFmpeg.txt': path.join(ffmpegDir, 'COPYING.LGPLv2.1'),
    'licences/zlib.txt': '/usr/share/doc/zlib1g-dev/copyright',
  };
  fs.rmSync(portableDir, { recursive: true, force: true });
  fs.mkdirSync(path.join(portableDir, 'package/licences'), { recursive: true });
  for (const [name, file] of Object.entries(files))
    fs.copyFileSync(file, path.join(portableDir, 'package', name));
  fs.cpSync(path.join(ffmpegDir, 'source'), path.join(portableDir, 'source'), { recursive: true });
  const configuration = fs.readFileSync(path.join(ffmpegDir, 'configuration'), 'utf8');
  fs.writeFileSync(
    path.join(portableDir, 'ffmpeg.json'),
    JSON.stringify({ version: sourceVersion(ffmpegDir), zlib: zlibVersion(), configuration }),
  );
}

function zlibVersion() {
  const [, version] = /^Version: (\S+)/m.exec(run('dpkg-query', '--status', 'zlib1g-dev')) ?? [];
  if (version === undefined) throw new SetupError('dpkg-query does not tell the version of zlib1g-dev.');
  return version;
}

export const readFfmpeg = (portable) =>
  JSON.parse(fs.readFileSync(path.join(portable, 'ffmpeg.json'), 'utf8'));

const readme = (version, ffmpeg) => `# ${platformPackage(thisPlatform)}

The native part of veravox ${version} for Linux with glibc on ${process.arch}. The package \`veravox\` depends on it; nobody needs to install it by name.

## FFmpeg

\`libav*.so\` and \`libswresample.so\` are libraries of FFmpeg ${ffmpeg.version}, built from Debian's source package under the LGPL 2.1 or later
(\`licences/FFmpeg.txt\`). They contain zlib (\`licences/zlib.txt\`). The source package is among the files of each
release of veravox. To use your own build, replace the libraries: the addon loads those in its folder. Their configuration:

\`\`\`
${ffmpeg.configuration}
\`\`\`
`;

/** @param portable the folder of ensurePortableBuild */
export function writePlatformPackage(folder, portable) {
  const read = (name) => fs.readFileSync(path.join(rootDir, name), 'utf8');
  const { version, engines } = JSON.parse(read('package.json'));
  fs.cpSync(path.join(portable, 'package'), folder, { recursive: true });
  fs.copyFileSync(path.join(rootDir, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(path.join(folder, 'README.md'), readme(version, readFfmpeg(portable)));
  const description = {
    name: platformPackage(thisPlatform),
    version,
    description: `The native part of veravox for ${thisPlatform} with glibc.`,
    license: platformLicence,
    os: [process.platform],
    cpu: [process.arch],
    libc: ['glibc'],
    engines,
    main: 'veravox.node',
    files: ['*.node', '*.so.*', 'licences'],
  };
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(description, undefined, 2)}\n`);
}
