// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { AdminClient, type AdminSession, VeravoxClient, VeravoxError } from 'veravox-client';
import { type Role, roles } from './logic/roles.js';

/** The server's address: the dashboard lies below it, whatever a proxy puts in front. */
export const baseUrl = new URL('..', document.baseURI).href;

/** A client without a signed-in user. */
export const strangersClient = new AdminClient({ baseUrl });

/** The server lets them expire after that. */
const KEY_LIFETIME_MS = 3_600_000;
/** A key that is refused so early is no old one. */
const NEW_FOR_MS = 60_000;

interface PageKey {
  readonly madeAtMs: number;
  readonly text: Promise<string>;
}

interface ApiOptions {
  /** None by default: a server that asks for minutes of patience would look like minutes of sending. */
  readonly maxRetries?: number;
  /** For calls that end with their key. */
  readonly hasNewKey?: boolean;
}

/** The signed-in user, and their rights. */
export class Session {
  readonly user: AdminSession;
  readonly admin: AdminClient;
  readonly #onEnd: (session: Session) => void;
  readonly #duties = new Set<() => Promise<void>>();
  #key: PageKey | undefined;
  #isOver = false;

  /** @param onEnd called when the server no longer knows the session, whichever request was told so */
  constructor(user: AdminSession, onEnd: (session: Session) => void) {
    this.user = user;
    this.#onEnd = onEnd;
    this.admin = new AdminClient({
      baseUrl,
      csrfToken: user.csrf_token,
      fetch: watchedFetch((errorKey) => {
        if (errorKey === 'SIGN_IN_REQUIRED' || errorKey === 'CSRF_REFUSED') this.end();
      }),
    });
  }

  /** The page asks anew which user is signed in: none, or another one in another tab. */
  end(): void {
    this.#isOver = true;
    this.#onEnd(this);
  }

  /** Whether its requests would all be refused. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends if another tab has signed out, or signed another user in: they share a cookie. @throws VeravoxError, TypeError */
  async check(): Promise<void> {
    const { csrf_token: csrfToken } = await this.admin.getSession();
    if (csrfToken !== this.user.csrf_token) this.end();
  }

  /** @param duty done before a sign-out, which ends the page's key @returns a function that withdraws it */
  beforeSignOut(duty: () => Promise<void>): () => void {
    this.#duties.add(duty);
    return () => this.#duties.delete(duty);
  }

  /** @throws VeravoxError, TypeError */
  async signOut(): Promise<void> {
    await Promise.allSettled([...this.#duties].map((duty) => duty()));
    await this.admin.signOut();
  }

  may(role: Role): boolean {
    return roles.indexOf(this.user.role) >= roles.indexOf(role);
  }

  /**
   * Calls the public API with the key of this page, which is kept in memory only and ends with the session. A key may be refused
   * before its time, for example because an administrator has revoked it; the call is then repeated with a new one.
   * @param use the call; may run again
   * @throws VeravoxError if the server refuses the call, or the user may not have a key
   */
  async call<Answer>(
    use: (client: VeravoxClient) => Promise<Answer>,
    { maxRetries = 0, hasNewKey = false }: ApiOptions = {},
  ): Promise<Answer> {
    const beganMs = Date.now();
    if (hasNewKey) this.#key = undefined;
    for (;;) {
      const key = this.#currentKey();
      try {
        const apiKey = await key.text;
        return await use(new VeravoxClient({ baseUrl, apiKey, maxRetries, fetch: outlivingFetch }));
      } catch (error) {
        if (!(error instanceof VeravoxError && error.errorKey === 'UNAUTHORIZED')) throw error;
        if (this.#key === key) this.#key = undefined;
        const isNew = key.madeAtMs >= beganMs && Date.now() - key.madeAtMs < NEW_FOR_MS;
        // The next one would fare no better.
        if (isNew) throw error;
      }
    }
  }

  #currentKey(): PageKey {
    const nowMs = Date.now();
    if (this.#key !== undefined && this.#key.madeAtMs + KEY_LIFETIME_MS > nowMs) return this.#key;
    const made = { madeAtMs: nowMs, text: this.admin.createPlaygroundKey().then(({ key }) => key) };
    this.#key = made;
    made.text.catch(() => {
      if (this.#key === made) this.#key = undefined;
    });
    return made;
  }
}

/** Requests that cancel or delete on leaving the page must not depend on its being there. */
const outlivingFetch: typeof fetch = (input, init) =>
  fetch(input, init?.method === 'DELETE' ? { ...init, keepalive: true } : init);

/** `fetch` that tells of refused requests by the keys of their errors. */
function watchedFetch(onRefused: (errorKey: string | null) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401 || response.status === 403) onRefused(response.headers.get('x-error-key'));
    return response;
  };
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** For use in views, which are shown to signed-in users only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('This part is shown without a session.');
  return session;
}
