// SPDX-License-Identifier: Apache-2.0

export const scopes = ['predict', 'voiceid', 'file', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The uses of each scope, for people. */
export const scopeTexts: Readonly<Record<Scope, string>> = {
  predict: 'verdicts on recordings, jobs, live audio',
  voiceid: 'voiceprints',
  file: 'links to stored files',
  admin: 'everything, including the admin API',
};

/** The origin of a limit: the server's own, none, or one of the key. */
export type LimitChoice = 'server' | 'none' | 'own';

/** The contents of a key's form: texts as they were typed. */
export interface KeyDraft {
  readonly name: string;
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly rate: LimitChoice;
  readonly rateRequests: string;
  readonly rateWindowS: string;
  readonly concurrency: LimitChoice;
  readonly concurrent: string;
  /** Of a control for local dates and times; empty for never. */
  readonly expiresAt: string;
}

export interface KeyFields {
  readonly name: string;
  readonly scopes: Scope[];
  readonly rate: { readonly requests: number; readonly window_s: number } | null;
  readonly concurrency: number | null;
  readonly expires_at: string | null;
}

export const emptyDraft: KeyDraft = {
  name: '',
  account: '',
  scopes: ['predict'],
  rate: 'server',
  rateRequests: '600',
  rateWindowS: '60',
  concurrency: 'server',
  concurrent: '8',
  expiresAt: '',
};

/** For a control for local dates and times: the reader's time zone, without seconds. */
export function localTime(moment: string | null): string {
  if (moment === null) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const choiceOf = (limit: number | undefined): LimitChoice =>
  limit === undefined ? 'server' : limit === 0 ? 'none' : 'own';

export function draftOf(key: KeyFields & { readonly account: string }): KeyDraft {
  const { rate, concurrency } = key;
  return {
    ...emptyDraft,
    name: key.name,
    account: key.account,
    scopes: key.scopes,
    rate: choiceOf(rate?.requests),
    ...(rate !== null && rate.requests > 0 && { rateRequests: String(rate.requests) }),
    ...(rate !== null && { rateWindowS: String(rate.window_s) }),
    concurrency: choiceOf(concurrency ?? undefined),
    ...(concurrency !== null && concurrency > 0 && { concurrent: String(concurrency) }),
    expiresAt: localTime(key.expires_at),
  };
}

export function fieldsOf(draft: KeyDraft): KeyFields {
  const { rate, concurrency, expiresAt } = draft;
  return {
    name: draft.name.trim(),
    scopes: scopes.filter((scope) => draft.scopes.includes(scope)),
    rate:
      rate === 'server'
        ? null
        : {
            requests: rate === 'none' ? 0 : Number(draft.rateRequests),
            window_s: rate === 'none' ? 60 : Number(draft.rateWindowS),
          },
    concurrency: concurrency === 'server' ? null : concurrency === 'none' ? 0 : Number(draft.concurrent),
    expires_at: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
  };
}

/** Only changed fields: a time keeps its seconds, and fields that the reader may not set are not sent. */
export function changesIn(before: KeyDraft, after: KeyDraft): Partial<KeyFields> {
  const [old, wanted] = [fieldsOf(before), fieldsOf(after)];
  const names = Object.keys(wanted) as (keyof KeyFields)[];
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(wanted[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]));
}

/** The first request with a new key, for a shell. A key and an address have no characters that a shell would take for its own. */
export const curlLine = (baseUrl: string, key: string): string =>
  `curl -H 'x-api-key: ${key}' -F 'file=@recording.wav' '${new URL('v1/predict', baseUrl).href}'`;
