// SPDX-License-Identifier: Apache-2.0
import type { Scope } from '../../src/base/contract/scopes.js';
import { authenticatorOf } from './keys.js';

export const API_KEY = 'a-valid-key';
/** Key of an account other than that of `API_KEY`. */
export const OTHER_API_KEY = 'a-valid-key-of-others';
export const ADMIN_API_KEY = 'a-key-for-everything';
/** Key of the account of `API_KEY`, for verdicts only. */
export const PREDICT_API_KEY = 'a-key-for-verdicts';
export const KEY_WITHOUT_SCOPE = 'a-key-for-nothing';

export const testKeys = new Map([
  [API_KEY, { id: 'key-1', account: 'one', scopes: new Set<Scope>(['predict', 'voiceid', 'file']) }],
  [OTHER_API_KEY, { id: 'key-3', account: 'three', scopes: new Set<Scope>(['predict', 'voiceid', 'file']) }],
  [ADMIN_API_KEY, { id: 'key-4', account: 'one', scopes: new Set<Scope>(['admin']) }],
  [PREDICT_API_KEY, { id: 'key-5', account: 'one', scopes: new Set<Scope>(['predict']) }],
  [KEY_WITHOUT_SCOPE, { id: 'key-2', account: 'two', scopes: new Set<Scope>() }],
]);

export const testAuthenticator = authenticatorOf(testKeys);
