// SPDX-License-Identifier: Apache-2.0

const texts: ReadonlyMap<string, string> = new Map([
  ['OIDC_REFUSED', 'Your organisation did not sign you in. Try again.'],
  ['OIDC_ROLE_MISSING', 'Your organisation gives you no role here, or your user is disabled.'],
  ['OIDC_UNAVAILABLE', 'The sign-in of your organisation cannot be reached. Try again later.'],
  ['SIGN_IN_LIMITED', 'There were too many attempts to sign in. Try again in a few minutes.'],
  ['SIGN_IN_REFUSED', 'Your user cannot sign in.'],
  ['DATABASE_UNAVAILABLE', 'The server cannot reach its database. Try again later.'],
]);

/** Why an OpenID provider did not lead to a session, in words. @param errorKey from the address; empty for none */
export const signInErrorOf = (errorKey: string): string | undefined =>
  errorKey === '' ? undefined : (texts.get(errorKey) ?? 'The sign-in failed. Try again later.');
