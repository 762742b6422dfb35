// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Still } from '../parts/still.js';

/** Code or style, and its hash in a content security policy. */
export interface Inline {
  readonly text: string;
  readonly hash: string;
}

interface PageFacts {
  readonly title: string;
  readonly style: Inline;
  /** The only script that may run; default none. */
  readonly script?: Inline;
  /** For the script, as JSON. */
  readonly data?: string;
  readonly children: ComponentChildren;
}

/** A page that needs nothing else. Its policy allows its own style and script, and no network. */
export function documentOf({ title, style, script, data, children }: PageFacts): string {
  const policy = [
    "default-src 'none'",
    `style-src '${style.hash}'`,
    ...(script === undefined ? [] : [`script-src '${script.hash}'`]),
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ].join('; ');
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: style.text }} />
      </head>
      <body>
        <main id="app">
          <Still.Provider value={true}>{children}</Still.Provider>
        </main>
        {data !== undefined && (
          <script id="data" type="application/json" dangerouslySetInnerHTML={{ __html: data }} />
        )}
        {script !== undefined && <script dangerouslySetInnerHTML={{ __html: script.text }} />}
      </body>
    </html>,
  );
  return `<!doctype html>${html}\n`;
}
