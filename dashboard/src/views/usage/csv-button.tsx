// SPDX-License-Identifier: Apache-2.0
import type { AdminUsageQuery } from 'veravox-client';
import { Problem } from '../../parts/problem.js';
import { saveFile } from '../../parts/save-file.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';

/** Saves the view's table for spreadsheets. */
export function CsvButton({ query }: { readonly query: AdminUsageQuery }) {
  const session = useSession();
  const [download, { isBusy, error }] = useAction(async () => {
    const csv = await session.admin.getUsageCsv(query);
    saveFile(`usage-${query.from}-${query.to}.csv`, 'text/csv', csv);
  });
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <button type="button" disabled={isBusy} onClick={download}>
        Download as CSV
      </button>
    </>
  );
}
