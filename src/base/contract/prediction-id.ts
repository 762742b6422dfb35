// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';

/** The last group of a random UUID: 12 hexadecimal characters, all of them random. */
export const newPredictionId = (): string => `pred_${randomUUID().slice(-12)}`;
