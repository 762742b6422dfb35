// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { pathOf } from '../../base/config/public-path.js';
import { incomingFolder } from '../data-folder/data-folder.js';
import { DiskObjectSource } from './disk-object-source.js';
import { DiskObjects, type DiskSettings } from './disk-objects.js';
import { LinkOwners } from './link-owner.js';
import { LinkSigner } from './link-signer.js';
import { MultipartUploads } from './multipart-uploads.js';
import type { LinkTerms, ObjectStorage, StoredObject } from './object-storage.js';
import { BUCKET } from './signature.js';
import { invalid, SignatureCheck } from './signature-check.js';
import { SigningCredentials } from './signing-credentials.js';
import type { StorageSecrets } from './storage-secrets.js';

export interface EmbeddedSettings extends DiskSettings {
  readonly host: string;
  /** Of links to the host that the client has used. */
  readonly scheme: 'http' | 'https';
  /** The beginning of links, which may have a path; empty for the host that the client has used. */
  readonly publicUrl: string;
  readonly linkLifetimeS: number;
}

/** Names that clients on this machine use for a listening address; another program may listen on those left out. */
function namesOf(host: string): string[] {
  if (host === '0.0.0.0') return ['127.0.0.1', 'localhost'];
  if (host === '::') return ['[::1]', '127.0.0.1', 'localhost'];
  const name = host.includes(':') ? `[${host}]` : host;
  return ['127.0.0.1', '::1'].includes(host) ? [name, 'localhost'] : [name];
}

/** The object that a link's path stands for. @throws ServiceError OBJECT_ARGUMENT_INVALID */
export function nameInPath(path: string): string {
  try {
    return decodeURIComponent(path.slice(`/${BUCKET}/`.length));
  } catch {
    throw invalid('a path in percent-encoded UTF-8', path);
  }
}

/** The default: objects on the local disk, behind links to this server itself. */
export class EmbeddedStorage implements ObjectStorage {
  readonly objects: DiskObjects;
  readonly multipart: MultipartUploads;
  readonly signatures: SignatureCheck;
  readonly owners: LinkOwners;
  readonly #settings: EmbeddedSettings;
  readonly #signer: LinkSigner;
  readonly #credentials: SigningCredentials;
  /** Of the public address, which the proxy removes. */
  readonly #path: string;

  private constructor(settings: EmbeddedSettings, secrets: StorageSecrets, objects: DiskObjects) {
    this.#settings = settings;
    this.#credentials = new SigningCredentials(secrets, settings.dataDir);
    this.#signer = new LinkSigner(this.#credentials);
    this.#path = pathOf(settings.publicUrl);
    this.signatures = new SignatureCheck(this.#credentials);
    this.owners = new LinkOwners(secrets);
    this.objects = objects;
    this.multipart = new MultipartUploads(incomingFolder(settings.dataDir), objects);
  }

  static async open(settings: EmbeddedSettings, secrets: StorageSecrets): Promise<EmbeddedStorage> {
    const objects = await DiskObjects.open(settings);
    return new EmbeddedStorage(settings, secrets, objects);
  }

  /** @throws Error that says what is wrong with their file; nothing changes then */
  renewCredentials(): void {
    this.#credentials.renew();
  }

  presignPut(name: string, terms: LinkTerms): Promise<string> {
    return this.#link('PUT', name, terms);
  }

  presignGet(name: string, terms: LinkTerms): Promise<string> {
    return this.#link('GET', name, terms);
  }

  write(name: string, bytes: Uint8Array): Promise<void> {
    return this.#write(name, [bytes], bytes.length);
  }

  writeFrom(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#write(name, pieces, 0);
  }

  async #write(
    name: string,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    declaredBytes: number,
  ): Promise<void> {
    const upload = await this.objects.begin(name, [], declaredBytes);
    try {
      for await (const piece of pieces) await upload.write(piece);
      await upload.finish();
    } catch (error) {
      await upload.discard();
      throw error;
    }
  }

  remove(name: string): Promise<void> {
    return this.objects.remove(name);
  }

  list(prefix: string, limit: number): Promise<StoredObject[]> {
    return this.objects.list(prefix, limit);
  }

  openSource(name: string): Promise<ByteSource> {
    return DiskObjectSource.open(this.objects, name);
  }

  /** A server has many names, and the signature covers the one in the link. */
  isOwnLink(link: URL): boolean {
    if (!this.#pathBehindProxy(link).startsWith(`/${BUCKET}/`)) return false;
    const { publicUrl } = this.#settings;
    const [accessKeyId = ''] = link.searchParams.get('X-Amz-Credential')?.split('/') ?? [];
    return (
      (publicUrl !== '' && link.href.startsWith(`${publicUrl}/`)) ||
      this.#credentials.find(accessKeyId) !== undefined
    );
  }

  async nameBehind(link: URL): Promise<string> {
    const headers = new Map([['host', link.host]]);
    const path = this.#pathBehindProxy(link);
    await this.signatures.check({ method: 'GET', path, query: link.search.slice(1), headers });
    return nameInPath(path);
  }

  #pathBehindProxy({ pathname }: URL): string {
    return pathname.startsWith(`${this.#path}/${BUCKET}/`) ? pathname.slice(this.#path.length) : pathname;
  }

  linkPrefixes(port: number): string[] {
    const { publicUrl, host, scheme } = this.#settings;
    if (publicUrl !== '') return [`${publicUrl}/${BUCKET}/`];
    return namesOf(host).map((name) => `${scheme}://${name}:${port}/${BUCKET}/`);
  }

  close(): Promise<void> {
    return this.objects.close();
  }

  #link(method: 'GET' | 'PUT', name: string, { requestHost, maxBytes, owner }: LinkTerms): Promise<string> {
    const { publicUrl, linkLifetimeS, scheme } = this.#settings;
    const origin = publicUrl === '' ? `${scheme}://${requestHost}` : new URL(publicUrl).origin;
    return this.#signer.sign({
      method,
      origin,
      publicPath: this.#path,
      name,
      lifetimeS: linkLifetimeS,
      maxBytes,
      owner: owner && this.owners.seal(owner),
    });
  }
}
