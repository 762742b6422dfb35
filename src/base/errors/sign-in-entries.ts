// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';

/** Errors of signing in, and of users (docs/dashboard.md). */
export const signInEntries = {
  SIGN_IN_REQUIRED: {
    status: 401,
    code: 'unauthorized',
    message: 'Sign in first: there is no session, or it has ended. Programs need an API key.',
    when: 'A request to the admin API has neither a session nor a key.',
  },
  SIGN_IN_REFUSED: {
    status: 401,
    code: 'unauthorized',
    message: 'The name or the password is wrong.',
    when: 'The name or the password is wrong, or the user is disabled. The answer is the same in all cases.',
  },
  LINK_REFUSED: {
    status: 401,
    code: 'unauthorized',
    message: 'The link no longer works. Ask an administrator for a new one, or run `veravox admin link`.',
    when: 'A link for setting a password was already used, is older than an hour, or is wrong. It also ends with a newer link, a new password, and when its user is disabled.',
  },
  OIDC_REFUSED: {
    status: 401,
    code: 'unauthorized',
    message: 'The OpenID provider did not sign you in.',
    when: "The provider's answer is not valid for this browser, or the user has cancelled; the log has the cause.",
  },
  OIDC_ROLE_MISSING: {
    status: 403,
    code: 'forbidden',
    message: 'The OpenID provider gives you no role here, or your user is disabled.',
    when: 'No value of the configured claim maps to a role, or the user is disabled.',
  },
  OIDC_UNAVAILABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The OpenID provider cannot be reached; retry after {retryAfterS} s.',
    when: 'The provider does not answer, or its answers break OpenID Connect; the log has the cause.',
    retryAfterS: 5,
  },
  CSRF_REFUSED: {
    status: 403,
    code: 'forbidden',
    message: 'The request does not come from the dashboard: {problem}.',
    when: 'A change with a session comes from another origin, or without the right `x-csrf-token`.',
  },
  ROLE_INSUFFICIENT: {
    status: 403,
    code: 'forbidden',
    message: 'This needs the role {role}, but yours is {own}.',
    when: 'The role of the signed-in user is too low for an endpoint of the admin API.',
  },
  SESSION_REQUIRED: {
    status: 403,
    code: 'forbidden',
    message: 'This needs a session: sign in instead of sending an API key.',
    when: 'A request with a key is for sessions only, such as a change of the password.',
  },
  SESSION_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no such session.',
    when: 'The id of a session is wrong, belongs to another user, or the session has ended.',
  },
  USER_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no such user.',
    when: 'The id of a user is wrong.',
  },
  USER_EXISTS: {
    status: 409,
    code: 'validation_error',
    message: 'A user with this name already exists.',
    when: 'The name is taken, whatever the case.',
  },
  LAST_ADMIN: {
    status: 409,
    code: 'validation_error',
    message: 'This is the last active administrator: add another one first.',
    when: 'The only active user with the role `admin` would lose it or be disabled.',
  },
  SIGN_IN_LIMITED: {
    status: 429,
    code: 'rate_limited',
    message: 'Too many attempts to sign in; retry after {retryAfterS} s.',
    when: 'Many attempts failed for the name or from the address. Each further failure makes the pause longer, up to 15 minutes.',
    retryAfterS: 'known',
  },
} as const satisfies Record<string, CatalogueEntry>;
