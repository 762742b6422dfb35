// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { curlOf, pythonOf, type SentRequest, typescriptOf } from '../../logic/snippets.js';
import { CodeBlock } from '../../parts/code-block.js';

const languages = { curl: curlOf, TypeScript: typescriptOf, Python: pythonOf } as const;
type Language = keyof typeof languages;

/** The request that was sent, to be sent from elsewhere. */
export function RequestCode({ request }: { readonly request: SentRequest }) {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <section class="card" aria-label="Request as code">
      <h2>The same request</h2>
      <fieldset class="row">
        <legend>Language</legend>
        {(Object.keys(languages) as Language[]).map((each) => (
          <label key={each} class="choice">
            <input
              type="radio"
              name="language"
              checked={each === language}
              onChange={() => setLanguage(each)}
            />{' '}
            {each}
          </label>
        ))}
      </fieldset>
      <CodeBlock label={`The request in ${language}`} text={languages[language](request)} />
      <p class="soft">Replace YOUR_API_KEY with a key of your own.</p>
    </section>
  );
}
