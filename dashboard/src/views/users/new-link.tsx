// SPDX-License-Identifier: Apache-2.0
import type { AdminLink, AdminUser } from 'veravox-client';
import { CodeBlock } from '../../parts/code-block.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { addressOf } from '../../place.js';

interface NewLinkProps {
  readonly user: AdminUser;
  readonly link: AdminLink;
  readonly onClose: () => void;
}

export function NewLink({ user, link, onClose }: NewLinkProps) {
  const address = new URL(addressOf('welcome', '', { token: link.token, name: user.name }), document.baseURI)
    .href;
  return (
    <ShownOnce
      id={link.token}
      title={
        <>
          Link for <Name text={user.name} />
        </>
      }
      onClose={onClose}
    >
      <p>
        Give it to this person only: it lets them choose a password. It works once, until{' '}
        <Moment at={link.expires_at} />.
      </p>
      <CodeBlock text={address} label="The link" />
    </ShownOnce>
  );
}
