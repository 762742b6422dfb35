// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import type { AdminJob } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { count, percent } from '../../logic/formats.js';
import { moodOf } from '../../logic/job-texts.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { addressOf } from '../../place.js';
import { JobProgress } from './job-progress.js';

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

/** The facts about a job other than its result. */
export function JobFacts({ job }: { readonly job: AdminJob }) {
  const { error, file, parameters, batch } = job;
  return (
    <>
      <p aria-live="polite">
        <State text={job.state} mood={moodOf[job.state]} />
      </p>
      {error !== null && (
        <div class="notice problem">
          <p>
            {job.state === 'failed' ? '' : 'The last attempt failed: '}
            <Name text={error.message} />
          </p>
          <p class="soft">
            <code>{error.key}</code>
          </p>
        </div>
      )}
      <dl class="facts">
        <Fact name="Progress">
          <JobProgress job={job} />
        </Fact>
        <Fact name="Audio analysed">{clock(job.audio_analysed, 0)}</Fact>
        <Fact name="Created">
          <Moment at={job.created_at} />
        </Fact>
        <Fact name="Started">
          <Moment at={job.started_at} otherwise="not yet" />
        </Fact>
        <Fact name="Ended">
          <Moment at={job.finished_at} otherwise="not yet" />
        </Fact>
        <Fact name="Attempts">{count(job.attempts)}</Fact>
        <Fact name="Account">
          <Name text={job.account} />
        </Fact>
        <Fact name="Key">
          <a href={addressOf('usage', '', { key: job.key_id })}>
            <Name text={job.key_id} />
          </a>
        </Fact>
        {file !== null && (
          <Fact name="File">
            <Name text={`${file.entity}/${file.key}`} />
          </Fact>
        )}
        {parameters !== null && <Parameters parameters={parameters} />}
        {batch !== null && (
          <Fact name="Lines">
            {count(batch.lines)} read, {count(batch.succeeded)} with a verdict, {count(batch.failed)} failed
          </Fact>
        )}
        {batch?.result_key != null && (
          <Fact name="Result">
            <Name text={`results/${batch.result_key}`} />
          </Fact>
        )}
      </dl>
    </>
  );
}

function Parameters({ parameters }: { readonly parameters: NonNullable<AdminJob['parameters']> }) {
  const { model, threshold, silence_threshold, start, end, separate_channels } = parameters;
  return (
    <>
      <Fact name="Model">
        <Name text={model} />
      </Fact>
      <Fact name="Threshold">{threshold}</Fact>
      <Fact name="Most silence in a window">{percent(silence_threshold / 100)}</Fact>
      {(start !== null || end !== null) && (
        <Fact name="Region">
          {clock(start ?? 0, 0)} to {end === null ? 'the end' : clock(end, 0)}
        </Fact>
      )}
      {separate_channels && <Fact name="Channels">each separately</Fact>}
    </>
  );
}
