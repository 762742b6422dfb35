// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { runStep, SetupError } from './step.mjs';

// FFmpeg 5.1, the first whose libraries have the channel layouts and the FFT that the native code uses.
const ffmpegLibraries = {
  libavformat: '59.27',
  libavcodec: '59.37',
  libavutil: '57.28',
  libswresample: '4.7',
};

const onPath = (program) =>
  (process.env.PATH ?? '').split(path.delimiter).some((dir) => fs.existsSync(path.join(dir, program)));
const pkgConfig = (...args) => spawnSync('pkg-config', args).status === 0;

const buildPackages = [
  { name: 'g++', isThere: () => onPath('g++') },
  { name: 'cmake', isThere: () => onPath('cmake') },
  { name: 'make', isThere: () => onPath('make') },
  { name: 'pkg-config', isThere: () => onPath('pkg-config') },
  ...Object.keys(ffmpegLibraries).map((library) => ({
    name: `${library}-dev`,
    isThere: () => pkgConfig('--exists', library),
  })),
];

const testPackages = [
  { name: 'ffmpeg', isThere: () => onPath('ffmpeg') },
  { name: 'libgtest-dev', isThere: () => fs.existsSync('/usr/include/gtest/gtest.h') },
  { name: 'curl', isThere: () => onPath('curl') },
  // For examples in the documentation.
  { name: 'jq', isThere: () => onPath('jq') },
  // Makes the certificates for tests over TLS.
  { name: 'openssl', isThere: () => onPath('openssl') },
  // Independent S3 clients, and an independent S3 service.
  { name: 'rclone', isThere: () => onPath('rclone') },
  { name: 's3cmd', isThere: () => onPath('s3cmd') },
  { name: 'python3-boto3', isThere: () => fs.existsSync('/usr/lib/python3/dist-packages/boto3') },
  { name: 'python3-swift', isThere: () => fs.existsSync('/usr/lib/python3/dist-packages/swift') },
  // An independent WebSocket client.
  {
    name: 'python3-websockets',
    isThere: () => fs.existsSync('/usr/lib/python3/dist-packages/websockets'),
  },
  // For the tests of the Python client.
  {
    name: 'python3-venv',
    isThere: () => spawnSync('/usr/bin/python3', ['-c', 'import ensurepip']).status === 0,
  },
  // For the tests of training/.
  { name: 'python3-numpy', isThere: () => fs.existsSync('/usr/lib/python3/dist-packages/numpy') },
  { name: 'python3-scipy', isThere: () => fs.existsSync('/usr/lib/python3/dist-packages/scipy') },
  // The browser for the dashboard.
  { name: 'chromium', isThere: () => onPath('chromium') },
  // Loads Chromium's Vulkan in software, which stands in for a GPU.
  {
    name: 'libvulkan1',
    isThere: () =>
      fs.readdirSync('/usr/lib').some((dir) => fs.existsSync(path.join('/usr/lib', dir, 'libvulkan.so.1'))),
  },
  // Traces a process's connections and writes.
  { name: 'strace', isThere: () => onPath('strace') },
  // Sets the clock of one process: `faketime` itself, and the library that it loads.
  { name: 'faketime', isThere: () => onPath('faketime') },
  // The shared database; each test that needs one starts its own.
  {
    name: 'postgresql',
    isThere: () => onPath('postgres') || fs.existsSync('/usr/lib/postgresql'),
    prepare: withoutCluster,
  },
  // Judges the unit in deploy/.
  { name: 'systemd', isThere: () => onPath('systemd-analyze') },
  // Judges of the other files in deploy/: the tests start them with ports and folders of their own.
  ...Object.entries({
    prometheus: '/usr/bin/promtool',
    nginx: '/usr/sbin/nginx',
    haproxy: '/usr/sbin/haproxy',
    caddy: '/usr/bin/caddy',
  }).map(([name, program]) => ({
    name,
    isThere: () => fs.existsSync(program),
    prepare: (prefix) => withoutService(prefix, name),
  })),
  // Renders the chart in deploy/ with the template engine and the functions that Helm uses.
  { name: 'golang-go', isThere: () => onPath('go') },
  ...Object.entries({
    'golang-github-masterminds-sprig-dev': 'github.com/Masterminds/sprig',
    'golang-gopkg-yaml.v3-dev': 'gopkg.in/yaml.v3',
  }).map(([name, module]) => ({ name, isThere: () => fs.existsSync(`/usr/share/gocode/src/${module}`) })),
  // Each version formats differently, so if the distribution lacks this one, the check is skipped.
  { name: 'clang-format-14', isThere: () => onPath('clang-format-14'), optional: true },
];

const releasePackages = [
  // dpkg-source
  { name: 'dpkg-dev', isThere: () => onPath('dpkg-source') },
  // Without it, FFmpeg's decoders round otherwise on x64.
  { name: 'nasm', isThere: () => onPath('nasm') },
  { name: 'zlib1g-dev', isThere: () => fs.existsSync('/usr/include/zlib.h') },
];

/** Compilers and FFmpeg's libraries, for building the addon. */
export async function ensureBuildPackages() {
  await ensure(buildPackages);
  const tooOld = Object.entries(ffmpegLibraries).filter(
    ([library, version]) => !pkgConfig(`--atleast-version=${version}`, library),
  );
  if (tooOld.length > 0) {
    const wanted = tooOld.map(([library, version]) => `${library} >= ${version}`).join(', ');
    throw new SetupError(`FFmpeg 5.1 or newer is needed (${wanted}). Debian 12 and Ubuntu 24.04 have it.`);
  }
}

/** Packages for building FFmpeg from its source. */
export async function ensureReleasePackages() {
  await ensure(buildPackages);
  await ensure(releasePackages);
}

/** Packages for the tests only. */
export async function ensureTestPackages() {
  await ensure(testPackages);
}

async function ensure(packages) {
  const missing = packages.filter((entry) => !entry.isThere());
  if (missing.length === 0) return;
  if (!onPath('apt-get')) {
    const required = missing.filter((entry) => !entry.optional);
    if (required.length === 0) return;
    throw new SetupError(
      `This system has no apt-get. Install the equivalents of these Debian packages: ${required.map((entry) => entry.name).join(' ')}`,
    );
  }
  let names = installable(missing);
  const required = missing.filter((entry) => !entry.optional).map((entry) => entry.name);
  const needsUpdate = required.some((name) => !names.includes(name));
  if (!needsUpdate && names.length === 0) return;

  const prefix = privilege();
  if (prefix === undefined) {
    const command = `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${required.join(' ')}`;
    if (required.length === 0) return;
    throw new SetupError(
      `System packages are missing, and installing them needs root. Run:\n\n  ${command}\n`,
    );
  }
  // A fresh machine runs its own updates at first: wait for their lock instead of failing.
  const aptGet = [
    ...prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-o',
    'DPkg::Lock::Timeout=120',
  ];
  const update = [...aptGet, 'update'];
  if (needsUpdate) {
    await runStep('package lists', [update]);
    names = installable(missing);
  }
  const wanted = [...new Set([...required, ...names])].join(' ');
  process.stdout.write(`set-up: as root, apt-get installs from this system's repositories: ${wanted}\n`);
  for (const { name, prepare } of missing) if (prepare && wanted.split(' ').includes(name)) prepare(prefix);
  const title = 'system packages';
  const install = [
    ...aptGet,
    'install',
    '-y',
    '--no-install-recommends',
    ...new Set([...required, ...names]),
  ];
  try {
    await runStep(title, [install]);
  } catch (error) {
    if (needsUpdate) throw error;
    // The mirror no longer has the versions of the lists.
    await runStep(`${title}, with new package lists`, [update, install]);
  }
}

/**
 * Debian's package makes a database and starts a server for it, unless told otherwise before. An existing answer is the
 * machine owner's.
 */
function withoutCluster(prefix) {
  const folder = '/etc/postgresql-common/createcluster.d';
  if (fs.existsSync('/etc/postgresql-common')) return;
  const text =
    '# Written by the set-up of veravox: its tests start servers of their own.\ncreate_main_cluster = false\n';
  asRoot(prefix, `mkdir -p ${folder} && cat > ${folder}/veravox.conf`, text);
}

/** Debian's packages start their services, on ports that others may need. `systemctl unmask` allows it again. */
function withoutService(prefix, name) {
  const unit = `/etc/systemd/system/${name}.service`;
  if (!fs.existsSync(unit)) asRoot(prefix, `mkdir -p ${path.dirname(unit)} && ln -s /dev/null ${unit}`);
}

function asRoot(prefix, script, input = '') {
  const [program, ...args] = [...prefix, 'sh', '-c', script];
  const { status } = spawnSync(program, args, { input, stdio: ['pipe', 'ignore', 'inherit'] });
  if (status !== 0) throw new SetupError(`Failed as root: ${script}`);
}

/** Names of the packages that the current package lists offer. */
function installable(packages) {
  return packages
    .map((entry) => entry.name)
    .filter((name) => spawnSync('apt-cache', ['show', name]).status === 0);
}

/** Command prefix to run as root; undefined if that needs a password. */
function privilege() {
  if (process.getuid() === 0) return [];
  return spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : undefined;
}
