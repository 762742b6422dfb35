// SPDX-License-Identifier: Apache-2.0
import { VeravoxError } from 'veravox-client';
import { LevelMeter } from '../../parts/microphone/level-meter.js';
import { Moment } from '../../parts/moment.js';
import { Problem } from '../../parts/problem.js';
import { useServerFacts } from '../../parts/use-server-facts.js';
import { Alarm } from './alarm.js';
import { LiveForm } from './live-form.js';
import { LiveVerdict } from './live-verdict.js';
import { useLive } from './use-live.js';
import { WindowStrip } from './window-strip.js';
import { WindowTable } from './window-table.js';

/** The microphone, live: a verdict on each window while somebody speaks. */
export default function LiveView() {
  const serverFacts = useServerFacts().value;
  const live = useLive(serverFacts);
  const { phase, facts, about, note, error, reading } = live;
  const { microphoneName, threshold, modelId, uncertainBelow, startedAt } = about;
  const endedEarly = phase === 'idle' && facts.result === undefined;
  const isOn = phase === 'live';
  return (
    <>
      <section class="card" aria-label="Microphone">
        <p>
          Speak, or hold the microphone to a loudspeaker. Each window of 5 s gets a verdict as soon as it
          ends. The audio is not stored.
        </p>
        <LiveForm phase={phase} facts={serverFacts} onStart={live.start} onStop={live.stop} />
        {isOn && <LevelMeter reading={reading} />}
        <p role="status" class="connection">
          {statusOf(live)}
        </p>
      </section>
      {error !== undefined && <Problem error={facts.connection === 'away' ? lost : reasonOf(error)} />}
      {note !== '' && (
        <p class="notice" role="status">
          {note}
        </p>
      )}
      {(isOn || phase === 'ending' || facts.events.length > 0) && (
        <>
          <Alarm events={facts.events} seenS={live.seenS} onSeen={live.see} />
          {startedAt !== '' && (
            <p class="soft">
              From the microphone <bdi>{microphoneName}</bdi> since <Moment at={startedAt} />
              {endedEarly && ', and ended early: the verdicts are on the audio until then'}.
            </p>
          )}
          <LiveVerdict
            facts={facts}
            threshold={threshold}
            modelId={modelId}
            uncertainBelow={uncertainBelow}
            isOver={phase === 'idle'}
          />
          <section class="card" aria-label="Windows">
            <h2>Windows</h2>
            <WindowStrip events={facts.events} threshold={threshold} />
            <WindowTable events={facts.events} />
          </section>
        </>
      )}
    </>
  );
}

/** A stream ends with its key, which the reader has never seen. */
const reasonOf = (error: unknown): unknown =>
  error instanceof VeravoxError && error.errorKey === 'UNAUTHORIZED'
    ? new Error('Live audio ends after an hour, or with your session. The windows so far are below.')
    : error;

const lost = new Error(
  'The connection was lost and could not be restored in time. The windows so far are below.',
);

function statusOf({
  phase,
  facts: { connection, losses, waitingS, result },
}: ReturnType<typeof useLive>): string {
  if (phase === 'opening') return 'Waiting for the microphone and the server …';
  if (connection === 'away' && phase !== 'idle') {
    return 'The connection is lost; the page reconnects. What you say meanwhile is kept and sent then.';
  }
  if (phase === 'ending') return 'The microphone is off. The last verdicts are on their way …';
  if (phase === 'idle') return result === undefined ? '' : 'The microphone is off.';
  const resumed =
    losses === 0 ? '' : ` The connection was lost ${losses === 1 ? 'once' : `${losses} times`} and resumed.`;
  const waiting = waitingS >= 1 ? ` ${waitingS.toFixed(0)} s of audio are waiting.` : '';
  return `Listening.${resumed}${waiting}`;
}
