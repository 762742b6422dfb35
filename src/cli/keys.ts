// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../config/load-config.js';
import { isActive, type Scope, type StoredKey, scopes } from '../keys/api-key.js';
import { KeyDirectory } from '../keys/key-directory.js';

export function addKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('Create, list and revoke API keys; a running server follows.');

  keys
    .command('create')
    .description('Create a key and print it, this once.')
    .option('--name <name>', 'what the key is for', 'unnamed')
    .addOption(
      new Option('--scopes <list>', `comma-separated, of ${scopes.join(', ')}`)
        .default(['predict', 'voiceid', 'file'] satisfies Scope[], 'predict,voiceid,file')
        .argParser(parseScopes),
    )
    .option('--expires <when>', 'a date such as 2027-01-31, or a number of days such as 90d', parseExpiry)
    .action((wanted: { name: string; scopes: Scope[]; expires?: Date }) => {
      const { name, scopes: granted, expires } = wanted;
      const { key, text } = directory().create({
        name,
        scopes: granted,
        ...(expires && { expiresAt: expires }),
      });
      // Only the key goes to standard output, so that a script can take it from there.
      process.stderr.write(`Created ${describe(key)}. The key is shown only this once:\n`);
      process.stdout.write(`${text}\n`);
    });

  keys
    .command('list')
    .description('List all keys.')
    .action(() => {
      const now = new Date();
      for (const key of directory().list()) process.stdout.write(`${describe(key, now)}\n`);
    });

  keys
    .command('revoke <id>')
    .description('Revoke a key for good, by the id that `keys list` shows.')
    .action((id: string) => {
      if (!directory().revoke(id)) throw new Error(`There is no key with the id ${id}.`);
      process.stderr.write(`Revoked ${id}.\n`);
    });
}

function directory(): KeyDirectory {
  return new KeyDirectory(loadConfig(process.env).dataDir);
}

function describe(key: StoredKey, now = new Date()): string {
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const state =
    key.revokedAt !== undefined
      ? `revoked ${day(key.revokedAt)}`
      : key.expiresAt === undefined
        ? 'active'
        : `${isActive(key, now) ? 'expires' : 'expired'} ${day(key.expiresAt)}`;
  return `${key.id}  ${key.name}  ${key.scopes.join(',')}  created ${day(key.createdAt)}  ${state}`;
}

function parseScopes(list: string): Scope[] {
  return list.split(',').map((name) => {
    const scope = scopes.find((candidate) => candidate === name.trim());
    if (scope === undefined) {
      throw new InvalidArgumentError(`Expected a list of ${scopes.join(', ')} but received ${name}.`);
    }
    return scope;
  });
}

function parseExpiry(when: string): Date {
  const days = /^(\d{1,5})d$/.exec(when)?.[1];
  const date = days === undefined ? new Date(when) : new Date(Date.now() + Number(days) * 86_400_000);
  if (Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError(`Expected a date or a number of days such as 90d but received ${when}.`);
  }
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError(`${when} is not in the future.`);
  return date;
}
