// SPDX-License-Identifier: Apache-2.0
//
// The Helm chart in deploy/helm, rendered without Helm: values are merged and checked against their schema like Helm does it, and
// helm-template.go runs the templates. Kubernetes' own types judge the result.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { packageDir } from '../../src/base/config/package-dir.js';
import { deployDir } from './compose.js';
import { readYaml, yamlDocuments } from './yaml.js';

export const chartDir = path.join(deployDir, 'helm/veravox');

export type Values = Readonly<Record<string, unknown>>;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Release {
  readonly manifests: readonly Manifest[];
  readonly notes: string;
}

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maps are merged, everything else is replaced, and null removes. */
function merged(base: Values, more: Values): Values {
  const entries = Object.entries(more).map(([name, value]) => {
    const old = base[name];
    return [name, isMap(old) && isMap(value) ? merged(old, value) : value];
  });
  const all = Object.entries({ ...base, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

export const defaultValues = readYaml(path.join(chartDir, 'values.yaml')) as Values;
export const valuesSchema = JSON.parse(fs.readFileSync(path.join(chartDir, 'values.schema.json'), 'utf8'));
const isAccepted = new Ajv({ allErrors: true, strict: false }).compile(valuesSchema);

let program: string | undefined;

/** Go keeps the compiled packages in build/go-cache. */
function builtProgram(): string {
  if (program !== undefined) return program;
  program = path.join(packageDir, 'build/helm-template');
  const env = {
    PATH: process.env.PATH,
    GOPATH: '/usr/share/gocode',
    GO111MODULE: 'off',
    GOCACHE: path.join(packageDir, 'build/go-cache'),
  };
  const source = path.join(packageDir, 'test/support/helm-template.go');
  execFileSync('go', ['build', '-o', program, source], { env, stdio: 'pipe' });
  return program;
}

/** The manifests and notes of `helm install` with these values. @throws Error with the message of the schema or of a template */
export function rendered(values: Values = {}, name = 'voices'): Release {
  const all = merged(defaultValues, values);
  if (!isAccepted(all)) {
    const problems = isAccepted.errors?.map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    );
    throw new Error(`The schema refuses the values:\n${problems?.join('\n')}`);
  }
  const {
    name: chart,
    version,
    appVersion,
  } = readYaml(path.join(chartDir, 'Chart.yaml')) as Record<string, string>;
  const data = {
    Values: all,
    Release: { Name: name, Namespace: 'speech', Service: 'Helm' },
    Chart: { Name: chart, Version: version, AppVersion: appVersion },
  };
  const { status, stdout, stderr } = spawnSync(builtProgram(), [chartDir], {
    input: JSON.stringify(data),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const { 'NOTES.txt': notes = '', ...files } = JSON.parse(stdout) as Record<string, string>;
  return { manifests: yamlDocuments(Object.values(files).join('\n---\n')) as Manifest[], notes };
}

/**
 * Lines of the TypeScript compiler about manifests that do not have the types of Kubernetes: unknown and missing fields, and values of
 * other types. The package's own validators accept unknown fields: `overrides` in package.json leaves them out.
 */
export function typeProblems(manifests: readonly Manifest[]): string[] {
  // Below the project, whose packages the compiler finds from there.
  const folder = fs.mkdtempSync(path.join(packageDir, 'build/manifests-'));
  const lines = manifests.flatMap((manifest, i) => [
    `import type { I${manifest.kind} as Type${i} } from 'kubernetes-models/${manifest.apiVersion}/${manifest.kind}';`,
    `export const manifest${i}: Type${i} = ${JSON.stringify(manifest)};`,
  ]);
  const config = {
    compilerOptions: {
      ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
      ...{ module: 'nodenext', target: 'es2023' },
    },
    files: ['manifests.ts'],
  };
  try {
    fs.writeFileSync(path.join(folder, 'manifests.ts'), lines.join('\n'));
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
    const tsc = path.join(packageDir, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(tsc, ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    const problems = stdout.split('\n').filter((line) => line !== '');
    if (status !== 0 && problems.length === 0) throw new Error('The compiler does not start.');
    return problems;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
