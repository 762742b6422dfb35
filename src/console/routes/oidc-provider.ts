// SPDX-License-Identifier: Apache-2.0
import type { Configuration, CustomFetch, IDToken } from 'openid-client';
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';

export type OidcSettings = Pick<
  Config,
  'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret' | 'dashboardOrigin'
>;

const SCOPES = 'openid profile email';

/** Kept by the browser while somebody is at the provider, so that only it can come back. */
export interface OidcSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Lifetime of the provider's own description. */
const DISCOVERED_MS = 3_600_000;
/** Of one request, with its whole answer. */
const TIMEOUT_S = 10;
/** Of an answer, unpacked. Tokens and keys have some kilobytes. */
const MAX_ANSWER_BYTES = 2 << 20;

export const OIDC_CALLBACK = '/v1/admin/oidc/callback';

type Library = typeof import('openid-client');

/** Sends people to an OpenID provider, and checks its answers. The library is loaded for the first of them. */
export class OidcProvider {
  readonly #settings: OidcSettings;
  readonly #timeoutS: number;
  #discovered: { readonly atMs: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(settings: OidcSettings, timeoutS = TIMEOUT_S) {
    this.#settings = settings;
    this.#timeoutS = timeoutS;
  }

  get isConfigured(): boolean {
    return this.#settings.oidcIssuer !== undefined;
  }

  /** @returns the address for the browser. @throws ServiceError OIDC_UNAVAILABLE */
  async begin(): Promise<{ readonly url: string; readonly secrets: OidcSecrets }> {
    const library = await import('openid-client');
    const configuration = await this.#configuration(library);
    const secrets = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      codeVerifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#callback().href,
      scope: SCOPES,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(secrets.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, secrets };
  }

  /**
   * @param query from the provider, through the browser
   * @returns its claims about the person. @throws ServiceError OIDC_UNAVAILABLE, OIDC_REFUSED
   */
  async finish(query: string, { state, nonce, codeVerifier }: OidcSecrets): Promise<IDToken> {
    const library = await import('openid-client');
    const configuration = await this.#configuration(library);
    const url = this.#callback();
    url.search = query;
    try {
      const tokens = await library.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('The provider has sent no ID token.');
      checkClaims(claims);
      return claims;
    } catch (error) {
      const key = hasFailed(error) ? 'OIDC_UNAVAILABLE' : 'OIDC_REFUSED';
      throw new ServiceError(key, {}, causeOf(error));
    }
  }

  #callback(): URL {
    return new URL(`${this.#settings.dashboardOrigin}${OIDC_CALLBACK}`);
  }

  #configuration(library: Library): Promise<Configuration> {
    const nowMs = performance.now();
    if (this.#discovered === undefined || this.#discovered.atMs + DISCOVERED_MS < nowMs) {
      const configuration = this.#discover(library);
      this.#discovered = { atMs: nowMs, configuration };
      configuration.catch(() => {
        this.#discovered = undefined;
      });
    }
    return this.#discovered.configuration;
  }

  async #discover(library: Library): Promise<Configuration> {
    const { oidcIssuer = '', oidcClientId, oidcClientSecret } = this.#settings;
    const issuer = new URL(oidcIssuer);
    // Only an issuer on this machine may speak plain HTTP.
    const execute = issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [];
    try {
      const found = await library.discovery(issuer, oidcClientId, undefined, library.None(), {
        execute,
        timeout: this.#timeoutS,
        [library.customFetch]: boundedFetch,
      });
      const server = found.serverMetadata();
      const ways = server.token_endpoint_auth_methods_supported;
      const withSecret = () =>
        ways === undefined || ways.includes('client_secret_basic')
          ? library.ClientSecretBasic(oidcClientSecret)
          : library.ClientSecretPost(oidcClientSecret);
      const way = oidcClientSecret === '' ? library.None() : withSecret();
      const configuration = new library.Configuration(server, oidcClientId, undefined, way);
      configuration.timeout = this.#timeoutS;
      configuration[library.customFetch] = boundedFetch;
      for (const adapt of execute) adapt(configuration);
      // Otherwise the library trusts the connection alone.
      library.enableNonRepudiationChecks(configuration);
      return configuration;
    } catch (error) {
      throw new ServiceError('OIDC_UNAVAILABLE', {}, causeOf(error));
    }
  }
}

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** `fetch` itself unpacks answers of any size. */
const boundedFetch: CustomFetch = async (url, options) => {
  const answer = await fetch(url, options as RequestInit);
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        throw new AnswerTooLarge(`The provider answered more than ${MAX_ANSWER_BYTES} bytes.`);
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body?.pipeThrough(bound) ?? null, answer);
};

/** OpenID Connect Core, section 2. */
const MAX_SUBJECT_CHARS = 255;
/** Of two clocks. */
const MAX_CLOCK_DIFFERENCE_S = 300;

/** Checks that the library leaves to others. @throws Error */
function checkClaims({ sub, iat }: IDToken): void {
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS)
    throw new Error(`The ID token has no sub of 1 to ${MAX_SUBJECT_CHARS} characters.`);
  if (iat > Date.now() / 1000 + MAX_CLOCK_DIFFERENCE_S)
    throw new Error(`The ID token is made more than ${MAX_CLOCK_DIFFERENCE_S} s in the future.`);
}

/** The provider, not the person: no answer, none in time, one without end, or one of a server in trouble. */
function hasFailed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AnswerTooLarge) return true;
  const { code, cause } = error as NodeJS.ErrnoException;
  if (error instanceof TypeError && cause !== undefined) return true;
  return code === 'OAUTH_TIMEOUT' || isTrouble(error) || isTrouble(cause) || hasFailed(cause);
}

const MAX_CAUSE_CHARS = 500;

/** In words, for the log: the library's errors also hold answers of the provider, with tokens and claims. */
const causeOf = (failure: unknown): ErrorOptions => ({
  cause: new Error(wordsOf(failure).slice(0, MAX_CAUSE_CHARS)),
});

function wordsOf(failure: unknown): string {
  if (!(failure instanceof Error)) return '';
  const { message, code, error, cause } = failure as NodeJS.ErrnoException & { error?: unknown };
  const words = [message, code, error, wordsOf(cause)].filter(
    (word) => typeof word === 'string' && word !== '',
  );
  return words.join(': ');
}

/** An HTTP answer, or an error that has its status. */
function isTrouble(answer: unknown): boolean {
  const { status } = (answer ?? {}) as { status?: unknown };
  return typeof status === 'number' && (status >= 500 || status === 429);
}
