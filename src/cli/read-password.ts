// SPDX-License-Identifier: Apache-2.0
import readline from 'node:readline';
import { Writable } from 'node:stream';
import { shown } from '../base/errors/shown-text.js';
import { MIN_PASSWORD_CHARS, newPassword } from '../console/contract/user-fields.js';
import { tell } from './output.js';

/**
 * The first line of standard input. On a terminal it asks for it, and does not show it.
 * @throws Error if it cannot be a password
 */
export async function readPassword(): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) tell(shown`New password, at least ${MIN_PASSWORD_CHARS} characters: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = readline.createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY === true });
  let password = '';
  for await (const line of lines) {
    password = line;
    break;
  }
  lines.close();
  if (stdin.isTTY) tell(shown`\n`);
  const { length } = [...password];
  if (length < newPassword.minLength || length > newPassword.maxLength)
    throw new Error(
      `Expected a password of ${newPassword.expected} on standard input but received ${length}.`,
    );
  return password;
}
