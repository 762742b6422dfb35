// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type DatabaseAddress, parseDatabaseAddress } from '../../src/base/config/database-address.js';
import { loadConfig } from '../../src/base/config/load-config.js';
import { packageDir } from '../../src/base/config/package-dir.js';

const surroundings = { cores: 1, packageDir, stateDir: '' };

test('what is no PostgreSQL address, or not understood in full, is refused', () => {
  for (const text of [
    '',
    'localhost',
    'mysql://user@host/database',
    'http://user@host/database',
    'postgres://',
    'postgres://host',
    'postgres://host/database',
    'postgres://user@host',
    'postgres://user@host/',
    'postgres://user@host:port/database',
    'postgres://user@host:65536/database',
    'postgres://user:%zz@host/database',
    'postgres://user@host/database#part',
    'postgres://user@host/database?sslmode=prefer',
    'postgres://user@host/database?sslmod=disable',
    'postgres://user@host/database?sslmode=verify-full&sslrootcert=/a',
  ]) {
    assert.equal(parseDatabaseAddress(text), undefined, text);
  }
});

const plain = ({ password, ...rest }: DatabaseAddress): object => ({ ...rest, password: password?.() });

test('an address says where, who and how safely; other machines must prove who they are', () => {
  const found = Object.fromEntries(
    [
      'postgres://u:p@db.example/main',
      'postgresql://u@10.0.0.7:80/main?sslmode=require',
      'postgres://u%40x:p%2F%3Aq@[::1]:6000/a%20b',
      'postgres://u@/main?host=/run/postgresql',
      'postgres://u:p@localhost/main',
      'postgres://u:p@127.0.0.1/main?sslmode=verify-ca',
    ].map((text) => [text, plain(parseDatabaseAddress(text) as DatabaseAddress)]),
  );
  const main = { port: 5432, user: 'u', database: 'main' };
  assert.deepEqual(found, {
    'postgres://u:p@db.example/main': { ...main, host: 'db.example', password: 'p', tls: 'verify-full' },
    'postgresql://u@10.0.0.7:80/main?sslmode=require': {
      ...main,
      host: '10.0.0.7',
      port: 80,
      password: undefined,
      tls: 'require',
    },
    'postgres://u%40x:p%2F%3Aq@[::1]:6000/a%20b': {
      host: '::1',
      port: 6000,
      user: 'u@x',
      password: 'p/:q',
      database: 'a b',
      tls: 'disable',
    },
    'postgres://u@/main?host=/run/postgresql': {
      ...main,
      host: '/run/postgresql',
      password: undefined,
      tls: 'disable',
    },
    'postgres://u:p@localhost/main': { ...main, host: 'localhost', password: 'p', tls: 'disable' },
    'postgres://u:p@127.0.0.1/main?sslmode=verify-ca': {
      ...main,
      host: '127.0.0.1',
      password: 'p',
      tls: 'verify-ca',
    },
  });
});

test('neither a message nor the printed settings show the password', () => {
  const wrong = { VERAVOX_DATABASE_URL: 'postgres://user:geheim@host/database?x=1' };
  assert.throws(
    () => loadConfig(wrong, surroundings),
    ({ message }: Error) => {
      assert.match(message, /Expected `postgres:.*for VERAVOX_DATABASE_URL but received another value/);
      return !message.includes('geheim');
    },
  );
  const config = loadConfig({ VERAVOX_DATABASE_URL: 'postgres://user:geheim@host/database' }, surroundings);
  assert.equal(config.database?.password?.(), 'geheim');
  assert.ok(!`${inspect(config, { depth: 5 })}${JSON.stringify(config)}`.includes('geheim'));
});

test('settings of the connection need the address', () => {
  assert.throws(
    () => loadConfig({ VERAVOX_DATABASE_CA: 'package.json' }, surroundings),
    /VERAVOX_DATABASE_CA needs VERAVOX_DATABASE_URL/,
  );
});
