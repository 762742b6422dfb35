// SPDX-License-Identifier: Apache-2.0
import { useId, useState } from 'preact/hooks';
import type { AdminDrift, ModelDrift } from 'veravox-client';
import { driftBars } from '../../logic/drift-bars.js';
import { count, inCount } from '../../logic/formats.js';
import { Confirmation } from '../../parts/confirmation.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { useSession } from '../../session.js';
import { DriftHistogram } from './drift-histogram.js';

const readings: Readonly<
  Record<ModelDrift['reading'], { text: string; mood: 'plain' | 'good' | 'bad' | 'busy' }>
> = {
  too_few: { text: 'too few files', mood: 'plain' },
  stable: { text: 'stable', mood: 'good' },
  moderate: { text: 'moderate change', mood: 'busy' },
  large: { text: 'large change', mood: 'bad' },
};

const index = (value: number | null): string => (value === null ? '–' : value.toFixed(3));

interface ModelDriftCardProps {
  readonly drift: ModelDrift;
  readonly all: Pick<AdminDrift, 'logit_edges' | 'min_files' | 'reference_files'>;
  readonly hours: number;
  /** The reference has changed. */
  readonly onChosen: () => void;
}

/** The scores of one detector, now and in its reference. */
export function ModelDriftCard({ drift, all, hours, onChosen }: ModelDriftCardProps) {
  const session = useSession();
  const headingId = useId();
  const [isAsking, setAsking] = useState(false);
  const { model, reference, current, reading } = drift;
  const { text, mood } = readings[reading];
  const bars = driftBars(all.logit_edges, reference?.file_bins ?? [], current.file_bins);
  return (
    <article class="card" aria-labelledby={headingId}>
      <h3 id={headingId}>
        <Name text={model} />
      </h3>
      <p>
        <State text={text} mood={mood} />
      </p>
      <dl class="facts">
        <dt title="How far the scores have moved">Stability index</dt>
        <dd>
          {reading === 'too_few' ? (
            'not yet known'
          ) : (
            <>
              {index(drift.file_index)} by files, {index(drift.window_index)} by windows{' '}
              <span class="soft">(below 0.1: stable; 0.25 or more: large change)</span>
            </>
          )}
        </dd>
        <dt>Now</dt>
        <dd>
          {inCount(current.files, 'file')}, {inCount(current.windows, 'window')}
          {current.files < all.min_files && (
            <span class="soft"> (at least {all.min_files} files are needed)</span>
          )}
        </dd>
        <dt>Reference</dt>
        <dd>
          {reference === null ? (
            'none yet'
          ) : (
            <>
              {reference.origin === 'chosen'
                ? `${count(reference.files)} chosen files`
                : reference.complete
                  ? `the first ${count(reference.files)} files`
                  : `${count(reference.files)} of the first ${count(all.reference_files)} files so far`}
              , {reference.complete ? 'complete' : 'collected'} since <Moment at={reference.made_at} />
            </>
          )}
        </dd>
      </dl>
      {current.files + (reference?.files ?? 0) > 0 && <DriftHistogram model={model} bars={bars} />}
      {session.may('admin') && (
        <button type="button" disabled={current.files < all.reference_files} onClick={() => setAsking(true)}>
          Use these hours as the reference …
        </button>
      )}
      {session.may('admin') && current.files < all.reference_files && (
        <span class="soft"> It needs {count(all.reference_files)} files.</span>
      )}
      {isAsking && (
        <Confirmation
          title="Replace the reference?"
          verb="Replace it"
          act={async () => {
            await session.admin.chooseDriftReference({ model, hours });
            setAsking(false);
            onChosen();
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            From now on, scores of <Name text={model} /> are compared with those of the last {hours} hours:{' '}
            {inCount(current.files, 'file')}. The current reference is lost.
          </p>
        </Confirmation>
      )}
    </article>
  );
}
