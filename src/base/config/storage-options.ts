// SPDX-License-Identifier: Apache-2.0
import { choice, integer, MEBIBYTE, origin, text } from './option.js';

/** Where files of clients lie, and how many. */
export const storageOptions = {
  storageBucket: text({
    variable: 'VERAVOX_STORAGE_BUCKET',
    accepts: 'the name of a bucket',
    default: '',
    defaultText: 'none: files lie in the data folder',
    description:
      'S3 bucket for the files of `/file`; clients then exchange them with S3 directly. Credentials come from where the AWS SDK looks for them.',
  }),
  storageRegion: text({
    variable: 'VERAVOX_STORAGE_REGION',
    accepts: 'a region',
    default: 'us-east-1',
    description: 'Region of the bucket; part of what links are signed with.',
  }),
  storageEndpoint: origin({
    variable: 'VERAVOX_STORAGE_ENDPOINT',
    defaultText: 'AWS, in the region',
    description: 'Where the bucket is: AWS, MinIO, Ceph or another service with the S3 protocol.',
  }),
  storagePathStyle: choice({
    variable: 'VERAVOX_STORAGE_PATH_STYLE',
    choices: ['auto', 'yes', 'no'],
    default: 'auto',
    description:
      'Whether the bucket stands in the path of a URL instead of its host name; `auto` says yes where an endpoint is set.',
  }),
  storagePublicUrl: origin({
    variable: 'VERAVOX_STORAGE_PUBLIC_URL',
    defaultText: 'the endpoint; for the data folder `http://` and the host that the client has used',
    description:
      'Where links point to, when clients reach the storage by another name than this server, or this server through a proxy with TLS.',
  }),
  storageLinkLifetimeS: integer({
    variable: 'VERAVOX_STORAGE_LINK_LIFETIME_S',
    default: 900,
    minimum: 1,
    maximum: 604_800,
    unit: 's',
    description: 'How long a link of `/file` works; whoever has a link needs no key.',
  }),
  objectTtlDays: integer({
    variable: 'VERAVOX_OBJECT_TTL_DAYS',
    default: 0,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description:
      'How long a file of `/file` stays in the data folder, in days on which a server ran. 0 keeps it until it is deleted. In a bucket the storage decides.',
  }),
  accountMaxBytes: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_BYTES',
    default: 0,
    defaultText: '0',
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      'Room for the files of one account in the data folder; an upload beyond it is refused with 413. 0 sets no limit.',
  }),
  accountMaxObjects: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_OBJECTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'Files of one account in the data folder; one more is refused with 413. 0 sets no limit.',
  }),
  diskReserveBytes: integer({
    variable: 'VERAVOX_DISK_RESERVE_BYTES',
    default: 256 * MEBIBYTE,
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      'Disk space under the data folder that uploads leave free for keys, usage and audit; an upload beyond it is refused with 503.',
  }),
  maxObjectBytes: integer({
    variable: 'VERAVOX_MAX_OBJECT_BYTES',
    default: 5120 * MEBIBYTE,
    minimum: 1024,
    maximum: 5_497_558_138_880,
    unit: 'bytes',
    description:
      'Largest file that a link takes into the data folder; a larger one is refused with 413. In a bucket the storage decides.',
  }),
};
