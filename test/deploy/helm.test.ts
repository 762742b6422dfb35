// SPDX-License-Identifier: Apache-2.0
//
// The Helm chart: values for every part of it render to what Kubernetes and this server have, wrong values are refused, and a server
// and a worker start with the environment and arguments of their pods.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { loadConfig } from '../../src/base/config/load-config.js';
import { options } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { FILE_SUFFIX } from '../../src/base/config/secret-files.js';
import { healthEndpoints } from '../../src/base/contract/health-endpoints.js';
import {
  defaultValues,
  type Manifest,
  rendered,
  typeProblems,
  type Values,
  valuesSchema,
} from '../support/charts.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { imageStage } from '../support/compose.js';
import { eventually } from '../support/eventually.js';
import { type Container, selected, type Workload, workloadsOf } from '../support/manifests.js';
import { startPostgres } from '../support/postgres.js';
import { freePort } from '../support/proxies.js';
import { startSwift } from '../support/storages.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { yamlDocuments } from '../support/yaml.js';

const read = (file: string): string => fs.readFileSync(path.join(packageDir, file), 'utf8');
const page = read('docs/kubernetes.md');

/** The YAML of the page: values for several servers, values for GPUs, rules of an adapter. */
const [several = {}, onGpus = {}, adapter = {}] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => yamlDocuments(text)[0] as Values,
);

const onQueue = { enabled: true, by: 'queue' };
const onCpu = { enabled: true, by: 'cpu' };
const peer = { namespaceSelector: { matchLabels: { name: 'monitoring' } } };

const cases: Readonly<Record<string, Values>> = {
  'no values': {},
  'several servers and workers': several,
  'no workers': { ...several, worker: { replicas: 0 } },
  'a GPU': onGpus,
  'GPUs for workers': {
    ...several,
    worker: { replicas: 1, gpus: 2, resources: { limits: null } },
    gpu: { device: 'webgpu', resource: 'amd.com/gpu' },
  },
  'every secret': {
    existingSecret: 'voice',
    secretKeys: valuesSchema.properties.secretKeys.items.enum,
    serviceAccountName: 'voice',
  },
  'an ingress without TLS': { ingress: { enabled: true, host: 'voice.example' } },
  'an ingress with TLS': { ingress: { enabled: true, host: 'voice.example', tlsSecret: 'voice' } },
  'scaling by the queue': {
    ...several,
    server: { autoscaling: onQueue },
    worker: { autoscaling: onQueue },
  },
  'scaling by CPU': { ...several, server: { autoscaling: onCpu }, worker: { autoscaling: onCpu } },
  'everything else': {
    image: { tag: 'mine' },
    imagePullSecrets: [{ name: 'registry' }],
    stopGraceMs: 1500,
    stopDrainMs: 3_600_000,
    server: {
      nodeSelector: { disk: 'fast' },
      tolerations: [{ operator: 'Exists' }],
      persistence: { storageClass: 'fast' },
    },
    service: { type: 'LoadBalancer', port: 8000 },
    networkPolicy: { from: [peer], operators: [peer], egress: [{ to: [peer] }] },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  },
  'neither policy nor volume': {
    networkPolicy: { enabled: false },
    server: { persistence: { enabled: false } },
  },
};

const releases = Object.entries(cases).map(([title, values]) => {
  const { manifests, notes } = rendered(values);
  return { title, values, manifests, notes, workloads: workloadsOf(manifests) };
});

const everyWorkload = releases.flatMap(({ title, workloads }) =>
  workloads.map((workload) => ({ ...workload, title: `${title}: ${workload.name}` })),
);

/** An operator's resource, not one of Kubernetes. */
const isBuiltIn = ({ kind }: Manifest): boolean => kind !== 'PodMonitor';

test('every manifest has the fields and types of Kubernetes', () => {
  const manifests = releases.flatMap((release) => release.manifests);
  assert.deepEqual(typeProblems(manifests.filter(isBuiltIn)), []);
  const kinds = new Set(manifests.map(({ kind }) => kind));
  for (const kind of ['StatefulSet', 'Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'PodMonitor']) {
    assert.ok(kinds.has(kind), kind);
  }
});

test('the types of Kubernetes refuse unknown fields, missing ones and values of another type', () => {
  const manifest = rendered().manifests.find(({ kind }) => kind === 'StatefulSet');
  assert.ok(manifest);
  const text = JSON.stringify(manifest);
  for (const [from, to] of [
    ['"livenessProbe"', '"livenesProbe"'],
    ['"serviceName"', '"service"'],
    ['"replicas":1', '"replicas":"1"'],
    ['"drop"', '"drops"'],
  ] as const) {
    assert.ok(text.includes(from), from);
    assert.equal(typeProblems([JSON.parse(text.replace(from, to))]).length > 0, true, to);
  }
});

/** Settings that may come from a file, and the AWS SDK's. */
const secretSettings = Object.values(options)
  .filter(({ isSecret }) => isSecret)
  .map(({ variable }) => variable);
const secretKeys = [...secretSettings, 'AWS_SHARED_CREDENTIALS'];

test('every environment variable is a setting of the server with an accepted value', () => {
  const known = new Set([
    ...Object.values(options).map(({ variable }) => variable),
    ...secretKeys.map((name) => `${name}${FILE_SUFFIX}`),
  ]);
  for (const { title, settings, container } of everyWorkload) {
    for (const [name, value] of Object.entries(settings)) {
      assert.ok(known.has(name), `${title}: ${name}`);
      assert.equal(typeof value, 'string', `${title}: ${name}`);
    }
    const plain = Object.entries(settings).filter(([name]) => !name.endsWith(FILE_SUFFIX));
    const { VERAVOX_DATABASE_URL_FILE: database } = settings;
    const config = loadConfig({
      ...imageStage().env,
      ...Object.fromEntries(plain),
      ...(database !== undefined && { VERAVOX_DATABASE_URL: 'postgres://a:b@c/d' }),
    });
    // In a container, the loopback address is out of reach.
    assert.equal(config.host, '0.0.0.0');
    const { containerPort = config.port } = container.ports.find(({ name }) => name === 'http') ?? {};
    assert.equal(containerPort, config.port, title);
  }
});

test('every secret is a mounted file, and none is a value', () => {
  assert.deepEqual([...valuesSchema.properties.secretKeys.items.enum].sort(), [...secretKeys].sort());
  let seen = 0;
  for (const { title, settings, pod, container } of everyWorkload) {
    for (const [name, file] of Object.entries(settings)) {
      assert.ok(!secretSettings.includes(name), `${title}: ${name}`);
      if (!name.endsWith(FILE_SUFFIX)) continue;
      const mount = container.volumeMounts.find(({ mountPath }) => mountPath === path.dirname(file));
      const volume = pod.volumes?.find((one) => one.name === mount?.name);
      const item = volume?.secret?.items.find((one) => one.path === path.basename(file));
      assert.equal(`${item?.key}${FILE_SUFFIX}`, name, title);
      seen++;
    }
  }
  assert.ok(seen > secretKeys.length, `${seen}`);
});

test('the chart refuses, as settings, those that it sets itself', () => {
  const refused: readonly string[] = valuesSchema.properties.settings.propertyNames.not.enum;
  const given = new Set(Object.values(cases).flatMap(({ settings = {} }) => Object.keys(settings as object)));
  // An operator may know better.
  const allowed = ['VERAVOX_STORAGE_PUBLIC_URL'];
  const own = everyWorkload
    .flatMap(({ settings }) => Object.keys(settings))
    .filter((name) => !name.endsWith(FILE_SUFFIX) && !given.has(name) && !allowed.includes(name));
  assert.ok(own.length > 0);
  for (const name of [...own, ...secretSettings]) assert.ok(refused.includes(name), name);
  const known = new Set([...Object.values(options).map(({ variable }) => variable), 'AWS_SECRET_ACCESS_KEY']);
  for (const name of refused) assert.ok(known.has(name), name);
});

test('an ingress without a bucket tells the server its address, and an operator may tell another', () => {
  const urlOf = (values: Values) =>
    workloadsOf(rendered(values).manifests)[0]?.settings.VERAVOX_STORAGE_PUBLIC_URL;
  assert.equal(urlOf(cases['an ingress without TLS'] ?? {}), 'http://voice.example');
  assert.equal(urlOf(cases['an ingress with TLS'] ?? {}), 'https://voice.example');
  assert.equal(urlOf(several), undefined);
  const settings = { VERAVOX_STORAGE_PUBLIC_URL: 'https://files.example' };
  assert.equal(urlOf({ ...cases['an ingress with TLS'], settings }), 'https://files.example');
});

test('probes ask routes of the server, on the port of the operators', () => {
  const paths = healthEndpoints.filter(({ method }) => method === 'GET').map((endpoint) => endpoint.path);
  for (const { title, container, settings } of everyWorkload) {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      assert.ok(paths.includes(httpGet.path), `${title}: ${httpGet.path}`);
      const port = container.ports.find(({ name }) => name === httpGet.port)?.containerPort;
      assert.equal(settings.VERAVOX_ADMIN_ADDRESS, `0.0.0.0:${port}`, title);
    }
    assert.ok((startupProbe.failureThreshold ?? 0) * (startupProbe.periodSeconds ?? 0) >= 300, title);
    // A server that only is not ready must not be restarted.
    assert.equal(livenessProbe.httpGet.path, '/livez');
    assert.equal(readinessProbe.httpGet.path, '/readyz');
  }
});

const portNames = ({ ports }: Container): string[] => ports.map(({ name }) => name);

test('services, budgets, policies, autoscalers and monitors lead to pods and ports that exist', () => {
  for (const { title, manifests, workloads } of releases) {
    const named = (kind: string, name: string): Manifest =>
      manifests.find((one) => one.kind === kind && one.metadata.name === name) ??
      assert.fail(`${title}: no ${kind} ${name}`);
    const ids = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    assert.equal(new Set(ids).size, ids.length, title);
    const budgets = new Map<string, number>();
    for (const { kind, spec } of manifests) {
      // biome-ignore lint/suspicious/noExplicitAny: the types of Kubernetes are judged above
      const it = spec as any;
      if (kind === 'StatefulSet' || kind === 'Deployment') {
        if (kind === 'StatefulSet') named('Service', it.serviceName);
      } else if (kind === 'Service') {
        const [server, ...others] = selected(workloads, it.selector);
        assert.ok(server && others.length === 0, title);
        for (const { targetPort } of it.ports) assert.ok(portNames(server.container).includes(targetPort));
      } else if (kind === 'Ingress') {
        for (const { http } of it.rules) {
          for (const { backend } of http.paths) {
            const service = named('Service', backend.service.name).spec.ports as { name: string }[];
            assert.ok(service.some(({ name }) => name === backend.service.port.name));
          }
        }
      } else if (kind === 'PodDisruptionBudget') {
        const [workload, ...others] = selected(workloads, it.selector.matchLabels);
        assert.ok(workload && others.length === 0, title);
        budgets.set(workload.name, it.maxUnavailable);
      } else if (kind === 'HorizontalPodAutoscaler') {
        named(it.scaleTargetRef.kind, it.scaleTargetRef.name);
        const target = workloads.find(({ name }) => name === it.scaleTargetRef.name);
        assert.equal(target?.replicas, undefined, 'the autoscaler decides');
      } else if (kind === 'NetworkPolicy') {
        const pods = selected(workloads, it.podSelector.matchLabels);
        assert.equal(pods.length, workloads.length, title);
        const all = pods.flatMap(({ container }) => portNames(container));
        for (const { ports, from } of it.ingress) {
          for (const { port } of ports) {
            assert.ok(all.includes(port), `${title}: ${port}`);
            if (port === 'operators') assert.ok(from.length > 0, title);
          }
        }
      } else if (kind === 'PodMonitor') {
        const pods = selected(workloads, it.selector.matchLabels);
        assert.equal(pods.length, workloads.length, title);
        for (const { port, path: route } of it.podMetricsEndpoints) {
          for (const { container } of pods) assert.ok(portNames(container).includes(port));
          assert.equal(route, '/metrics');
        }
      } else assert.fail(`${title}: nothing checks a ${kind}`);
    }
    assert.deepEqual(
      [...budgets],
      [...workloads].map(({ name }) => [name, 1]),
      title,
    );
  }
});

test('a selector has no label that changes with the version', () => {
  const of = (workload: Workload) => Object.keys(workload.selector).sort();
  for (const workload of everyWorkload) {
    assert.deepEqual(
      of(workload),
      ['component', 'instance', 'name'].map((label) => `app.kubernetes.io/${label}`),
    );
    assert.deepEqual(selected([workload], workload.selector), [workload]);
  }
});

test('pods have no rights, no token, and only volumes that exist', () => {
  const { VERAVOX_DATA_DIR: dataDir } = imageStage().env;
  for (const { title, pod, container, claims } of everyWorkload) {
    assert.deepEqual(
      container.securityContext,
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      title,
    );
    const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext;
    assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile], [true, 1000, { type: 'RuntimeDefault' }]);
    assert.equal(pod.automountServiceAccountToken, false, title);
    const volumes = [...claims, ...(pod.volumes?.map(({ name }) => name) ?? [])].sort();
    assert.deepEqual(container.volumeMounts.map(({ name }) => name).sort(), volumes, title);
    for (const writable of [dataDir, '/tmp']) {
      const { name } = container.volumeMounts.find(({ mountPath }) => mountPath === writable) ?? {};
      assert.ok(name, `${title}: ${writable}`);
    }
    for (const { secret } of pod.volumes ?? []) assert.ok(((secret?.defaultMode ?? 0) & 0o7) === 0, title);
  }
});

test('Kubernetes waits for a graceful stop', () => {
  for (const { title, pod, settings } of everyWorkload) {
    const { VERAVOX_STOP_GRACE_MS: graceMs, VERAVOX_STOP_DRAIN_MS: drainMs } = settings;
    const stopS = (Number(graceMs) + Number(drainMs)) / 1000;
    assert.equal(pod.terminationGracePeriodSeconds, Math.ceil(stopS) + 5, title);
  }
  const { stopGraceMs, stopDrainMs } = loadConfig({});
  const [server] = workloadsOf(rendered().manifests);
  assert.equal(server?.settings.VERAVOX_STOP_GRACE_MS, String(stopGraceMs));
  assert.equal(server?.settings.VERAVOX_STOP_DRAIN_MS, String(stopDrainMs));
});

test('jobs are done by the workers, or by the servers without them', () => {
  const jobsOf = (title: string) =>
    releases
      .find((release) => release.title === title)
      ?.workloads.map(({ kind, settings }) => [kind, settings.VERAVOX_JOB_WORKERS]);
  assert.deepEqual(jobsOf('no values'), [['StatefulSet', '1']]);
  assert.deepEqual(jobsOf('no workers'), [['StatefulSet', '2']]);
  for (const title of ['several servers and workers', 'scaling by the queue']) {
    assert.deepEqual(
      jobsOf(title),
      [
        ['StatefulSet', '0'],
        ['Deployment', '2'],
      ],
      title,
    );
  }
});

test('a component with GPUs has the limit, the device and the runtime class; others run on the CPU', () => {
  const shownOf = (title: string) =>
    releases
      .find((release) => release.title === title)
      ?.workloads.map(({ container, pod, settings }) => {
        const gpus = Object.entries(container.resources.limits).filter(([name]) => name.endsWith('/gpu'));
        return [settings.VERAVOX_DEVICE, Object.fromEntries(gpus), pod.runtimeClassName];
      });
  assert.deepEqual(shownOf('a GPU'), [['cuda', { 'nvidia.com/gpu': 1 }, 'nvidia']]);
  assert.deepEqual(shownOf('GPUs for workers'), [
    ['cpu', {}, undefined],
    ['webgpu', { 'amd.com/gpu': 2 }, undefined],
  ]);
});

test('every metric in manifests and page is one of the server, and the adapter has those that scale', () => {
  const metrics = [...read('docs/metrics.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const texts = [page, ...releases.map(({ manifests }) => JSON.stringify(manifests))];
  const named = new Set(texts.flatMap((text) => text.match(/\bveravox_[a-z_]+/g) ?? []));
  for (const name of named) assert.ok(metrics.includes(name), name);

  const scaling = releases.find(({ title }) => title === 'scaling by the queue')?.manifests ?? [];
  const ofType = (type: string) =>
    [...JSON.stringify(scaling).matchAll(new RegExp(`"${type}":\\{"metric":\\{"name":"(\\w+)"`, 'g'))].map(
      ([, name]) => name,
    );
  const { rules } = adapter as { rules: Record<string, { seriesQuery: string }[]> };
  const series = (kind: string) => rules[kind]?.map(({ seriesQuery }) => seriesQuery.split('{')[0]);
  assert.deepEqual(series('external'), ofType('external'));
  assert.deepEqual(series('custom'), ofType('pods'));
  assert.equal(ofType('external').length + ofType('pods').length, 2);
});

const refused: readonly [problem: RegExp, values: Values][] = [
  [/"replica"/, { server: { replica: 2 } }],
  [/"Server"/, { Server: {} }],
  [/settings\/VERAVOX_MAX_STREAMS must be string/, { settings: { VERAVOX_MAX_STREAMS: 1_000_000 } }],
  [/settings/, { settings: { PORT: '80' } }],
  [/settings/, { settings: { VERAVOX_DATABASE_URL: 'postgres://a:b@c/d' } }],
  [/settings/, { settings: { 'veravox.device': 'cpu' } }],
  [/secretKeys/, { existingSecret: 'a', secretKeys: ['VERAVOX_DATABASE_URI'] }],
  [/server\/replicas must be >= 1/, { server: { replicas: 0 } }],
  [/server\/replicas must be integer/, { server: { replicas: '2' } }],
  [/autoscaling\/by/, { server: { autoscaling: { by: 'memory' } } }],
  [/ingress\/host/, { ingress: { enabled: true } }],
  [/gpu\/device/, { gpu: { device: 'tpu' } }],
  [/image\/repository/, { image: { repository: '' } }],
  [/set existingSecret to its name/, { secretKeys: ['VERAVOX_DATABASE_URL'] }],
  ...[
    { server: { replicas: 2 } },
    { server: { autoscaling: { enabled: true } } },
    { worker: { replicas: 1 } },
    { worker: { autoscaling: { enabled: true } } },
    { worker: { replicas: 1 }, settings: { VERAVOX_STORAGE_BUCKET: 'a' } },
    { worker: { replicas: 1 }, existingSecret: 'a', secretKeys: ['VERAVOX_DATABASE_URL'] },
  ].map((values): [RegExp, Values] => [/share a PostgreSQL database and a bucket/, values]),
];

for (const [problem, values] of refused) {
  test(`refused: ${JSON.stringify(values)}`, () => {
    assert.throws(() => rendered(values), problem);
  });
}

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The paths of all values; maps with entries of the chart's own are no values. */
const pathsIn = (values: Values, at: readonly string[] = []): (readonly string[])[] =>
  Object.entries(values).flatMap(([name, value]) =>
    isMap(value) && Object.keys(value).length > 0 ? pathsIn(value, [...at, name]) : [[...at, name]],
  );

test('the schema has exactly the values of values.yaml', () => {
  const described = ({ properties, $ref }: Values, at: readonly string[] = []): string[] =>
    isMap(properties) && $ref === undefined
      ? Object.entries(properties).flatMap(([name, one]) => described(one as Values, [...at, name]))
      : [at.join('.')];
  const given = pathsIn(defaultValues).map((names) =>
    names.join('.').replace(/\.resources\..*/, '.resources'),
  );
  // Helm adds it for charts of charts.
  const expected = described(valuesSchema).filter((name) => name !== 'global');
  assert.deepEqual([...new Set(given)].sort(), expected.sort());
});

/** Other texts for values with a choice. */
const otherTexts: Readonly<Record<string, string>> = {
  IfNotPresent: 'Never',
  ClusterIP: 'NodePort',
  cuda: 'webgpu',
  cpu: 'queue',
  queue: 'cpu',
};

function otherThan(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return otherTexts[value] ?? 'other';
  if (Array.isArray(value)) return value.length > 0 ? value.slice(1) : [{ name: 'other' }];
  return { OTHER: 'other' };
}

test('each value changes what is rendered', () => {
  const everything: Values = {
    ...several,
    gpu: { runtimeClassName: 'nvidia' },
    networkPolicy: { egress: [{ to: [peer] }] },
    podMonitor: { enabled: true },
  };
  const bases = [{}, onCpu, onQueue].map((autoscaling) => ({
    ...everything,
    secretKeys: ['AWS_SHARED_CREDENTIALS', 'VERAVOX_DATABASE_URL'],
    server: { gpus: 1, autoscaling },
    worker: { replicas: 1, gpus: 1, autoscaling },
  }));
  const shown = bases.map((base) => JSON.stringify(rendered(base).manifests));
  const valueAt = (values: unknown, names: readonly string[]): unknown =>
    names.reduce((at, name) => (isMap(at) ? at[name] : undefined), values);
  for (const names of pathsIn(defaultValues)) {
    const changes = bases.some((base, i) => {
      const value = valueAt(base, names) ?? valueAt(defaultValues, names);
      return JSON.stringify(rendered(withValue(base, names, otherThan(value))).manifests) !== shown[i];
    });
    assert.ok(changes, names.join('.'));
  }
});

function withValue(values: Values, [name = '', ...rest]: readonly string[], value: unknown): Values {
  const inside = isMap(values[name]) ? values[name] : {};
  const isWholeMap = rest.length === 0 && isMap(value);
  const there = isWholeMap
    ? { ...inside, ...value }
    : rest.length === 0
      ? value
      : withValue(inside, rest, value);
  return { ...values, [name]: there };
}

test('the chart has the version of the server, whose image it starts', () => {
  const { version } = JSON.parse(read('package.json'));
  const [chart] = yamlDocuments(read('deploy/helm/veravox/Chart.yaml')) as [Record<string, string>];
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  const images = workloadsOf(rendered(several).manifests).map(({ container }) => container.image);
  assert.deepEqual(images, Array(2).fill(`registry.example/veravox:${version}`));
  assert.ok(page.includes(`docker build -t ${images[0]} .`));
});

test('the notes name the objects of the release', () => {
  for (const { title, notes, manifests } of releases) {
    for (const [, kind = '', name = ''] of notes.matchAll(/\b(statefulset|service)\/(\S+)/g)) {
      const isThere = manifests.some((one) => one.kind.toLowerCase() === kind && one.metadata.name === name);
      assert.ok(isThere, `${title}: ${kind}/${name}`);
    }
    assert.match(notes, /rollout status statefulset\//, title);
    assert.doesNotMatch(notes, /\{\{|<no value>/, title);
  }
});

test('long names of releases leave room for those of pods', () => {
  for (const name of ['v'.repeat(53), `${'a-'.repeat(26)}a`]) {
    for (const { metadata } of rendered(several, name).manifests) {
      assert.match(metadata.name, /^[a-z]([a-z0-9-]*[a-z0-9])?$/);
      assert.ok(metadata.name.length <= 52, metadata.name);
    }
  }
  assert.equal(rendered({}, 'veravox').manifests[0]?.metadata.name, 'veravox');
});

/**
 * A program in front of another one that makes it user 1000, as in the pods, who still may read this checkout; nothing if this
 * process must not do so.
 */
function podUser(t: TestContext): readonly string[] {
  const capabilities = '-all,+dac_read_search';
  const runner = [
    ...['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'],
    ...[`--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`],
  ];
  const [program = '', ...args] = runner;
  const { status } = spawnSync(program, [...args, 'test', '-r', path.join(packageDir, 'package.json')]);
  if (status === 0) return runner;
  t.diagnostic('not as user 1000');
  return [];
}

test('a server and a worker with the settings of their pods answer the probes and do a job', async (t) => {
  const folder = temporaryFolder(t);
  const port = String(await freePort());
  const postgres = await startPostgres({ port, listen_addresses: '127.0.0.1' });
  t.after(() => postgres.remove());
  await postgres.run('postgres', 'CREATE DATABASE veravox');
  const endpoint = await startSwift(t);
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  writeTinyModels(models, 'even');

  const { manifests, notes } = rendered(several);
  const workloads = workloadsOf(manifests);
  const adminPort = await freePort();
  const secrets: Record<string, string> = {
    VERAVOX_DATABASE_URL: postgres.tcpUrl('veravox', '?sslmode=disable'),
    AWS_SHARED_CREDENTIALS: '[default]\naws_access_key_id = test:tester\naws_secret_access_key = testing\n',
  };

  const runner = podUser(t);
  /** Volumes as the kubelet makes them: for the group of the pod. */
  const group = runner.length > 0 ? 1000 : process.getgid?.();
  const ofPod = (file: string, mode: number): void => {
    fs.chownSync(file, process.getuid?.() ?? 0, group ?? 0);
    fs.chmodSync(file, mode);
  };

  const environmentOf = ({ settings, pod, container }: Workload, host: string): Record<string, string> => {
    const volumes = path.join(folder, host);
    for (const { name, mountPath } of container.volumeMounts) {
      const dir = path.join(volumes, mountPath);
      fs.mkdirSync(dir, { recursive: true });
      const { secret } = pod.volumes?.find((volume) => volume.name === name) ?? {};
      for (const { key, path: file } of secret?.items ?? []) {
        fs.writeFileSync(path.join(dir, file), secrets[key] ?? assert.fail(key));
        ofPod(path.join(dir, file), secret?.defaultMode ?? 0);
      }
      if (secret === undefined) ofPod(dir, 0o2775);
    }
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    const here = (value: string): string => {
      const mount = mounts.find((one) => value === one || value.startsWith(`${one}/`));
      return mount === undefined ? value : path.join(volumes, value);
    };
    const all = { ...imageStage().env, ...settings };
    return {
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [name, here(value)])),
      HOST: host,
      PORT: '0',
      VERAVOX_ADMIN_ADDRESS: `${host}:${adminPort}`,
      VERAVOX_STORAGE_ENDPOINT: endpoint,
      VERAVOX_MODELS_DIR: models,
      VERAVOX_SCORING_THREADS: '1',
    };
  };

  const hosts: Readonly<Record<string, string>> = { server: '127.0.0.12', worker: '127.0.0.13' };
  const started = async ({ name, container }: Workload, env: Record<string, string>, pattern: RegExp) => {
    // With the restarts of a pod: on a busy machine, connecting to the database may take too long.
    for (let tries = 1; ; tries++) {
      const process = new Cli(container.args, env, { runner });
      t.after(async () => {
        process.child.kill('SIGKILL');
        await process.finished;
      });
      try {
        return (await process.printed(pattern))[1] ?? '';
      } catch (error) {
        if (tries > 5 || !/timeout exceeded/.test(String(error))) throw new Error(`${name}: ${error}`);
      }
    }
  };
  const [server, worker] = workloads;
  assert.ok(server && worker && workloads.length === 2);
  const serverEnv = environmentOf(server, hosts.server ?? '');
  const baseUrl = await started(server, serverEnv, /is ready on (http:\S+)\n/);
  await started(worker, environmentOf(worker, hosts.worker ?? ''), /veravox works on up to 2 jobs/);

  for (const { name, container } of workloads) {
    const host = hosts[container.args[0] === 'serve' ? 'server' : 'worker'];
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      await eventually(async () => {
        const { status } = await fetch(`http://${host}:${adminPort}${httpGet.path}`);
        return status === 200;
      }, `${name} answers ${httpGet.path}`);
    }
  }

  // The command of the notes.
  const [, command = ''] = /-- veravox (keys create .*)/.exec(notes) ?? [];
  const { stdout, stderr } = await runCli(command.split(' '), serverEnv, { runner });
  const apiKey = /vx_\S+/.exec(stdout)?.[0];
  assert.ok(apiKey, stderr);
  const client = new VeravoxClient({ baseUrl, apiKey });
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const [link] = (await client.createUploadLinks(['a.flac'])).url;
  assert.ok(link);
  assert.ok(link.value.startsWith(endpoint), link.value);
  await client.upload(link, clip);
  const { id } = await client.createJob({ key: 'a.flac' });
  const { state, error } = await client.waitForJob(id, { pollMs: 20 });
  assert.equal(state, 'succeeded', JSON.stringify(error));
  const metrics = await (await fetch(`http://${hosts.worker}:${adminPort}/metrics`)).text();
  assert.match(metrics, /^veravox_job_turns_total\{outcome="succeeded"\} 1$/m);
  assert.match(metrics, /^veravox_jobs\{state="queued"\} 0$/m);
});
