// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { type Role, roles } from '../base/contract/roles.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import { LinkTable, linkPath } from '../console/users/link-table.js';
import { Passwords } from '../console/users/passwords.js';
import { SessionTable } from '../console/users/session-table.js';
import type { User, UserChanges } from '../console/users/user.js';
import { UserTable } from '../console/users/user-table.js';
import type { Database } from '../state/database/database.js';
import { withDatabase } from '../state/database/open-database.js';
import { DEFAULT_ACCOUNT } from '../state/keys/api-key.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import type { AuditEvent } from '../state/records/audit-chain.js';
import { dashboardOrigin } from './dashboard-address.js';
import { noteDataFolder } from './data-folder-note.js';
import { parseAccount } from './keys.js';
import { print, printJson, tell } from './output.js';
import { readPassword } from './read-password.js';
import { textTable } from './text-table.js';
import { parseUserName } from './user-name.js';

interface AddOptions {
  readonly role: Role;
  readonly account: string;
}

interface ChangeOptions {
  readonly role?: Role;
  readonly account?: string;
}

const roleOption = (description: string): Option => new Option('--role <role>', description).choices(roles);

export function addAdminCommand(program: Command): void {
  const admin = program
    .command('admin')
    .description('Manage the users of the dashboard. A running server applies changes within a second.');

  admin
    .command('users')
    .description('List all users.')
    .option('--json', 'one line of JSON per user')
    .action(async ({ json }: { json?: true }) => {
      const config = loadConfig(process.env);
      const users = await withDatabase(config, (database) => new UserTable(database).list());
      if (json) for (const user of users) printJson(publicPart(user));
      else print(users.length === 0 ? shown`No users.\n` : userTable(users));
      noteDataFolder(config.dataDir);
    });

  admin
    .command('add')
    .argument('<name>', 'their name for signing in', parseUserName)
    .description('Add a user, and print a link for choosing a password within an hour.')
    .addOption(roleOption('the role of the user').makeOptionMandatory())
    .option('--account <name>', 'the account of their keys and jobs', parseAccount, DEFAULT_ACCOUNT)
    .action(async (name: string, { role, account }: AddOptions) => {
      await run(async (config, database) => {
        const wanted = { name, role, account };
        const { token } = await new LinkTable(database).invite(wanted, ({ id: userId }) =>
          noteAdminAct(config, { event: 'user_created', userId, role, account }),
        );
        tell(shown`Added the user ${name}. The link is shown only once:\n`);
        await printLink(config, token, name);
      });
    });

  admin
    .command('link [name]')
    .description(
      'Print a link for choosing a new password within an hour. Without a name: for the first user.',
    )
    .action(async (name: string | undefined) => {
      await run(async (config, database) => {
        const links = new LinkTable(database);
        const token =
          name === undefined ? await links.createFirst() : await linkFor(config, database, links, name);
        if (token === undefined) throw new Error('There are already users: name one of them.');
        await printLink(config, token, name);
      });
    });

  admin
    .command('password <name>')
    .description('Set a password from standard input. This ends the sessions of the user.')
    .action(async (name: string) => {
      const password = await new Passwords().hash(await readPassword());
      await change(name, { password }, { event: 'password_set' });
    });

  admin
    .command('change <name>')
    .description('Change the role or the account of a user. This ends their sessions.')
    .addOption(roleOption('the new role'))
    .option('--account <name>', 'the new account', parseAccount)
    .action(async (name: string, changes: ChangeOptions, command: Command) => {
      if (changes.role === undefined && changes.account === undefined)
        command.error('error: Expected --role or --account.');
      await change(name, changes, { event: 'user_changed', ...changes });
    });

  for (const [command, isDisabled, description] of [
    ['disable', true, 'Sign a user out, and refuse further sign-ins.'],
    ['enable', false, 'Let a user sign in again.'],
  ] as const) {
    admin
      .command(`${command} <name>`)
      .description(description)
      .action((name: string) =>
        change(name, { isDisabled }, { event: 'user_changed', disabled: isDisabled }),
      );
  }

  admin
    .command('revoke-sessions <name>')
    .description('Sign a user out everywhere.')
    .action(async (name: string) => {
      await run(async (config, database) => {
        const { id: userId } = await userNamed(database, name);
        const ended = await new SessionTable(database).endAllOf(userId, () =>
          noteAdminAct(config, { event: 'sessions_revoked', userId }),
        );
        tell(shown`Ended ${ended} ${ended === 1 ? 'session' : 'sessions'} of ${name}.\n`);
      });
    });
}

async function run(work: (config: Config, database: Database) => Promise<void>): Promise<void> {
  const config = loadConfig(process.env);
  await withDatabase(config, (database) => work(config, database));
  noteDataFolder(config.dataDir);
}

/** No change without a line in the audit. */
const change = (name: string, changes: UserChanges, act: AuditEvent): Promise<void> =>
  run(async (config, database) => {
    const { id: userId } = await userNamed(database, name);
    await new UserTable(database).change(userId, changes, {
      before: () => noteAdminAct(config, { ...act, userId }),
    });
    tell(shown`Changed the user ${name}.\n`);
  });

async function userNamed(database: Database, name: string): Promise<User> {
  const user = await new UserTable(database).named(name);
  if (user === undefined) throw new Error(`There is no user ${JSON.stringify(name)}.`);
  return user;
}

async function linkFor(config: Config, database: Database, links: LinkTable, name: string): Promise<string> {
  const { id: userId } = await userNamed(database, name);
  return links.createFor(userId, () => noteAdminAct(config, { event: 'user_link_created', userId }));
}

/** Only the link goes to standard output, so that a script can take it from there. */
async function printLink(config: Config, token: string, userName?: string): Promise<void> {
  print(shown`${dashboardOrigin(config)}${linkPath(token, userName)}\n`);
}

const toSeconds = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');

const userTable = (users: readonly User[]): Shown =>
  textTable(
    ['id', 'name', 'role', 'account', 'signs in with', 'created', 'state'],
    users.map((user) => [
      user.id,
      user.name,
      user.role,
      user.account,
      waysOf(user).join(', ') || 'nothing yet',
      toSeconds(user.createdAtMs),
      user.disabledAtMs === undefined ? 'active' : `disabled ${toSeconds(user.disabledAtMs)}`,
    ]),
  );

const waysOf = ({ password, identity }: User): string[] => [
  ...(password === undefined ? [] : ['password']),
  ...(identity === undefined ? [] : [identity.issuer]),
];

const publicPart = ({ id, name, role, account, password, identity, createdAtMs, disabledAtMs }: User) => ({
  id,
  name,
  role,
  account,
  has_password: password !== undefined,
  issuer: identity?.issuer ?? null,
  created_at: new Date(createdAtMs),
  disabled_at: disabledAtMs === undefined ? null : new Date(disabledAtMs),
});
