// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectAclCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { LinkSigner } from '../../../src/state/storage/link-signer.js';
import { s3Signer } from '../../../src/state/storage/signature.js';
import { SignatureCheck } from '../../../src/state/storage/signature-check.js';
import { SigningCredentials } from '../../../src/state/storage/signing-credentials.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { follow, s3Code, stored, uploadLink } from '../../support/file-links.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const KEY = "rec/é b!'()*~.wav";
const content = Buffer.from('what was uploaded');

/** Another character of the same kind, and the other letter case. */
function otherCharacters(character: string): string[] {
  const next = /[0-8a-yA-Y]/.test(character) ? String.fromCharCode(character.charCodeAt(0) + 1) : 'x';
  const upper = character.toUpperCase();
  const swapped = upper === character ? character.toLowerCase() : upper;
  return swapped === character ? [next] : [next, swapped];
}

/** Every link that differs from this one in a single character after the host. */
function* changed(link: string): Generator<string> {
  const start = link.indexOf('/', 'http://'.length) + 1;
  for (let i = start; i < link.length; i++) {
    for (const other of otherCharacters(link[i] ?? '')) yield link.slice(0, i) + other + link.slice(i + 1);
  }
}

test('a link with one changed character is refused, wherever it is', async (t) => {
  const server = await startTestServer(t);
  const download = await stored(server, KEY, content);
  let count = 0;
  for (const link of changed(download)) {
    const answer = await follow(link);
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} for ${link}`);
    assert.ok(!answer.text.includes(content.toString()));
    count++;
  }
  assert.ok(count > 500);
  const upload = await uploadLink(server, KEY);
  for (const link of changed(upload)) {
    const { status } = await follow(link, { method: 'PUT', body: Buffer.from('an intruder') });
    assert.ok(status >= 400 && status < 500, `${status} for ${link}`);
  }
  assert.deepEqual((await follow(download)).bytes, content);
});

test('another method, host, parameter or nothing at all is refused, in the words of S3', async (t) => {
  const server = await startTestServer(t);
  const download = await stored(server, KEY, content);
  const upload = await uploadLink(server, KEY);
  const bare = download.replace(/\?.*/, '');
  const refused: readonly [what: string, answer: ReturnType<typeof follow>, code: string | undefined][] = [
    ['PUT to a link for GET', follow(download, { method: 'PUT', body: content }), 'SignatureDoesNotMatch'],
    ['GET of a link for PUT', follow(upload), 'SignatureDoesNotMatch'],
    ['HEAD of a link for GET', follow(download, { method: 'HEAD' }), undefined],
    ['another host', follow(download, { headers: { host: 'localhost' } }), 'SignatureDoesNotMatch'],
    ['one parameter more', follow(`${download}&a=b`), 'SignatureDoesNotMatch'],
    ['one more without a value', follow(`${download}&__proto__=`), 'SignatureDoesNotMatch'],
    ['an empty parameter', follow(`${download}&`), 'SignatureDoesNotMatch'],
    ['a parameter twice', follow(`${download}&X-Amz-Expires=900`), 'SignatureDoesNotMatch'],
    ['a longer life', follow(download.replace('Expires=900', 'Expires=901')), 'SignatureDoesNotMatch'],
    ['a life beyond a week', follow(download.replace('Expires=900', 'Expires=604801')), 'AccessDenied'],
    ['the same written otherwise', follow(download.replaceAll('%2F', '%2f')), 'SignatureDoesNotMatch'],
    ['a broken escape', follow(download.replace('%2F', '%ZZ')), 'SignatureDoesNotMatch'],
    ['another key id', follow(download.replace('=VX', '=VY')), 'InvalidAccessKeyId'],
    ['another region', follow(download.replace('us-east-1', 'us-east-2')), 'AccessDenied'],
    ['no signature', follow(download.replace(/&X-Amz-Signature=.*/, '')), 'AccessDenied'],
    ['no query', follow(bare), 'AccessDenied'],
    ['an empty query', follow(`${bare}?`), 'AccessDenied'],
    [
      'an authorization of another kind',
      follow(bare, { headers: { authorization: 'Bearer x' } }),
      'AccessDenied',
    ],
    ['a broken escape in the path', follow(download.replace('%C3', '%C')), 'SignatureDoesNotMatch'],
  ];
  for (const [what, answering, code] of refused) {
    const answer = await answering;
    assert.equal(answer.status, 403, what);
    assert.equal(s3Code(answer), code, what);
    assert.equal(answer.headers['content-type'], 'application/xml', what);
  }
  for (const method of ['DELETE', 'POST']) {
    const other = await follow(download, { method });
    assert.deepEqual([other.status, s3Code(other)], [403, 'SignatureDoesNotMatch']);
  }
  assert.deepEqual((await follow(download)).bytes, content);
});

test('a link is refused from the second on at which it expires, and before it is signed', async (t) => {
  const secrets = loadStorageSecrets(temporaryFolder(t));
  const signedAt = new Date('2026-11-21T10:00:00Z');
  const link = await new LinkSigner(new SigningCredentials(secrets)).sign(
    {
      method: 'GET',
      origin: 'http://files.example:8080',
      name: `${'0'.repeat(32)}/analysis/a`,
      lifetimeS: 60,
    },
    signedAt,
  );
  const { pathname: path, search } = new URL(link);
  const request = {
    method: 'GET',
    path,
    query: search.slice(1),
    headers: new Map([['host', 'files.example:8080']]),
  };
  const check = new SignatureCheck(new SigningCredentials(secrets));
  const at = (seconds: number) => check.check(request, new Date(signedAt.getTime() + seconds * 1000));
  await at(0);
  await at(59.999);
  await assert.rejects(at(60), { key: 'LINK_EXPIRED', message: /valid until 2026-11-21T10:01:00\.000Z/ });
  await at(-15 * 60);
  await assert.rejects(at(-15 * 60 - 1), { key: 'ACCESS_DENIED', message: /not valid yet/ });
});

test('an expired link is refused by the server', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const { pathname } = new URL(await stored(server, 'a', content));
  const name = pathname.split('/').slice(2).join('/');
  const signer = new LinkSigner(new SigningCredentials(loadStorageSecrets(dataDir)));
  const link = (secondsAgo: number) =>
    signer.sign(
      { method: 'GET', origin: server.origin, name, lifetimeS: 60 },
      new Date(Date.now() - secondsAgo * 1000),
    );
  assert.equal((await follow(await link(30))).status, 200);
  const expired = await follow(await link(61));
  assert.equal(expired.status, 403);
  assert.match(expired.text, /<Code>AccessDenied<\/Code><Message>Request has expired/);
  assert.equal(await server.metric('veravox_errors_total{key="LINK_EXPIRED"}'), 1);
});

test('a program whose clock is wrong is told so by the name that lets SDKs correct it', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const { pathname, host } = new URL(await stored(server, 'a', content));
  const get = async (minutesAway: number) => {
    const signed = await (await s3Signer(loadStorageSecrets(dataDir))).sign(
      { method: 'GET', protocol: 'http:', hostname: host, path: pathname, headers: { host, ...unsigned } },
      { signingDate: new Date(Date.now() + minutesAway * 60_000) },
    );
    return follow(`${server.origin}${pathname}`, { headers: signed.headers });
  };
  for (const minutes of [-14, 0, 14]) assert.equal((await get(minutes)).status, 200, String(minutes));
  for (const minutes of [-16, 16, 1e6]) {
    const answer = await get(minutes);
    assert.deepEqual([answer.status, s3Code(answer)], [403, 'RequestTimeTooSkewed'], String(minutes));
  }
  const Key = decodeURIComponent(pathname.replace('/veravox/', ''));
  // A program whose clock is an hour fast.
  const program = `
    const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...parts) { super(...(parts.length === 0 ? [Date.now()] : parts)); }
      static now() { return Right.now() + 3_600_000; }
    };
    const { S3Client, GetObjectCommand } = await import('@aws-sdk/client-s3');
    const client = new S3Client(${JSON.stringify({
      endpoint: server.origin,
      region: 'us-east-1',
      credentials: loadStorageSecrets(dataDir),
      forcePathStyle: true,
    })});
    const { Body, $metadata } = await client.send(new GetObjectCommand(${JSON.stringify({ Bucket: 'veravox', Key })}));
    console.log(await Body.transformToString('base64'), $metadata.attempts);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  assert.equal(stdout, `${Buffer.from(content).toString('base64')} 2\n`);
});

test('a request has one signature', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const link = await stored(server, 'a', content);
  const { pathname, host, searchParams } = new URL(link);
  const signed = await (await s3Signer(loadStorageSecrets(dataDir))).sign({
    method: 'GET',
    protocol: 'http:',
    hostname: host,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...unsigned },
  });
  for (const headers of [signed.headers, { authorization: 'Bearer x' }, { authorization: 'Basic eDp5' }]) {
    const answer = await follow(link, { headers });
    assert.deepEqual([answer.status, s3Code(answer)], [400, 'InvalidArgument'], answer.text);
    assert.match(answer.text, /authorization/);
  }
});

test('the lifetime of links is a setting', async (t) => {
  const server = await startTestServer(t, { storageLinkLifetimeS: 604_800 });
  assert.match(await uploadLink(server, 'a'), /X-Amz-Expires=604800&/);
  assert.equal((await follow(await uploadLink(server, 'a'), { method: 'PUT', body: content })).status, 200);
});

test('with a public URL links point there, and only its host is taken', async (t) => {
  const server = await startTestServer(t, { storagePublicUrl: 'https://files.example' });
  const link = await uploadLink(server, 'a');
  assert.ok(link.startsWith('https://files.example/veravox/'));
  const local = link.replace('https://files.example', server.origin);
  const put = (headers: Record<string, string>) => follow(local, { method: 'PUT', body: content, headers });
  assert.equal((await put({})).status, 403);
  assert.equal((await put({ host: 'files.example' })).status, 200);
});

const unsigned = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };

const boto3Env = (t: TestContext) => ({ HOME: temporaryFolder(t), LC_ALL: 'C.UTF-8' });

const boto3Links = `
import json, sys
import boto3
from botocore.config import Config
origin, access, secret, key = sys.argv[1:]
client = boto3.client('s3', endpoint_url=origin, aws_access_key_id=access, aws_secret_access_key=secret,
    region_name='us-east-1', config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
parameters = {'Bucket': 'veravox', 'Key': key}
print(json.dumps({method: client.generate_presigned_url(operation, Params=parameters, ExpiresIn=900)
    for method, operation in (('GET', 'get_object'), ('PUT', 'put_object'))}))`;

test("links that the AWS SDK's presigner and boto3 make with the storage's credentials are taken", async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const { accessKeyId, secretAccessKey } = loadStorageSecrets(dataDir);
  const Key = decodeURIComponent(new URL(await uploadLink(server, KEY)).pathname.replace('/veravox/', ''));
  const client = new S3Client({
    endpoint: server.origin,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  t.after(() => client.destroy());
  const object = { Bucket: 'veravox', Key };
  const put = await getSignedUrl(client, new PutObjectCommand(object));
  assert.equal((await follow(put, { method: 'PUT', body: content })).status, 200);
  const get = await getSignedUrl(client, new GetObjectCommand(object));
  assert.deepEqual((await follow(get)).bytes, content);
  const args = ['-c', boto3Links, server.origin, accessKeyId, secretAccessKey, Key];
  const links = JSON.parse(execFileSync('/usr/bin/python3', args, { env: boto3Env(t), encoding: 'utf8' }));
  assert.deepEqual((await follow(links.GET)).bytes, content);
  assert.equal((await follow(links.PUT, { method: 'PUT', body: Buffer.from('by boto3') })).status, 200);
  assert.equal((await follow(get)).text, 'by boto3');
});

test('what else S3 does at the same path is refused, and leaves the object as it is', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const { accessKeyId, secretAccessKey } = loadStorageSecrets(dataDir);
  const link = await stored(server, KEY, content);
  const Key = decodeURIComponent(new URL(link).pathname.replace('/veravox/', ''));
  const credentials = { accessKeyId, secretAccessKey };
  const common = { endpoint: server.origin, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 };
  const client = new S3Client({ ...common, credentials });
  t.after(() => client.destroy());
  const object = { Bucket: 'veravox', Key };
  const refused = (sending: Promise<unknown>, name: string) => assert.rejects(sending, { name });
  await refused(client.send(new PutObjectAclCommand({ ...object, ACL: 'private' })), 'NotImplemented');
  await refused(
    client.send(new PutObjectCommand({ ...object, Body: 'x', IfNoneMatch: '*' })),
    'NotImplemented',
  );
  await refused(client.send(new GetObjectCommand({ ...object, VersionId: '1' })), 'NotImplemented');
  await refused(client.send(new ListObjectsV2Command({ Bucket: 'veravox' })), 'NotImplemented');
  assert.deepEqual((await follow(link)).bytes, content);
  await client.send(new PutObjectCommand({ ...object, Body: 'by the AWS SDK' }));
  assert.equal((await follow(link)).text, 'by the AWS SDK');
  await client.send(new DeleteObjectCommand(object));
  assert.equal((await follow(link)).status, 404);
});

test("our links and boto3's have the same signature", async (t) => {
  const secrets = loadStorageSecrets(temporaryFolder(t));
  const origin = 'http://127.0.0.1:8080';
  const name = `${'f'.repeat(32)}/analysis/${KEY}`;
  const args = ['-c', boto3Links, origin, secrets.accessKeyId, secrets.secretAccessKey, name];
  const theirs = JSON.parse(execFileSync('/usr/bin/python3', args, { env: boto3Env(t), encoding: 'utf8' }));
  const signer = new LinkSigner(new SigningCredentials(secrets));
  for (const method of ['GET', 'PUT'] as const) {
    const their = new URL(theirs[method]);
    const [, year, month, day, hour, minute, second] =
      /^(....)(..)(..)T(..)(..)(..)Z$/.exec(their.searchParams.get('X-Amz-Date') ?? '') ?? assert.fail();
    const sameMoment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    const our = new URL(await signer.sign({ method, origin, name, lifetimeS: 900 }, sameMoment));
    assert.equal(our.pathname, their.pathname);
    assert.deepEqual(Object.fromEntries(our.searchParams), Object.fromEntries(their.searchParams));
  }
});
