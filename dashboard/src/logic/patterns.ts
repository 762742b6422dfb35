// SPDX-License-Identifier: Apache-2.0
//
// For `pattern` of controls: the server has the last word.

export const account = {
  pattern: '[a-z0-9][a-z0-9\\-]{0,31}',
  title: '1 to 32 lower-case letters, digits and hyphens',
};

export const keyId = { pattern: '[0-9a-f]{12}', title: '12 hexadecimal digits' };
