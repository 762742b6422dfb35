// SPDX-License-Identifier: Apache-2.0
import { jsonBody } from './body.js';
import { jsonOf } from './error.js';
import { type FollowOptions, followed } from './followed.js';
import { serverAddress } from './server-address.js';
import { type Call, type CallOptions, Transport } from './transport.js';
import type {
  AdminAnalysisFacts,
  AdminCreatedKey,
  AdminDelivery,
  AdminDeliveryList,
  AdminDrift,
  AdminHealth,
  AdminInvitation,
  AdminJob,
  AdminJobList,
  AdminKey,
  AdminKeyChange,
  AdminKeyList,
  AdminLink,
  AdminModelList,
  AdminNewKey,
  AdminSession,
  AdminSessionsEnded,
  AdminUsage,
  AdminUser,
  AdminUserList,
  DriftReference,
  DriftReferenceFields,
  JobSummary,
  NewUserFields,
  OwnSessionList,
  PasswordFields,
  PlaygroundKey,
  SignInFields,
  SignInWays,
  UserChangeFields,
} from './types.js';

export interface AdminClientOptions {
  /** The server's address, such as `http://127.0.0.1:8080`; in a page of the server, `location.origin`. */
  readonly baseUrl: string;
  /** With the scope `admin`; without one, the browser's session counts. */
  readonly apiKey?: string | undefined;
  /** The session's; renewed by the answers of `getSession` and `signIn`. */
  readonly csrfToken?: string | undefined;
  /** Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface HealthSpan {
  /** `lastS` before `to` by default. */
  readonly from?: number | undefined;
  /** 3600 by default. By the server's clock, if there is neither `from` nor `to`. */
  readonly lastS?: number | undefined;
  /** Now by default. */
  readonly to?: number | undefined;
  /** The shortest step that gives at most 400 of them by default. */
  readonly stepS?: number | undefined;
}

export interface AdminKeyFilter {
  readonly account?: string | undefined;
  /** Neither expired nor revoked. */
  readonly state?: 'active' | undefined;
  /** Only keys for programs, or only keys that pages of the dashboard made for themselves. */
  readonly kind?: 'program' | 'page' | undefined;
  /** Keys per page, 999 at most; default: 100. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of a page: continues after it. */
  readonly cursor?: string | undefined;
}

export interface AdminUsageQuery {
  /** UTC days such as 2026-11-01, both included; default: the last 30 days. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The id of a key. */
  readonly key?: string | undefined;
  readonly account?: string | undefined;
  /** One row per day and key, the default, or one for each of its routes. */
  readonly by?: 'key' | 'route' | undefined;
}

export interface AdminJobFilter {
  readonly state?: AdminJob['state'] | undefined;
  readonly task?: AdminJob['task'] | undefined;
  readonly account?: string | undefined;
  /** The id of a key. */
  readonly key?: string | undefined;
  /** Jobs per page, 100 at most; default: 20. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of a page: continues after it. */
  readonly cursor?: string | undefined;
}

export interface AdminDeliveryFilter {
  readonly state?: AdminDelivery['state'] | undefined;
  readonly account?: string | undefined;
  /** 100 at most; default: 20. */
  readonly limit?: number | undefined;
}

const FOLLOW_RETRIES = 4;
/** Of one connection, which the server ends after a minute. */
const FOLLOW_TIMEOUT_MS = 120_000;

const jobPath = (id: string): string => `/jobs/${encodeURIComponent(id)}`;

type QueryValues = Readonly<Record<string, string | number | undefined>>;

interface AdminCall {
  readonly query?: QueryValues | undefined;
  readonly body?: object | undefined;
}

const userPath = (id: string): string => `/users/${encodeURIComponent(id)}`;

/** Speaks the admin API of the service. Every method rejects with VeravoxError when the server refuses. */
export class AdminClient {
  readonly #transport: Transport;
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  #csrfToken: string;

  constructor({ baseUrl, apiKey, csrfToken, ...options }: AdminClientOptions) {
    this.#baseUrl = `${serverAddress(baseUrl)}/v1/admin`;
    this.#apiKey = apiKey;
    this.#csrfToken = csrfToken ?? '';
    this.#transport = new Transport({
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: options.timeoutMs ?? 60_000,
      maxRetries: 0,
      backoffMs: 0,
    });
  }

  /** The signed-in user, with their role. */
  getSession(options: CallOptions = {}): Promise<AdminSession> {
    return this.#enter('GET', {}, options);
  }

  /** How people can sign in. */
  getSignInWays(options: CallOptions = {}): Promise<SignInWays> {
    return this.#json('GET', '/sign-in', {}, options);
  }

  /** Signs in with a password, or with the token of a link and a new password. */
  signIn(fields: SignInFields, options: CallOptions = {}): Promise<AdminSession> {
    return this.#enter('POST', { body: fields }, options);
  }

  /** Ends the session. */
  async signOut(options: CallOptions = {}): Promise<AdminSessionsEnded> {
    const ended = await this.#json<AdminSessionsEnded>('DELETE', '/session', {}, options);
    this.#csrfToken = '';
    return ended;
  }

  /** Other sessions of the user end. */
  changePassword(fields: PasswordFields, options: CallOptions = {}): Promise<AdminSessionsEnded> {
    return this.#json('POST', '/password', { body: fields }, options);
  }

  /** The user's own sessions. */
  listOwnSessions(options: CallOptions = {}): Promise<OwnSessionList> {
    return this.#json('GET', '/sessions', {}, options);
  }

  /** Ends one of them. */
  endOwnSession(id: string, options: CallOptions = {}): Promise<AdminSessionsEnded> {
    return this.#json('DELETE', `/sessions/${encodeURIComponent(id)}`, {}, options);
  }

  /** Ends all but this one. */
  endOtherSessions(options: CallOptions = {}): Promise<AdminSessionsEnded> {
    return this.#json('DELETE', '/sessions', {}, options);
  }

  /** A key for the public API, for an hour and with the signed-in user's account. It ends with the session. */
  createPlaygroundKey(options: CallOptions = {}): Promise<PlaygroundKey> {
    return this.#json('POST', '/playground-key', {}, options);
  }

  /** The server's state, and its work in the last hour or day: seconds since 1970. */
  getHealth(span: HealthSpan = {}, options: CallOptions = {}): Promise<AdminHealth> {
    const { from, lastS, to, stepS } = span;
    return this.#json('GET', '/health', { query: { from, last_s: lastS, to, step_s: stepS } }, options);
  }

  /** How the scores of each detector are distributed, and whether that has changed. */
  getDrift({ hours }: { hours?: number | undefined } = {}, options: CallOptions = {}): Promise<AdminDrift> {
    return this.#json('GET', '/drift', { query: { hours } }, options);
  }

  /** From now on, scores of a detector are compared with those of its last hours. */
  chooseDriftReference(fields: DriftReferenceFields, options: CallOptions = {}): Promise<DriftReference> {
    return this.#json('POST', '/drift/reference', { body: fields }, options);
  }

  listUsers(options: CallOptions = {}): Promise<AdminUserList> {
    return this.#json('GET', '/users', {}, options);
  }

  /** @returns the user, and a link with which they choose a password */
  createUser(fields: NewUserFields, options: CallOptions = {}): Promise<AdminInvitation> {
    return this.#json('POST', '/users', { body: fields }, options);
  }

  /** The user must sign in again. */
  changeUser(id: string, fields: UserChangeFields, options: CallOptions = {}): Promise<AdminUser> {
    return this.#json('PATCH', userPath(id), { body: fields }, options);
  }

  /** @returns a link with which the user chooses a new password */
  createUserLink(id: string, options: CallOptions = {}): Promise<AdminLink> {
    return this.#json('POST', `${userPath(id)}/link`, {}, options);
  }

  /** Signs the user out everywhere. */
  endUserSessions(id: string, options: CallOptions = {}): Promise<AdminSessionsEnded> {
    return this.#json('DELETE', `${userPath(id)}/sessions`, {}, options);
  }

  /** Without secrets, the newest first. */
  listKeys({
    account,
    state,
    limit,
    cursor,
    ...options
  }: AdminKeyFilter & CallOptions = {}): Promise<AdminKeyList> {
    return this.#json('GET', '/keys', { query: { account, state, limit, cursor } }, options);
  }

  /** @returns the key with its secret, which nobody sees again */
  createKey(fields: AdminNewKey, options: CallOptions = {}): Promise<AdminCreatedKey> {
    return this.#json('POST', '/keys', { body: fields }, options);
  }

  /** @param change absent fields stay, and null takes a limit or the expiry away */
  changeKey(id: string, change: AdminKeyChange, options: CallOptions = {}): Promise<AdminKey> {
    return this.#json('PATCH', `/keys/${encodeURIComponent(id)}`, { body: change }, options);
  }

  revokeKey(id: string, options: CallOptions = {}): Promise<AdminKey> {
    return this.#json('DELETE', `/keys/${encodeURIComponent(id)}`, {}, options);
  }

  getUsage({
    from,
    to,
    key,
    account,
    by,
    ...options
  }: AdminUsageQuery & CallOptions = {}): Promise<AdminUsage> {
    return this.#json('GET', '/usage', { query: { from, to, key, account, by } }, options);
  }

  /** The same as a table for spreadsheets. */
  async getUsageCsv({
    from,
    to,
    key,
    account,
    by,
    ...options
  }: AdminUsageQuery & CallOptions = {}): Promise<string> {
    const query = { from, to, key, account, by };
    return (await this.#send('GET', '/usage.csv', { query }, options)).text();
  }

  /** Without results, the newest first. */
  listJobs({ limit, cursor, ...filter }: AdminJobFilter & CallOptions = {}): Promise<AdminJobList> {
    const { state, task, account, key, ...options } = filter;
    return this.#json('GET', '/jobs', { query: { state, task, account, key, limit, cursor } }, options);
  }

  /** The first page of the list as it is, and after each change, until the caller leaves the loop. */
  async *followJobs(
    filter: Omit<AdminJobFilter, 'cursor'> & FollowOptions = {},
  ): AsyncGenerator<AdminJobList, void, void> {
    const { state, task, account, key, limit, ...options } = filter;
    const query = { state, task, account, key, limit };
    for await (const data of this.#followed('/jobs/events', query, options)) {
      yield JSON.parse(data) as AdminJobList;
    }
  }

  getJob(id: string, options: CallOptions = {}): Promise<AdminJob> {
    return this.#json('GET', jobPath(id), {}, options);
  }

  /** The job as it is, and after each change until it has ended. */
  async *followJob(id: string, options: FollowOptions = {}): AsyncGenerator<JobSummary, void, void> {
    for await (const data of this.#followed(`${jobPath(id)}/events`, {}, options)) {
      const job = JSON.parse(data) as JobSummary;
      yield job;
      if (job.finished_at !== null) return;
    }
  }

  /** @returns the job; one that had already ended is unchanged */
  cancelJob(id: string, options: CallOptions = {}): Promise<AdminJob> {
    return this.#json('POST', `${jobPath(id)}/cancel`, {}, options);
  }

  /** Begins anew with a job that has failed. @returns the job; a queued or running one is unchanged */
  retryJob(id: string, options: CallOptions = {}): Promise<AdminJob> {
    return this.#json('POST', `${jobPath(id)}/retry`, {}, options);
  }

  /** The webhook of a job, if it has one and has ended. */
  listJobDeliveries(id: string, options: CallOptions = {}): Promise<AdminDeliveryList> {
    return this.#json('GET', `${jobPath(id)}/deliveries`, {}, options);
  }

  /** Webhooks, the newest first. */
  listDeliveries({
    state,
    account,
    limit,
    ...options
  }: AdminDeliveryFilter & CallOptions = {}): Promise<AdminDeliveryList> {
    return this.#json('GET', '/deliveries', { query: { state, account, limit } }, options);
  }

  replayDelivery(id: string, options: CallOptions = {}): Promise<AdminDelivery> {
    return this.#json('POST', `/deliveries/${encodeURIComponent(id)}/replay`, {}, options);
  }

  /** Models, defaults and limits of requests for a verdict. */
  getAnalysisFacts(options: CallOptions = {}): Promise<AdminAnalysisFacts> {
    return this.#json('GET', '/analysis-facts', {}, options);
  }

  /** The served models with their figures. */
  listModels(options: CallOptions = {}): Promise<AdminModelList> {
    return this.#json('GET', '/models', {}, options);
  }

  /** The card of a model, in Markdown. */
  async getModelCard(id: string, options: CallOptions = {}): Promise<string> {
    return (await this.#send('GET', `/models/${encodeURIComponent(id)}/card`, {}, options)).text();
  }

  #followed(path: string, query: QueryValues, options: FollowOptions): AsyncGenerator<string, never, void> {
    const { maxRetries = FOLLOW_RETRIES, timeoutMs = FOLLOW_TIMEOUT_MS } = options;
    const call = () => this.#call('GET', path, { query });
    return followed(this.#transport, call, { ...options, maxRetries, timeoutMs });
  }

  async #enter(method: Call['method'], call: AdminCall, options: CallOptions): Promise<AdminSession> {
    const session = await this.#json<AdminSession>(method, '/session', call, options);
    this.#csrfToken = session.csrf_token;
    return session;
  }

  async #json<Result>(
    method: Call['method'],
    path: string,
    call: AdminCall = {},
    options: CallOptions = {},
  ): Promise<Result> {
    return jsonOf<Result>(await this.#send(method, path, call, options));
  }

  #send(method: Call['method'], path: string, call: AdminCall, options: CallOptions): Promise<Response> {
    return this.#transport.send(this.#call(method, path, call), options);
  }

  #call(method: Call['method'], path: string, { query = {}, body }: AdminCall): Call {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, String(value));
    }
    const url = `${this.#baseUrl}${path}${search.size > 0 ? `?${search}` : ''}`;
    const headers = {
      ...(this.#apiKey !== undefined && { 'x-api-key': this.#apiKey }),
      ...(this.#csrfToken !== '' && { 'x-csrf-token': this.#csrfToken }),
    };
    return { method, url, headers, ...(body && { body: jsonBody(body) }) };
  }
}
