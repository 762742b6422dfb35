// SPDX-License-Identifier: Apache-2.0
import { bytesInWords } from '../../logic/bytes.js';
import { clock } from '../../logic/clock.js';
import type { Step } from './analysis.js';

interface ProgressProps {
  /** Of the models that are compared. */
  readonly model: string;
  readonly step: Step;
  onCancel(): void;
}

/** How far the analysis is. */
export function Progress({ model, step, onCancel }: ProgressProps) {
  const { words, share } = told(step);
  return (
    <div class="card progress">
      <p role="status">
        {words} <span class="soft">{model}</span>
      </p>
      <progress aria-label="Progress of the analysis" max={1} value={share} />
      <p class="soft">{detailOf(step)}</p>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

/** Words that seldom change, for screen readers, and a share that does. */
function told(step: Step): { readonly words: string; readonly share?: number } {
  switch (step.is) {
    case 'uploading':
      return {
        words: 'Sending the recording …',
        ...(step.totalBytes && { share: step.sentBytes / step.totalBytes }),
      };
    case 'analysing':
      return { words: 'Analysing …' };
    case 'job':
      return step.job.state === 'queued'
        ? { words: 'The job is queued …' }
        : { words: 'The job is running …', share: step.job.file_progress };
  }
}

function detailOf(step: Step): string {
  switch (step.is) {
    case 'uploading':
      return step.totalBytes === undefined
        ? bytesInWords(step.sentBytes)
        : `${bytesInWords(step.sentBytes)} of ${bytesInWords(step.totalBytes)}`;
    case 'analysing':
      return '';
    case 'job':
      return step.job.queue_position !== null
        ? `${step.job.queue_position} ahead in the queue`
        : `${clock(step.job.audio_analysed, 0)} of audio analysed`;
  }
}
