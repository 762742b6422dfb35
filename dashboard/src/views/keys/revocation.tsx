// SPDX-License-Identifier: Apache-2.0
import type { AdminKey } from 'veravox-client';
import { Confirmation } from '../../parts/confirmation.js';
import { Name } from '../../parts/name.js';
import { useSession } from '../../session.js';

interface RevocationProps {
  readonly of: AdminKey;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

export function Revocation({ of, onClose, onRevoked }: RevocationProps) {
  const session = useSession();
  const revoke = async (): Promise<void> => {
    await session.admin.revokeKey(of.id);
    onRevoked();
  };
  return (
    <Confirmation title={`Revoke key ${of.id}?`} verb="Revoke" act={revoke} onClose={onClose}>
      <p>
        All servers refuse <Name text={of.name} /> within a second, for good. Programs with this key stop
        working.
      </p>
    </Confirmation>
  );
}
