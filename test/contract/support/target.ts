// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { Manifest } from '../../../src/analysis/models/manifest.js';
import { Cli, runCli } from '../../support/cli.js';
import { shippedModelsDir } from '../../support/speaker-models.js';

export type Scope = 'predict' | 'voiceid' | 'file';

/** The server under test: one of our own, or the one named by the environment. */
export interface Target {
  /** Address without version segment and final slash. */
  readonly origin: string;
  /** A key with the scopes predict, voiceid and file. */
  readonly key: string;
  /** A valid key that lacks the scope. */
  keyWithout(scope: Scope): string | undefined;
  readonly keyOfAnotherAccount: string | undefined;
  /** Features that only a server started by this process can show. */
  readonly own: OwnKeys | undefined;
}

export interface OwnKeys {
  readonly dataDir: string;
  /** A key for each scope alone. */
  readonly scoped: Readonly<Record<Scope, string>>;
  readonly revoked: string;
  readonly expired: string;
  /** A key that tests may revoke. */
  readonly revocable: string;
}

export const needsOwnServer = 'needs a server that the suite starts and configures itself';

/** Clean-up for the end of this process, however it ends; the last entry runs first. */
const leftovers: (() => void)[] = [];
process.once('exit', () => {
  for (const remove of leftovers.reverse()) remove();
});

export const target = await findTarget(process.env);

export function keyWithoutVariable(scope: Scope): string {
  return `VERAVOX_CONTRACT_KEY_WITHOUT_${scope.toUpperCase()}`;
}

/** Reason to skip tests that need a server of our own. */
export const skipUnlessOwn: string | false = target.own === undefined && needsOwnServer;

async function findTarget(env: NodeJS.ProcessEnv): Promise<Target> {
  const { VERAVOX_CONTRACT_URL: url, VERAVOX_CONTRACT_KEY: key } = env;
  if (url === undefined) return startOwnTarget();
  if (key === undefined) throw new Error('Expected an API key in VERAVOX_CONTRACT_KEY beside the URL.');
  return {
    origin: url.replace(/\/+$/, ''),
    key,
    keyWithout: (scope) => env[keyWithoutVariable(scope)],
    keyOfAnotherAccount: env.VERAVOX_CONTRACT_KEY_OF_ANOTHER_ACCOUNT,
    own: undefined,
  };
}

async function startOwnTarget(): Promise<Target> {
  const dataDir = temporaryDataDir();
  const create = (...options: string[]) => createKey(dataDir, ...options);
  // Made alone: it must not expire before it exists.
  const soon = `${new Date(Date.now() + 10_000).toISOString().slice(0, 19)}Z`;
  const expired = await create('--expires-at', soon);
  const [key, keyOfAnotherAccount, predict, voiceid, file, revoked, revocable] = await Promise.all([
    create(),
    create('--account', 'another'),
    create('--scopes', 'predict'),
    create('--scopes', 'voiceid'),
    create('--scopes', 'file'),
    create(),
    create('--expires-in', '1d'),
  ]);
  await revokeKey(dataDir, revoked);
  const { origin, stop } = await serve(dataDir, {});
  after(stop);
  const own = { dataDir, scoped: { predict, voiceid, file }, revoked, expired, revocable };
  const keyWithout = (scope: Scope) => (scope === 'predict' ? own.scoped.file : own.scoped.predict);
  return { origin, key, keyWithout, keyOfAnotherAccount, own };
}

/** A server with its own settings, for limits that the shared one does not have. */
export async function startConfigured(
  settings: Readonly<Record<string, string>>,
): Promise<{ origin: string; port: number; key: string; stop(): Promise<void> }> {
  const dataDir = temporaryDataDir();
  const { cli, origin, stop } = await serve(dataDir, {
    VERAVOX_MODELS_DIR: writeOneDetector(path.join(dataDir, 'models')),
    ...settings,
  });
  // The first start of a server prints a key.
  const [, key = ''] = await cli.printed(/x-api-key: ([^\s']+)/);
  return { origin, port: Number(new URL(origin).port), key, stop };
}

/** The shipped models, but with the smallest detector in place of the others: such a server starts sooner. */
function writeOneDetector(folder: string): string {
  fs.mkdirSync(folder);
  for (const name of fs.readdirSync(shippedModelsDir))
    if (name !== 'manifest.json') fs.symlinkSync(path.join(shippedModelsDir, name), path.join(folder, name));
  const { models, ...manifest } = JSON.parse(
    fs.readFileSync(path.join(shippedModelsDir, 'manifest.json'), 'utf8'),
  ) as Manifest;
  const detectors = models.filter(({ task }) => task === 'detection');
  const aliases = detectors.flatMap((detector) => detector.aliases);
  const kept = models
    .filter(({ id, task }) => task !== 'detection' || id.startsWith('detector-small-'))
    .map((model) => (model.task === 'detection' ? { ...model, aliases } : model));
  fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify({ ...manifest, models: kept }));
  return folder;
}

export async function revokeKey(dataDir: string, key: string): Promise<void> {
  const id = key.split('_')[1] ?? '';
  const { status, stderr } = await runCli(['keys', 'revoke', id], { VERAVOX_DATA_DIR: dataDir });
  if (status !== 0) throw new Error(`No key was revoked: ${stderr}`);
}

async function createKey(dataDir: string, ...options: string[]): Promise<string> {
  const { status, stdout, stderr } = await runCli(['keys', 'create', ...options], {
    VERAVOX_DATA_DIR: dataDir,
  });
  if (status !== 0) throw new Error(`No key was created: ${stderr}`);
  return stdout.trim();
}

async function serve(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ cli: Cli; origin: string; stop(): Promise<void> }> {
  const cli = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_LOG_LEVEL: 'warn',
    ...settings,
  });
  async function stop(): Promise<void> {
    cli.child.kill('SIGKILL');
    await cli.finished;
  }
  leftovers.push(() => cli.child.kill('SIGKILL'));
  const [, origin = ''] = await cli.printed(/is ready on (\S+)/);
  return { cli, origin, stop };
}

function temporaryDataDir(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-contract-'));
  leftovers.push(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}
