// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ServerFacts } from '../../logic/server-facts.js';
import type { Session } from '../../session.js';
import { analyse, type Outcome, type Step } from './analysis.js';
import { ServerTraces } from './server-traces.js';
import type { Settings, Source } from './settings.js';

export type AnalysisState =
  | { readonly is: 'none' }
  | { readonly is: 'running'; readonly model: string; readonly step: Step }
  | { readonly is: 'failed'; readonly error: unknown }
  | {
      readonly is: 'done';
      /** Counts analyses. */
      readonly number: number;
      readonly source: Source;
      /** One, or two to compare. */
      readonly outcomes: readonly Outcome[];
    };

export interface Analysing {
  readonly state: AnalysisState;
  start(source: Source, settings: Settings): void;
  cancel(): void;
}

interface Running {
  readonly aborting: AbortController;
  readonly traces: ServerTraces;
}

/** One analysis at a time, which ends with the view or the page, and leaves nothing on the server. */
export function useAnalysis(facts: ServerFacts, session: Session): Analysing {
  const [state, setState] = useState<AnalysisState>({ is: 'none' });
  const running = useRef<Running | undefined>(undefined);
  const number = useRef(0);

  const stop = useCallback(async (): Promise<void> => {
    running.current?.aborting.abort();
    await running.current?.traces.discard();
  }, []);
  const cancel = useCallback((): void => {
    // When a page is left, an analysis that is done stays on it: the reader may come back.
    setState((last) => (last.is === 'running' ? { is: 'none' } : last));
    void stop();
  }, [stop]);
  useEffect(() => {
    addEventListener('pagehide', cancel);
    const withdraw = session.beforeSignOut(stop);
    return () => {
      removeEventListener('pagehide', cancel);
      withdraw();
      void stop();
    };
  }, [session, cancel, stop]);

  const run = async (
    source: Source,
    settings: Settings,
    { aborting: { signal }, traces }: Running,
  ): Promise<void> => {
    const tell = (next: AnalysisState): void => {
      if (!signal.aborted) setState(next);
    };
    const outcomes: Outcome[] = [];
    const models = [settings.model, ...(settings.otherModel === '' ? [] : [settings.otherModel])];
    try {
      for (const model of models) {
        const onStep = (step: Step): void => tell({ is: 'running', model, step });
        const context = { facts, settings, signal, session, traces, onStep };
        outcomes.push(await analyse(source, model, context));
      }
      tell({ is: 'done', number: ++number.current, source, outcomes });
    } catch (error) {
      tell({ is: 'failed', error });
    } finally {
      await traces.discard();
    }
  };

  return {
    state,
    start(source, settings) {
      void stop();
      const next = { aborting: new AbortController(), traces: new ServerTraces(session) };
      running.current = next;
      setState({ is: 'running', model: settings.model, step: { is: 'analysing' } });
      void run(source, settings, next);
    },
    cancel,
  };
}
