// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import { Problem } from '../../parts/problem.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { useSession } from '../../session.js';

/** The card of a model, loaded when it is opened. */
export function CardText({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Model card</summary>
      {isOpen && <Text id={id} />}
    </details>
  );
}

function Text({ id }: { readonly id: string }) {
  const { admin } = useSession();
  const load = useCallback((signal: AbortSignal) => admin.getModelCard(id, { signal }), [admin, id]);
  const [state, reload] = useLoaded(load);
  if (state.is === 'failed') return <Problem error={state.error} onRetry={reload} />;
  if (state.value === undefined) return <p>Loading …</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre class="card-text" tabIndex={0}>
      {state.value}
    </pre>
  );
}
