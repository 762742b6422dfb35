// SPDX-License-Identifier: Apache-2.0
//
// Every call to another program ends in time, even if that program accepts and says nothing, or stops midway.

import assert from 'node:assert/strict';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import type { FetchSurroundings } from '../../src/api/fetch/acceptable-addresses.js';
import { FetchPolicy } from '../../src/api/fetch/fetch-policy.js';
import { LinkSource } from '../../src/api/fetch/link-source.js';
import { PresignedFetcher } from '../../src/api/fetch/presigned-fetcher.js';
import { ArenaQueue } from '../../src/api/upload/arena-queue.js';
import { atMost } from '../../src/base/at-most.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { lookUpOwn } from '../../src/base/outgoing/names.js';
import { OtlpTracing } from '../../src/base/tracing/otlp-tracing.js';
import { OidcProvider } from '../../src/console/routes/oidc-provider.js';
import { postJson } from '../../src/jobs/webhooks/webhook-post.js';
import type { Database } from '../../src/state/database/database.js';
import { PostgresDatabase } from '../../src/state/database/postgres-database.js';
import { clientSettings } from '../../src/state/database/postgres-settings.js';
import type { S3Storage } from '../../src/state/storage/s3-storage.js';
import { bucketOf } from '../support/bucket-of.js';
import { eventually } from '../support/eventually.js';
import { oidcDescription } from '../support/oidc-provider.js';
import {
  type FirstAnswers,
  httpAnswer,
  type Silence,
  type SilentPeer,
  startSilentHttp,
  startSilentPostgres,
} from '../support/silent-peers.js';
import { allowedHosts, TestFetcher } from '../support/test-fetcher.js';

/** Timeout of the calls: long enough for a busy machine to reach the silence. */
const TIMEOUT_MS = 1500;
/** Longest wait for a call that hangs. */
const GIVE_UP_MS = 60_000;
const timeouts = { stallTimeoutMs: TIMEOUT_MS, totalTimeoutMs: 1.5 * TIMEOUT_MS };
const never = new AbortController().signal;
const everywhere = {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  isPublicAddress: () => true,
};

interface Caller {
  readonly what: string;
  /** The sending file, below `src`. */
  readonly file: string;
  readonly start: (t: TestContext, silence: Silence) => Promise<SilentPeer>;
  readonly call: (peer: SilentPeer, t: TestContext) => Promise<unknown>;
  readonly silences?: readonly Silence[];
}

const all: readonly Silence[] = ['silent', 'stalls', 'drips'];
const onHttp =
  (first?: FirstAnswers): Caller['start'] =>
  (t, silence) =>
    startSilentHttp(t, silence, first);

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

const bucketAt = ({ origin }: SilentPeer, t: TestContext): S3Storage => bucketOf(t, origin, timeouts);

const NAME = `${'0'.repeat(32)}/analysis/a.wav`;
const firstByte = httpAnswer('x', '206 Partial Content', 'content-range: bytes 0-0/1000000\r\netag: "e"\r\n');
const uploadBegun = httpAnswer(
  '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
);
const PART_BYTES = 16 << 20;

async function* parts(bytes: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(bytes);
  yield new Uint8Array(1);
}

function onlyFirstRange(t: TestContext, silence: Silence): Promise<SilentPeer> {
  let ranges = 0;
  return startSilentHttp(t, silence, () => (ranges++ === 0 ? firstByte : undefined));
}

const link = ({ origin }: SilentPeer) => ({ url: new URL(`${origin}/a.wav`), isStorage: false });

async function readRange(source: Promise<LinkSource | Awaited<ReturnType<S3Storage['openSource']>>>) {
  const opened = await source;
  try {
    await opened.read(new Uint8Array(1000), 0, never);
  } finally {
    await opened.close();
  }
}

const oidc = ({ origin }: SilentPeer): OidcProvider =>
  new OidcProvider(
    {
      oidcIssuer: origin,
      oidcClientId: 'me',
      oidcClientSecret: '',
      dashboardOrigin: 'http://127.0.0.1',
    },
    TIMEOUT_MS / 1000,
  );

const described = (origin: string): string => httpAnswer(JSON.stringify(oidcDescription(origin)));

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** With a token that is valid except for its signature, which only the keys can show. */
function tokens(origin: string): string {
  const nowS = Math.floor(Date.now() / 1000);
  const claims = { iss: origin, sub: 's', aud: 'me', nonce: 'n', iat: nowS, exp: nowS + 60 };
  const idToken = `${encoded({ alg: 'RS256', kid: 'one' })}.${encoded(claims)}.${encoded({})}`;
  return httpAnswer(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token: idToken }));
}

const finishSignIn = (peer: SilentPeer): Promise<unknown> =>
  oidc(peer).finish('code=c&state=s', { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) });

/** The product's own, with shorter limits; missing limits stay missing. */
function postgresSettings({ origin, port }: SilentPeer) {
  const address = {
    host: new URL(origin).hostname,
    port,
    user: 'u',
    password: undefined,
    database: 'd',
    tls: 'disable',
  } as const;
  const { connectionTimeoutMillis, query_timeout, ...settings } = clientSettings(address, '');
  return {
    ...settings,
    ...(connectionTimeoutMillis && { connectionTimeoutMillis: TIMEOUT_MS }),
    ...(query_timeout && { query_timeout: TIMEOUT_MS }),
  };
}

async function onDatabase(peer: SilentPeer, work: (database: Database) => Promise<unknown>): Promise<void> {
  const database = new PostgresDatabase(postgresSettings(peer), 2);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

const callers: readonly Caller[] = [
  {
    what: 'list of a bucket',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(),
    call: (peer, t) => bucketAt(peer, t).list(NAME, 10),
  },
  {
    what: 'deletion in a bucket',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(),
    call: (peer, t) => bucketAt(peer, t).remove(NAME),
  },
  {
    what: 'upload to a bucket',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(),
    call: (peer, t) => bucketAt(peer, t).write(NAME, new Uint8Array(3 << 20)),
  },
  {
    what: 'beginning of an upload in parts',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(),
    call: (peer, t) => bucketAt(peer, t).writeFrom(NAME, parts(PART_BYTES)),
  },
  {
    what: 'a part, and giving up the others',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(({ method }) => (method === 'POST' ? uploadBegun : undefined)),
    call: (peer, t) => bucketAt(peer, t).writeFrom(NAME, parts(PART_BYTES)),
  },
  {
    what: 'end of an upload in parts',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(({ method, path }) => {
      if (path.includes('uploads')) return uploadBegun;
      return method === 'PUT' ? httpAnswer('', '200 OK', 'etag: "e"\r\n') : undefined;
    }),
    call: (peer, t) => bucketAt(peer, t).writeFrom(NAME, parts(PART_BYTES)),
  },
  {
    what: 'size of an object',
    file: 'state/storage/s3-calls.ts',
    start: onHttp(),
    call: (peer, t) => bucketAt(peer, t).stateOf(NAME),
    // Reads nothing of the object itself.
    silences: ['silent'],
  },
  {
    what: 'part of an object',
    file: 'state/storage/s3-calls.ts',
    start: onlyFirstRange,
    call: (peer, t) => readRange(bucketAt(peer, t).openSource(NAME)),
  },
  {
    what: 'file behind a link',
    file: 'api/fetch/download.ts',
    start: onHttp(),
    call: ({ origin, port }) =>
      new TestFetcher({ allowedHosts: [`http://a.test:${port}`], timeouts, surroundings: everywhere }).fetch(
        origin.replace('127.0.0.1', 'a.test'),
      ),
  },
  {
    what: 'recording behind a link',
    file: 'api/fetch/link-source.ts',
    start: onlyFirstRange,
    call: (peer) =>
      readRange(
        LinkSource.open(link(peer), { surroundings: everywhere, timeouts, retryPausesMs: [] }, never),
      ),
  },
  {
    what: 'webhook',
    file: 'jobs/webhooks/webhook-post.ts',
    start: onHttp(),
    call: (peer) =>
      postJson(link(peer), {}, '{}', { surroundings: everywhere, timeoutMs: TIMEOUT_MS }, never),
    // When the status has arrived, so has the webhook.
    silences: ['silent'],
  },
  {
    what: 'description of an OpenID provider',
    file: 'console/routes/oidc-provider.ts',
    start: onHttp(),
    call: (peer) => oidc(peer).begin(),
  },
  {
    what: 'token of an OpenID provider',
    file: 'console/routes/oidc-provider.ts',
    start: onHttp(({ path, origin }) => (path.startsWith('/.well-known') ? described(origin) : undefined)),
    call: finishSignIn,
  },
  {
    what: 'keys of an OpenID provider',
    file: 'console/routes/oidc-provider.ts',
    start: onHttp(({ path, origin }) => {
      if (path.startsWith('/.well-known')) return described(origin);
      return path === '/token' ? tokens(origin) : undefined;
    }),
    call: finishSignIn,
  },
  {
    what: 'collector of traces',
    file: 'base/tracing/otlp-tracing.ts',
    start: onHttp(),
    call: ({ origin }) =>
      new Promise((_, reject) => {
        const tracing = new OtlpTracing({
          url: origin,
          headers: {},
          serviceName: 'test',
          version: '1',
          sampling: { ratio: 1, followsParent: true },
          lookup: lookUpOwn,
          timeoutMs: TIMEOUT_MS,
          onExported: () => {},
          onDropped: (_spans, _reason, error) => reject(error),
        });
        tracing.begin({ name: 'span', kind: 'internal' }).end();
      }),
    // Data counts as exported when the status has arrived, but its connection is still closed.
    silences: ['silent'],
  },
  {
    what: 'question to the database',
    file: 'state/database/postgres-database.ts',
    start: startSilentPostgres,
    call: (peer) => onDatabase(peer, (database) => database.query('SELECT 1')),
  },
  {
    what: 'change of the database',
    file: 'state/database/postgres-database.ts',
    start: startSilentPostgres,
    call: (peer) => onDatabase(peer, (database) => database.transaction(async () => {})),
  },
];

/** Rejects unless the call fails by itself and leaves no connection behind. */
async function failsInTime(
  call: () => Promise<unknown>,
  peer: SilentPeer,
  giveUpMs = GIVE_UP_MS,
): Promise<void> {
  // On a busy machine a call may give up before the peer has it.
  for (let tries = 0; peer.held() === 0 && tries < 5; tries++) await failsOnce(call(), giveUpMs);
  assert.ok(peer.held() > 0, 'The peer was asked something that it did not answer.');
  await eventually(() => peer.connections() === 0, 'all connections are closed');
}

async function failsOnce(call: Promise<unknown>, giveUpMs: number): Promise<void> {
  const patience = new AbortController();
  const hangs = delay(giveUpMs, 'hangs' as const, { signal: patience.signal }).catch(() => 'hangs' as const);
  const outcome = await Promise.race([
    call.then(
      () => 'succeeded' as const,
      () => 'failed' as const,
    ),
    hangs,
  ]);
  patience.abort();
  assert.equal(outcome, 'failed');
}

// They spend most of the time waiting.
test('calls to programs that say nothing', { concurrency: 24 }, async (suite) => {
  const cases = callers.flatMap(({ what, start, call, silences = all }) =>
    silences.map((silence) =>
      suite.test(`${what}: the other side ${silence === 'silent' ? 'is silent' : silence}`, async (t) => {
        const peer = await start(t, silence);
        await failsInTime(() => call(peer, t), peer);
      }),
    ),
  );
  await Promise.all(cases);
});

test('the listener of a database that says nothing lets it be closed', async (t) => {
  const closed = all.map(async (silence) => {
    const peer = await startSilentPostgres(t, silence);
    await onDatabase(peer, async (database) => {
      const heard = new Promise<void>((resolve) => {
        database.follow('topic', resolve);
      });
      await (silence === 'silent' ? eventually(() => peer.held() > 0, 'it asks') : heard);
    });
    await eventually(() => peer.connections() === 0, 'its connection is closed');
  });
  await Promise.all(closed);
});

test('a transaction on a connection without answers asks nothing more', async (t) => {
  const peer = await startSilentPostgres(t, 'stalls');
  const settings = postgresSettings(peer);
  const transaction = onDatabase(peer, (database) => database.transaction(async () => {}));
  transaction.catch(() => {});
  await eventually(() => peer.held() > 0, 'it begins');
  // The timer of a later question with more patience; one more question of the transaction would take as long as its first.
  const later = new PostgresDatabase({ ...settings, query_timeout: 1.2 * TIMEOUT_MS }, 1);
  t.after(() => later.close());
  const question = later.query('SELECT 1');
  question.catch(() => {});
  const first = await Promise.race([
    transaction.catch(() => 'transaction'),
    question.catch(() => 'question'),
  ]);
  assert.equal(first, 'transaction');
});

test('calls whose callers go as soon as the name is resolved end', async (t) => {
  const peer = await startSilentHttp(t, 'silent');
  const calls: readonly ((resolve: FetchSurroundings['resolve'], signal: AbortSignal) => Promise<unknown>)[] =
    [
      (resolve, signal) => {
        const policy = new FetchPolicy(() => [], allowedHosts([`http://a.test:${peer.port}`]));
        const queue = new ArenaQueue(new UploadArena(1 << 20), { maxWaiting: 1, timeoutMs: GIVE_UP_MS });
        const fetcher = new PresignedFetcher(policy, queue, timeouts, { ...everywhere, resolve });
        const limits = { maxFileBytes: 1000, fileTooLarge: () => assert.fail() };
        return fetcher.receive(`http://a.test:${peer.port}/a.wav`, limits, signal);
      },
      (resolve, signal) =>
        LinkSource.open(
          named(peer),
          { surroundings: { ...everywhere, resolve }, timeouts, retryPausesMs: [] },
          signal,
        ),
      (resolve, signal) =>
        postJson(
          named(peer),
          {},
          '{}',
          { surroundings: { ...everywhere, resolve }, timeoutMs: TIMEOUT_MS },
          signal,
        ),
    ];
  for (const call of calls) {
    for (let turns = 0; turns < 12; turns++) {
      const caller = new AbortController();
      const gone = new Error('The caller has gone.');
      const outcome = call(
        answeredAndThen(turns, () => caller.abort(gone)),
        caller.signal,
      );
      assert.ok(
        await atMost(
          GIVE_UP_MS,
          outcome.catch(() => {}),
        ),
        `${turns}: ${call}`,
      );
      await assert.rejects(outcome, gone, `${turns}: ${call}`);
    }
  }
  assert.equal(peer.held(), 0);
});

const named = ({ port }: SilentPeer) => ({ url: new URL(`http://a.test:${port}/a.wav`), isStorage: false });

/** Something else happens a number of turns after the answer: before anybody goes on with it, or meanwhile. */
const answeredAndThen =
  (turns: number, happens: () => void): FetchSurroundings['resolve'] =>
  () => {
    const answer = everywhere.resolve();
    const next = (left: number): unknown => (left === 0 ? happens() : queueMicrotask(() => next(left - 1)));
    void answer.then(() => next(turns));
    return answer;
  };

test('calls to hosts of settings do not wait for other names, which Node looks up', async (t) => {
  const named = ['list of a bucket', 'collector of traces', 'question to the database'];
  const cases = callers.filter(({ what }) => named.includes(what));
  const byName = async (start: Caller['start']): Promise<SilentPeer> => {
    const peer = await start(t, 'silent');
    return { ...peer, origin: peer.origin.replace('127.0.0.1', 'localhost') };
  };
  const peers = await Promise.all(cases.map(({ start }) => byName(start)));
  const listened = await byName(startSilentPostgres);
  t.mock.method(dns, 'lookup', () => {});
  for (const [i, { what, call }] of cases.entries()) {
    const peer = peers[i] as SilentPeer;
    call(peer, t).catch(() => {});
    await eventually(() => peer.held() > 0, what);
  }
  await onDatabase(listened, async (database) => {
    database.follow('topic', () => {});
    await eventually(() => listened.held() > 0, 'listener of the database');
  });
});

test('a collector that drips holds no connection', async (t) => {
  const peer = await startSilentHttp(t, 'drips');
  const tracing = new OtlpTracing({
    url: peer.origin,
    headers: {},
    serviceName: 'test',
    version: '1',
    sampling: { ratio: 1, followsParent: true },
    lookup: lookUpOwn,
    timeoutMs: TIMEOUT_MS,
    onExported: () => {},
    onDropped: () => {},
  });
  tracing.begin({ name: 'span', kind: 'internal' }).end();
  await eventually(() => peer.held() > 0, 'it is sent');
  await eventually(() => peer.connections() === 0, 'its connection is closed');
  await tracing.close();
});

test('a call without a time limit would be noticed', async (t) => {
  const noticed = all.map(async (silence) => {
    const peer = await startSilentHttp(t, silence);
    const hanging = new Promise((resolve, reject) => {
      http
        .get(peer.origin, { agent: false }, (answer) => answer.resume().on('end', resolve))
        .on('error', reject);
    });
    hanging.catch(() => {});
    await assert.rejects(
      failsInTime(() => hanging, peer, 2 * TIMEOUT_MS),
      /hangs/,
    );
  });
  await Promise.all(noticed);
});

test('there is no other way out of this program', () => {
  const sending =
    /from '(?:node:(?:https|http2|tls|dgram)|undici|pg|openid-client|@opentelemetry\/exporter[^']*)'|new S3Client\(|import\('openid-client'\)|[^.\w]fetch\(|net\.connect\(/;
  // Types and settings; the load of a measurement, with its own time limit; the self-test of privacy, which asks its own server; and
  // the connection that the database also tries.
  const others = [
    'cli/bench-load.ts',
    'cli/privacy/self-test.ts',
    'state/database/postgres-listener.ts',
    'state/database/postgres-settings.ts',
  ];
  const src = path.join(packageDir, 'src');
  const found = fs
    .readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && sending.test(fs.readFileSync(path.join(src, file), 'utf8')));
  assert.deepEqual(found.sort(), [...new Set([...callers.map(({ file }) => file), ...others])].sort());
});
