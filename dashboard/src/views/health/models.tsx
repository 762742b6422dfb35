// SPDX-License-Identifier: Apache-2.0
import { useCallback } from 'preact/hooks';
import { Problem } from '../../parts/problem.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { useSession } from '../../session.js';
import { ModelCard } from './model-card.js';

/** The served models, and how good they are. */
export function Models() {
  const { admin } = useSession();
  const load = useCallback((signal: AbortSignal) => admin.listModels({ signal }), [admin]);
  const [state, reload] = useLoaded(load);
  return (
    <section aria-labelledby="health-models">
      <h2 id="health-models">Models</h2>
      {state.is === 'failed' && <Problem error={state.error} onRetry={reload} />}
      {state.is === 'loading' && state.value === undefined && <p>Loading …</p>}
      <div class="cards wide-cards">
        {state.value?.models.map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </div>
    </section>
  );
}
