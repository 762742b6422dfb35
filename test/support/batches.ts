// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import type { TenderParts } from '../../src/jobs/batches/tend-batch.js';
import type { BatchDesk } from '../../src/jobs/queue/batch-desk.js';
import type { JobOffice } from './job-queues.js';

/** @returns its id */
export async function createBatch({ jobs }: JobOffice, account: string, manifest: string): Promise<string> {
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

/** From a tender of batches with their manifests. */
export const tenderParts = (
  desk: BatchDesk,
  manifests: ManifestReader,
  more: Pick<TenderParts, 'maxLines' | 'heartbeatMs'> & Partial<TenderParts>,
): TenderParts => ({
  desk,
  files: { folderOf: () => 'folder', storage: { nameBehind: () => assert.fail('no links') }, home: 'here' },
  policy: { judge: () => assert.fail('no links') },
  openSource: () => assert.fail('no manifest elsewhere'),
  writeFrom: () => assert.fail('not yet'),
  manifests,
  nextLook: async () => {},
  ...more,
});
