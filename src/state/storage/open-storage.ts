// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { Database } from '../database/database.js';
import type { BucketWatch } from './bucket-watch.js';
import type { DiskSettings } from './disk-objects.js';
import type { FreeBytes } from './disk-room.js';
import { EmbeddedStorage } from './embedded-storage.js';
import type { ObjectStorage } from './object-storage.js';
import type { S3Settings, S3Storage } from './s3-storage.js';
import { agreedSecret } from './shared-secret.js';
import { homeOfBucket, homeOfFolder } from './storage-home.js';
import { accountFolder, findStorageSecrets, loadStorageSecrets } from './storage-secrets.js';

export interface FileStore {
  readonly storage: ObjectStorage;
  /** The same storage if it is the embedded one, whose links this server must serve itself. */
  readonly embedded: EmbeddedStorage | undefined;
  /** The same storage if it is a bucket, to which clients send without telling this server. */
  readonly bucket: S3Storage | undefined;
  /** Whether that bucket can be used. Start and close it. */
  readonly watch?: BucketWatch | undefined;
  /** Tells these objects from those of other hosts with the same database. */
  readonly home: string;
  /** The first part of the names of an account's objects. */
  folderOf(account: string): string;
  /** Shared by all processes of all hosts: signs further things than links, each purpose with a prefix of its own. */
  readonly signingSecret: string;
}

export interface StorageParts {
  /** With PostgreSQL, hosts share their secrets there. */
  readonly database?: Database;
  readonly log?: Logger;
  readonly freeBytes?: FreeBytes;
}

/**
 * S3 if a bucket is configured, the local disk otherwise.
 * @throws OtherSecret if hosts that must agree do not, Error that names a damaged file, DatabaseError
 */
export async function openStorage(config: Config, parts: StorageParts = {}): Promise<FileStore> {
  const { storageSecret, storageBucket } = config;
  const { database, log, freeBytes } = parts;
  const set = storageSecret === '' ? undefined : storageSecret;
  const shared = database?.dialect === 'postgres' ? database : undefined;
  const open = storageBucket === '' ? openFolder : openBucketStore;
  const store = await open(config, { set, shared, log, freeBytes });
  const { accountSecret, ...files } = store;
  return {
    ...files,
    folderOf: (account) => accountFolder({ accountSecret }, account),
    signingSecret: shared ? await agreedSecret(shared, 'tickets', {}) : accountSecret,
  };
}

interface OpenParts {
  readonly set: string | undefined;
  readonly shared: Database | undefined;
  readonly log: Logger | undefined;
  readonly freeBytes: FreeBytes | undefined;
}

type OpenedStore = Omit<FileStore, 'folderOf' | 'signingSecret'> & { readonly accountSecret: string };

async function openFolder(config: Config, { set, freeBytes }: OpenParts): Promise<OpenedStore> {
  const { host, tlsCertFile, storagePublicUrl: publicUrl, storageLinkLifetimeS: linkLifetimeS } = config;
  const secrets = loadStorageSecrets(config.dataDir, set);
  const scheme: 'http' | 'https' = tlsCertFile === '' ? 'http' : 'https';
  const settings = { ...diskSettings(config), host, scheme, publicUrl, linkLifetimeS };
  const embedded = await EmbeddedStorage.open({ ...settings, ...(freeBytes && { freeBytes }) }, secrets);
  const home = homeOfFolder(config.dataDir);
  return { storage: embedded, embedded, bucket: undefined, home, accountSecret: secrets.accountSecret };
}

async function openBucketStore(config: Config, { set, shared, log }: OpenParts): Promise<OpenedStore> {
  const { dataDir, storageBucket: name } = config;
  const home = homeOfBucket(name);
  const found = findStorageSecrets(dataDir)?.accountSecret;
  const accountSecret = shared
    ? await agreedSecret(shared, `bucket ${home}`, { set, found })
    : loadStorageSecrets(dataDir, set).accountSecret;
  const bucket = await openBucket(config, log);
  const { BucketWatch } = await import('./bucket-watch.js');
  const watch = new BucketWatch({ bucket, name, accountSecret, log });
  return { storage: bucket, embedded: undefined, bucket, watch, home, accountSecret };
}

/** Limits and lifetime of objects on the local disk. */
export const diskSettings = (config: Config): DiskSettings => ({
  dataDir: config.dataDir,
  quota: { maxBytes: config.accountMaxBytes, maxObjects: config.accountMaxObjects },
  reserveBytes: config.diskReserveBytes,
  ttlDays: config.objectTtlDays,
});

/** The configured bucket. */
export async function openBucket(config: Config, log?: Logger): Promise<S3Storage> {
  // The SDK takes time and memory to load that the embedded storage has no use for.
  const { S3Storage } = await import('./s3-storage.js');
  const { storageEndpoint: endpoint, storagePathStyle } = config;
  const settings: S3Settings = {
    bucket: config.storageBucket,
    region: config.storageRegion,
    endpoint,
    publicUrl: config.storagePublicUrl,
    forcePathStyle: storagePathStyle === 'auto' ? endpoint !== '' : storagePathStyle === 'yes',
    linkLifetimeS: config.storageLinkLifetimeS,
    timeouts: { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs },
  };
  return new S3Storage(settings, log);
}
