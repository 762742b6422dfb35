// SPDX-License-Identifier: Apache-2.0
//
// The page of metrics, the alert rules and the dashboard name what a server really has, and Prometheus accepts them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli } from '../support/cli.js';
import { dashboardQueries } from '../support/grafana-queries.js';
import { request } from '../support/http-client.js';
import { writeTinyModels } from '../support/tiny-models.js';

const folder = path.join(packageDir, 'deploy/prometheus');
const read = (file: string): string => fs.readFileSync(path.join(packageDir, file), 'utf8');
const rules = read('deploy/prometheus/alerts.yml');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

/** Labels that Prometheus adds. */
const addedLabels = ['job', 'instance', 'le'];
/** Their values appear with the first request. */
const laterLabels = ['job', 'route', 'status'];

const state = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-metrics-'));
let server: Cli | undefined;
/** The metrics of a server that has all of them. */
let metricsText = '';
const typeOf = new Map<string, string>();

before(async () => {
  fs.mkdirSync(path.join(state, 'models'));
  server = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: '1',
    VERAVOX_DATA_DIR: path.join(state, 'data'),
    VERAVOX_MODELS_DIR: writeTinyModels(path.join(state, 'models'), 'even'),
    // Nobody listens; the series exist nevertheless.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  });
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  await request(Number(port), '/openapi.json');
  metricsText = (await request(Number(port), '/metrics')).text;
  for (const [, name = '', type = ''] of metricsText.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    typeOf.set(name, type);
});

after(async () => {
  server?.child.kill('SIGTERM');
  await server?.finished;
  fs.rmSync(state, { recursive: true, force: true });
});

test('the page lists exactly the metrics of a server, with their types and labels', () => {
  const rows = [...read('docs/metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \| ([^|]+) \|/gm)];
  const listed = rows
    .filter(([, , , , combined]) => combined !== 'left out')
    .map(([, name, type]) => `${name} ${type}`);
  assert.deepEqual(listed.sort(), [...typeOf].map(([name, type]) => `${name} ${type}`).sort());
  for (const [, name = '', , labels = ''] of rows) {
    const listedLabels = labels.match(/\w+/g) ?? [];
    const had = labelsOf(name);
    if (had !== undefined) assert.deepEqual([...had].sort(), listedLabels.sort(), name);
  }
});

/** Names of the labels of its series, except `le`; undefined without series. */
function labelsOf(metric: string): Set<string> | undefined {
  const series = metricsText.match(new RegExp(`^${metric}(?:_bucket|_sum|_count)?(?:\\{.*\\})? `, 'gm'));
  if (series === null) return undefined;
  const names = series.flatMap((one) => [...one.matchAll(/(\w+)="/g)].map(([, label = '']) => label));
  return new Set(names.filter((label) => label !== 'le'));
}

/** The metric of a series in a query. */
function metricOf(series: string): string | undefined {
  if (typeOf.has(series)) return series;
  const base = series.replace(/_(bucket|sum|count)$/, '');
  return typeOf.get(base) === 'histogram' ? base : undefined;
}

interface Selector {
  readonly series: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** Selectors of a query, and the labels by which it groups. */
function parsed(query: string): { selectors: Selector[]; groupedBy: string[] } {
  const groupedBy = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/, */));
  const rest = query.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\[\w+\]/g, '');
  const selectors = [...rest.matchAll(/\b([a-z]\w*)\b(?! *\()(?:\{([^}]*)\})?(?![^{]*\})/g)]
    .filter(([, name = '']) => !['or', 'and', 'unless', 'on', 'ignoring'].includes(name))
    .map(([, series = '', matchers = '']) => ({
      series,
      matchers: [...matchers.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
      ),
    }));
  return { selectors, groupedBy };
}

const alertQueries = [...rules.matchAll(/ expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/g)].map(
  ([, block, line], i) => ({
    title: alerts[i] ?? '',
    query: (block ?? line ?? '').replaceAll(/\s+/g, ' ').trim(),
  }),
);

test('every metric, label and value in a rule or a panel exists in a server', () => {
  assert.equal(alertQueries.length, alerts.length);
  const queries = [...alertQueries, ...dashboardQueries()];
  assert.ok(queries.length > alerts.length + 30, `${queries.length}`);
  for (const { title, query } of queries) {
    const { selectors, groupedBy } = parsed(query);
    const known = new Set(addedLabels);
    assert.ok(selectors.length > 0, `${title}: ${query}`);
    for (const { series, matchers } of selectors) {
      if (series === 'up') continue;
      const metric = metricOf(series);
      assert.ok(metric, `${title}: no server has ${series}: ${query}`);
      const labels = new Set([...(labelsOf(metric) ?? []), ...addedLabels]);
      for (const { label, operator, value } of matchers) {
        assert.ok(labels.has(label), `${title}: ${metric} has no label ${label}`);
        if (laterLabels.includes(label) || operator.startsWith('!')) continue;
        for (const one of operator === '=~' ? value.split('|') : [value]) {
          const where = new RegExp(`^${metric}\\{.*\\b${label}="${one}"`, 'm');
          assert.match(metricsText, where, `${title}: ${metric} never has ${label}="${one}"`);
        }
      }
      for (const label of labels) known.add(label);
    }
    for (const label of groupedBy) assert.ok(known.has(label), `${title}: nothing has the label ${label}`);
  }
});

test('the parser of this test finds what it should', () => {
  assert.deepEqual(parsed('sum by (a, b) (rate(x_total{c="d", e=~"f|g"}[5m])) / (y > 0) or vector(0)'), {
    selectors: [
      {
        series: 'x_total',
        matchers: [
          { label: 'c', operator: '=', value: 'd' },
          { label: 'e', operator: '=~', value: 'f|g' },
        ],
      },
      { series: 'y', matchers: [] },
    ],
    groupedBy: ['a', 'b'],
  });
});

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test('Prometheus accepts configuration and rules; each alert fires once, and none on a healthy server', () => {
  assert.match(promtool('check', 'config', 'prometheus.yml'), new RegExp(`${alerts.length} rules found`));
  promtool('test', 'rules', 'alerts.test.yml');
  const [quiet = '', ...firing] = read('deploy/prometheus/alerts.test.yml')
    .split(/^ {2}- name: /m)
    .slice(1);
  for (const alert of alerts) {
    assert.ok(quiet.includes(`alertname: ${alert}, eval_time: 55m, exp_alerts: []`), alert);
    const own = firing.filter((text) => text.startsWith(`${alert}\n`));
    assert.equal(own.length, 1, alert);
    assert.equal(own[0]?.match(/exp_labels/g)?.length, 1, alert);
  }
});
