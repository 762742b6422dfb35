// SPDX-License-Identifier: Apache-2.0
import { type Kept, keptOf } from '../../kept.js';
import { Listeners } from '../../logic/listeners.js';
import type { ServerFacts } from '../../logic/server-facts.js';
import type { Session } from '../../session.js';
import { type Analysis, analyse, type Outcome, type Step } from './analysis.js';
import { type Done, forgetResult, lastResult, rememberResult } from './last-result.js';
import { type Recording, recordingOf } from './recording.js';
import { type Caller, ServerTraces } from './server-traces.js';
import type { Settings, Source } from './settings.js';

export type DeskState =
  | { readonly is: 'none' }
  | {
      readonly is: 'running';
      readonly recording: Recording;
      readonly model: string;
      /** Whether channels are analysed after their mix. */
      readonly hasChannels: boolean;
      readonly step: Step;
      /** Of the models before. */
      readonly outcomes: readonly Outcome[];
      readonly beganMs: number;
    }
  | { readonly is: 'failed'; readonly recording: Recording; readonly error: unknown }
  | Done;

/** A job that the reader no longer waits for. */
export interface Released {
  readonly id: string;
  readonly name: string;
}

interface Running {
  readonly aborting: AbortController;
  readonly traces: ServerTraces;
}

/**
 * The contents of the playground's table: a recording, settings, an analysis or its result. They stay while other views are
 * shown, and through a new sign-in of the same user. An analysis ends when the reader cancels it, signs out or closes the page;
 * a job that was released goes on even then.
 */
export class PlaygroundDesk {
  source: Source | undefined;
  settings: Settings | undefined;
  readonly #signal: AbortSignal;
  #session: Session;
  #withdrawDuty: () => void;
  #state: DeskState = { is: 'none' };
  #released: readonly Released[] = [];
  #running: Running | undefined;
  #number = 0;
  readonly #listeners = new Listeners();
  /** With whatever session there is then: a job outlasts a sign-in. */
  readonly #caller: Caller = {
    call: (use) => this.#session.call(use),
    isSignedIn: () => !this.#session.isOver,
  };

  constructor(session: Session, kept: Kept) {
    this.#session = session;
    this.#withdrawDuty = session.beforeSignOut(() => this.#stop());
    const last = lastResult(session.user.id);
    this.#state = last ?? { is: 'none' };
    this.#number = last?.number ?? 0;
    const { signal } = kept;
    this.#signal = signal;
    kept.followSession((next) => this.#enter(next));
    signal.addEventListener('abort', forgetResult);
    // When the page is left, an analysis that is done stays on it: the reader may come back.
    addEventListener('pagehide', () => this.cancel(), { signal });
  }

  get state(): DeskState {
    return this.#state;
  }

  get released(): readonly Released[] {
    return this.#released;
  }

  /** @returns a function that ends it */
  listen(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** With each new sign-in. */
  #enter(session: Session): void {
    this.#session = session;
    this.#withdrawDuty();
    this.#withdrawDuty = session.beforeSignOut(() => this.#stop());
  }

  put(source: Source | undefined): void {
    this.source = source;
    this.#listeners.tell();
  }

  set(settings: Settings): void {
    this.settings = settings;
    this.#listeners.tell();
  }

  start(facts: ServerFacts): void {
    const { source, settings } = this;
    if (source === undefined || settings === undefined) return;
    void this.#stop();
    const running = { aborting: new AbortController(), traces: new ServerTraces(this.#caller) };
    this.#running = running;
    this.#signal.addEventListener('abort', () => running.aborting.abort());
    void this.#run(source, { facts, settings, ...running });
  }

  cancel(): void {
    if (this.#state.is === 'running') this.#show({ is: 'none' });
    void this.#stop();
  }

  /** The job goes on without the reader, who may close the page. */
  release(): void {
    const { state } = this;
    if (state.is !== 'running' || state.step.is !== 'job') return;
    const { recording, step, outcomes } = state;
    this.#running?.traces.letGo();
    this.#running = undefined;
    this.#released = [...this.#released, { id: step.job.id, name: recording.name }];
    if (outcomes.length > 0) this.#finish({ recording, outcomes });
    else this.#show({ is: 'none' });
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.aborting.abort();
    await running?.traces.discard();
  }

  async #run(source: Source, work: Running & Pick<Analysis, 'facts' | 'settings'>): Promise<void> {
    const { settings, traces, aborting } = work;
    const recording = recordingOf(source);
    const hasChannels = settings.channels === 'separate';
    const beganMs = performance.now();
    const isOn = (): boolean => this.#running?.traces === traces;
    const analysis = { ...work, signal: aborting.signal, caller: this.#caller };
    const models = [settings.model, ...(settings.otherModel === '' ? [] : [settings.otherModel])];
    let outcomes: readonly Outcome[] = [];
    try {
      for (const model of models) {
        if (traces.isLetGo) break;
        const onStep = (step: Step): void => {
          if (isOn()) this.#show({ is: 'running', recording, model, hasChannels, step, outcomes, beganMs });
        };
        onStep({ is: 'analysing' });
        outcomes = [...outcomes, await analyse(source, model, { ...analysis, onStep })];
      }
      if (isOn()) this.#finish({ recording, outcomes });
    } catch (error) {
      if (!isOn()) return;
      if (outcomes.length > 0) this.#finish({ recording, outcomes, error });
      else this.#show({ is: 'failed', recording, error });
    } finally {
      await traces.discard();
    }
  }

  #finish(result: Pick<Done, 'recording' | 'outcomes' | 'error'>): void {
    const done: Done = { is: 'done', number: ++this.#number, ...result };
    rememberResult(this.#session.user.id, done);
    this.#show(done);
  }

  #show(state: DeskState): void {
    this.#state = state;
    this.#listeners.tell();
  }
}

/** The desk of the user. */
export function deskOf(session: Session): PlaygroundDesk {
  const kept = keptOf(session.user.id);
  return kept.get('playground', () => new PlaygroundDesk(session, kept));
}
