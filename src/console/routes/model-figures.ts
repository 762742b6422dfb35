// SPDX-License-Identifier: Apache-2.0
//
// A manifest's figures on a model's accuracy, whose members may be anything.
import type { FiguresFile } from '../../analysis/models/figures-file.js';
import type {
  AdminFigure,
  AdminModelFigures,
  AdminVerificationFigures,
} from '../../base/contract/model-figures.js';
import { isJsonObject } from '../../base/json-object.js';

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => (isJsonObject(value) ? value : {});

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

function intervalOf(value: unknown): AdminFigure['interval_95'] {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [low, high] = value as unknown[];
  return isShare(low) && isShare(high) ? [low, high] : null;
}

const figureOf = (value: unknown, interval: unknown): AdminFigure | null =>
  isShare(value) ? { value, interval_95: intervalOf(interval) } : null;

/** @param metrics of the manifest @param file undefined without one */
export function modelFigures(metrics: unknown, file: FiguresFile | undefined): AdminModelFigures {
  const { measured_on, conditions, ...figures } = membersOf(metrics);
  const figure = (name: string): AdminFigure | null => {
    const { value, interval_95 } = membersOf(figures[name]);
    return figureOf(value, interval_95);
  };
  const verification = Object.entries(membersOf(conditions)).flatMap(verificationOf);
  return {
    measured_on: typeof measured_on === 'string' ? measured_on : null,
    human_clips: file?.human_clips ?? null,
    generated_clips: file?.generated_clips ?? null,
    eer: figure('eer'),
    auc: figure('auc'),
    eer_groups_alike: figure('eer_groups_alike'),
    thresholds: file?.thresholds ?? null,
    det: file?.det ?? null,
    verification: verification.length === 0 ? null : verification,
  };
}

function verificationOf([condition, rows]: [string, unknown]): AdminVerificationFigures[] {
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    const { test_speech_s, eer: value, eer_interval_95, at_operating_point } = membersOf(row);
    const eer = figureOf(value, eer_interval_95);
    if (typeof test_speech_s !== 'number' || eer === null) return [];
    const at = membersOf(at_operating_point);
    return [
      {
        condition,
        test_speech_s,
        eer,
        false_accepts: figureOf(at.false_accepts, at.false_accepts_interval_95),
        false_rejects: figureOf(at.false_rejects, at.false_rejects_interval_95),
      },
    ];
  });
}
