// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../config/config.js';
import { EmbeddedStorage } from './embedded-storage.js';
import type { ObjectStorage } from './object-storage.js';
import { accountFolder, loadStorageSecrets } from './storage-secrets.js';

export interface FileStore {
  readonly storage: ObjectStorage;
  /** The same storage where it is the embedded one, whose links this server has to serve itself. */
  readonly embedded: EmbeddedStorage | undefined;
  /** The first part of the names of an account's objects. */
  folderOf(account: string): string;
}

/** S3 where a bucket is configured, the local disk otherwise. */
export async function openStorage(config: Config): Promise<FileStore> {
  const secrets = loadStorageSecrets(config.dataDir);
  const folderOf = (account: string): string => accountFolder(secrets, account);
  const { storagePublicUrl: publicUrl, storageLinkLifetimeS: linkLifetimeS } = config;
  if (config.storageBucket === '') {
    const { dataDir, host } = config;
    const embedded = await EmbeddedStorage.open({ dataDir, host, publicUrl, linkLifetimeS }, secrets);
    return { storage: embedded, embedded, folderOf };
  }
  // The SDK takes time and memory to load that the embedded storage has no use for.
  const { S3Storage } = await import('./s3-storage.js');
  const {
    storageBucket: bucket,
    storageRegion: region,
    storageEndpoint: endpoint,
    storagePathStyle,
  } = config;
  const forcePathStyle = storagePathStyle === 'auto' ? endpoint !== '' : storagePathStyle === 'yes';
  const storage = new S3Storage({ bucket, region, endpoint, publicUrl, forcePathStyle, linkLifetimeS });
  return { storage, embedded: undefined, folderOf };
}
