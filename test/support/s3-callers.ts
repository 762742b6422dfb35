// SPDX-License-Identifier: Apache-2.0
//
// S3 programs with their default settings, and the name of each call in each of them.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import * as s3 from '@aws-sdk/client-s3';
import { packageDir } from '../../src/base/config/package-dir.js';
import { putSigned } from './signed-chunks.js';
import type { StorageCredentials } from './storages.js';

/** Input that a test gives a program: an object's name, and a file to read or write. */
export interface CallTerms extends StorageCredentials {
  readonly endpoint: string;
  readonly name: string;
  readonly file: string;
}

/** Resolves to the program's output. */
export type S3Caller = (terms: CallTerms) => Promise<string>;

const Bucket = 'veravox';
const run = promisify(execFile);
const basicEnv = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: '/nonexistent' };

async function output(program: string, args: readonly string[], env: object = {}): Promise<string> {
  const { stdout } = await run(program, args, { env: { ...basicEnv, ...env }, maxBuffer: 1 << 20 });
  return stdout;
}

const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1);

/** By the names of test/support/s3-calls.py. */
function boto3Calls(python: string): Record<string, S3Caller> {
  const program = path.join(packageDir, 'test/support/s3-calls.py');
  const caller =
    (call: string): S3Caller =>
    ({ endpoint, accessKeyId, secretAccessKey, name, file }) =>
      output(python, [program, call, endpoint, accessKeyId, secretAccessKey, name, file]);
  const calls = fs.readFileSync(program, 'utf8').matchAll(/^ {4}'(.+?)': /gm);
  return Object.fromEntries([...calls].map(([, call = '']) => [call, caller(call)]));
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: object;
}

const rcloneCall = (terms: CallTerms, ...args: string[]): Command => ({
  program: 'rclone',
  args: ['--retries=1', '--low-level-retries=1', ...args],
  env: {
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_S_TYPE: 's3',
    RCLONE_CONFIG_S_PROVIDER: 'Other',
    RCLONE_CONFIG_S_ACCESS_KEY_ID: terms.accessKeyId,
    RCLONE_CONFIG_S_SECRET_ACCESS_KEY: terms.secretAccessKey,
    RCLONE_CONFIG_S_ENDPOINT: terms.endpoint,
  },
});

function rclone(...args: ((terms: CallTerms) => string)[]): S3Caller {
  return (terms) => {
    const { program, args: all, env } = rcloneCall(terms, ...args.map((arg) => arg(terms)));
    return output(program, all, env);
  };
}

/** Sends a file to the standard input of a program. */
const stream = ({ program, args, env }: Command, name: string): Promise<string> =>
  output('sh', ['-c', 'input=$1; shift; exec "$@" < "$input"', 'sh', name, program, ...args], env);

function s3cmd(...args: ((terms: CallTerms) => string)[]): S3Caller {
  return (terms) => {
    const host = terms.endpoint.replace('http://', '');
    return output('s3cmd', [
      ...['--config=/dev/null', '--no-ssl', '--no-progress', `--host=${host}`, `--host-bucket=${host}`],
      ...[`--access_key=${terms.accessKeyId}`, `--secret_key=${terms.secretAccessKey}`],
      ...args.map((arg) => arg(terms)),
    ]);
  };
}

function curl(method: string, address: (terms: CallTerms) => string, ...args: string[]): S3Caller {
  return (terms) => {
    const { accessKeyId, secretAccessKey, endpoint, file } = terms;
    return output('curl', [
      ...['--silent', '--show-error', '--fail-with-body', '--aws-sigv4', 'aws:amz:us-east-1:s3'],
      ...['--user', `${accessKeyId}:${secretAccessKey}`, '--request', method],
      ...args.map((arg) => arg.replace('FILE', file)),
      `${endpoint}/veravox${address(terms)}`,
    ]);
  };
}

const is = (text: string) => (): string => text;
const file = (terms: CallTerms): string => terms.file;
const rcloneName = (terms: CallTerms): string => `s:veravox/${terms.name}`;
const rcloneFolder = (terms: CallTerms): string => `s:veravox/${folderOf(terms.name)}`;
const s3cmdName = (terms: CallTerms): string => `s3://veravox/${terms.name}`;
const s3cmdFolder = (terms: CallTerms): string => `s3://veravox/${folderOf(terms.name)}`;
const curlName = ({ name }: CallTerms): string => `/${name.split('/').map(encodeURIComponent).join('/')}`;
const emptySha256 = 'x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The AWS SDK for JavaScript, in this process. */
const sdk =
  (
    call: (client: s3.S3Client, where: { Bucket: string; Key: string }, terms: CallTerms) => Promise<unknown>,
  ): S3Caller =>
  async (terms) => {
    const { endpoint, name } = terms;
    const client = new s3.S3Client({ endpoint, region: 'us-east-1', credentials: terms });
    try {
      const answer = await call(client, { Bucket, Key: name }, terms);
      return JSON.stringify(answer, (key, value) => (key === '$metadata' ? undefined : value));
    } finally {
      client.destroy();
    }
  };

type SendPart = (part: { UploadId: string; PartNumber: number; Body: Buffer }) => Promise<string | undefined>;

/** In parts of 5 MiB, each sent by `send`. */
async function uploadInParts(
  client: s3.S3Client,
  where: { Bucket: string; Key: string },
  content: Buffer,
  send: SendPart,
): Promise<void> {
  const { UploadId = '' } = await client.send(new s3.CreateMultipartUploadCommand(where));
  const Parts: s3.CompletedPart[] = [];
  for (let at = 0; at < content.length; at += 5 << 20) {
    const PartNumber = Parts.length + 1;
    const ETag = await send({ UploadId, PartNumber, Body: content.subarray(at, at + (5 << 20)) });
    Parts.push({ PartNumber, ETag });
  }
  await client.send(
    new s3.CompleteMultipartUploadCommand({ ...where, UploadId, MultipartUpload: { Parts } }),
  );
}

async function listAll(client: s3.S3Client, { Key }: { Key: string }): Promise<s3._Object[]> {
  const found: s3._Object[] = [];
  const pages = s3.paginateListObjectsV2({ client, pageSize: 2 }, { Bucket, Prefix: folderOf(Key) });
  for await (const { Contents = [] } of pages) found.push(...Contents);
  return found;
}

/** @returns the ETag */
async function sendSigned(terms: CallTerms, content: Buffer, query: string): Promise<string> {
  const link = `${terms.endpoint}/veravox${curlName(terms)}`;
  const { status, text, headers } = await putSigned({
    secrets: terms,
    link,
    content,
    query,
    hasTrailer: false,
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return headers.etag ?? '';
}

/** Call by call; a program is an entry, a call is a line. */
export const s3Callers: Readonly<Record<string, Readonly<Record<string, S3Caller>>>> = {
  'the AWS SDK for JavaScript': {
    put: sdk((client, where, { file: from }) =>
      client.send(new s3.PutObjectCommand({ ...where, Body: fs.readFileSync(from) })),
    ),
    upload: sdk((client, where, { file: from }) =>
      uploadInParts(client, where, fs.readFileSync(from), async (part) => {
        const { ETag } = await client.send(new s3.UploadPartCommand({ ...where, ...part }));
        return ETag;
      }),
    ),
    get: sdk(async (client, where, { file: to }) => {
      const { Body } = await client.send(new s3.GetObjectCommand(where));
      fs.writeFileSync(to, (await Body?.transformToByteArray()) ?? '');
    }),
    size: sdk((client, where) => client.send(new s3.HeadObjectCommand(where))),
    list: sdk(listAll),
    'list in version 1': sdk((client, { Key }) =>
      client.send(new s3.ListObjectsCommand({ Bucket, Prefix: folderOf(Key) })),
    ),
    groups: sdk((client, { Key }) =>
      client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: folderOf(Key), Delimiter: '/' })),
    ),
    copy: sdk((client, where) => {
      const CopySource = encodeURIComponent(`${Bucket}/${where.Key}`);
      return client.send(new s3.CopyObjectCommand({ Bucket, Key: `${where.Key} copy`, CopySource }));
    }),
    remove: sdk((client, where) => client.send(new s3.DeleteObjectCommand(where))),
    'remove all': sdk(async (client, where) => {
      const Objects = (await listAll(client, where)).map(({ Key }) => ({ Key }));
      return client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    }),
    bucket: sdk((client) => client.send(new s3.HeadBucketCommand({ Bucket }))),
    buckets: sdk((client) => client.send(new s3.ListBucketsCommand())),
    'make bucket': sdk((client) => client.send(new s3.CreateBucketCommand({ Bucket }))),
  },
  'signed chunks, as of mc': {
    put: (terms) => sendSigned(terms, fs.readFileSync(terms.file), ''),
    upload: sdk((client, where, terms) =>
      uploadInParts(client, where, fs.readFileSync(terms.file), ({ UploadId, PartNumber, Body }) =>
        sendSigned(terms, Body, `partNumber=${PartNumber}&uploadId=${UploadId}`),
      ),
    ),
  },
  "Debian's boto3": boto3Calls('/usr/bin/python3'),
  rclone: {
    upload: rclone(is('copyto'), file, rcloneName),
    // Its parts begin at 200 MiB for files, and at 100 KiB if it does not know the size.
    'upload a stream': (terms) => stream(rcloneCall(terms, 'rcat', rcloneName(terms)), terms.file),
    download: rclone(is('copyto'), rcloneName, file),
    size: rclone(is('size'), is('--json'), rcloneName),
    list: rclone(is('lsf'), is('-R'), is('--format=psh'), rcloneFolder),
    groups: rclone(is('lsf'), is('--dirs-only'), rcloneFolder),
    copy: rclone(is('copyto'), rcloneName, (terms) => `${rcloneName(terms)} copy`),
    remove: rclone(is('deletefile'), rcloneName),
    'remove all': rclone(is('purge'), rcloneFolder),
    buckets: rclone(is('lsd'), is('s:')),
    'make bucket': rclone(is('mkdir'), is('s:veravox')),
  },
  s3cmd: {
    upload: s3cmd(is('put'), file, s3cmdName),
    download: s3cmd(is('get'), is('--force'), s3cmdName, file),
    size: s3cmd(is('info'), s3cmdName),
    list: s3cmd(is('ls'), is('--recursive'), is('--list-md5'), s3cmdFolder),
    groups: s3cmd(is('ls'), s3cmdFolder),
    copy: s3cmd(is('cp'), s3cmdName, (terms) => `${s3cmdName(terms)} copy`),
    remove: s3cmd(is('del'), s3cmdName),
    'remove all': s3cmd(is('del'), is('--recursive'), is('--force'), s3cmdFolder),
    bucket: s3cmd(is('info'), is('s3://veravox')),
    'make bucket': s3cmd(is('mb'), is('s3://veravox')),
  },
  'curl, which signs': {
    put: curl('PUT', curlName, '--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD', '--upload-file', 'FILE'),
    get: curl('GET', curlName, '--header', emptySha256, '--output', 'FILE'),
    remove: curl('DELETE', curlName, '--header', emptySha256),
    bucket: curl('GET', () => '?location=', '--header', emptySha256),
  },
};

/** A boto3 other than Debian's, if installed: newer ones send checksums by default. */
export async function otherBoto3(): Promise<Readonly<Record<string, S3Caller>> | undefined> {
  const version = (python: string) => output(python, ['-c', 'import boto3; print(boto3.__version__)']);
  const [theirs, ours] = await Promise.all([
    version('python3').catch(() => undefined),
    version('/usr/bin/python3'),
  ]);
  return theirs === undefined || theirs === ours ? undefined : boto3Calls('python3');
}
