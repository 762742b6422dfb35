// SPDX-License-Identifier: Apache-2.0
import { parseIssuer, parseRoleOfClaim } from './oidc-values.js';
import { address, list, optional, text } from './option.js';

/** How people sign in to the dashboard (docs/dashboard.md). */
export const dashboardOptions = {
  dashboardOrigin: address({
    variable: 'VERAVOX_DASHBOARD_ORIGIN',
    defaultText: 'the host in the request',
    description:
      'Address at which browsers reach the dashboard, such as `https://voices.example.com`, or `https://intranet.example/veravox` behind a [proxy](proxy.md#below-a-path). The OpenID provider redirects there.',
  }),
  oidcIssuer: optional({
    variable: 'VERAVOX_OIDC_ISSUER',
    accepts: 'an https URL, or an http URL of this machine',
    defaultText: 'none: people sign in with passwords only',
    parseValue: parseIssuer,
    description:
      'OpenID provider for sign-in: the address to which `/.well-known/openid-configuration` is added.',
  }),
  oidcClientId: text({
    variable: 'VERAVOX_OIDC_CLIENT_ID',
    accepts: 'a text',
    default: '',
    defaultText: 'none',
    description: 'Id of this server at the OpenID provider.',
  }),
  oidcClientSecret: {
    ...text({
      variable: 'VERAVOX_OIDC_CLIENT_SECRET',
      accepts: 'a text',
      default: '',
      defaultText: 'none: a public client',
      description: 'Its secret there. Never logged.',
    }),
    isSecret: true,
  },
  oidcRoleClaim: text({
    variable: 'VERAVOX_OIDC_ROLE_CLAIM',
    accepts: 'the name of a claim',
    isAccepted: (value) => /^[\x21-\x7e]{1,128}$/.test(value),
    default: 'groups',
    description: "Claim of the ID token that determines a user's role: a string or a list of strings.",
  }),
  oidcRoles: list({
    variable: 'VERAVOX_OIDC_ROLES',
    accepts: '`value=role` pairs such as `ml-team=developer`',
    parseItem: parseRoleOfClaim,
    description:
      'Roles for values of the claim. The highest role counts; people without any of these values cannot sign in.',
  }),
};
