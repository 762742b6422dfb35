// SPDX-License-Identifier: Apache-2.0
import { createHmac, hash, randomBytes } from 'node:crypto';

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, as text. */
export const newToken = (): string => randomBytes(32).toString('base64url');

export const isToken = (text: string): boolean => FORM.test(text);

/** The stored form of a token. It cannot be guessed, so a fast hash is enough. */
export const digestOf = (token: string): string => hash('sha256', token, 'hex');

/** The public id of a session: it follows from the stored digest, but not the other way round. */
export const publicIdOf = (digest: string): string => hash('sha256', `public ${digest}`, 'hex').slice(0, 12);

/** Another secret, which follows from the token of a session but does not reveal it: for the header of pages. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', token).update('csrf').digest('base64url');
