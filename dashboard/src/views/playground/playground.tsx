// SPDX-License-Identifier: Apache-2.0
import type { ServerFacts } from '../../logic/server-facts.js';
import { Name } from '../../parts/name.js';
import { Problem } from '../../parts/problem.js';
import { usePeaks } from '../../parts/timeline/use-peaks.js';
import { useServerFacts } from '../../parts/use-server-facts.js';
import { addressOf } from '../../place.js';
import { useSession } from '../../session.js';
import type { PlaygroundDesk } from './desk.js';
import type { Done } from './last-result.js';
import { Outcomes } from './outcomes.js';
import { Progress } from './progress.js';
import { isOf, type Recording } from './recording.js';
import { defaultsOf, type Source } from './settings.js';
import { SettingsForm } from './settings-form.js';
import { SourceChoice } from './source-choice.js';
import { useAddress } from './use-address.js';
import { useDesk } from './use-desk.js';

/** Tries the API on a recording. */
export default function Playground() {
  const desk = useDesk(useSession());
  const facts = useServerFacts();
  return (
    <>
      {facts.error !== undefined && <Problem error={facts.error} onRetry={facts.again} />}
      {facts.value !== undefined && <Trial facts={facts.value} desk={desk} />}
      {facts.value === undefined && facts.isLoading && <p>Loading …</p>}
    </>
  );
}

function Trial({ facts, desk }: { readonly facts: ServerFacts; readonly desk: PlaygroundDesk }) {
  const { source, state, released } = desk;
  const settings = desk.settings ?? defaultsOf(facts);
  return (
    <>
      <p class="soft intro">
        Is the voice in a recording human or AI-generated? The page sends requests like any other client of
        this server; the recording goes nowhere else.
      </p>
      <form
        class="card"
        aria-label="Request"
        onSubmit={(event) => {
          event.preventDefault();
          desk.settings ??= settings;
          desk.start(facts);
        }}
      >
        <SourceChoice source={source} onSource={(chosen) => desk.put(chosen)} />
        <details>
          <summary>Model, threshold, silence and channels</summary>
          <SettingsForm facts={facts} settings={settings} onSettings={(next) => desk.set(next)} />
        </details>
        <button type="submit" class="main" disabled={source === undefined || state.is === 'running'}>
          Analyse
        </button>
        {source === undefined && <span class="soft"> Choose a recording first.</span>}
      </form>
      {released.map(({ id, name }) => (
        <p class="notice" key={id}>
          <Name text={name} /> goes on in the background: <a href={addressOf('jobs', id)}>its job</a> has
          progress and verdict.
        </p>
      ))}
      {state.is === 'running' && (
        <Progress
          recording={state.recording}
          model={state.model}
          step={state.step}
          hasChannels={state.hasChannels}
          onCancel={() => desk.cancel()}
          onRelease={() => desk.release()}
        />
      )}
      {state.is === 'failed' && (
        <>
          <p>
            <Name text={state.recording.name} />:
          </p>
          <Problem error={state.error} />
        </>
      )}
      {state.is === 'done' && <Result key={state.number} done={state} source={source} facts={facts} />}
    </>
  );
}

const whyNoWave = ({ link }: Recording): string =>
  link === undefined
    ? 'There is no waveform: the page was reloaded. Choose the recording and analyse it again to see and hear it.'
    : 'There is no waveform: the server has fetched the recording.';

interface ResultProps {
  readonly done: Done;
  /** The current choice, which may be something else. */
  readonly source: Source | undefined;
  readonly facts: ServerFacts;
}

function Result({ done: { recording, outcomes, error }, source, facts }: ResultProps) {
  const durationS = outcomes[0]?.prediction.audio_duration ?? 0;
  const drawn = usePeaks(recording.file, durationS);
  const wave = recording.file === undefined ? { note: whyNoWave(recording) } : drawn;
  const address = useAddress(recording);
  const isAnother = source !== undefined && !isOf(recording, source);
  return (
    <>
      {isAnother && (
        <p class="notice" role="status">
          The result below is about <Name text={recording.name} />, not about the recording that is chosen
          now: press Analyse for that.
        </p>
      )}
      {error !== undefined && (
        <>
          <p>The second model gave no verdict:</p>
          <Problem error={error} />
        </>
      )}
      <Outcomes recording={recording} outcomes={outcomes} facts={facts} wave={wave} address={address} />
    </>
  );
}
