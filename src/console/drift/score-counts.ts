// SPDX-License-Identifier: Apache-2.0
import { addTo, binOf, emptyHistogram, type ScoreKind } from './score-bins.js';

/** The model that gave scores, and its fingerprint: the same audio gets the same score while it is the same. */
export interface ScoredBy {
  readonly model: string;
  readonly fingerprint: string;
}

export type KindHistograms = Readonly<Record<ScoreKind, number[]>>;

export interface ModelCounts extends ScoredBy {
  /** By hours since 1970. */
  readonly hours: Map<number, KindHistograms>;
}

export const emptyHistograms = (): KindHistograms => ({ file: emptyHistogram(), window: emptyHistogram() });

const HOUR_MS = 3_600_000;
export const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS);

/** Numbers of scores by model and hour; of the audio, nothing. */
export class ScoreCounts {
  readonly #models = new Map<string, ModelCounts>();

  /** Ordered, so that two hosts that add to the same rows never wait for each other. */
  get models(): ModelCounts[] {
    return [...this.#models].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counts]) => counts);
  }

  countScore(by: ScoredBy, kind: ScoreKind, score: number, atMs: number): void {
    const histogram = this.of(by, hourOf(atMs))[kind];
    const bin = binOf(score);
    histogram[bin] = (histogram[bin] as number) + 1;
  }

  of({ model, fingerprint }: ScoredBy, hour: number): KindHistograms {
    const name = nameOf({ model, fingerprint });
    let counts = this.#models.get(name);
    if (counts === undefined) {
      counts = { model, fingerprint, hours: new Map() };
      this.#models.set(name, counts);
    }
    let histograms = counts.hours.get(hour);
    if (histograms === undefined) {
      histograms = emptyHistograms();
      counts.hours.set(hour, histograms);
    }
    return histograms;
  }

  /** Oldest first. */
  hoursOf({ model, fingerprint }: ScoredBy): [hour: number, histograms: KindHistograms][] {
    const hours = this.#models.get(nameOf({ model, fingerprint }))?.hours ?? new Map();
    return [...hours].sort(([a], [b]) => a - b);
  }

  add(others: ScoreCounts): void {
    for (const counts of others.models) {
      for (const [hour, { file, window }] of counts.hours) {
        const own = this.of(counts, hour);
        addTo(own.file, file);
        addTo(own.window, window);
      }
    }
  }
}

const nameOf = ({ model, fingerprint }: ScoredBy): string => `${model} ${fingerprint}`;
