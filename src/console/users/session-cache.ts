// SPDX-License-Identifier: Apache-2.0
import { csrfTokenOf, digestOf, isToken } from './secret-token.js';
import { IDLE_MS, type Session } from './session.js';
import type { AdminChanges, SessionTable } from './session-table.js';
import type { User } from './user.js';

type Table = Pick<SessionTable, 'changedSince' | 'find' | 'touch' | 'follow'>;

/** A user who is signed in by a cookie. */
export interface SignedIn {
  readonly session: Session;
  readonly user: User;
  readonly csrfToken: string;
}

export interface SessionCacheOptions {
  readonly nowMs?: () => number;
  /** Told when the database does not answer; the known state goes on. */
  readonly onError?: (error: unknown) => void;
}

/** A session that was ended works for this long and one answer of the database, even if nothing tells of the change. */
const FRESH_MS = 400;
/** Between two notes that a session is in use. */
const TOUCH_MS = 60_000;
/** Unknown cookies looked up per second; more are strangers'. */
const LOOKUPS_PER_S = 20;

/**
 * Users and sessions, in memory. Nothing is read before the first request, and no more than a number every 0.4 s while there
 * are requests. Without the database, it goes on with the known state.
 */
export class SessionCache {
  readonly #sessionTable: Table;
  readonly #nowMs: () => number;
  readonly #onError: (error: unknown) => void;
  readonly #users = new Map<string, User>();
  readonly #sessions = new Map<string, Session>();
  #revision = -1;
  /** When the last question was asked to which there is an answer. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  /** Of the last question, if there was no answer. */
  #failure: Error | undefined;
  #endFollowing: (() => void) | undefined;
  #lookups = { second: 0, count: 0 };

  constructor(sessionTable: Table, { nowMs = Date.now, onError = () => {} }: SessionCacheOptions = {}) {
    this.#sessionTable = sessionTable;
    this.#nowMs = nowMs;
    this.#onError = onError;
  }

  /**
   * At once if that is known, and known to be still so.
   * @param token from the cookie
   * @throws DatabaseError if it is unknown and the database does not answer: it may be new
   */
  find(token: string): SignedIn | undefined | Promise<SignedIn | undefined> {
    if (!isToken(token)) return undefined;
    const known = this.#live(token);
    return known !== undefined && this.#isFresh() ? known : this.#findLater(token);
  }

  /** The same for a session that has just begun: strangers who use up the lookups do not keep its user out. */
  async findNew(token: string): Promise<SignedIn | undefined> {
    // A question on its way does not see it.
    await this.#refresh();
    await this.#refresh();
    return this.#known(token);
  }

  /** Whether it goes on, as far as is known now. */
  isLive(sessionId: string): boolean {
    return this.#liveSession(sessionId) !== undefined;
  }

  /** The same for clients that send no further request, which would have asked the database. */
  async isStillLive(sessionId: string): Promise<boolean> {
    if (!this.#isFresh()) await this.#refresh();
    return this.isLive(sessionId);
  }

  close(): void {
    this.#endFollowing?.();
  }

  async #findLater(token: string): Promise<SignedIn | undefined> {
    if (!this.#isFresh()) await this.#refresh();
    const found = this.#live(token);
    if (found !== undefined) return found;
    if (!this.#mayLookUp()) return this.#known(token);
    // It may have been made a moment ago, or be in use on another host only.
    return (await this.findNew(token)) ?? this.#findIdle(token);
  }

  async #findIdle(token: string): Promise<SignedIn | undefined> {
    const id = digestOf(token);
    const known = this.#sessions.get(id);
    const session = known && (await this.#sessionTable.find(id));
    // If it was ended meanwhile, it is no longer there.
    if (session !== undefined && this.#sessions.has(id)) this.#sessions.set(id, session);
    return this.#live(token);
  }

  #known(token: string): SignedIn | undefined {
    const found = this.#live(token);
    if (found === undefined && this.#failure !== undefined) throw this.#failure;
    return found;
  }

  #live(token: string): SignedIn | undefined {
    const session = this.#liveSession(digestOf(token));
    const user = session && this.#users.get(session.userId);
    if (session === undefined || user === undefined) return undefined;
    this.#touch(session);
    return { session, user, csrfToken: csrfTokenOf(token) };
  }

  #liveSession(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined) return undefined;
    const nowMs = this.#nowMs();
    const { disabledAtMs } = this.#users.get(session.userId) ?? { disabledAtMs: 0 };
    const isLive =
      nowMs < session.endsAtMs && nowMs < session.usedAtMs + IDLE_MS && disabledAtMs === undefined;
    return isLive ? session : undefined;
  }

  #touch(session: Session): void {
    const nowMs = this.#nowMs();
    if (nowMs < session.usedAtMs + TOUCH_MS) return;
    this.#sessions.set(session.id, { ...session, usedAtMs: nowMs });
    this.#sessionTable.touch(session.id, nowMs).catch(this.#onError);
  }

  #isFresh(): boolean {
    return performance.now() < this.#askedAtMs + FRESH_MS;
  }

  #mayLookUp(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#lookups.second) this.#lookups = { second, count: 0 };
    return ++this.#lookups.count <= LOOKUPS_PER_S;
  }

  /** Simultaneous callers wait for the same answer. @throws DatabaseError if there has never been one */
  #refresh(): Promise<void> {
    this.#endFollowing ??= this.#sessionTable.follow(() => {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
    });
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const askedAtMs = performance.now();
    try {
      this.#apply(await this.#sessionTable.changedSince(this.#revision));
      this.#failure = undefined;
    } catch (error) {
      if (this.#revision < 0) throw error;
      this.#failure = error as Error;
      this.#onError(error);
    }
    this.#askedAtMs = askedAtMs;
  }

  #apply({ revision, users, sessions }: AdminChanges): void {
    this.#revision = revision;
    for (const user of users) this.#users.set(user.id, user);
    for (const { isRevoked, ...session } of sessions) {
      if (isRevoked) this.#sessions.delete(session.id);
      else this.#sessions.set(session.id, session);
    }
    const nowMs = this.#nowMs();
    for (const { id, endsAtMs } of this.#sessions.values()) if (endsAtMs < nowMs) this.#sessions.delete(id);
  }
}
