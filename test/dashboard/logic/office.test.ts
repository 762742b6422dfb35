// SPDX-License-Identifier: Apache-2.0
//
// Values that the views of keys, usage and jobs compute themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../dashboard/src/logic/browser-of.js';
import { daysBefore, daysBetween, isDay } from '../../../dashboard/src/logic/days.js';
import { durationInWords } from '../../../dashboard/src/logic/duration.js';
import { filterOf as jobFilterOf } from '../../../dashboard/src/logic/job-filter.js';
import { progressText } from '../../../dashboard/src/logic/job-texts.js';
import {
  changesIn,
  curlLine,
  draftOf,
  emptyDraft,
  fieldsOf,
} from '../../../dashboard/src/logic/key-fields.js';
import { queryOf } from '../../../dashboard/src/logic/query-of.js';
import { filterOf } from '../../../dashboard/src/logic/usage-filter.js';
import { groupsOf, type UsageRow, valuesOf, withRest } from '../../../dashboard/src/logic/usage-series.js';

test('a browser is told from what it calls itself', () => {
  const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [userAgent, expected] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/142.0.0.0 Safari/537.36`,
      'Chrome on Windows',
    ],
    [`Mozilla/5.0 (Windows NT 10.0) ${webKit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (Linux; Android 16) ${webKit} Chrome/142.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/26.0 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605 CriOS/142.0 Safari/604.1',
      'Chrome on iOS',
    ],
    ['curl/8.17.0', 'curl/8.17.0'],
    [null, 'unknown'],
  ] as const)
    assert.equal(browserOf(userAgent), expected);
});

test('days follow one another over months, leap days and changes of the clock', () => {
  assert.deepEqual(daysBetween('2028-02-28', '2028-03-01'), ['2028-02-28', '2028-02-29', '2028-03-01']);
  assert.equal(daysBetween('2026-03-01', '2026-11-30').length, 275);
  assert.equal(daysBefore('2026-01-01', 1), '2025-12-31');
  const days = ['2026-02-28', '2026-02-31', '2026-13-01', '2026-1-1', 'today'];
  assert.deepEqual(days.map(isDay), [true, false, false, false, false]);
});

const row = (day: string, key_id: string, requests: number, account = 'acme'): UsageRow => ({
  ...{ day, key_id, requests, account, key_name: `key ${key_id}`, ends_with_session: false },
  ...{ errors: 1, audio_s: 2.5, windows: 3, bytes: 4 },
});

test('rows become one group for each key or account, with a value for every day', () => {
  const rows = [
    row('2026-11-01', 'a', 1),
    row('2026-11-03', 'a', 4),
    row('2026-11-01', 'b', 10),
    row('2026-11-01', 'c', 2, 'other'),
  ];
  const keys = groupsOf(rows, 'key', 'requests');
  assert.deepEqual(
    keys.map(({ id, totals }) => [id, totals.requests, totals.audio_s]),
    [
      ['b', 10, 2.5],
      ['a', 5, 5],
      ['c', 2, 2.5],
    ],
  );
  assert.deepEqual(keys[1] && valuesOf(keys[1], 'requests', '2026-11-01', '2026-11-04'), [1, 0, 4, 0]);
  const accounts = groupsOf(rows, 'account', 'requests');
  assert.deepEqual(
    accounts.map(({ name, totals }) => [name, totals.requests]),
    [
      ['acme', 15],
      ['other', 2],
    ],
  );
});

test('groups beyond those that a plot can show are added up as one', () => {
  const rows = Array.from({ length: 9 }, (_, i) => row('2026-11-01', `k${i}`, 9 - i));
  const shown = withRest(groupsOf(rows, 'key', 'requests'), 5);
  assert.deepEqual(
    shown.map(({ name }) => name),
    ['key k0', 'key k1', 'key k2', 'key k3', '5 others'],
  );
  assert.deepEqual(shown[4] && valuesOf(shown[4], 'requests', '2026-11-01', '2026-11-01'), [
    5 + 4 + 3 + 2 + 1,
  ]);
  assert.equal(withRest(shown, 5), shown);
});

test('what an address says wrongly about usage is replaced, and the rest kept', () => {
  const now = new Date('2026-11-23T23:59:00Z');
  const of = (query: string) => filterOf(new URLSearchParams(query), now);
  assert.deepEqual([of('').from, of('').to], ['2026-10-25', '2026-11-23']);
  assert.deepEqual([of('from=x&to=2026-11-10').from, of('to=2026-11-10').to], ['2026-10-12', '2026-11-10']);
  assert.equal(of('from=2026-12-01&to=2026-11-10').from, '2026-10-12');
  assert.equal(of('from=0002-01-01').from, '2016-11-23');
  assert.equal(of('from=2016-11-23').from, '2016-11-23');
  assert.deepEqual([of('to=0002-01-01').from, of('to=0000-01-01').to], ['2026-10-25', '2026-11-23']);
  assert.deepEqual([of('by=__proto__').by, of('measure=constructor').measure], ['key', 'requests']);
  const filter = of('from=2026-11-01&to=2026-11-02&by=account&measure=bytes&account=acme');
  assert.deepEqual(filterOf(new URLSearchParams(queryOf(filter)), now), filter);
  assert.ok(!('key' in queryOf(filter)));
  assert.deepEqual(queryOf(jobFilterOf(new URLSearchParams('state=lost&task=batch&key=0'))), {
    task: 'batch',
    key: '0',
  });
});

test('the form of a key sends only what was changed', () => {
  const key = {
    ...{ name: 'shop', account: 'acme', scopes: ['predict', 'file'] as ('predict' | 'file')[] },
    ...{ rate: { requests: 600, window_s: 60 }, concurrency: 0, expires_at: '2027-01-31T12:00:30.000Z' },
  };
  const before = draftOf(key);
  assert.deepEqual(changesIn(before, before), {});
  assert.deepEqual([before.rate, before.concurrency], ['own', 'none']);
  assert.deepEqual(changesIn(before, { ...before, rate: 'server', concurrency: 'own', concurrent: '3' }), {
    rate: null,
    concurrency: 3,
  });
  assert.deepEqual(changesIn(before, { ...before, expiresAt: '', rate: 'none' }), {
    rate: { requests: 0, window_s: 60 },
    expires_at: null,
  });
  const { expires_at } = fieldsOf(before);
  // To the minute, in any time zone.
  assert.equal(expires_at, '2027-01-31T12:00:00.000Z');
  assert.deepEqual(fieldsOf({ ...emptyDraft, name: '  new  ' }), {
    ...{ name: 'new', scopes: ['predict'], rate: null, concurrency: null, expires_at: null },
  });
});

test('the command for curl follows the address of the page, also below a path', () => {
  assert.equal(
    curlLine('https://example.com/voices/', 'vx_0123456789ab_x'),
    "curl -H 'x-api-key: vx_0123456789ab_x' -F 'file=@recording.wav' 'https://example.com/voices/v1/predict'",
  );
});

test('progress in words', () => {
  const at = (state: 'queued' | 'running' | 'succeeded', queue_position: number | null, file_progress = 0) =>
    progressText({ state, queue_position, file_progress, attempts: 1 });
  assert.equal(at('queued', 0), 'next in the queue');
  assert.equal(at('queued', 3), '3 ahead in the queue');
  assert.equal(at('running', null, 0.999), '99 % of the file read');
  assert.equal(at('succeeded', null, 1), 'done');
});

test('durations have their two largest units', () => {
  const words = [0, 45, 60, 725, 3600, 86_399, 273_600].map((lengthS) => durationInWords(lengthS));
  assert.deepEqual(words, ['0 s', '45 s', '1 min', '12 min 5 s', '1 h', '23 h 59 min', '3 d 4 h']);
  assert.equal(durationInWords(90_060, 'h'), '25 h 1 min');
});

test('keys with one name are told apart by their ids', () => {
  const row = {
    ...{ day: '2026-11-23', account: 'a', ends_with_session: false },
    ...{ requests: 1, errors: 0, audio_s: 0, windows: 0, bytes: 0 },
  };
  const rows = [
    { ...row, key_id: '1a', key_name: 'trial' },
    { ...row, key_id: '2b', key_name: 'trial' },
    { ...row, key_id: '3c', key_name: 'calls' },
  ];
  const names = groupsOf(rows, 'key', 'requests').map(({ name }) => name);
  assert.deepEqual(names, ['trial (1a)', 'trial (2b)', 'calls']);
});

test('the keys of dashboard pages are one group for each user, and removed ones one for each account', () => {
  const page = (key_id: string, key_name: string | null, account = 'acme'): UsageRow => ({
    ...row('2026-11-23', key_id, 1, account),
    ...{ key_name, ends_with_session: true },
  });
  const rows = [
    page('1a', 'playground of ada'),
    page('2b', 'playground of ada'),
    page('3c', 'playground of grace'),
    page('4d', null),
    page('5e', null),
    page('6f', null, 'other'),
    // A program's key with the same name.
    { ...row('2026-11-23', '7a', 1), key_name: 'playground of ada' },
  ];
  const groups = groupsOf(rows, 'key', 'requests').map(({ id, name, totals }) => [id, name, totals.requests]);
  const removed = 'removed keys of dashboard pages';
  assert.deepEqual(groups, [
    [undefined, 'playground of ada (acme)', 2],
    [undefined, `${removed} (acme)`, 2],
    [undefined, 'playground of grace', 1],
    [undefined, `${removed} (other)`, 1],
    ['7a', 'playground of ada (7a)', 1],
  ]);
});
