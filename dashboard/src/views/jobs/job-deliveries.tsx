// SPDX-License-Identifier: Apache-2.0
import { useCallback } from 'preact/hooks';
import type { AdminDelivery } from 'veravox-client';
import { Cut } from '../../parts/cut.js';
import { Problem } from '../../parts/problem.js';
import { useFollowed } from '../../parts/use-followed.js';
import { useSession } from '../../session.js';
import { Delivery } from './delivery.js';

const areFinal = (deliveries: readonly AdminDelivery[]): boolean =>
  deliveries.every(({ state }) => state === 'delivered' || state === 'failed');

/** The webhooks of a job, asked for again until they are delivered or have failed. */
export function JobDeliveries({ id, isEnded }: { readonly id: string; readonly isEnded: boolean }) {
  const session = useSession();
  const open = useCallback(
    async function* (signal: AbortSignal) {
      const { deliveries } = await session.admin.listJobDeliveries(id, { signal });
      yield deliveries;
    },
    [session, id],
  );
  const [{ value, error, isCut }, restart] = useFollowed(open, areFinal);
  return (
    <section class="card" aria-labelledby="deliveries">
      <h2 id="deliveries">Webhook</h2>
      {error !== undefined && <Problem error={error} onRetry={restart} />}
      {isCut && <Cut />}
      {value?.length === 0 && (
        <p>
          {isEnded ? (
            <>
              None: the job was created without <code>callback_url</code>.
            </>
          ) : (
            <>
              If the job was created with a <code>callback_url</code>, its result is sent there at its end.
            </>
          )}
        </p>
      )}
      {value?.map((delivery) => (
        <Delivery key={delivery.id} delivery={delivery} onReplayed={restart} />
      ))}
    </section>
  );
}
