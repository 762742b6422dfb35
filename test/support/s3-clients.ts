// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { S3Client } from '@aws-sdk/client-s3';
import type { StorageCredentials } from './storages.js';

const run = promisify(execFile);
const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: '/nonexistent' };

/** Sends a file to a link, or fetches one from it. */
export interface LinkClient {
  put(link: string, file: string): Promise<unknown>;
  get(link: string, file: string): Promise<unknown>;
}

const python = (program: string, ...args: string[]) =>
  run('/usr/bin/python3', ['-c', program, ...args], { env });

const curl: LinkClient = {
  put: (link, file) => run('curl', ['--silent', '--show-error', '--fail', '--upload-file', file, link]),
  get: (link, file) => run('curl', ['--silent', '--show-error', '--fail', '--output', file, link]),
};

const fetchClient: LinkClient = {
  async put(link, file) {
    const { status } = await fetch(link, { method: 'PUT', body: await fs.openAsBlob(file) });
    if (status !== 200) throw new Error(`fetch: ${status}`);
  },
  async get(link, file) {
    const { status, body } = await fetch(link);
    if (status !== 200 || body === null) throw new Error(`fetch: ${status}`);
    await pipeline(body, fs.createWriteStream(file));
  },
};

/** The HTTP handler of the AWS SDK for JavaScript. */
async function handle(method: string, link: string, body?: fs.ReadStream, length = 0) {
  const client = new S3Client({ region: 'us-east-1' });
  const { protocol, hostname, port, pathname, searchParams } = new URL(link);
  const { response } = await client.config.requestHandler.handle({
    method,
    protocol,
    hostname,
    port: Number(port),
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: body === undefined ? {} : { 'content-length': String(length) },
    body,
  } as never);
  if (response.statusCode !== 200) throw new Error(`AWS SDK: ${response.statusCode}`);
  return response;
}

const awsSdk: LinkClient = {
  put: (link, file) => handle('PUT', link, fs.createReadStream(file), fs.statSync(file).size),
  async get(link, file) {
    const { body } = await handle('GET', link);
    await pipeline(body, fs.createWriteStream(file));
  },
};

/** The HTTP library that boto3 uses for all its requests. */
const botocoreProgram = `
import sys
from botocore.awsrequest import AWSRequest
from botocore.httpsession import URLLib3Session
method, link, file = sys.argv[1:]
if method == 'PUT':
    with open(file, 'rb') as body:
        answer = URLLib3Session().send(AWSRequest('PUT', link, data=body).prepare())
else:
    answer = URLLib3Session().send(AWSRequest('GET', link, stream_output=True).prepare())
    with open(file, 'wb') as out:
        for chunk in answer.raw.stream(65536): out.write(chunk)
assert answer.status_code == 200, answer.status_code`;

const botocore: LinkClient = {
  put: (link, file) => python(botocoreProgram, 'PUT', link, file),
  get: (link, file) => python(botocoreProgram, 'GET', link, file),
};

export const linkClients: Readonly<Record<string, LinkClient>> = {
  curl,
  fetch: fetchClient,
  "the AWS SDK's HTTP handler": awsSdk,
  "botocore's HTTP session": botocore,
};

/** Sends a file to the bucket `veravox`, or fetches one, in requests signed by the program itself. */
export interface S3Program {
  put(name: string, file: string): Promise<unknown>;
  get(name: string, file: string): Promise<unknown>;
}

export function s3cmd(endpoint: string, { accessKeyId, secretAccessKey }: StorageCredentials): S3Program {
  const host = endpoint.replace('http://', '');
  const settings = [
    ...['--config=/dev/null', '--no-ssl', '--no-progress', '--region=us-east-1', '--disable-multipart'],
    ...[`--host=${host}`, `--host-bucket=${host}`],
    ...[`--access_key=${accessKeyId}`, `--secret_key=${secretAccessKey}`],
  ];
  return {
    put: (name, file) => run('s3cmd', [...settings, 'put', file, `s3://veravox/${name}`], { env }),
    get: (name, file) => run('s3cmd', [...settings, '--force', 'get', `s3://veravox/${name}`, file], { env }),
  };
}

const boto3Program = `
import sys
import boto3
from botocore.config import Config
operation, endpoint, access, secret, name, file = sys.argv[1:]
client = boto3.client('s3', endpoint_url=endpoint, aws_access_key_id=access, aws_secret_access_key=secret,
    region_name='us-east-1', config=Config(s3={'addressing_style': 'path'}))
if operation == 'PUT':
    with open(file, 'rb') as body: client.put_object(Bucket='veravox', Key=name, Body=body)
else:
    length = client.head_object(Bucket='veravox', Key=name)['ContentLength']
    with open(file, 'wb') as out:
        for chunk in client.get_object(Bucket='veravox', Key=name)['Body'].iter_chunks(65536): out.write(chunk)
        assert out.tell() == length`;

export function boto3(endpoint: string, { accessKeyId, secretAccessKey }: StorageCredentials): S3Program {
  const call = (operation: string, name: string, file: string) =>
    python(boto3Program, operation, endpoint, accessKeyId, secretAccessKey, name, file);
  return { put: (name, file) => call('PUT', name, file), get: (name, file) => call('GET', name, file) };
}
