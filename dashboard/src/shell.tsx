// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { forgetKept } from './kept.js';
import { Boundary } from './parts/boundary.js';
import { Name } from './parts/name.js';
import { Problem } from './parts/problem.js';
import { ThemeChoice } from './parts/theme-choice.js';
import { useAction } from './parts/use-action.js';
import { addressOf, type Place, type ViewProps } from './place.js';
import { useSession } from './session.js';
import { type View, views } from './views.js';

interface ShellProps {
  readonly place: Place;
  readonly onSignedOut: () => void;
}

/** Navigation around the view of the place. */
export function Shell({ place, onSignedOut }: ShellProps) {
  const session = useSession();
  const visible = views.filter(({ role }) => session.may(role));
  const listed = visible.filter(({ isPersonal = false }) => !isPersonal);
  const view = place.view === '' ? listed[0] : visible.find(({ name }) => name === place.view);
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen, the views scroll sideways.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view]);
  const [signOut, { isBusy, error }] = useAction(async () => {
    await session.signOut();
    forgetKept();
    onSignedOut();
  });
  return (
    <>
      <button
        type="button"
        class="skip-link"
        onClick={() => document.querySelector<HTMLElement>('#main')?.focus()}
      >
        Skip to the content
      </button>
      <header class="top">
        <strong class="brand">veravox</strong>
        <nav aria-label="Views" ref={nav}>
          <ul>
            {listed.map(({ name, title }) => (
              <li key={name}>
                <a href={addressOf(name)} aria-current={name === view?.name ? 'page' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">
          <ThemeChoice />
          <a
            class="you"
            href={addressOf('account')}
            aria-current={view?.name === 'account' ? 'page' : undefined}
          >
            <span>
              <Name text={session.user.name} /> ({session.user.role})
            </span>
          </a>
          <button type="button" disabled={isBusy} onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {error !== undefined && <Problem error={error} />}
        {view === undefined ? (
          <NoView name={place.view} />
        ) : (
          <Boundary key={view.name}>
            <Loaded key={view.name} view={view} place={place} />
          </Boundary>
        )}
      </main>
    </>
  );
}

function NoView({ name }: { readonly name: string }) {
  const { user } = useSession();
  const forbidden = views.find((view) => view.name === name);
  if (forbidden === undefined) return <p>This page does not exist. Choose a view above.</p>;
  return (
    <p>
      {forbidden.title} needs the role {forbidden.role}, and yours is {user.role}. Choose another view above,
      or ask an administrator for the role.
    </p>
  );
}

function Loaded({ view, place }: { readonly view: View; readonly place: Place }) {
  const [Body, setBody] = useState<ComponentType<ViewProps>>();
  const [error, setError] = useState<unknown>();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${view.title} · veravox`;
    view.load().then((module) => setBody(() => module.default), setError);
    // A screen reader is told of the new view.
    heading.current?.focus();
  }, [view]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {view.title}
      </h1>
      {error !== undefined ? (
        // Also helps if the server has a new version, without the file.
        <Problem error={error} onRetry={() => location.reload()} />
      ) : Body === undefined ? (
        <p>Loading …</p>
      ) : (
        <Body place={place} />
      )}
    </>
  );
}
