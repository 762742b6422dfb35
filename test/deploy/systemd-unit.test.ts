// SPDX-License-Identifier: Apache-2.0
//
// The systemd unit is hardened as documented, and a server needs nothing that the unit forbids.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/base/config/load-config.js';
import { options } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, temporaryFolder } from '../support/cli.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { writeTinyModels } from '../support/tiny-models.js';

const unitFile = path.join(packageDir, 'deploy/systemd/veravox.service');
const unit = fs.readFileSync(unitFile, 'utf8');

/** The values of a directive, in order. */
const valuesOf = (directive: string): string[] =>
  [...unit.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** @returns what systemd says of a unit whose exposure is 2.0 at most */
function judged(file: string): string {
  // The threshold is ten times the exposure.
  const args = ['security', '--offline=true', '--no-pager', '--threshold=20', file];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

const page = fs.readFileSync(path.join(packageDir, 'docs/systemd.md'), 'utf8');

test('the commands of the page wait for the first key, which is written after the start', () => {
  const [, commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(page) ?? [];
  assert.match(commands, /^until \[ -s (\S+) \]; do sleep 1; done\ncat \1$/m);
});

test('systemd rates the exposure of the unit as the page says', () => {
  const [, exposure] = /rates its exposure as (\d\.\d) of 10/.exec(page) ?? [];
  const verdict = judged(unitFile);
  assert.ok(verdict.includes(`Overall exposure level for veravox.service: ${exposure} `), verdict);
});

test('with the drop-in for GPUs, the service has the nodes of every kind of GPU, and is as hardened as the page says', (t) => {
  const folder = temporaryFolder(t);
  const [, dropIn = ''] = /^ {2}```ini\n([\s\S]*?)^ {2}```$/m.exec(page) ?? [];
  const file = path.join(folder, 'veravox.service');
  fs.copyFileSync(unitFile, file);
  fs.mkdirSync(`${file}.d`);
  fs.writeFileSync(path.join(`${file}.d`, 'gpu.conf'), dropIn.replaceAll(/^ {2}/gm, ''));
  const verdict = judged(file);
  const [, devices = ''] = /DeviceAllow= +.* devices: (.*?) {2,}/.exec(verdict) ?? [];
  // Mesa and NVIDIA name them so in /proc/devices.
  for (const kind of ['drm', 'nvidia', 'nvidia-frontend', 'nvidia-uvm']) {
    assert.ok(devices.split(' ').includes(`char-${kind}:rw`), `${kind}: ${devices}`);
  }
  // Debian's rules for render nodes.
  assert.match(verdict, /SupplementaryGroups= +Service runs with supplementary groups/);
  assert.match(verdict, /PrivateDevices= +Service potentially has access to hardware devices/);
  const [, exposure] = /With it, the exposure is (\d\.\d)\./.exec(page) ?? [];
  assert.ok(verdict.includes(`Overall exposure level for veravox.service: ${exposure} `), verdict);
  // It prints what it cannot read; programs of the unit need not be here.
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  assert.doesNotMatch(stdout + stderr, /gpu\.conf|veravox\.service:\d/);
});

test('its times allow a graceful stop, and its settings exist', () => {
  const { stopGraceMs, stopDrainMs } = loadConfig({});
  assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > (stopGraceMs + stopDrainMs) / 1000);
  const settings = fs.readFileSync(path.join(packageDir, 'deploy/systemd/veravox.env'), 'utf8');
  const named = [...settings.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name);
  const inUnit = valuesOf('Environment').map((entry) => entry.split('=')[0]);
  const known = new Set(['NODE_ENV', ...Object.values(options).map(({ variable }) => variable)]);
  assert.ok(named.length >= 3);
  for (const name of [...named, ...inUnit]) assert.ok(name && known.has(name), name);
});

test('systemd starts it again however often it fails', (t) => {
  // Elsewhere systemd ignores it.
  const [head = ''] = unit.split('[Service]');
  assert.match(head, /^StartLimitIntervalSec=0$/m);
  assert.deepEqual(valuesOf('Restart'), ['always']);
  const file = path.join(temporaryFolder(t), 'veravox.service');
  fs.copyFileSync(unitFile, file);
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  assert.doesNotMatch(stdout + stderr, /veravox\.service:\d/);
});

test('commands get the settings of the service', () => {
  const [, command = ''] = /^ {2}```sh\n([\s\S]*?)^ {2}```$/m.exec(page) ?? [];
  const [program] = valuesOf('ExecStart')[0]?.split(' serve') ?? [];
  for (const part of [
    `--uid=${valuesOf('User')[0]}`,
    `-p EnvironmentFile=${valuesOf('EnvironmentFile')[0]}`,
    `-E VERAVOX_DATA_DIR=/var/lib/${valuesOf('StateDirectory')[0]} ${program}`,
  ]) {
    assert.ok(command.includes(`${part} `), `${part}: ${command}`);
  }
});

const membersOf = (name: string): string[] =>
  name.startsWith('@')
    ? execFileSync('systemd-analyze', ['syscall-filter', name], { encoding: 'utf8' })
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('#'))
        .flatMap(membersOf)
    : [name];

/** Allowed calls, as systemd reads the lines. */
function allowedCalls(): Set<string> {
  const allowed = new Set(membersOf('@default'));
  for (const line of valuesOf('SystemCallFilter')) {
    for (const call of line.replace('~', '').split(' ').flatMap(membersOf)) {
      if (line.startsWith('~')) allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

test('a server that starts, predicts and stops makes only allowed system calls', async (t) => {
  const folder = temporaryFolder(t);
  const calls = path.join(folder, 'calls');
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  const env = {
    PORT: '0',
    VERAVOX_PROCESSES: '1',
    VERAVOX_DECODER_SANDBOX: 'required',
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_MODELS_DIR: writeTinyModels(models, 'even'),
    VERAVOX_SCORING_THREADS: '1',
  };
  const runner = ['strace', '-f', '-qq', '--signal=none', '-e', 'verbose=none', '-o', calls];
  const server = new Cli(['serve'], env, { runner });
  t.after(() => server.child.kill('SIGKILL'));
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  const [, key = ''] = await server.printed(/^ {2}(vx_\S+)$/m);
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.mp3'));
  const headers = { 'x-api-key': key };
  const answer = await predict(Number(port), formBody([fileEntry(clip)]), { headers });
  assert.equal(answer.status, 200, answer.text);
  const [supervisor = ''] = fs.readFileSync(calls, 'utf8').split(' ', 1);
  process.kill(Number(supervisor), 'SIGTERM');
  if (server.child.exitCode === null) await once(server.child, 'exit');
  assert.equal(server.child.exitCode, 0);

  const allowed = allowedCalls();
  // SQLite gives its files to the folder's owner, if root runs it.
  if (process.getuid?.() === 0) allowed.add('fchown');
  const trace = fs.readFileSync(calls, 'utf8');
  const made = new Set(
    [...trace.matchAll(/^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)/gm)].map(([, call = '']) => call),
  );
  for (const call of ['seccomp', 'setpriority', 'epoll_wait', 'clone3']) assert.ok(made.has(call), call);
  assert.deepEqual(
    [...made].filter((call) => !allowed.has(call)),
    [],
  );
  const families = new Set(
    [...trace.matchAll(/ socket(?:pair)?\((AF_\w+|[^,]+)/g)].map(([, family]) => family),
  );
  const allowedFamilies = valuesOf('RestrictAddressFamilies')[0]?.split(' ') ?? [];
  assert.ok(families.size > 0);
  for (const family of families) assert.ok(family && allowedFamilies.includes(family), family);
});
