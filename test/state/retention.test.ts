// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { storedTime } from '../../src/state/data-folder/lived-days.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { AuditLog } from '../../src/state/records/audit-log.js';
import { verifyAudit } from '../../src/state/records/audit-verify.js';
import { Retention } from '../../src/state/records/retention.js';
import { UsageMeter } from '../../src/state/records/usage-meter.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const record: RequestRecord = {
  correlationId: '',
  method: 'POST',
  route: '/v1/predict',
  status: 200,
  keyId: 'key-1',
  account: 'one',
  stagesMs: {},
  totalMs: 1,
};

/** A server's records on a machine whose clocks are set by hand. */
class Machine {
  readonly dataDir: string;
  readonly kept: { auditDays: number; usageDays: number };
  wallMs = Date.parse('2026-01-01T00:00:00Z');
  monotonicMs = 0;
  readonly errors: unknown[] = [];
  readonly #usageDays = new Set<string>();
  #running: { audit: AuditLog; usage: UsageMeter; retention: Retention } | undefined;

  constructor(t: TestContext, kept = { auditDays: 3, usageDays: 5 }) {
    this.dataDir = temporaryFolder(t);
    this.kept = kept;
    t.after(() => this.stop());
  }

  /** Called when the audit says what was removed. */
  onLine = async (_event: AuditEvent): Promise<void> => {};

  /** Days on which jobs ended. */
  readonly jobDays = new Set<string>();

  /** Days of the database only. */
  readonly #usageTable = {
    add: async ({ day }: { day: string }) => {
      this.#usageDays.add(day);
      return true;
    },
    days: async () => [...this.#usageDays],
    removeDays: async (days: readonly string[]) => {
      for (const day of days) this.#usageDays.delete(day);
    },
  };

  start(): void {
    const options = { flushMs: 3_600_000, now: () => new Date(this.wallMs) };
    const audit = new AuditLog(this.dataDir, options);
    const usage = new UsageMeter(this.#usageTable, this.dataDir, options);
    const clocks = { wallMs: () => this.wallMs, monotonicMs: () => this.monotonicMs };
    const retention = new Retention(this.dataDir, {
      ...this.kept,
      usage: this.#usageTable,
      jobDays: 2,
      jobs: {
        days: async () => [...this.jobDays],
        removeDays: async (days) => {
          for (const day of days) this.jobDays.delete(day);
        },
      },
      clocks,
      onRemoved: async (event) => {
        audit.note(event);
        await audit.flush();
        await this.onLine(event);
      },
      onError: (error) => this.errors.push(error),
    });
    this.#running = { audit, usage, retention };
  }

  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { audit, usage, retention } = this.#running;
    this.#running = undefined;
    await retention.close();
    await Promise.all([audit.close(), usage.close()]);
  }

  /** One request now; then time passes normally, with a look every minute. */
  async run(durationMs: number): Promise<void> {
    assert.ok(this.#running);
    const { audit, usage, retention } = this.#running;
    for (let passedMs = 0; passedMs < durationMs; passedMs += MINUTE_MS) {
      if (passedMs % (12 * HOUR_MS) === 0) await this.request();
      this.wallMs += MINUTE_MS;
      this.monotonicMs += MINUTE_MS;
      await retention.look();
    }
    await Promise.all([audit.flush(), usage.flush()]);
  }

  async request(): Promise<void> {
    assert.ok(this.#running);
    const { audit, usage } = this.#running;
    audit.record(record);
    usage.record(record);
    await Promise.all([audit.flush(), usage.flush()]);
  }

  async look(): Promise<void> {
    await this.#running?.retention.look();
  }

  files(folder: 'audit' | 'usage'): string[] {
    if (folder === 'usage') return [...this.#usageDays].sort();
    const names = fs.readdirSync(path.join(this.dataDir, folder)).filter((name) => /^\d{4}-/.test(name));
    return [...new Set(names.map((name) => name.slice(0, 10)))].sort();
  }
}

test('a clock that is wrong for a moment removes nothing, whichever way it jumps', async (t) => {
  const machine = new Machine(t);
  machine.start();
  await machine.run(3 * DAY_MS);
  const before = [machine.files('audit'), machine.files('usage')];
  const rightMs = machine.wallMs;
  for (const days of [500, -2, 10_000, -30, 1, -1]) {
    machine.wallMs = rightMs + days * DAY_MS;
    for (let i = 0; i < 30; i++) {
      machine.wallMs += MINUTE_MS;
      machine.monotonicMs += MINUTE_MS;
      await machine.look();
    }
    await machine.request();
  }
  machine.wallMs = rightMs;
  await machine.run(HOUR_MS / 2);
  for (const [i, folder] of (['audit', 'usage'] as const).entries()) {
    const now = machine.files(folder);
    for (const day of before[i] ?? []) assert.ok(now.includes(day), `${folder} of ${day}`);
  }
  assert.deepEqual(machine.errors, []);
});

test('a clock that stays wrong costs no more days than it was wrong for, and one', async (t) => {
  const machine = new Machine(t, { auditDays: 3, usageDays: 30 });
  machine.start();
  await machine.run(10 * DAY_MS);
  const rightDays = machine.files('usage');
  const audit = machine.files('audit');
  machine.wallMs += 500 * DAY_MS;
  await machine.run(2 * DAY_MS);
  assert.ok(rightDays.every((day) => machine.files('usage').includes(day)));
  const lost = audit.filter((day) => !machine.files('audit').includes(day));
  assert.ok(lost.length <= 3, `lost ${lost}`);
});

test('the clock of a machine that starts in 1970 makes nothing old that is written then', async (t) => {
  const machine = new Machine(t, { auditDays: 3, usageDays: 3 });
  machine.start();
  await machine.run(6 * DAY_MS);
  const rightMs = machine.wallMs;
  machine.wallMs = 0;
  await machine.run(2 * HOUR_MS);
  machine.wallMs = rightMs;
  await machine.run(HOUR_MS * 26);
  assert.ok(machine.files('audit').includes('1970-01-01'));
  assert.ok(machine.files('usage').includes('1970-01-01'));
  const stored = storedTime(machine.dataDir, new Date(0));
  assert.ok(stored.getTime() > Date.parse('2026-01-04T00:00:00Z'), stored.toISOString());
  const now = new Date(machine.wallMs);
  assert.equal(storedTime(machine.dataDir, now), now);
});

test('a server that is started again and again, or was off for long, removes nothing early', async (t) => {
  const machine = new Machine(t);
  for (let start = 0; start < 20; start++) {
    machine.start();
    await machine.run(30 * MINUTE_MS);
    await machine.stop();
    machine.wallMs += DAY_MS;
  }
  assert.equal(machine.files('audit').length, 20);
  assert.equal(machine.files('usage').length, 20);
});

test('a process that slept does not take the time for its own', async (t) => {
  const machine = new Machine(t);
  machine.start();
  await machine.request();
  for (let i = 0; i < 50; i++) {
    machine.wallMs += DAY_MS;
    machine.monotonicMs += DAY_MS;
    await machine.look();
  }
  assert.equal(machine.files('audit').length, 1);
});

test('days are removed when as many have been lived through, the audit says so, and its chain holds', async (t) => {
  const machine = new Machine(t);
  machine.start();
  await machine.run(12 * DAY_MS + 2 * HOUR_MS);
  // The last day has just begun, and needs an hour to count.
  assert.deepEqual(machine.files('audit'), ['2026-01-10', '2026-01-11', '2026-01-12', '2026-01-13']);
  assert.deepEqual(machine.files('usage').at(0), '2026-01-08');
  const { problems } = await verifyAudit(path.join(machine.dataDir, 'audit'));
  assert.deepEqual(problems, []);
  const text = fs.readFileSync(path.join(machine.dataDir, 'audit', '2026-01-13.jsonl'), 'utf8');
  assert.match(text, /"event":"files_removed","files":\["2026-01-09\.jsonl"\],"throughSeq":\d+/);
});

test('a line says that files are removed while they are still there, so that a crash looks like no tampering', async (t) => {
  const machine = new Machine(t);
  let lines = 0;
  machine.onLine = async ({ event, files }) => {
    if (event !== 'files_removed') return;
    lines++;
    const dir = path.join(machine.dataDir, 'audit');
    for (const file of files as string[]) assert.ok(fs.existsSync(path.join(dir, file)), file);
    assert.deepEqual((await verifyAudit(dir)).problems, []);
  };
  machine.start();
  await machine.run(6 * DAY_MS);
  assert.ok(lines > 0);
  assert.ok(!machine.files('audit').includes('2026-01-01'));
  assert.deepEqual(machine.errors, []);
});

test('a day is kept for all of its time, although a sweep saw it before it was over', async (t) => {
  const machine = new Machine(t);
  machine.start();
  // The day counts at 01:00, and goes on.
  machine.jobDays.add('2026-01-01');
  const first = (days: Iterable<string>): boolean => [...days].includes('2026-01-01');
  await machine.run(3 * DAY_MS - MINUTE_MS);
  assert.ok(first(machine.jobDays), 'jobs, two days after the day');
  await machine.run(MINUTE_MS);
  assert.ok(!first(machine.jobDays));
  await machine.run(DAY_MS - MINUTE_MS);
  assert.ok(first(machine.files('audit')), 'audit, three days after the day');
  await machine.run(MINUTE_MS);
  assert.ok(!first(machine.files('audit')));
  await machine.run(2 * DAY_MS - MINUTE_MS);
  assert.ok(first(machine.files('usage')), 'usage, five days after the day');
  await machine.run(MINUTE_MS);
  assert.ok(!first(machine.files('usage')));
});

test('results of jobs are removed by the days that were lived through, not by the clock', async (t) => {
  const machine = new Machine(t);
  machine.start();
  machine.jobDays.add('2026-01-01').add('2027-05-01');
  await machine.run(DAY_MS + 2 * HOUR_MS);
  machine.wallMs += 500 * DAY_MS;
  await machine.run(5 * MINUTE_MS);
  machine.wallMs -= 500 * DAY_MS;
  assert.deepEqual([...machine.jobDays], ['2026-01-01', '2027-05-01']);
  await machine.run(2 * DAY_MS);
  assert.deepEqual([...machine.jobDays], []);
  const text = machine
    .files('audit')
    .map((day) => fs.readFileSync(path.join(machine.dataDir, 'audit', `${day}.jsonl`), 'utf8'));
  for (const day of ['2026-01-01', '2027-05-01'])
    assert.ok(text.join('').includes(`"event":"jobs_removed","days":["${day}"]`), day);
});

test('a count of days that cannot be read stops the start and says what to do', (t) => {
  const machine = new Machine(t);
  for (const content of ['{', '{"version":2,"days":[],"seenAt":{}}', '{}']) {
    fs.writeFileSync(path.join(machine.dataDir, 'days.json'), content);
    assert.throws(() => machine.start(), /days\.json cannot be used: .* Restore it, or delete it/);
  }
});

test('a kind that cannot be removed does not keep the others', async (t) => {
  const dataDir = temporaryFolder(t);
  const clocks = { wall: Date.parse('2026-01-01T00:00:00Z'), monotonic: 0 };
  const removed: string[] = [];
  const errors: unknown[] = [];
  const failing = {
    days: async () => ['2026-01-01'],
    removeDays: () => Promise.reject(new Error('too many')),
  };
  const retention = new Retention(dataDir, {
    auditDays: 0,
    usageDays: 1,
    usage: failing,
    jobDays: 1,
    jobs: failing,
    sweepObjects: async () => ({ objects: 1, bytes: 1, failures: [new Error('unreadable')] }),
    clocks: { wallMs: () => clocks.wall, monotonicMs: () => clocks.monotonic },
    onRemoved: ({ event }) => removed.push(event),
    onError: (error) => errors.push(error),
  });
  t.after(() => retention.close());
  for (let passedMs = 0; passedMs < 3 * DAY_MS && removed.length === 0; passedMs += MINUTE_MS) {
    clocks.wall += MINUTE_MS;
    clocks.monotonic += MINUTE_MS;
    await retention.look();
  }
  assert.deepEqual(removed.slice(0, 1), ['objects_expired']);
  assert.ok(errors.length > 0);
});
