// SPDX-License-Identifier: Apache-2.0
import { logOddsOf, probabilityOf } from '../../base/log-odds.js';
import type { DetectionModel } from './manifest.js';
import { ManifestError } from './manifest-error.js';

type Fitted = Pick<DetectionModel['calibration'], 'scale' | 'bias'>;
type Codecs = NonNullable<DetectionModel['calibration']['codecs']>;

/** The manifest's limit. */
const LARGEST_OFFSET = 10;
/** The equal-error point of a fitted calibration, and the value in entries whose point nobody chose. */
const USUAL_POINT = 0.5;

const decimals = (value: number, digits: number): number => Number(value.toFixed(digits));

/**
 * The entry of a detector with another scale and bias, without the measurements under those before, and a sentence about each
 * of these.
 * @throws ManifestError if an offset by codec would leave the manifest's range
 */
export function recalibrated(
  model: DetectionModel,
  fitted: Fitted,
): { readonly model: DetectionModel; readonly notes: readonly string[] } {
  const { abstention, vectors, ...rest } = model;
  const before = model.calibration;
  const ratio = fitted.scale / before.scale;
  const codecs = before.codecs && rescaled(model.id, before.codecs, ratio);
  const point = movedPoint(model.operating_point, before, fitted, ratio);
  const notes: string[] = [];
  if (codecs !== undefined) {
    notes.push(
      `calibration.codecs: the offsets are multiplied by ${ratio.toFixed(4)}, as the scale is, so that they move scores as far as before.`,
    );
  }
  notes.push(
    model.operating_point === USUAL_POINT
      ? `operating_point stays ${USUAL_POINT}, now the equal-error point: voice identity refuses other voices than before.`
      : `operating_point: ${model.operating_point} becomes ${point}, from which voice identity refuses the same voices as before.`,
  );
  if (abstention !== undefined) {
    notes.push(
      'abstention is dropped: it was measured with the calibration before. Verdicts with a confidence below 0.2 are uncertain.',
    );
  }
  if (Object.keys(model.metrics).length > 0) {
    notes.push('metrics are dropped: they were measured with the calibration before.');
  }
  const calibration = { ...before, ...fitted, ...(codecs && { codecs }) };
  const { scale, bias } = before;
  return {
    model: {
      ...rest,
      calibration,
      operating_point: point,
      ...(vectors && { vectors: { calibration: { scale, bias }, ...vectors } }),
      metrics: {},
    },
    notes,
  };
}

/** An offset is added behind the scale: it moves the model's log-odds by offset / scale. */
function rescaled(id: string, codecs: Codecs, ratio: number): Codecs {
  return Object.fromEntries(
    Object.entries(codecs).map(([codec, points]) => [
      codec,
      points?.map(([bitsPerS, offset]) => {
        const moved = decimals(offset * ratio, 4);
        if (Math.abs(moved) <= LARGEST_OFFSET) return [bitsPerS, moved] as const;
        throw new ManifestError([
          `${id}: calibration.codecs.${codec}: with the new scale an offset would be ${moved}, and a manifest takes up to ${LARGEST_OFFSET}. ` +
            'Take the table out of the manifest, calibrate, and fit it again.',
        ]);
      }),
    ]),
  ) as Codecs;
}

function movedPoint(point: number, before: Fitted, after: Fitted, ratio: number): number {
  if (point === USUAL_POINT || before.scale === 0) return point;
  // Infinite at the ends of the scale, which stay in place.
  return decimals(probabilityOf(ratio * (logOddsOf(point) - before.bias) + after.bias), 6);
}
