// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import type { CallTimeouts } from '../../src/base/outgoing/call-clock.js';
import { S3Storage } from '../../src/state/storage/s3-storage.js';

/** The bucket at an address, without pauses between tries. */
export function bucketOf(t: TestContext, endpoint: string, timeouts: CallTimeouts): S3Storage {
  const storage = new S3Storage({
    bucket: 'files',
    region: 'us-east-1',
    endpoint,
    publicUrl: '',
    forcePathStyle: true,
    linkLifetimeS: 60,
    timeouts,
    retryPausesMs: [],
  });
  t.after(() => storage.close());
  return storage;
}
