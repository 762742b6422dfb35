// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import { bytesInWords } from '../../logic/bytes.js';
import { clock } from '../../logic/clock.js';
import { audioProgress } from '../../logic/job-texts.js';
import { Name } from '../../parts/name.js';
import { useDuration } from '../../parts/timeline/use-duration.js';
import { addressOf } from '../../place.js';
import type { Step } from './analysis.js';
import type { Recording } from './recording.js';

interface ProgressProps {
  readonly recording: Recording;
  /** Of the models that are compared. */
  readonly model: string;
  readonly step: Step;
  /** Whether channels are analysed after their mix. */
  readonly hasChannels: boolean;
  onCancel(): void;
  onRelease(): void;
}

/** The progress of the analysis. */
export function Progress(props: ProgressProps) {
  const { recording, model, step, hasChannels, onCancel, onRelease } = props;
  const totalS = useDuration(recording.file);
  const card = useRef<HTMLElement>(null);
  // The button that began it is disabled now, and on a phone the card is out of sight.
  useEffect(() => {
    card.current?.focus({ preventScroll: true });
    card.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const { words, detail, share } = told(step, totalS, hasChannels);
  const jobId = step.is === 'job' ? step.job.id : undefined;
  return (
    <section class="card progress" aria-label="Analysis" tabIndex={-1} ref={card}>
      <h2>
        <Name text={recording.name} />
      </h2>
      <p role="status">
        {words} <span class="soft">{model}</span>
      </p>
      <progress aria-label="Progress of the analysis" max={1} value={share} />
      <p class="soft">{detail}</p>
      {jobId !== undefined && (
        <p>
          It is a <a href={addressOf('jobs', jobId)}>job</a>, which goes on if you look at another view.
        </p>
      )}
      <div class="row">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        {jobId !== undefined && (
          <button type="button" onClick={onRelease}>
            Go on in the background
          </button>
        )}
      </div>
    </section>
  );
}

interface Told {
  /** Seldom change, for screen readers. */
  readonly words: string;
  readonly detail: string;
  readonly share?: number;
}

function told(step: Step, totalS: number | undefined, hasChannels: boolean): Told {
  switch (step.is) {
    case 'uploading': {
      const { sentBytes, totalBytes } = step;
      const sent = bytesInWords(sentBytes);
      return totalBytes === undefined
        ? { words: 'Sending the recording …', detail: sent }
        : {
            words: 'Sending the recording …',
            detail: `${sent} of ${bytesInWords(totalBytes)}`,
            share: totalBytes === 0 ? 0 : sentBytes / totalBytes,
          };
    }
    case 'analysing':
      return { words: 'Analysing …', detail: totalS === undefined ? '' : `${clock(totalS, 0)} of audio` };
    case 'job': {
      const { job, isCut } = step;
      if (isCut) {
        return {
          words: 'The server cannot be reached. The job goes on when it is back, and so does this page.',
          detail: '',
          share: job.file_progress,
        };
      }
      if (job.state === 'queued') {
        return { words: 'The job is queued …', detail: `${job.queue_position ?? 0} ahead in the queue` };
      }
      return { words: 'The job is running …', ...audioProgress(job, totalS, hasChannels) };
    }
  }
}
