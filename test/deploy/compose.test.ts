// SPDX-License-Identifier: Apache-2.0
//
// The services of deploy/compose.yml as processes: PostgreSQL and Prometheus from Debian, the storage, two servers and two workers,
// each with the settings of the file. Only addresses and paths of containers are replaced.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { options } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, runCli } from '../support/cli.js';
import { composeFile, deployDir, imageStage, type Service } from '../support/compose.js';
import { eventually } from '../support/eventually.js';
import { dashboardQueries } from '../support/grafana-queries.js';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { freePort } from '../support/proxies.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { readYaml } from '../support/yaml.js';

const { services, secrets, volumes } = composeFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-compose-'));
const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

let postgres: PostgresServer;
let prometheus: ChildProcess | undefined;
let prometheusOrigin = '';
let adminPort = 0;
let clients: VeravoxClient[] = [];
const running: Cli[] = [];
const isReady = /is ready on (http:\S+)\n/;
/** The containers' names in addresses, and where they are here. */
const places = new Map<string, string>();

const serviceOf = (name: string): Service => services[name] ?? assert.fail(`no service ${name}`);
const secretFile = (name: string): string => path.join(folder, secrets[name]?.file ?? '');
const sourceOf = (secret: string | { source: string }): string =>
  typeof secret === 'string' ? secret : secret.source;

function replaced(text: string): string {
  return [...places].reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

/** A process with the settings of a container of this service. */
function start(name: string, host: string): Cli {
  const { command = [], environment = {} } = serviceOf(name);
  const dataDir = path.join(folder, host);
  const image = imageStage();
  const settings = Object.entries({ ...image.env, ...environment }).map(([variable, value]) => [
    variable,
    replaced(String(value))
      .replace(/^\$\{\w+:-(.*)\}$/, '$1')
      .replaceAll('0.0.0.0:9090', `${host}:${adminPort}`)
      .replaceAll(image.env.VERAVOX_DATA_DIR ?? '', dataDir)
      .replace(/^0\.0\.0\.0$/, host)
      .replace(/^\/run\/secrets\/(.*)$/, (_, secret) => secretFile(secret)),
  ]);
  const server = new Cli(command, {
    ...Object.fromEntries(settings),
    PORT: '0',
    VERAVOX_MODELS_DIR: path.join(folder, 'models'),
    VERAVOX_SCORING_THREADS: '1',
  });
  running.push(server);
  return server;
}

/** With the restarts of the file: on a busy machine, connecting to the database may take too long. */
async function started(name: string, host: string, pattern: RegExp): Promise<string> {
  assert.equal(serviceOf(name).restart, 'unless-stopped');
  for (let tries = 1; ; tries++) {
    const server = start(name, host);
    try {
      return (await server.printed(pattern))[1] ?? '';
    } catch (error) {
      if (tries > 5 || !/timeout exceeded/.test(String(error))) throw error;
    }
  }
}

async function startDatabase(): Promise<void> {
  const port = String(await freePort());
  postgres = await startPostgres({ port, listen_addresses: '127.0.0.1' });
  const { environment = {} } = serviceOf('postgres');
  const password = fs.readFileSync(secretFile('postgres-password'), 'utf8');
  await postgres.run('postgres', `CREATE DATABASE ${environment.POSTGRES_DB}`);
  await postgres.run('postgres', `ALTER USER ${environment.POSTGRES_USER} PASSWORD '${password}'`);
  const url = fs.readFileSync(secretFile('database-url'), 'utf8');
  assert.ok(url.includes('@postgres/'), 'the name of the service');
  fs.writeFileSync(secretFile('database-url'), url.replace('@postgres/', `@127.0.0.1:${port}/`));
}

async function startStorage(): Promise<void> {
  const dataDir = path.join(folder, '127.0.0.9');
  fs.mkdirSync(dataDir);
  for (const secret of serviceOf('storage').secrets ?? []) {
    assert.ok(typeof secret === 'object');
    fs.copyFileSync(secretFile(secret.source), path.join(dataDir, path.basename(secret.target)));
  }
  const origin = await started('storage', '127.0.0.9', isReady);
  places.set('http://storage:8080', origin);
  // The port of the host that leads there.
  places.set('http://127.0.0.1:9000', origin);
}

/** Names that DNS would resolve to all containers of a service. */
const hostsOf: Readonly<Record<string, readonly string[]>> = {
  server: ['127.0.0.2', '127.0.0.3'],
  worker: ['127.0.0.4', '127.0.0.5'],
};

async function startPrometheus(): Promise<void> {
  const configFile = path.join(folder, 'prometheus/prometheus.yml');
  const discovery =
    /dns_sd_configs:\n +- names: \[(\w+)\]\n +type: A\n +port: 9090\n +refresh_interval: 15s\n/g;
  const config = fs.readFileSync(configFile, 'utf8').replace(discovery, (_, service: string) => {
    const targets = hostsOf[service]?.map((host) => `"${host}:${adminPort}"`);
    return `static_configs: [{targets: [${targets}]}]\n`;
  });
  assert.doesNotMatch(config, /dns_sd/);
  fs.writeFileSync(configFile, config.replaceAll('interval: 15s', 'interval: 1s'));
  const port = await freePort();
  prometheusOrigin = `http://127.0.0.1:${port}`;
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
}

before(async () => {
  fs.cpSync(deployDir, folder, { recursive: true, filter: (file) => !file.endsWith('/secrets') });
  execFileSync(path.join(folder, 'secrets.sh'));
  fs.mkdirSync(path.join(folder, 'models'));
  writeTinyModels(path.join(folder, 'models'), 'even');
  await Promise.all([startDatabase(), startStorage()]);
  adminPort = await freePort();
  const origins: string[] = [];
  for (const host of hostsOf.server ?? []) {
    origins.push(await started('server', host, isReady));
  }
  for (const host of hostsOf.worker ?? []) await started('worker', host, /veravox works on up to/);
  await startPrometheus();
  const { stdout } = await runCli(['keys', 'create'], {
    VERAVOX_DATABASE_URL_FILE: secretFile('database-url'),
    VERAVOX_DATA_DIR: path.join(folder, 'commands'),
  });
  clients = origins.map((baseUrl) => new VeravoxClient({ baseUrl, apiKey: stdout.trim() }));
});

after(async () => {
  prometheus?.kill('SIGKILL');
  if (prometheus?.exitCode === null && prometheus.signalCode === null) await once(prometheus, 'exit');
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ finished }) => finished));
  await postgres?.remove();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

test('the file names only what exists: settings, files, secrets, volumes, services, versions of images', () => {
  const known = new Set(Object.values(options).flatMap(({ variable }) => [variable, `${variable}_FILE`]));
  for (const [name, service] of Object.entries(services)) {
    if (service.build === undefined) assert.match(service.image, /:v?\d+[\w.-]*$/, `${name} has a version`);
    for (const variable of Object.keys(service.environment ?? {})) {
      if (variable.startsWith('VERAVOX_')) assert.ok(known.has(variable), `${name}: ${variable}`);
    }
    for (const secret of service.secrets ?? []) {
      assert.ok(fs.statSync(secretFile(sourceOf(secret))).size > 0, `${name}: ${sourceOf(secret)}`);
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      const isThere = source.startsWith('.')
        ? fs.existsSync(path.join(deployDir, source))
        : source in volumes;
      assert.ok(isThere, `${name}: ${source}`);
    }
    for (const other of Object.keys(service.depends_on ?? {})) {
      const { healthcheck, build } = serviceOf(other);
      assert.ok(healthcheck !== undefined || build !== undefined, `${other} has a health check`);
    }
  }
  assert.equal(fs.statSync(path.join(folder, 'secrets')).mode & 0o777, 0o700);
});

test('Grafana finds the dashboard and Prometheus under the names of the file', () => {
  const provisioning = (file: string) => readYaml(path.join(deployDir, 'grafana/provisioning', file));
  const { datasources } = provisioning('datasources/prometheus.yml') as {
    datasources: { type: string; url: string }[];
  };
  assert.equal(datasources.length, 1);
  const { hostname, port } = new URL(datasources[0]?.url ?? '');
  assert.ok(hostname in services && port === '9090');
  const { providers } = provisioning('dashboards/veravox.yml') as {
    providers: { options: { path: string } }[];
  };
  const mounted = serviceOf('grafana').volumes?.map((volume) => volume.split(':')[1] ?? '') ?? [];
  assert.ok(mounted.includes(path.join(providers[0]?.options.path ?? '', 'veravox.json')));
});

async function ask<Answer>(question: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${prometheusOrigin}/api/v1/${question}`);
    return ((await response.json()) as { data: Answer }).data;
  } catch {
    // It has only just started.
    return undefined;
  }
}

async function resultsOf(query: string): Promise<number> {
  const answer = await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(query)}`);
  return answer?.result.length ?? 0;
}

test('a port of the host leads to the dashboard of each server', async () => {
  const { environment = {}, ports = [] } = serviceOf('server');
  const port = String(environment.VERAVOX_ADMIN_ADDRESS).split(':')[1];
  assert.ok(ports.some((published) => published.endsWith(`:${port}`) && published.startsWith('127.0.0.1:')));
  for (const host of hostsOf.server ?? []) {
    const { status } = await fetch(`http://${host}:${adminPort}/dashboard/`);
    assert.equal(status, 200);
  }
});

test('jobs of both servers are done by both workers, on files of the bucket', async () => {
  const succeededOn = async (host: string): Promise<number> => {
    const text = await (await fetch(`http://${host}:${adminPort}/metrics`)).text();
    return Number(/^veravox_job_turns_total\{outcome="succeeded"\} (\d+)$/m.exec(text)?.[1]);
  };
  for (const [i, client] of clients.entries()) {
    const [link] = (await client.createUploadLinks([`${i}.flac`])).url;
    assert.ok(link);
    await client.upload(link, clip);
  }
  const workers = hostsOf.worker ?? [];
  await eventually(async () => {
    const jobs = clients.flatMap((client, i) =>
      Array.from({ length: 3 }, async () => {
        const { id } = await client.createJob({ key: `${i}.flac` });
        return client.waitForJob(id, { pollMs: 20 });
      }),
    );
    for (const { state, error } of await Promise.all(jobs)) {
      assert.equal(state, 'succeeded', JSON.stringify(error));
    }
    const succeeded = await Promise.all(workers.map(succeededOn));
    return succeeded.every((count) => count > 0);
  }, 'each worker had one');
});

test('Prometheus scrapes every server and worker, and each panel of the dashboard has data', async () => {
  const predictSome = () => Promise.allSettled(clients.map((client) => client.predict(clip)));
  await eventually(async () => {
    await predictSome();
    return (await resultsOf('up == 1')) === 4;
  }, 'all four are up');
  for (const { title, query } of dashboardQueries()) {
    await eventually(async () => {
      await predictSome();
      return (await resultsOf(query)) > 0;
    }, `${title}: ${query}`);
  }
});

test('Prometheus evaluates every alert without an error, and none fires', async () => {
  interface Rule {
    readonly name: string;
    readonly health: string;
    readonly state: string;
    readonly lastError?: string;
  }
  let rules: Rule[] = [];
  await eventually(async () => {
    const answer = await ask<{ groups: { rules: Rule[] }[] }>('rules');
    rules = answer?.groups.flatMap((group) => group.rules) ?? [];
    return rules.length > 0 && rules.every(({ health }) => health !== 'unknown');
  }, 'the rules are evaluated');
  assert.ok(rules.length >= 18, `${rules.length}`);
  for (const { name, health, state, lastError } of rules) {
    assert.equal(health, 'ok', `${name}: ${lastError}`);
    assert.notEqual(state, 'firing', name);
  }
});
