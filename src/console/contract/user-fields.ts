// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import { MAX_NAME_CHARS, namePattern, nameSchema } from '../../base/contract/names.js';
import { roles } from '../../base/contract/roles.js';

export const MIN_PASSWORD_CHARS = 12;
const MAX_PASSWORD_CHARS = 256;

/** An existing password: longer than any that can be set, so that all wrong ones have the same answer. */
const givenPassword = {
  type: 'string',
  writeOnly: true,
  maxLength: 1024,
  expected: 'a string of at most 1024 characters',
} as const;

export const newPassword = {
  type: 'string',
  writeOnly: true,
  minLength: MIN_PASSWORD_CHARS,
  maxLength: MAX_PASSWORD_CHARS,
  expected: `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
} as const;

/** The body of `POST /v1/admin/session`. */
export const signInSchemas = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_CHARS,
    ...namePattern,
    expected: nameSchema.expected,
    description:
      "The user's name. With the link of the first start, the name of the new user; by default, `admin`.",
  },
  password: { ...givenPassword, description: 'The password; with a link, the new one.' },
  token: {
    type: 'string',
    writeOnly: true,
    pattern: '^[A-Za-z0-9_-]{43}$',
    expected: 'the token of a link',
    description: 'The token in a link for setting a password.',
  },
} as const satisfies FieldSchemas;

export type SignInFields = FieldValues<typeof signInSchemas, 'password'>;

/** Further rules for the fields of a sign-in with a link. */
export const linkSchemas = {
  name: { ...nameSchema, description: 'The name of the first user.' },
  password: { ...newPassword, description: 'The new password.' },
} as const satisfies FieldSchemas;

export type LinkFields = FieldValues<typeof linkSchemas, 'password'>;

/** The body of `POST /v1/admin/password`. */
export const passwordSchemas = {
  password: { ...givenPassword, description: 'The current password.' },
  new_password: { ...newPassword, description: 'The new password.' },
} as const satisfies FieldSchemas;

export type PasswordFields = FieldValues<typeof passwordSchemas, 'password' | 'new_password'>;

const role = { type: 'string', enum: roles, expected: `one of ${roles.join(', ')}` } as const;
const account = {
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
  expected: '1 to 32 lower-case letters, digits and hyphens, not starting with a hyphen',
} as const;

/** The body of `POST /v1/admin/users`. */
export const newUserSchemas = {
  name: { ...nameSchema, description: 'Unique, whatever the case.' },
  role: { ...role, description: 'Their rights.' },
  account: {
    ...account,
    default: 'default',
    description: 'Whose keys and jobs they see, and the account of their playground.',
  },
} as const satisfies FieldSchemas;

export type NewUserFields = FieldValues<typeof newUserSchemas, 'name' | 'role' | 'account'>;

/** The body of `PATCH /v1/admin/users/{id}`. */
export const userChangeSchemas = {
  role: { ...role, description: 'The new role.' },
  account: { ...account, description: 'The new account.' },
  disabled: {
    type: 'boolean',
    expected: 'true or false',
    description: 'True to refuse sign-ins.',
  },
} as const satisfies FieldSchemas;

export type UserChangeFields = FieldValues<typeof userChangeSchemas>;
