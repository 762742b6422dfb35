// SPDX-License-Identifier: Apache-2.0
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';

export type Source =
  | { readonly is: 'file'; readonly file: File }
  | { readonly is: 'link'; readonly link: string };

export interface Settings {
  readonly model: string;
  /** To compare with; empty for none. */
  readonly otherModel: string;
  /** A number, or the name of an operating point. */
  readonly threshold: number | string;
  readonly silenceThresholdPercent: number;
  readonly channels: 'mixed' | 'separate';
}

export const defaultsOf = ({ defaultModel, threshold, silenceThresholdPercent }: ServerFacts): Settings => ({
  model: defaultModel,
  otherModel: '',
  threshold,
  silenceThresholdPercent,
  // Both sides of a call often differ, and their mix hides that.
  channels: 'separate',
});

/** The number behind the threshold. */
export function thresholdOf({ model, threshold }: Settings, facts: ServerFacts): number {
  if (typeof threshold === 'number') return threshold;
  const points = detectorNamed(facts, model)?.operatingPoints ?? [];
  return points.find(({ name }) => name === threshold)?.threshold ?? facts.threshold;
}

/** The fields of the request that differ from the server's defaults, and the stretches. @param model the chosen one, or the other */
export function fieldsOf(settings: Settings, model: string, facts: ServerFacts) {
  const defaults = defaultsOf(facts);
  const { silenceThresholdPercent, channels } = settings;
  // An operating point belongs to one model.
  const threshold = model === settings.model ? settings.threshold : thresholdOf(settings, facts);
  return {
    ...(model !== defaults.model && { model }),
    ...(threshold !== defaults.threshold && { threshold }),
    ...(silenceThresholdPercent !== defaults.silenceThresholdPercent && {
      silence_threshold: silenceThresholdPercent,
    }),
    // The server's own default is the mix only.
    ...(channels === 'separate' && { channels }),
    detail: 'stretches' as const,
  };
}
