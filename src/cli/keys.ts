// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { MAX_RATE_WINDOW_S } from '../base/contract/key-limits.js';
import { type Scope, scopes } from '../base/contract/scopes.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import { isDay } from '../state/data-folder/days.js';
import { withDatabase } from '../state/database/open-database.js';
import { DEFAULT_ACCOUNT, isActive, type RateLimit, type StoredKey } from '../state/keys/api-key.js';
import { checkKey, KeyRefused, MAX_EXPIRES_IN_S } from '../state/keys/key-check.js';
import { KeyRules } from '../state/keys/key-rules.js';
import { KeyTable } from '../state/keys/key-table.js';
import { publicKey } from '../state/keys/public-key.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { noteDataFolder } from './data-folder-note.js';
import { print, printJson, tell } from './output.js';
import { textTable } from './text-table.js';

interface CreateOptions {
  readonly name: string;
  readonly account: string;
  readonly scopes: Scope[];
  readonly expiresIn?: Date;
  readonly expiresAt?: Date;
  readonly rate?: RateLimit;
  readonly concurrency?: number;
}

const UNLIMITED = 'unlimited';

export function addKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('Create, list and revoke API keys. A running server applies changes within a second.');

  keys
    .command('create')
    .description('Create a key and print it. It is shown only once.')
    .option('--name <name>', 'purpose of the key', parseName, 'unnamed')
    .addOption(
      new Option('--scopes <list>', `separated by commas: ${scopes.join(', ')}; admin includes all others`)
        .default(['predict', 'voiceid', 'file'] satisfies Scope[], 'predict,voiceid,file')
        .argParser(parseScopes),
    )
    .option(
      '--account <name>',
      'owner of the key; the keys of an account share its stored files',
      parseAccount,
      DEFAULT_ACCOUNT,
    )
    .addOption(
      new Option('--expires-in <time>', 'validity period, such as 1y, 90d, 2w, 12h or 30m (minutes)')
        .argParser(parseExpiresIn)
        .conflicts('expiresAt'),
    )
    .addOption(
      new Option('--expires-at <when>', 'expiry time, in UTC: 2027-01-31 or 2027-01-31T12:00:00Z').argParser(
        parseExpiresAt,
      ),
    )
    .option(
      '--rate <rate>',
      'requests per period, such as 100/s, 600/1m or 5000/24h, or unlimited',
      parseRate,
    )
    .option('--concurrency <number>', 'requests in flight at the same time, or unlimited', parseConcurrency)
    .action(async (wanted: CreateOptions) => {
      const { name, account, scopes: granted, rate, concurrency } = wanted;
      const expiresAt = wanted.expiresAt ?? wanted.expiresIn;
      const config = loadConfig(process.env);
      const { key, text } = await withRules(config, (rules) =>
        rules.create({
          name,
          account,
          scopes: granted,
          ...(rate && { rate }),
          ...(concurrency !== undefined && { concurrency }),
          ...(expiresAt && { expiresAt }),
        }),
      );
      // Only the key goes to standard output, so that a script can take it from there.
      tell(shown`Created. The key is shown only once:\n\n${keyTable([key], new Date())}\n`);
      noteDataFolder(config.dataDir);
      print(shown`${text}\n`);
    });

  keys
    .command('list')
    .description('List all keys. Secrets are not stored, so they cannot be shown.')
    .option('--json', 'one line of JSON per key')
    .action(async ({ json }: { json?: true }) => {
      const config = loadConfig(process.env);
      const stored = await withDatabase(config, (database) => new KeyTable(database).list());
      const now = new Date();
      if (json) for (const key of stored) printJson(publicKey(key, now));
      else print(stored.length === 0 ? shown`No keys.\n` : keyTable(stored, now));
      noteDataFolder(config.dataDir);
    });

  keys
    .command('revoke <id>')
    .description('Revoke a key permanently, by its id in `keys list`.')
    .action(async (id: string) => {
      const config = loadConfig(process.env);
      if (!(await withRules(config, (rules) => rules.revoke(id)))) {
        throw new Error(`There is no key with the id ${id} in ${config.dataDir}.`);
      }
      tell(shown`Revoked ${id}.\n`);
      noteDataFolder(config.dataDir);
    });
}

const withRules = <Result>(config: Config, work: (rules: KeyRules) => Promise<Result>): Promise<Result> =>
  withDatabase(config, (database) =>
    work(new KeyRules(new KeyTable(database), (act) => noteAdminAct(config, act))),
  );

const toSeconds = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');

function keyTable(keys: readonly StoredKey[], now: Date): Shown {
  return textTable(
    ['id', 'name', 'account', 'scopes', 'created', 'state', 'rate', 'concurrency'],
    keys.map((key) => [
      key.id,
      key.name,
      key.account,
      key.scopes.join(','),
      toSeconds(key.createdAt),
      describeState(key, now),
      describeRate(key.rate),
      key.concurrency === undefined ? 'default' : key.concurrency === 0 ? UNLIMITED : String(key.concurrency),
    ]),
  );
}

function describeState(key: StoredKey, now: Date): string {
  if (key.revokedAt !== undefined) return `revoked ${toSeconds(key.revokedAt)}`;
  if (key.expiresAt === undefined) return 'active';
  return `${isActive(key, now) ? 'expires' : 'expired'} ${toSeconds(key.expiresAt)}`;
}

function describeRate(rate: RateLimit | undefined): string {
  if (rate === undefined) return 'default';
  return rate.requests === 0 ? UNLIMITED : `${rate.requests}/${rate.windowS}s`;
}

/** Checks one field by the rules for keys. */
function checked<Value>(value: Value, wanted: Parameters<typeof checkKey>[0]): Value {
  try {
    checkKey(wanted);
  } catch (error) {
    if (error instanceof KeyRefused) throw new InvalidArgumentError(error.message);
    throw error;
  }
  return value;
}

const parseName = (name: string): string => checked(name, { name });

function parseScopes(list: string): Scope[] {
  return list.split(',').map((name) => {
    const scope = scopes.find((candidate) => candidate === name.trim());
    if (scope === undefined) {
      throw new InvalidArgumentError(`Expected scopes out of ${scopes.join(', ')} but received ${name}.`);
    }
    return scope;
  });
}

export const parseAccount = (account: string): string => checked(account, { account });

const unitS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const longUnitS: typeof unitS = { ...unitS, w: 7 * 86_400, y: 365 * 86_400 };

function parseExpiresIn(text: string): Date {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? [];
  const durationS = Number(count) * (longUnitS[unit] ?? 0);
  if (durationS === 0 || durationS > MAX_EXPIRES_IN_S) {
    throw new InvalidArgumentError(
      `Expected a time such as 1y, 90d, 2w, 12h or 30m (minutes), at most 100y, but received ${text}.`,
    );
  }
  return new Date(Date.now() + durationS * 1000);
}

function parseExpiresAt(text: string): Date {
  // A time needs its zone; otherwise it would be this machine's.
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const date = new Date(text);
  if (!isIso || !isDay(text.slice(0, 10)) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError(
      `Expected a time such as 2027-01-31 or 2027-01-31T12:00:00Z but received ${text}.`,
    );
  }
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError(`${text} is not in the future.`);
  return date;
}

function parseRate(text: string): RateLimit {
  if (text === UNLIMITED) return { requests: 0, windowS: 1 };
  const [, requests = '', count = '', unit = ''] = /^(\d{1,9})\/(\d{0,5})([smhd])$/.exec(text) ?? [];
  const windowS = Number(count === '' ? 1 : count) * (unitS[unit] ?? 0);
  if (Number(requests) >= 1 && windowS >= 1 && windowS <= MAX_RATE_WINDOW_S) {
    return { requests: Number(requests), windowS };
  }
  throw new InvalidArgumentError(
    `Expected requests per period of at most a day, such as 100/s, 600/1m or 5000/24h, or ${UNLIMITED}, but received ${text}.`,
  );
}

function parseConcurrency(text: string): number {
  if (text === UNLIMITED) return 0;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number from 1, or ${UNLIMITED}, but received ${text}.`);
}
