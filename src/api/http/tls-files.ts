// SPDX-License-Identifier: Apache-2.0
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import fs from 'node:fs';

export interface TlsFiles {
  /** The certificate and its intermediate certificates, PEM. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** @throws Error with the reason, so that no server shows a certificate that all clients reject */
export function checkTlsFiles({ certFile, keyFile }: TlsFiles, now = new Date()): void {
  const certificate = readCertificate(certFile);
  const key = readKey(keyFile);
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(`The key in ${keyFile} does not belong to the certificate in ${certFile}.`);
  }
  if (new Date(certificate.validTo) <= now) {
    throw new Error(`The certificate in ${certFile} has expired: it was valid until ${certificate.validTo}.`);
  }
  if (new Date(certificate.validFrom) > now) {
    throw new Error(`The certificate in ${certFile} is not valid until ${certificate.validFrom}.`);
  }
}

/** The same while the content of both files is unchanged. */
export function fingerprintOf({ certFile, keyFile }: TlsFiles): string {
  const hash = createHash('sha256');
  for (const file of [certFile, keyFile]) hash.update(fs.readFileSync(file));
  return hash.digest('hex');
}

function readCertificate(file: string): X509Certificate {
  const bytes = read(file, 'certificate');
  try {
    return new X509Certificate(bytes);
  } catch {
    throw new Error(`There is no PEM certificate in ${file}.`);
  }
}

function readKey(file: string): KeyObject {
  const bytes = read(file, 'key');
  try {
    return createPrivateKey(bytes);
  } catch {
    throw new Error(`There is no PEM private key without a passphrase in ${file}.`);
  }
}

function read(file: string, what: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw new Error(`The ${what} cannot be read: ${(error as Error).message}`);
  }
}
