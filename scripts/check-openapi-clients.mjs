// SPDX-License-Identifier: Apache-2.0
//
// Generates clients from the document of a real server, compiles them unedited, and uses them against that server; also
// lints the document. The generators come from the registry into a temporary folder: together they are larger than
// everything else that the project needs.
//
//   npm run check:openapi-clients [-- --write]     --write: keeps the result in bench/results/openapi-clients.json
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rootDir } from './setup/step.mjs';
import { runAsProgram, setUp } from './setup.mjs';

const tools = {
  '@hey-api/openapi-ts': '0.95.0',
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@types/node': '22.20.5',
  'openapi-fetch': '0.17.0',
  'openapi-typescript': '7.13.0',
  orval: '7.17.0',
  typescript: '5.9.3',
};
const programsDir = path.join(rootDir, 'scripts/openapi-clients');
const recording = path.join(rootDir, 'test/fixtures/human-vctk-p226-a.opus');
const resultFile = path.join(rootDir, 'bench/results/openapi-clients.json');
const main = path.join(rootDir, 'dist/cli/main.js');
const START_TIMEOUT_MS = 60_000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-openapi-clients-'));
// Also if this Node is too old, and the program runs under another.
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
/** Keeps the tools' caches in the temporary folder. */
const env = {
  ...process.env,
  NO_COLOR: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  HOME: folder,
};

function run(program, args, { cwd = folder, ok = [0], more = {} } = {}) {
  const startedMs = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...env, ...more },
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (!ok.includes(status)) {
    throw new Error(
      `$ ${[program, ...args].join(' ')}\n${stdout}${stderr}${error?.message ?? `exit code ${status}`}`,
    );
  }
  return { stdout, stderr, seconds: Math.round((performance.now() - startedMs) / 100) / 10 };
}

const bin = (name, args, options) => run(path.join(folder, 'node_modules/.bin', name), args, options);

function write(name, content) {
  fs.writeFileSync(
    path.join(folder, name),
    typeof content === 'string' ? content : JSON.stringify(content, null, 2),
  );
}

function install() {
  write('package.json', { private: true, type: 'module', dependencies: tools });
  return run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    more: { HOME: os.homedir() },
  }).seconds;
}

/** @returns its address, and a function that ends it */
async function startServer(settings) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  const origin = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The server did not start:\n${printed}`)),
      START_TIMEOUT_MS,
    );
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}:\n${printed}`)));
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const [, found] = /ready on (http:\/\/[\d.]+:\d+)/.exec(printed) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const ended = once(child, 'exit');
  return {
    origin,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function generate(origin) {
  write(
    'openapi-ts.config.mjs',
    `export default {
    input: 'openapi.json', output: 'generated/hey-api',
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'], logs: { file: false },
  };`,
  );
  write(
    'orval.config.mjs',
    `export default {
    veravox: { input: './openapi.json', output: { target: './generated/orval.ts', client: 'fetch', baseUrl: '${origin}' } },
  };`,
  );
  return {
    'hey-api': bin('openapi-ts', ['-f', 'openapi-ts.config.mjs']).seconds,
    orval: bin('orval', ['--config', 'orval.config.mjs']).seconds,
    'openapi-typescript': bin('openapi-typescript', ['openapi.json', '-o', 'generated/openapi-typescript.ts'])
      .seconds,
  };
}

/** Strict, and the generated files are also checked. */
const compilerOptions = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  types: ['node'],
  module: 'ESNext',
  moduleResolution: 'bundler',
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

function compile() {
  for (const file of fs.readdirSync(programsDir))
    fs.copyFileSync(path.join(programsDir, file), path.join(folder, file));
  write('tsconfig.json', { compilerOptions, include: ['*.ts', 'generated/**/*.ts'] });
  return bin('tsc', ['-p', '.']).seconds;
}

/** esbuild comes with orval; it only strips types and joins files. */
function use(name, settings) {
  bin('esbuild', [`${name}.ts`, '--bundle', '--platform=node', '--format=esm', `--outfile=${name}.mjs`]);
  return run(process.execPath, [`${name}.mjs`], { more: settings }).seconds;
}

function lint() {
  write('.spectral.yaml', 'extends: ["spectral:oas"]\n');
  const spectral = JSON.parse(
    bin('spectral', ['lint', 'openapi.json', '-f', 'json', '-q'], { ok: [0, 1] }).stdout || '[]',
  );
  const redocly = JSON.parse(
    bin('redocly', ['lint', 'openapi.json', '--format=json'], { ok: [0, 1] }).stdout,
  );
  return {
    spectral: {
      errors: spectral
        .filter(({ severity }) => severity === 0)
        .map(({ code, path: at }) => `${code} ${at.join('.')}`),
      warnings: spectral
        .filter(({ severity }) => severity > 0)
        .map(({ code, path: at }) => `${code} ${at.join('.')}`),
    },
    redocly: {
      errors: redocly.problems
        .filter(({ severity }) => severity === 'error')
        .map(({ ruleId, message }) => `${ruleId} ${message}`),
      warnings: redocly.problems
        .filter(({ severity }) => severity !== 'error')
        .map(({ ruleId, message }) => `${ruleId} ${message}`),
    },
  };
}

async function check() {
  const installSeconds = install();
  const settings = {
    PORT: '0',
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_SCORING_THREADS: '1',
    VERAVOX_STOP_GRACE_MS: '0',
    VERAVOX_LOG_LEVEL: 'silent',
  };
  const key = run(process.execPath, [main, 'keys', 'create'], { more: settings })
    .stdout.trim()
    .split('\n')
    .at(-1);
  const server = await startServer(settings);
  try {
    write('openapi.json', await (await fetch(`${server.origin}/openapi.json`)).text());
    fs.mkdirSync(path.join(folder, 'generated'));
    const lints = lint();
    const generateSeconds = generate(server.origin);
    const compileSeconds = compile();
    const given = { VERAVOX_ORIGIN: server.origin, VERAVOX_KEY: key, VERAVOX_RECORDING: recording };
    const useSeconds = Object.fromEntries(
      Object.keys(generateSeconds).map((name) => [name, use(name, given)]),
    );
    return {
      node: process.version,
      tools,
      lints,
      installSeconds,
      generateSeconds,
      compileSeconds,
      useSeconds,
    };
  } finally {
    await server.stop();
  }
}

await runAsProgram(async () => {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  await setUp({ forTests: true });
  const result = { measuredAt: new Date().toISOString().slice(0, 10), ...(await check()) };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  process.stdout.write(text);
  if (values.write) {
    fs.writeFileSync(resultFile, text);
    run('npx', ['biome', 'format', '--write', resultFile], { cwd: rootDir });
  }
  const errors = Object.values(result.lints).flatMap((lint) => lint.errors);
  if (errors.length > 0) throw new Error(`The document has errors:\n${errors.join('\n')}`);
});
