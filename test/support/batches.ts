// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import type { BatchWorkerParts } from '../../src/jobs/batches/run-batch.js';
import type { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import type { JobParts } from './job-queues.js';

/** @returns its id */
export async function createBatch({ jobs }: JobParts, account: string, manifest: string): Promise<string> {
  const { job } = await jobs.create({
    account,
    keyId: 'k',
    task: 'batch',
    source: JSON.stringify({ resultFolder: 'folder/results' }),
    parameters: JSON.stringify({ model: 'm', threshold: 0.5, silenceThresholdPercent: 80 }),
    manifest,
  });
  return job.id;
}

/** For workers of batches with their manifests. */
export const batchWorkerParts = (
  workTable: BatchWorkTable,
  manifests: ManifestReader,
  more: Pick<BatchWorkerParts, 'maxLines' | 'heartbeatMs'> & Partial<BatchWorkerParts>,
): BatchWorkerParts => ({
  workTable,
  files: { folderOf: () => 'folder', storage: { nameBehind: () => assert.fail('no links') }, home: 'here' },
  policy: { judge: () => assert.fail('no links') },
  openSource: () => assert.fail('no manifest elsewhere'),
  writeFrom: () => assert.fail('not yet'),
  manifests,
  nextLook: async () => {},
  ...more,
});
