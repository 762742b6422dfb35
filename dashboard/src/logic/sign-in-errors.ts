// SPDX-License-Identifier: Apache-2.0

/** Why an OpenID provider did not lead to a session, by the error that the address names. */
export const signInErrors: ReadonlyMap<string, string> = new Map([
  ['OIDC_REFUSED', 'Your organisation did not sign you in. Try again.'],
  ['OIDC_ROLE_MISSING', 'Your organisation gives you no role here, or your user is disabled.'],
  ['OIDC_UNAVAILABLE', 'The sign-in of your organisation cannot be reached. Try again later.'],
  ['SIGN_IN_LIMITED', 'There were too many attempts to sign in. Try again in a few minutes.'],
  ['SIGN_IN_REFUSED', 'Your user cannot sign in.'],
  ['DATABASE_UNAVAILABLE', 'The server cannot reach its database. Try again later.'],
]);
