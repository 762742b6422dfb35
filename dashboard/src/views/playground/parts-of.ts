// SPDX-License-Identifier: Apache-2.0
import type { GlobalVerdict, Prediction, Segment } from 'veravox-client';

/** The mix of a recording, or one of its channels. */
export interface Part {
  /** Undefined for the mix. */
  readonly channel: number | undefined;
  /** Null if no window had enough speech. */
  readonly global: GlobalVerdict | null;
  readonly segments: readonly Segment[];
  readonly warnings: readonly string[];
  readonly stretches?: Prediction['stretches'];
}

/** The mix first. */
export const partsOf = ({ channels = [], ...mix }: Prediction): readonly Part[] => [
  { channel: undefined, ...mix },
  ...channels,
];
