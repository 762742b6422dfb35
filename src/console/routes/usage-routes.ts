// SPDX-License-Identifier: Apache-2.0
import { setImmediate as turn } from 'node:timers/promises';
import { JSON_TYPE, type Reply, type Route } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { dayOf, daysBefore, isDay } from '../../state/data-folder/days.js';
import type { KeyLabel, KeyTable } from '../../state/keys/key-table.js';
import type { DayUsage, UsageTable } from '../../state/records/usage-table.js';
import {
  type AdminUsage,
  type AdminUsageRow,
  type AdminUsageTotals,
  DEFAULT_USAGE_DAYS,
  MAX_USAGE_ROWS,
  type UsageFields,
} from '../contract/usage.js';
import { usageCsv, usageLookup } from '../contract/usage-endpoints.js';
import { accountOfList } from './accounts.js';
import { queryFields } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import type { Principal } from './principal.js';
import { usageCsvHeader, usageCsvLine } from './usage-csv.js';

export interface UsageRoutesParts {
  readonly keyTable: Pick<KeyTable, 'labelsOf'>;
  readonly usageTable: Pick<UsageTable, 'read' | 'readByKey'>;
  /** Adds this process's counts to the database; resolves also if that failed. */
  readonly flushUsage: () => Promise<void>;
  /** Of one answer. */
  readonly maxRows?: number;
}

/** A whole answer at once would keep other requests waiting. */
const ROWS_PER_TURN = 1000;

interface Period {
  readonly from: string;
  readonly to: string;
}

interface FoundUsage extends Period {
  readonly found: readonly DayUsage[];
  readonly labels: ReadonlyMap<string, KeyLabel>;
}

/** `/v1/admin/usage` and `/v1/admin/usage.csv`. */
export function usageRoutes(guard: Gatekeeper, parts: UsageRoutesParts): Route[] {
  const fields = queryFields<UsageFields>(usageLookup);
  return [
    adminRoute(guard, usageLookup, async (principal, request) =>
      jsonOf(await usageOf(principal, fields(request), parts)),
    ),
    adminRoute(guard, usageCsv, async (principal, request) =>
      tableOf(await usageOf(principal, fields(request), parts)),
    ),
  ];
}

async function jsonOf({ from, to, found, labels }: FoundUsage): Promise<Reply> {
  const rows = await textOf(found, labels, (row) => `${JSON.stringify(row)},`);
  const head = JSON.stringify({ from, to } satisfies Partial<AdminUsage>).slice(0, -1);
  const totals = JSON.stringify(totalsOf(found));
  const body = `${head},"rows":[${rows.slice(0, -1)}],"totals":${totals}}`;
  return { status: 200, contentType: JSON_TYPE, body };
}

async function tableOf({ from, to, found, labels }: FoundUsage): Promise<Reply> {
  return {
    status: 200,
    contentType: 'text/csv; charset=utf-8',
    body: usageCsvHeader + (await textOf(found, labels, usageCsvLine)),
    headers: [
      ['content-disposition', `attachment; filename="veravox-usage-${from}-${to}.csv"`],
      ['x-content-type-options', 'nosniff'],
    ],
  };
}

async function textOf(
  found: readonly DayUsage[],
  labels: ReadonlyMap<string, KeyLabel>,
  write: (row: AdminUsageRow) => string,
): Promise<string> {
  let text = '';
  for (const [i, row] of found.entries()) {
    if (i > 0 && i % ROWS_PER_TURN === 0) await turn();
    text += write(rowOf(row, labels));
  }
  return text;
}

async function usageOf(
  principal: Principal,
  fields: UsageFields,
  parts: UsageRoutesParts,
): Promise<FoundUsage> {
  const { usageTable, keyTable, flushUsage, maxRows = MAX_USAGE_ROWS } = parts;
  const { from, to } = periodIn(fields);
  const account = accountOfList(principal, fields.account);
  const filter = { from, to, account, keyId: fields.key };
  await flushUsage();
  const found = await (fields.by === 'route'
    ? usageTable.read(filter, maxRows + 1)
    : usageTable.readByKey(filter, maxRows + 1));
  if (found.length > maxRows) {
    const expected = `a period with at most ${maxRows} rows of usage`;
    throw new ServiceError('FIELD_INVALID', { field: 'from', expected, received: `${from}, which has more` });
  }
  const labels = await keyTable.labelsOf([...new Set(found.map(({ keyId }) => keyId))]);
  return { from, to, found, labels };
}

/** @throws ServiceError FIELD_INVALID */
function periodIn({ from, to }: UsageFields): Period {
  for (const [field, day] of Object.entries({ from, to })) {
    if (day !== undefined && !isDay(day)) {
      throw new ServiceError('FIELD_INVALID', { field, expected: 'a day of the calendar', received: day });
    }
  }
  const last = to ?? dayOf(new Date());
  const first = from ?? daysBefore(last, DEFAULT_USAGE_DAYS - 1);
  if (first <= last) return { from: first, to: last };
  throw new ServiceError('FIELD_INVALID', {
    field: 'from',
    expected: `${last} or an earlier day`,
    received: first,
  });
}

const seconds = (audioS: number): number => Math.round(audioS * 1000) / 1000;

const rowOf = (row: DayUsage, labels: ReadonlyMap<string, KeyLabel>): AdminUsageRow => ({
  day: row.day,
  account: row.account,
  key_id: row.keyId,
  key_name: labels.get(row.keyId)?.name ?? null,
  // No other keys are ever removed.
  ends_with_session: labels.get(row.keyId)?.endsWithSession ?? true,
  route: row.route === '' ? null : row.route,
  requests: row.requests,
  errors: row.errors,
  audio_s: seconds(row.audioS),
  windows: row.windows,
  bytes: row.bytes,
});

function totalsOf(rows: readonly DayUsage[]): AdminUsageTotals {
  const sum = (count: 'requests' | 'errors' | 'audioS' | 'windows' | 'bytes'): number =>
    rows.reduce((total, row) => total + row[count], 0);
  return {
    requests: sum('requests'),
    errors: sum('errors'),
    audio_s: seconds(sum('audioS')),
    windows: sum('windows'),
    bytes: sum('bytes'),
  };
}
