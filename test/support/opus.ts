// SPDX-License-Identifier: Apache-2.0

const PAGE_HEADER_BYTES = 27;

/** The packets of an Ogg Opus file, without its two headers (RFC 3533). */
export function opusPackets(file: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(file);
  const packets: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let page = 0; page < bytes.length; ) {
    const segments = bytes.readUInt8(page + 26);
    let offset = page + PAGE_HEADER_BYTES + segments;
    for (let i = 0; i < segments; i++) {
      const length = bytes.readUInt8(page + PAGE_HEADER_BYTES + i);
      parts.push(bytes.subarray(offset, offset + length));
      offset += length;
      if (length === 255) continue;
      packets.push(Buffer.concat(parts));
      parts = [];
    }
    page = offset;
  }
  return packets.slice(2);
}

/** An Ogg file with these packets of 20 ms, one per page, ending with the last of them. */
export function oggOpus(packets: readonly Uint8Array[], preSkip: number, channels = 1): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(48000, 12);
  const tags = Buffer.concat([Buffer.from('OpusTags', 'latin1'), Buffer.alloc(8)]);
  const pages = [page(head, 0, 0n, 2), page(tags, 1, 0n, 0)];
  packets.forEach((packet, i) => {
    const isLast = i + 1 === packets.length;
    pages.push(page(packet, i + 2, BigInt(960 * (i + 1)), isLast ? 4 : 0));
  });
  return Buffer.concat(pages);
}

function page(packet: Uint8Array, sequence: number, granule: bigint, type: number): Buffer {
  const lacing = [...new Array<number>(Math.floor(packet.length / 255)).fill(255), packet.length % 255];
  const header = Buffer.alloc(PAGE_HEADER_BYTES + lacing.length);
  header.write('OggS', 'latin1');
  header.writeUInt8(type, 5);
  header.writeBigUInt64LE(granule, 6);
  header.writeUInt32LE(1, 14);
  header.writeUInt32LE(sequence, 18);
  header.writeUInt8(lacing.length, 26);
  lacing.forEach((length, i) => {
    header.writeUInt8(length, PAGE_HEADER_BYTES + i);
  });
  const bytes = Buffer.concat([header, packet]);
  bytes.writeUInt32LE(checksum(bytes), 22);
  return bytes;
}

/** CRC-32 with the polynomial 0x04c11db7, not reflected, beginning with 0. */
function checksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
