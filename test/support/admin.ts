// SPDX-License-Identifier: Apache-2.0
import type { OutgoingHttpHeaders } from 'node:http';
import type { Role } from '../../src/base/contract/roles.js';
import { Passwords } from '../../src/console/users/passwords.js';
import type { User } from '../../src/console/users/user.js';
import { UserTable } from '../../src/console/users/user-table.js';
import type { Database } from '../../src/state/database/database.js';
import { type Answer, request } from './http-client.js';

export const PASSWORD = 'correct horse battery staple';

/** Hashes in a millisecond, not most of a second. */
export const cheapPasswords = (): Passwords => new Passwords({ logCost: 4 });

/** A user with `PASSWORD`; the default name is the role. */
export async function addUser(database: Database, role: Role, name: string = role): Promise<User> {
  const password = await cheapPasswords().hash(PASSWORD);
  return new UserTable(database).create({ name, role, account: 'acme', password });
}

/** A signed-in browser, as far as the server can tell. */
export interface Browser {
  readonly cookie: string;
  readonly csrfToken: string;
  readonly answer: Answer;
  /** Sends the headers of a page from the server itself. */
  call(method: string, path: string, body?: object, headers?: OutgoingHttpHeaders): Promise<Answer>;
}

/** Posts to `/v1/admin/session`. */
export const postSession = (port: number, body: object, headers: OutgoingHttpHeaders = {}): Promise<Answer> =>
  request(port, '/v1/admin/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  });

/** Signs in with `PASSWORD`, or with the given body. */
export async function signIn(
  port: number,
  given: string | object,
  headers: OutgoingHttpHeaders = {},
): Promise<Browser> {
  const body = typeof given === 'string' ? { name: given, password: PASSWORD } : given;
  const answer = await postSession(port, body, headers);
  if (answer.status !== 200)
    throw new Error(`The sign-in was answered with ${answer.status}: ${answer.text}`);
  const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
  const csrfToken = String(answer.json.csrf_token);
  return {
    cookie,
    csrfToken,
    answer,
    call: (method, path, sent, more = {}) => {
      const headers = {
        cookie,
        ...(method !== 'GET' && { 'x-csrf-token': csrfToken, 'sec-fetch-site': 'same-origin' }),
        ...(sent && { 'content-type': 'application/json' }),
        ...more,
      };
      const given = Object.entries(headers).filter(([, value]) => value !== undefined);
      const body = sent && { body: Buffer.from(JSON.stringify(sent)) };
      return request(port, path, { method, headers: Object.fromEntries(given), ...body });
    },
  };
}
