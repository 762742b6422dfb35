// SPDX-License-Identifier: Apache-2.0
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import type { Report } from '../../src/evaluation/figures/report.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';

export const hostileText = '<img src=x onerror=alert(1)>\u202e';

/** A report as `veravox evaluate --report` writes it, with made-up scores. @param names of the clips, in turn */
export function someReport(count: number, names: readonly string[] = []): Report {
  const random = new SeededRandom(5);
  const languages = ['en', 'de', 'fr', hostileText];
  const samples = Array.from({ length: count }, (_, i): Sample => {
    const isPositive = i % 2 === 0;
    const score = Math.min(1, (random.below(70) + (isPositive ? 30 : 0)) / 100);
    const columns = {
      language: languages[i % 4] ?? '',
      [isPositive ? 'system' : 'source']: `${isPositive ? 'tts' : 'corpus'}-${i % 7}`,
    };
    return { name: names[i] ?? `clips/${i}.flac`, isPositive, score, durationS: 3, columns };
  });
  const failed = [
    { name: hostileText, isPositive: true, code: 'NO_SPEECH', message: 'No window had speech.' },
  ];
  const change = { model: 0.1, other: 0.25, value: 0.15, interval_95: [-0.05, 0.3] as const };
  const split = { only_model: 1, only_other: 9, p_value: 0.021484 };
  return {
    schema_version: 2,
    veravox_version: '0.0.0',
    created_at: '2026-11-21T12:00:00.000Z',
    list: { file: 'calls.csv', sha256: '0'.repeat(64), where: ['split=valid'], rows: count },
    model: { id: 'detector-large', sha256: '0'.repeat(64), fingerprint: '0'.repeat(64) },
    threshold_name: null,
    silence_threshold: 80,
    bootstrap: { rounds: 20, seed: 1 },
    run: null,
    comparison: {
      id: 'detector-small',
      fingerprint: '',
      threshold: 0.5,
      compared: count,
      left_out: 0,
      why_no_intervals: null,
      eer: change,
      auc: change,
      fpr: change,
      fnr: null,
      mcnemar: { all: split, positive: split, negative: { ...split, p_value: 1e-9 } },
    },
    ...evaluate(samples, failed, {
      task: 'detection',
      threshold: 0.5,
      groupColumns: ['language', 'system', 'source'],
      bootstrap: { rounds: 20, seed: 1 },
    }),
  };
}
