// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import path from 'node:path';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** For `localhost`, 127.0.0.1 and `hosts`, signed by itself. */
export function makeCertificate(
  folder: string,
  name: string,
  days = 2,
  hosts: readonly string[] = [],
): CertificateFiles {
  const files = { certFile: path.join(folder, `${name}.crt`), keyFile: path.join(folder, `${name}.key`) };
  const names = ['localhost', ...hosts].map((host) => `DNS:${host}`).join();
  const options = [
    ...['req', '-x509', '-nodes', '-days', String(days), '-subj', `/CN=${name}`],
    ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-addext', `subjectAltName=${names},IP:127.0.0.1`],
    ...['-keyout', files.keyFile, '-out', files.certFile],
  ];
  execFileSync('openssl', options, { stdio: 'ignore' });
  return files;
}
