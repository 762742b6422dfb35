// SPDX-License-Identifier: Apache-2.0
import { daysBetween } from './days.js';

export const measures = ['requests', 'errors', 'audio_s', 'windows', 'bytes'] as const;
export type Measure = (typeof measures)[number];
export type Counts = Readonly<Record<Measure, number>>;

/** The usage of one key on one day. */
export interface UsageRow extends Counts {
  readonly day: string;
  readonly account: string;
  readonly key_id: string;
  readonly key_name: string | null;
  /** A page of the dashboard has made the key for itself. */
  readonly ends_with_session: boolean;
}

export interface UsageGroup {
  /** The key's id or the account; undefined for several keys. */
  readonly id: string | undefined;
  /** May be any text, but is not that of another group: keys with one name have their ids in it. */
  readonly name: string;
  readonly account: string;
  readonly totals: Counts;
  readonly byDay: ReadonlyMap<string, Counts>;
}

const none: Counts = { requests: 0, errors: 0, audio_s: 0, windows: 0, bytes: 0 };

function sum(left: Counts, right: Counts): Counts {
  return {
    requests: left.requests + right.requests,
    errors: left.errors + right.errors,
    audio_s: left.audio_s + right.audio_s,
    windows: left.windows + right.windows,
    bytes: left.bytes + right.bytes,
  };
}

/** One group for each key or account, the largest first. */
export function groupsOf(
  rows: readonly UsageRow[],
  by: 'key' | 'account',
  measure: Measure,
): readonly UsageGroup[] {
  const groups = new Map<string, UsageGroup & { totals: Counts; readonly byDay: Map<string, Counts> }>();
  for (const row of rows) {
    const { id, name, key } = memberOf(row, by);
    const group = groups.get(key) ?? {
      id,
      name,
      account: row.account,
      totals: none,
      byDay: new Map<string, Counts>(),
    };
    group.totals = sum(group.totals, row);
    group.byDay.set(row.day, sum(group.byDay.get(row.day) ?? none, row));
    groups.set(key, group);
  }
  return withOwnNames([...groups.values()]).sort((a, b) => b.totals[measure] - a.totals[measure]);
}

/**
 * The group of a row. Each page of the dashboard has keys of its own, an hour each: together they are one group for each user,
 * and removed ones, whose user is no longer known, one for each account.
 */
function memberOf(row: UsageRow, by: 'key' | 'account') {
  const { account, key_id, key_name, ends_with_session } = row;
  if (by === 'account') return { id: account, name: account, key: account };
  if (!ends_with_session) return { id: key_id, name: key_name ?? key_id, key: key_id };
  const name = key_name ?? 'removed keys of dashboard pages';
  return { id: undefined, name, key: `${account} ${name}` };
}

function withOwnNames(groups: readonly UsageGroup[]): UsageGroup[] {
  const times = new Map<string, number>();
  for (const { name } of groups) times.set(name, (times.get(name) ?? 0) + 1);
  return groups.map((group) =>
    times.get(group.name) === 1 ? group : { ...group, name: `${group.name} (${group.id ?? group.account})` },
  );
}

/** The first groups, and the sum of all others, so that a plot stays readable. */
export function withRest(groups: readonly UsageGroup[], most: number): readonly UsageGroup[] {
  if (groups.length <= most) return groups;
  const rest = groups.slice(most - 1);
  const byDay = new Map<string, Counts>();
  for (const group of rest) {
    for (const [day, counts] of group.byDay) byDay.set(day, sum(byDay.get(day) ?? none, counts));
  }
  const totals = rest.reduce((all, group) => sum(all, group.totals), none);
  const name = `${rest.length} others`;
  return [...groups.slice(0, most - 1), { id: undefined, name, account: '', totals, byDay }];
}

/** A value for each day of the range, 0 for days without requests. */
export const valuesOf = (
  { byDay }: UsageGroup,
  measure: Measure,
  from: string,
  to: string,
): readonly number[] => daysBetween(from, to).map((day) => byDay.get(day)?.[measure] ?? 0);
