// SPDX-License-Identifier: Apache-2.0

interface StateProps {
  readonly text: string;
  readonly mood: 'plain' | 'good' | 'bad' | 'busy';
}

/** A word for how something stands; the colour only repeats it. */
export const State = ({ text, mood }: StateProps) => <span class={`state ${mood}`}>{text}</span>;
