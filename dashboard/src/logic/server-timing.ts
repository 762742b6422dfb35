// SPDX-License-Identifier: Apache-2.0

export interface Stage {
  readonly name: string;
  readonly ms: number;
}

/** The stages of the header `Server-Timing`, in its order. */
export const stagesOf = (header: string): Stage[] =>
  header.split(',').flatMap((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='));
    const ms = Number(duration?.slice('dur='.length));
    return name === '' || duration === undefined || Number.isNaN(ms) ? [] : [{ name, ms }];
  });
