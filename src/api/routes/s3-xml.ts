// SPDX-License-Identifier: Apache-2.0
import type { Reply } from './route.js';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** As text between tags. */
export const escaped = (text: string): string => text.replace(/[&<>]/g, (c) => escapes[c] ?? c);

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });

export const xmlReply = (document: string): Reply => ({
  status: 200,
  contentType: 'application/xml',
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${document}`,
});

export const s3Document = (root: string, content: string): Reply =>
  xmlReply(`<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`);

/** Contents of the elements of this name. Enough for the XML of S3 programs, in time proportional to the length of any text. */
export function elementsOf(xml: string, name: string): string[] {
  const [, ...pieces] = xml.split(`<${name}>`);
  return pieces.map((piece) => {
    const end = piece.indexOf(`</${name}>`);
    return end === -1 ? piece : piece.slice(0, end);
  });
}

export function textOf(xml: string, name: string): string | undefined {
  const [first] = elementsOf(xml, name);
  return first === undefined ? undefined : unescaped(first);
}
