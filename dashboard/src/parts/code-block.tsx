// SPDX-License-Identifier: Apache-2.0
import { useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';

/** Text to copy: a command, a key, a piece of a program. @param label its name for screen readers */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const code = useRef<HTMLElement>(null);
  return (
    <figure class="code-block" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code ref={code}>{text}</code>
      </pre>
      <CopyButton text={text} of={code.current} />
    </figure>
  );
}
