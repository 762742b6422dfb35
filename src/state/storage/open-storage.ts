// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { DiskSettings } from './disk-objects.js';
import type { FreeBytes } from './disk-room.js';
import { EmbeddedStorage } from './embedded-storage.js';
import type { ObjectStorage } from './object-storage.js';
import type { S3Storage } from './s3-storage.js';
import { homeOfBucket, homeOfFolder } from './storage-home.js';
import { accountFolder, loadStorageSecrets } from './storage-secrets.js';

export interface FileStore {
  readonly storage: ObjectStorage;
  /** The same storage where it is the embedded one, whose links this server has to serve itself. */
  readonly embedded: EmbeddedStorage | undefined;
  /** The same storage where it is a bucket, to which clients send without telling this server. */
  readonly bucket: S3Storage | undefined;
  /** What tells these objects from those of other hosts with the same database. */
  readonly home: string;
  /** The first part of the names of an account's objects. */
  folderOf(account: string): string;
  /** Shared by all processes with the same stored objects: what else they sign, each purpose with a prefix of its own. */
  readonly signingSecret: string;
}

/** S3 where a bucket is configured, the local disk otherwise. */
export async function openStorage(config: Config, freeBytes?: FreeBytes): Promise<FileStore> {
  const secrets = loadStorageSecrets(config.dataDir);
  const { accountSecret: signingSecret } = secrets;
  const folderOf = (account: string): string => accountFolder(secrets, account);
  const { storagePublicUrl: publicUrl, storageLinkLifetimeS: linkLifetimeS } = config;
  if (config.storageBucket === '') {
    const { host, tlsCertFile } = config;
    const scheme: 'http' | 'https' = tlsCertFile === '' ? 'http' : 'https';
    const settings = { ...diskSettings(config), host, scheme, publicUrl, linkLifetimeS };
    const embedded = await EmbeddedStorage.open({ ...settings, ...(freeBytes && { freeBytes }) }, secrets);
    const home = homeOfFolder(config.dataDir);
    return { storage: embedded, embedded, bucket: undefined, home, folderOf, signingSecret };
  }
  const bucket = await openBucket(config);
  const home = homeOfBucket(config.storageBucket);
  return { storage: bucket, embedded: undefined, bucket, home, folderOf, signingSecret };
}

/** What the local disk holds, and for how long. */
export const diskSettings = (config: Config): DiskSettings => ({
  dataDir: config.dataDir,
  quota: { maxBytes: config.accountMaxBytes, maxObjects: config.accountMaxObjects },
  reserveBytes: config.diskReserveBytes,
  ttlDays: config.objectTtlDays,
});

/** The configured bucket. */
export async function openBucket(config: Config): Promise<S3Storage> {
  // The SDK takes time and memory to load that the embedded storage has no use for.
  const { S3Storage } = await import('./s3-storage.js');
  const { storageEndpoint: endpoint, storagePathStyle } = config;
  return new S3Storage({
    bucket: config.storageBucket,
    region: config.storageRegion,
    endpoint,
    publicUrl: config.storagePublicUrl,
    forcePathStyle: storagePathStyle === 'auto' ? endpoint !== '' : storagePathStyle === 'yes',
    linkLifetimeS: config.storageLinkLifetimeS,
    timeouts: { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs },
  });
}
