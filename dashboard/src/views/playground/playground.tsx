// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import type { ServerFacts } from '../../logic/server-facts.js';
import { Problem } from '../../parts/problem.js';
import { usePeaks } from '../../parts/timeline/use-peaks.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { type Session, useSession } from '../../session.js';
import { Outcomes } from './outcomes.js';
import { Progress } from './progress.js';
import { askServer } from './server.js';
import { defaultsOf, type Settings, type Source } from './settings.js';
import { SettingsForm } from './settings-form.js';
import { SourceChoice } from './source-choice.js';
import { useAnalysis } from './use-analysis.js';
import { useSource } from './use-source.js';

/** Tries the API on a recording. */
export default function Playground() {
  const session = useSession();
  const load = useCallback((signal: AbortSignal) => askServer(session, signal), [session]);
  const [facts, again] = useLoaded(load);
  if (facts.is === 'failed') return <Problem error={facts.error} onRetry={again} />;
  if (facts.value === undefined) return <p>Loading …</p>;
  return <Trial facts={facts.value} session={session} />;
}

function Trial({ facts, session }: { readonly facts: ServerFacts; readonly session: Session }) {
  const [source, setSource] = useState<Source>();
  const [settings, setSettings] = useState<Settings>(() => defaultsOf(facts));
  const { state, start, cancel } = useAnalysis(facts, session);
  const analysed = state.is === 'done' ? state.source : undefined;
  const wave = usePeaks(analysed?.is === 'file' ? analysed.file : undefined);
  const address = useSource(analysed);
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
          if (source !== undefined) start(source, settings);
        }}
      >
        <SourceChoice source={source} onSource={setSource} />
        <SettingsForm facts={facts} settings={settings} onSettings={setSettings} />
        <button type="submit" class="main" disabled={source === undefined || state.is === 'running'}>
          Analyse
        </button>
        {source === undefined && <span class="soft"> Choose a recording first.</span>}
      </form>
      {state.is === 'running' && <Progress model={state.model} step={state.step} onCancel={cancel} />}
      {state.is === 'failed' && <Problem error={state.error} />}
      {state.is === 'done' && (
        <Outcomes
          key={state.number}
          outcomes={state.outcomes}
          facts={facts}
          peaks={wave.peaks}
          waveNote={
            analysed?.is === 'file'
              ? wave.note
              : 'There is no waveform: the server has fetched the recording.'
          }
          address={address}
        />
      )}
    </>
  );
}
