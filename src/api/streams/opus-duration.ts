// SPDX-License-Identifier: Apache-2.0

const SAMPLES_PER_MS = 48;
/** RFC 6716: at most 120 ms per packet. */
const MAX_SAMPLES = 120 * SAMPLES_PER_MS;

/** Milliseconds of one frame, by the configuration in the first five bits. */
function frameMs(config: number): number {
  if (config < 12) return [10, 20, 40, 60][config % 4] as number;
  if (config < 16) return [10, 20][config % 2] as number;
  return [2.5, 5, 10, 20][config % 4] as number;
}

/**
 * Samples at 48 kHz in an Opus packet (RFC 6716, section 3.1).
 * @returns undefined if it cannot be one
 */
export function opusSamples(packet: Uint8Array): number | undefined {
  const [header, second] = packet;
  if (header === undefined) return undefined;
  const code = header & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : second === undefined ? 0 : second & 63;
  const samples = frames * frameMs(header >> 3) * SAMPLES_PER_MS;
  return samples > 0 && samples <= MAX_SAMPLES ? samples : undefined;
}
