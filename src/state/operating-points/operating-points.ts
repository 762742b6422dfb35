// SPDX-License-Identifier: Apache-2.0
//
// This room keeps named thresholds and profiles in the database. Each is bound to everything that its model's scores
// depend on.
import { answersTo } from '../../base/contract/model-ids.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoint, ScoringModel } from './operating-point.js';
import type { Profile, ScoreCorrection } from './profile.js';

/** The operating points that requests may name. */
export class OperatingPoints {
  readonly #points: readonly OperatingPoint[];

  readonly #profiles: readonly Profile[];

  private constructor(points: readonly OperatingPoint[], profiles: readonly Profile[]) {
    this.#points = points;
    this.#profiles = profiles;
  }

  static of(points: readonly OperatingPoint[], profiles: readonly Profile[] = []): OperatingPoints {
    return new OperatingPoints(points, profiles);
  }

  get all(): readonly OperatingPoint[] {
    return this.#points;
  }

  /**
   * @param given a number is returned as it is
   * @param field how an error calls it
   * @throws ServiceError FIELD_INVALID for a name that this model has no point of, or one of other weights
   */
  thresholdOf(given: number | string, model: ScoringModel, field: string): number {
    if (typeof given === 'number') return given;
    const own = this.#pointsOf(model);
    const named = own.filter(({ name }) => name === given);
    const point = named.find((candidate) => isFor(candidate, model)) ?? named[0];
    if (point !== undefined && isFor(point, model)) return point.threshold;
    const usable = own.filter((other) => isFor(other, model)).map(({ name }) => name);
    const known = usable.length === 0 ? 'it has none' : usable.join(', ');
    throw new ServiceError('FIELD_INVALID', {
      field,
      expected: `a number from 0 to 1 or an operating point of ${model.id} (${known})`,
      received:
        point === undefined
          ? JSON.stringify(given)
          : `${JSON.stringify(given)}, which ${whyNot(point, model)}`,
    });
  }

  /**
   * The correction of a profile of this model.
   * @param field how an error calls it
   * @param account its own profiles go before those for all accounts, which are the only ones without it
   * @throws ServiceError FIELD_INVALID for a name that this model has no profile of, or one of other weights
   */
  correctionOf(name: string, model: ScoringModel, field: string, account?: string): ScoreCorrection {
    const known = this.#profiles.filter(
      (profile) => answersTo(model, profile.model) && (profile.account ?? account) === account,
    );
    const found = ownFirst(known, name);
    if (found !== undefined && isFor(found, model)) return found.correction;
    const names = new Set(known.filter((profile) => isFor(profile, model)).map((profile) => profile.name));
    throw new ServiceError('FIELD_INVALID', {
      field,
      expected: `a profile of ${model.id} (${names.size === 0 ? 'it has none' : [...names].join(', ')})`,
      received:
        found === undefined
          ? JSON.stringify(name)
          : `${JSON.stringify(name)}, which was made with ${otherPart(found, model)} of this model: make it again`,
    });
  }

  /** Points under its id first: points found under an alias may be older. */
  #pointsOf(model: ScoringModel): readonly OperatingPoint[] {
    const own = this.#points.filter((point) => answersTo(model, point.model));
    return own.toSorted((a, b) => Number(b.model === model.id) - Number(a.model === model.id));
  }

  /** Points found for this model under any of its names, and whether requests may name them. */
  ofModel(model: ScoringModel): { readonly point: OperatingPoint; readonly isUsable: boolean }[] {
    return this.#pointsOf(model).map((point) => ({ point, isUsable: isFor(point, model) }));
  }

  /** Points that no request may name, because their model is not loaded as it was when they were found. */
  unusable(loaded: readonly ScoringModel[]): { name: string; model: string; why: string }[] {
    return this.#points.flatMap((point) => {
      const { name, model: id } = point;
      const model = loaded.find((candidate) => answersTo(candidate, id));
      if (model !== undefined && isFor(point, model)) return [];
      return [
        {
          name,
          model: id,
          why: model === undefined ? 'belongs to a model that is not loaded' : whyNot(point, model),
        },
      ];
    });
  }
}

/** The profile of this name that a request means. */
function ownFirst(profiles: readonly Profile[], name: string): Profile | undefined {
  const named = profiles.filter((profile) => profile.name === name);
  return named.find(({ account }) => account !== undefined) ?? named[0];
}

type Bound = Pick<OperatingPoint, 'fingerprint' | 'model_sha256'>;

/** Whether a threshold or profile found then means the same now. */
export const isFor = (point: Bound, { scoreFingerprint }: ScoringModel): boolean =>
  point.fingerprint === scoreFingerprint;

/** Of a point that is not for the model as it is loaded: a clause. */
const whyNot = (point: Bound, model: ScoringModel): string =>
  `was calibrated with ${otherPart(point, model)} of this model: calibrate again`;

const otherPart = (bound: Bound, { sha256 }: ScoringModel): string =>
  bound.model_sha256 === sha256 ? 'another recipe or calibration' : 'other weights';
