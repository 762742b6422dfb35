// SPDX-License-Identifier: Apache-2.0
import { address, choice, integer, MEBIBYTE, origin, text } from './option.js';

/** The place of clients' files, and their number. */
export const storageOptions = {
  storageBucket: text({
    variable: 'VERAVOX_STORAGE_BUCKET',
    accepts: 'the name of a bucket',
    default: '',
    defaultText: 'none: files are stored in the data folder',
    description:
      'S3 bucket for the files of `/file`; clients then exchange them with S3 directly. Credentials come from the usual sources of the AWS SDK.',
  }),
  storageRegion: text({
    variable: 'VERAVOX_STORAGE_REGION',
    accepts: 'a region',
    default: 'us-east-1',
    description: "Region of the bucket; it is part of each link's signature.",
  }),
  storageEndpoint: origin({
    variable: 'VERAVOX_STORAGE_ENDPOINT',
    defaultText: 'AWS, in the region',
    description: "Address of the bucket's service: AWS, MinIO, Ceph or another one that speaks S3.",
  }),
  storagePathStyle: choice({
    variable: 'VERAVOX_STORAGE_PATH_STYLE',
    choices: ['auto', 'yes', 'no'],
    default: 'auto',
    description:
      'Whether URLs carry the bucket in the path instead of the host name; `auto` means yes if an endpoint is set.',
  }),
  storagePublicUrl: address({
    variable: 'VERAVOX_STORAGE_PUBLIC_URL',
    defaultText: 'the endpoint; for the data folder, `http://` and the host in the request',
    description:
      'Address in links, if clients reach the storage under another name than this server does, or reach this server through a proxy with TLS. Without a bucket, it may have a [path](proxy.md#below-a-path).',
  }),
  storageSecret: {
    ...text({
      variable: 'VERAVOX_STORAGE_SECRET',
      accepts: 'a text of 32 to 256 visible characters',
      isAccepted: (value) => value === '' || /^[\x21-\x7e]{32,256}$/.test(value),
      default: '',
      defaultText: 'one that the first start makes',
      description:
        'Secret for the names of stored files; hosts with the same bucket need the same one. With PostgreSQL, they share it without this setting. The server does not start with a different secret from before. See [files.md](files.md#several-hosts).',
    }),
    isSecret: true,
  },
  storageLinkLifetimeS: integer({
    variable: 'VERAVOX_STORAGE_LINK_LIFETIME_S',
    default: 900,
    minimum: 1,
    maximum: 604_800,
    unit: 's',
    description: 'Lifetime of a link from `/file`. A link works without a key.',
  }),
  objectTtlDays: integer({
    variable: 'VERAVOX_OBJECT_TTL_DAYS',
    default: 0,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description:
      'Time to keep a file of `/file` in the data folder, in days on which a server ran. 0 keeps it until it is deleted. For a bucket, the storage decides.',
  }),
  accountMaxBytes: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_BYTES',
    default: 0,
    defaultText: '0',
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      "Total size of one account's files in the data folder; uploads beyond it are refused with 413. 0 means no limit.",
  }),
  accountMaxObjects: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_OBJECTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      "Number of one account's files in the data folder; further ones are refused with 413. 0 means no limit.",
  }),
  diskReserveBytes: integer({
    variable: 'VERAVOX_DISK_RESERVE_BYTES',
    default: 256 * MEBIBYTE,
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      'Disk space that uploads to the data folder leave free for keys, usage and audit, in addition to 1,024 inodes; uploads beyond it are refused with 503. 0 leaves neither.',
  }),
};
