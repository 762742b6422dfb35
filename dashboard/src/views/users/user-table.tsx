// SPDX-License-Identifier: Apache-2.0
import type { AdminLink, AdminUser } from 'veravox-client';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { Table } from '../../parts/table.js';
import { UserActions } from './user-actions.js';

interface UserTableProps {
  readonly users: readonly AdminUser[];
  readonly onEdit: (user: AdminUser) => void;
  readonly onLink: (made: { readonly user: AdminUser; readonly link: AdminLink }) => void;
  readonly onChanged: () => void;
}

const columns = ['Name', 'Role', 'Account', 'Signs in with', 'State', 'Created', 'Actions'] as const;

export function UserTable({ users, onEdit, onLink, onChanged }: UserTableProps) {
  return (
    <Table label="Table of users" columns={columns}>
      {users.map((user) => (
        <tr key={user.id}>
          <th scope="row" class="named">
            <Name text={user.name} />
          </th>
          <td>{user.role}</td>
          <td>
            <Name text={user.account} />
          </td>
          <td>
            <WaysOf user={user} />
          </td>
          <td>
            {user.disabled_at === null ? (
              <State text="active" mood="good" />
            ) : (
              <>
                <State text="disabled" mood="bad" />
                <br />
                <Moment at={user.disabled_at} />
              </>
            )}
          </td>
          <td>
            <Moment at={user.created_at} />
          </td>
          <td>
            <UserActions
              user={user}
              onEdit={() => onEdit(user)}
              onLink={(link) => onLink({ user, link })}
              onChanged={onChanged}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function WaysOf({ user: { has_password, issuer } }: { readonly user: AdminUser }) {
  if (!has_password && issuer === null) return <span class="soft">no password yet</span>;
  return (
    <>
      {has_password && 'password'}
      {has_password && issuer !== null && ', '}
      {issuer !== null && <Name text={issuer} />}
    </>
  );
}
